"""What is kept on disk because it could be made again: where it is, how large it is, and how to remove it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from isotrope.io.errors import IsotropeError, nearest, reason

PARTS = {  # name -> its files, and what they are
    "vectors": ("vectors/*.sqlite*", "vectors of evaluated encoders, and scores of classifiers on them"),
    "views": ("views.sqlite*", "rewordings of sentences"),
}


@dataclass(frozen=True)
class CachePart:
    """One kind of thing that is kept."""

    name: str
    about: str
    files: list[Path]
    size: int  # bytes


def cache_folder() -> Path:
    """`$ISOTROPE_CACHE`, or the folder where this system keeps caches. It need not exist."""
    if told := os.environ.get("ISOTROPE_CACHE"):
        return Path(told).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "isotrope" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "isotrope"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isotrope"


def cache_contents(part: str | None = None) -> list[CachePart]:
    """What is kept: all of it, or one part (`vectors`, `views`)."""
    if part is not None and part not in PARTS:
        raise IsotropeError(f"no part '{part}' of the cache{nearest(part, PARTS)}; choose from {', '.join(PARTS)}")
    return [_look(name) for name in ([part] if part else PARTS)]


def clear_cache(part: str | None = None) -> list[CachePart]:
    """Removes what is kept, all of it or one part, and tells what that was. It is made again when it is needed."""
    removed = cache_contents(part)
    try:
        for file in (file for one in removed for file in one.files):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise IsotropeError(f"{error.filename}: can't be removed ({reason(error)})") from error
    return removed


def _look(name: str) -> CachePart:
    pattern, about = PARTS[name]
    files = sorted(cache_folder().glob(pattern))
    return CachePart(name, about, files, sum(file.stat().st_size for file in files))
