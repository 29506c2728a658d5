"""Ctrl-C, SIGTERM or a closed terminal while training: the step is finished and saved, then the run ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from isotrope.io.errors import IsotropeError

HANG_UP = (signal.SIGHUP,) if hasattr(signal, "SIGHUP") else ()  # Windows has none
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(IsotropeError):  # noqa: N818
    """A run was stopped by a signal, after a checkpoint was written."""

    def __init__(self, step: int, number: int) -> None:
        super().__init__(f"stopped at step {step}; continue with resume=True", argument="resume=True")
        self.step = step
        self.exit_code = 128 + number


class StopRequest:
    """Whether a signal has come, and which."""

    signal: int | None = None


@contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Takes note of the first signal instead of ending; a second one ends the process as usual, and so does the first
    if nobody acted on it by the end: it came after the last step.

    Signals can be handled in the main thread only; elsewhere nothing is changed.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before: dict[signal.Signals, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        request.signal = number
        restore()

    heard = [number for number in HANG_UP if signal.getsignal(number) != signal.SIG_IGN]  # nohup has it ignored
    before.update({number: signal.signal(number, note) for number in (*SIGNALS, *heard)})
    try:
        yield request
    finally:
        restore()
    if request.signal is not None:
        signal.raise_signal(request.signal)
