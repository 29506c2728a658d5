"""Who may use a run folder, and what is said when something in it is damaged."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.training.run_folder import check_run, locked, read_json
from isotrope.training.run_log import RunLog


def test_a_run_starts_where_nothing_is_and_is_resumed_where_one_is(tmp_path: Path) -> None:
    run = tmp_path / "run"
    check_run(run, resume=False)
    with pytest.raises(IsotropeError, match=r"run: nothing to resume \(no run.json in it\)"):
        check_run(run, resume=True)
    run.mkdir()
    check_run(run, resume=False)
    (run / "run.json").write_text("{}")
    check_run(run, resume=True)
    with pytest.raises(
        IsotropeError, match=r"run: exists already; resume that run \(resume=True\), or choose another folder"
    ):
        check_run(run, resume=False)
    with pytest.raises(IsotropeError, match="a file, not a folder"):
        check_run(run / "run.json", resume=False)


def test_a_run_that_was_killed_before_it_wrote_its_settings_is_started_again(tmp_path: Path) -> None:
    run, context = tmp_path / "run", multiprocessing.get_context("fork")
    process = context.Process(target=killed_while_it_writes, args=(run / "run.json",))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    (left,) = run.iterdir()
    with pytest.raises(IsotropeError, match="nothing to resume"):
        check_run(run, resume=True)
    check_run(run, resume=False)
    with whole_or_nothing(run / "run.json") as path:
        path.write_text("{}")
    assert [path.name for path in run.iterdir()] == ["run.json"]
    assert not left.exists()


def killed_while_it_writes(file: Path) -> None:
    with locked(file.parent), whole_or_nothing(file) as path:
        path.write_text('{"recipe"')
        os.kill(os.getpid(), signal.SIGKILL)


def hold(folder: Path, held: Any) -> None:
    with locked(folder):
        held.set()
        time.sleep(60)


def test_nobody_else_gets_in_until_the_process_that_uses_it_is_dead(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    held = context.Event()
    process = context.Process(target=hold, args=(tmp_path / "run", held), daemon=True)
    process.start()
    assert held.wait(20)
    with pytest.raises(IsotropeError, match="run: in use by another process"), locked(tmp_path / "run"):
        pass
    process.kill()
    process.join()
    for _ in range(2):
        with locked(tmp_path / "run"):
            assert list((tmp_path / "run").iterdir()) == []


def test_where_no_folder_can_be_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IsotropeError, match="can't be created"), locked(tmp_path / "file" / "run"):
        pass


@pytest.mark.parametrize("text", ["", '{"seed": 1', "\x00\x01", "[1]", "5"])
def test_damaged_settings_are_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(IsotropeError, match=r"run.json is damaged \(not the JSON that was written\)") as told:
        read_json(tmp_path / "run.json")
    assert "\n" not in str(told.value)


LINES = ['{"step": 0, "loss": 1.0}', '{"step": 5, "loss": 0.5}', '{"step": 9, "loss": 0.1}']


@pytest.mark.parametrize("torn", ["", '{"step": 10, "lo', '{"loss": 3}', "7"])
def test_the_log_is_cut_behind_a_checkpoint_with_what_a_kill_left(torn: str, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join([*LINES, torn]))
    log = RunLog(file)
    log.cut(5)
    assert file.read_text().splitlines() == LINES[:2]
    log.append(6, {"loss": float("nan")})
    assert json.loads(file.read_text().splitlines()[-1]) == {"step": 6, "loss": None}
    log.cut(None)
    assert file.read_text() == ""


@pytest.mark.parametrize("damaged", ['{"loss": 1.0}', "{", "[]", '{"step": null}'])
def test_a_damaged_line_of_the_log_is_named(damaged: str, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join([LINES[0], damaged, LINES[1]]))
    with pytest.raises(IsotropeError, match=r"log.jsonl, line 2: not a line of figures with a step"):
        RunLog(file).cut(5)
