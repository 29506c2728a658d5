"""Whether the Hugging Face Hub can be reached: its own client would try for more than a minute before it says no."""

from __future__ import annotations

import os

HUB = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
HUB_PATIENCE = 3  # seconds


def stay_offline_without_hub() -> None:
    """Without a network the Hub's own client tries again for more than a minute; its offline mode, in which it takes
    what was downloaded before, answers at once. The client reads the setting when it is first imported.
    """
    if not os.environ.get("HF_HUB_OFFLINE") and not hub_answers():
        os.environ["HF_HUB_OFFLINE"] = "1"


def hub_answers() -> bool:
    """Whether the Hugging Face Hub says anything at all."""
    import ssl  # these are slow to import, and seldom needed
    import urllib.error
    import urllib.request

    try:
        urllib.request.urlopen(urllib.request.Request(HUB, method="HEAD"), timeout=HUB_PATIENCE).close()
    except urllib.error.HTTPError:
        return True  # an answer, though not a friendly one
    except OSError as error:
        return isinstance(getattr(error, "reason", error), ssl.SSLError)  # its client has certificates of its own
    return True
