"""Where things are kept that could be made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """`$ISOTROPE_CACHE`, or the folder where this system keeps caches. It need not exist."""
    if told := os.environ.get("ISOTROPE_CACHE"):
        return Path(told).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "isotrope" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "isotrope"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isotrope"
