"""The Hugging Face Hub: whether it can be reached, and which revision of a model or a data set is meant."""

from __future__ import annotations

import os
import re
from pathlib import Path

HUB = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
HUB_PATIENCE = 3  # seconds
MODEL_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "README.md"]  # no pickle, no code
OTHER_ENGINES = ["onnx/*", "openvino/*"]


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


def split_revision(name: str) -> tuple[str, str | None]:
    """A name and the revision that is asked for: a branch, a tag, or a commit.

    >>> split_revision("org/name"), split_revision("org/name@v1.0")
    (('org/name', None), ('org/name', 'v1.0'))
    """
    repository, at, revision = name.partition("@")
    return repository, revision if at else None


def fetch_model(name: str) -> Path:
    """The folder of `org/name` or `org/name@revision` in the Hub's cache on this machine; what is not there is fetched,
    if there is a network. Its client says in its own way what is wrong.
    """
    from huggingface_hub import is_offline_mode, snapshot_download  # slow to import

    repository, revision = split_revision(name)
    here = is_offline_mode() or not hub_answers()
    return Path(
        snapshot_download(
            repository,
            revision=revision,
            allow_patterns=MODEL_FILES,
            ignore_patterns=OTHER_ENGINES,
            local_files_only=here,
        )
    )


def commit_of(folder: Path) -> str | None:
    """The commit that a folder of the Hub's cache holds; None for any other folder."""
    found = re.fullmatch(r"[0-9a-f]{40}", folder.name)
    return found[0] if found and folder.parent.name == "snapshots" else None
