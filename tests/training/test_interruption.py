"""Stopped by a signal, a run saves what it has, says where it stopped, and can be resumed to the same end."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.training.interruption import Interrupted, stop_requests

from .loops import Make, checkpoints, lines, same, student


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_run_with_a_checkpoint(make: Make, number: int, code: int) -> None:
    wanted = make(folder="whole", save_steps=4)
    wanted.run()
    loop = make(save_steps=4)
    told = loop.after_step

    def interrupt(progress: float) -> None:
        told(progress)
        if progress == 0.75:
            os.kill(os.getpid(), number)

    loop.after_step = interrupt
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match="stopped at step 3; continue with resume=True") as stopped:
        loop.run()
    assert (stopped.value.step, stopped.value.exit_code) == (3, code)
    assert isinstance(stopped.value, IsotropeError)
    assert signal.getsignal(number) == before
    assert checkpoints(loop) == [3]
    resumed = make(save_steps=4)
    resumed.run(resume=True)
    assert same(student(resumed), student(wanted))
    assert [line["step"] for line in lines(resumed)] == [line["step"] for line in lines(wanted)]


def hear(signals: int, seen: list[str]) -> None:
    with stop_requests() as request:
        for _ in range(signals):
            signal.raise_signal(signal.SIGINT)
            assert request.signal == signal.SIGINT
            seen.append("went on")


def test_a_second_signal_ends_the_process_as_usual() -> None:
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        hear(2, seen)
    assert seen == ["went on"]


def test_a_signal_after_the_last_step_is_not_lost() -> None:
    """Or a sweep would go on with its next run."""
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        hear(1, seen)
    assert seen == ["went on"]


def test_a_closed_terminal_does_not_end_what_was_started_with_nohup() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stop_requests() as request:
            os.kill(os.getpid(), signal.SIGHUP)
        assert request.signal is None
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_other_threads_have_no_signals() -> None:
    found: list[Any] = []

    def run() -> None:
        with stop_requests() as request:
            found.append(request.signal)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [None]
