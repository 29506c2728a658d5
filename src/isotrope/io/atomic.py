"""Output files that are whole or not there at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path

from psutil import pid_exists

from isotrope.io.errors import IsotropeError


def check_output(path: Path, endings: Collection[str], *, force: bool = False) -> None:
    """Refuses a path that could not be written, before any work is put into what would go there."""
    if path.suffix.lower() not in endings:
        raise IsotropeError(f"{path}: the output's name must end in {' or '.join(endings)}")
    if path.is_dir():
        raise IsotropeError(f"{path}: a folder, where a file is to be written")
    if not path.parent.is_dir():
        raise IsotropeError(f"{path}: there is no folder '{path.parent}' to write it to")
    if path.exists() and not force:
        raise IsotropeError(f"{path}: exists already; give --force to overwrite it")


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to. It takes the place of `path` at the end, or is removed if anything fails.

    What a killed process left behind of the same file is removed too.
    """
    partial = _partial(path, os.getpid())
    for other in path.parent.glob(_partial(Path(escape(str(path))), "*").name):
        if not pid_exists(int(other.name.removesuffix(f".partial{path.suffix}").rpartition(".")[2])):
            other.unlink(missing_ok=True)
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise IsotropeError(f"{path}: can't be written ({error.strerror or error})") from error
    finally:
        partial.unlink(missing_ok=True)


def _partial(path: Path, process: int | str) -> Path:
    return path.with_name(f".{path.stem}.{process}.partial{path.suffix}")
