"""Which language a text is in, by py3langid where that is installed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from isotrope.io.errors import IsotropeError

LIBRARY = "py3langid"


def new_identifier() -> Any:
    """A classifier of its own (`classify(text) -> language, likely`); None where the library is not installed."""
    if find_spec(LIBRARY) is None:
        return None
    library: Any = import_module(f"{LIBRARY}.langid")
    if not hasattr(library.LanguageIdentifier, "from_model_file"):
        raise IsotropeError("this py3langid is too old: pip install 'py3langid>=0.4', or uninstall it to do without")
    return library.LanguageIdentifier.from_model_file(library.MODEL_FILE, norm_probs=True)


@cache
def shared_identifier() -> Any:
    """One among all languages that it knows, loaded once."""
    return new_identifier()
