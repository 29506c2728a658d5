"""A lease: who does a piece of work in a folder that several processes, or several machines, share.

A lease is a file that is created atomically and names its holder. The holder touches it now and then; one whose holder
has ended, or has not been heard of for long, may be taken over. File locks do not reach other machines everywhere; this
does, wherever creating a file that is there already fails.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isotrope.io.atomic import created, holder, is_gone

HEARTBEAT = 30.0  # seconds between two touches
SILENCE = 600.0  # after so many seconds without one, a holder on another machine is taken for gone


@contextmanager
def leased(file: Path) -> Iterator[bool]:
    """True to the one that may do the work, False where another one does it now."""
    file.parent.mkdir(parents=True, exist_ok=True)
    if not (created(file, holder()) or (_taken_over(file) and created(file, holder()))):
        yield False
        return
    ended = threading.Event()
    try:
        threading.Thread(target=_keep, args=(file, ended), daemon=True).start()
        yield True
    finally:
        ended.set()
        file.unlink(missing_ok=True)


def remove_abandoned(file: Path) -> None:
    """Of work that is done: the lease of one who was ended in the moment of giving it back."""
    if file.is_file():
        _taken_over(file)


def _taken_over(file: Path) -> bool:
    """Removes a lease whose holder has ended; one that is elsewhere and can't be asked is judged by its silence."""
    try:
        found, silent = file.read_text(), time.time() - file.stat().st_mtime
    except OSError:  # it was given back meanwhile
        return True
    machine, _, process = found.partition("-")
    gone = is_gone(machine, int(process), silent, SILENCE) if process.isdecimal() else silent > SILENCE
    aside = file.with_name(f".{file.name}.{holder()}")
    try:
        if not gone:
            return False
        file.rename(aside)  # of several that find it abandoned, one succeeds
        if aside.read_text() != found:  # another one had taken it over in between: give it back
            os.link(aside, file)
            return False
    except OSError:
        return not file.exists()
    finally:
        aside.unlink(missing_ok=True)
    return True


def _keep(file: Path, ended: threading.Event) -> None:
    while not ended.wait(HEARTBEAT):
        with suppress(OSError):  # it may have been given back just now
            os.utime(file)
