"""Output files and folders that are whole or not there at all, whatever moment the process ends at."""

from __future__ import annotations

import errno
import os
import platform
import secrets
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from glob import escape
from pathlib import Path

from isotrope.io.errors import IsotropeError, reason
from isotrope.io.hashes import digest

STEM = 40  # characters of a name that its partial file keeps: the whole must fit into 255 bytes
ABANDONED = 24 * 3600  # seconds after which a partial file of another machine or container is taken for left behind
PARTIAL, REPLACED = "partial", "replaced"
_half_made: set[Path] = set()  # folders that this process is writing


def check_output(path: Path, endings: Collection[str], *, force: bool = False) -> None:
    """Refuses a path that could not be written, before any work is put into what would go there."""
    if path.suffix.lower() not in endings:
        raise IsotropeError(f"{path}: the output's name must end in {' or '.join(endings)}")
    with _in_words(path):
        if path.is_dir():
            raise IsotropeError(f"{path}: a folder, not a file that can be written")
        if not path.parent.is_dir():
            raise IsotropeError(f"{path}: there is no folder '{path.parent}' to write to")
        if _exists(path) and not force:
            raise IsotropeError(f"{path}: exists already; give force=True to overwrite it", argument="force=True")


def check_folder(target: Path, *, force: bool = False) -> None:
    """Refuses a folder that is there already."""
    with _in_words(target):
        if _exists(target) and not force:
            raise IsotropeError(
                f"{target}: exists already; choose another folder, or replace it with force=True", argument="force=True"
            )


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to. It takes the place of `path` at the end, or is removed if anything fails.

    What a killed process left behind of the same file is removed too.
    """
    with _in_words(path):
        _tidy(path)
        partial = _beside(path, PARTIAL)
        try:
            yield partial
            sync(partial)
            partial.replace(path)
            sync(path.parent)
        finally:
            with suppress(OSError):  # whatever went wrong before is the better message
                partial.unlink(missing_ok=True)


@contextmanager
def whole_folder(target: Path, *, force: bool = False) -> Iterator[Path]:
    """A new folder beside `target` to write to, which takes its place at the end or is removed if anything fails.

    With `force` a folder that is there already is moved aside, and removed when the new one is in place. What a killed
    process left behind is tidied up first; an old folder that it had moved aside goes back to its place.

    A folder that this gave is written to as it is: it gets its name with all that is in it.
    """
    if target in _half_made:  # one beside it would have a name that nobody looks for after a kill
        yield target
        return
    with _in_words(target):
        _restore(target)
        check_folder(target, force=force)
        target.parent.mkdir(parents=True, exist_ok=True)
        made = _beside(target, PARTIAL)
        try:
            made.mkdir()
            _half_made.add(made)
            yield made
            for entry in sorted(made.rglob("*")):
                sync(entry)
            sync(made)
            _put_in_place(made, target)
        finally:
            _half_made.discard(made)
            shutil.rmtree(made, ignore_errors=True)


def created(path: Path, content: str) -> bool:
    """Makes a file that has its content from its first moment on; False where there is one already."""
    _tidy(path)
    partial = _beside(path, PARTIAL)
    try:
        partial.write_text(content, encoding="utf-8")
        _link(partial, path)
    except FileExistsError:
        return False
    finally:
        partial.unlink(missing_ok=True)
    return True


def sync(path: Path) -> None:
    """Has a file, or the names in a folder, written to the disk itself, so that a power cut does no harm."""
    flags = os.O_RDONLY if os.name == "posix" else os.O_RDWR
    try:
        file = os.open(path, flags)
    except OSError:
        if path.is_dir():
            return
        raise
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # some file systems have no such thing
            raise
    finally:
        os.close(file)


def is_partial(path: Path) -> bool:
    """Whether it is a file or folder that is being written, or that was when its writer was killed."""
    return path.name.startswith(".") and f".{PARTIAL}" in path.name


def holder() -> str:
    """`machine-process`: who holds a file that others must leave alone."""
    return f"{_machine()}-{os.getpid()}"


def is_gone(machine: str, process: int, silent: float, longest: float) -> bool:
    """Whether a holder has ended; one on another machine or in another container, if it was silent for too long."""
    from psutil import pid_exists  # slow to import

    return not pid_exists(process) if machine == _machine() else silent > longest


def _put_in_place(made: Path, target: Path) -> None:
    if not _exists(target):
        made.rename(target)
        sync(target.parent)
        return
    old = _beside(target, REPLACED)
    try:
        target.rename(old)
        made.rename(target)
    except BaseException:
        if _exists(old) and not _exists(target):
            old.rename(target)
        raise
    sync(target.parent)
    _remove(old)


def _link(old: Path, new: Path) -> None:
    """A second name for a file; where the file system has no such thing, a copy. Fails if the name is taken."""
    try:
        os.link(old, new)
    except FileExistsError:
        raise
    except OSError:
        with new.open("x", encoding="utf-8") as stream:
            stream.write(old.read_text(encoding="utf-8"))


def _tidy(path: Path) -> None:
    """Removes what killed processes left half-written of a file."""
    for kind, left in _left_behind(path):
        if kind == PARTIAL:
            left.unlink(missing_ok=True)


def _restore(target: Path) -> None:
    for kind, left in _left_behind(target):
        if kind == REPLACED and not _exists(target):
            left.rename(target)
        else:
            _remove(left)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _exists(path: Path) -> bool:
    return os.path.lexists(path)


def _beside(path: Path, kind: str) -> Path:
    """`.name.machine-process-random.partial.npy`: hidden, and no other writer's anywhere."""
    return path.with_name(f".{path.stem[:STEM]}.{holder()}-{secrets.token_hex(4)}.{kind}{path.suffix}")


def _left_behind(path: Path) -> Iterator[tuple[str, Path]]:
    """Partial and replaced files of `path` whose writer is gone."""
    for kind in (PARTIAL, REPLACED):
        for other in sorted(path.parent.glob(f".{escape(path.stem[:STEM])}.*.{kind}{escape(path.suffix)}")):
            words = other.name.removesuffix(f".{kind}{path.suffix}").rpartition(".")[2].split("-")
            if len(words) == 3 and words[1].isdecimal() and is_gone(words[0], int(words[1]), _age(other), ABANDONED):
                yield kind, other


def _age(file: Path) -> float:
    """Seconds since it was last written; 0 if it is no longer there."""
    with suppress(OSError):
        return time.time() - file.stat().st_mtime
    return 0.0


@lru_cache
def _machine() -> str:
    """Where process numbers are unique: this boot of this machine, or this container. Containers may share a folder."""
    words = [platform.node()]
    with suppress(OSError):
        words.append(Path("/proc/sys/kernel/random/boot_id").read_text())
        words.append(os.readlink("/proc/self/ns/pid"))
    return digest("\0".join(words), 4).hex()


class _UnwritableError(IsotropeError):
    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"{path}: can't be written ({why})")
        self.why = why


@contextmanager
def _in_words(path: Path) -> Iterator[None]:
    """The outermost path is named: what is inside is half made, under a name that nobody chose."""
    try:
        yield
    except _UnwritableError as inner:
        raise _UnwritableError(path, inner.why) from inner
    except OSError as error:
        raise _UnwritableError(path, reason(error)) from error
