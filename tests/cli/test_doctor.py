from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotrope.diagnosis import doctor
from isotrope.io import hub

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "HUB", "http://127.0.0.1:9")


def test_it_tells_what_is_there(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sts/sts12.tsv", "stsb/stsb.tsv.gz", "stsb_multi/stsb_de.tsv.gz"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setenv("ISOTROPE_DATA", str(tmp_path))
    done = run("doctor", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["versions"]["torch"] == {"found": importlib.metadata.version("torch"), "verdict": "ok"}
    assert found["models"]["bundled"]["verdict"] == "ok"
    assert found["models"]["bundled"]["found"].startswith("256 dimensions")
    assert found["models"]["Hugging Face Hub"]["verdict"] == "absent"
    assert found["data"]["ISOTROPE_DATA"] == {"found": str(tmp_path), "verdict": "ok"}
    assert found["data"]["tasks in it"]["found"] == "stsb, sts12, stsb-multi"
    assert found["cache"]["ISOTROPE_CACHE"] == {"found": f"{os.environ['ISOTROPE_CACHE']}, 0.0 MB", "verdict": "ok"}
    assert [(one.part, one.name) for one in doctor()] == [(part, name) for part in found for name in found[part]]
    assert found["data"]["tasks not in it"]["found"].startswith("sts13, sts14, sts15, sts16, sickr, mr, cr, ")


def test_what_is_broken_is_exit_code_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTROPE_DATA", "none")
    done = run("doctor")
    assert done.code == 1
    (line,) = (line for line in done.out.splitlines() if "broken" in line)
    assert "ISOTROPE_DATA" in line
    assert "none: no such folder" in line
