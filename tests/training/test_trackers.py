"""Trackers are checked before a run starts, and get what the log gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker, register_tracker_class

from isotrope.io.errors import IsotropeError
from isotrope.training.run import train
from isotrope.training.trackers import PACKAGES, check_trackers

from .loops import Make, lines


def test_known_trackers_are_accelerates() -> None:
    assert PACKAGES.keys() == LOGGER_TYPE_TO_CLASS.keys()
    check_trackers(())


def test_an_unknown_tracker_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"unknown tracker 'tensorbord' \(did you mean 'tensorboard'\?\)"):
        train(["a"], "simcse", output=tmp_path / "run", set={"training.report_to": ["tensorbord"]})
    assert not (tmp_path / "run").exists()


def test_an_absent_tracker_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelerate.tracking.get_available_trackers", list)
    with pytest.raises(IsotropeError, match=r"'comet_ml' is not installed; run pip install comet-ml"):
        check_trackers(("comet_ml",))


class Kept(GeneralTracker):  # type: ignore[misc]
    name = "kept"
    requires_logging_directory = False
    seen: list[tuple[int | None, dict[str, Any]]] = []  # noqa: RUF012

    def __init__(self, run_name: str, **kwargs: Any) -> None:
        super().__init__()

    @property
    def tracker(self) -> None:
        return None

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        self.seen.append((None, values))

    def log(self, values: dict[str, Any], step: int | None, **kwargs: Any) -> None:
        self.seen.append((step, values))


def test_a_tracker_gets_settings_and_every_line(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accelerate.tracking.LOGGER_TYPE_TO_CLASS", LOGGER_TYPE_TO_CLASS)
    register_tracker_class(Kept)
    try:
        loop = make(report_to=("kept",), steps=2)
        loop.run()
    finally:
        del LOGGER_TYPE_TO_CLASS["kept"]
    (_, settings), *logged = Kept.seen
    assert settings["steps"] == 2
    assert [{"step": step, **values} for step, values in logged] == lines(loop)
