from __future__ import annotations

import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyarrow import parquet

import isotrope
from isotrope.encoders import encode
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
SENTENCES = bundled_sentences()[:150]


@pytest.fixture
def sentences(run: Run, tmp_path: Path) -> str:
    Path("sentences.txt").write_text("\n".join(SENTENCES))
    return "sentences.txt"


def test_the_vectors_are_the_encoders_in_order(run: Run, sentences: str) -> None:
    wanted = isotrope.load().encode(SENTENCES)
    # 64 batches of one sentence are one lot, so there are three
    for output in ("x.npy", "x.parquet"):
        done = run("encode", sentences, "--output", output, "--batch-size", "1")
        assert (done.code, done.err) == (0, "")
    assert parquet.ParquetFile("x.parquet").num_row_groups == 3
    table = parquet.read_table("x.parquet")
    assert table["text"].to_pylist() == SENTENCES
    for found in (np.load("x.npy"), np.load("x.npy", mmap_mode="r"), np.stack(table["embedding"].to_numpy())):
        assert found.dtype == np.float32
        assert np.abs(found - wanted).max() < 1e-5


def test_model_pooling_and_length_are_those_asked_for(run: Run, sentences: str, tmp_path: Path) -> None:
    isotrope.load(pooling="max").save(tmp_path / "model")
    wanted = isotrope.load(pooling="cls@2").encode(SENTENCES, normalize_embeddings=True)
    options = ("--model", "model", "--pooling", "cls@2", "--normalize", "--device", "cpu")
    assert run("encode", sentences, "--output", "x.npy", *options).code == 0
    assert np.abs(np.load("x.npy") - wanted).max() < 1e-5
    assert run("encode", sentences, "--output", "y.npy", "--model", "model").code == 0
    assert np.abs(np.load("y.npy") - isotrope.load(pooling="max").encode(SENTENCES)).max() < 1e-5


def test_the_last_line_tells_what_was_done(run: Run) -> None:
    Path("x.csv").write_text('id,text\n1,A dog.\n2, \n\n3,"' + "very " * 300 + 'long"\n4,A cat.\n')
    done = run("encode", "x.csv", "--output", "x.npy")
    assert re.fullmatch(
        r"x\.npy: 4 rows, 256 dimensions, \d+\.\d s, [\d,]+ rows/s; 1 row without text \(zeros\), "
        r"1 text truncated at 128 tokens\n",
        done.out,
    )
    assert np.load("x.npy").any(axis=1).tolist() == [True, False, True, True]


def test_python_does_the_same(run: Run) -> None:
    Path("x.csv").write_text("id,said\n1,A dog.\n2, \n\n3," + "very " * 300 + "long\n4,A cat.\n")
    options = ("--column", "said", "--pooling", "cls@2", "--normalize", "--batch-size", "2")
    chosen: dict[str, Any] = {"column": "said", "pooling": "cls@2", "normalize": True, "batch_size": 2}
    for name in ("x.npy", "x.parquet"):
        said = run("encode", "x.csv", "--output", f"shell.{name}", *options).out
        done = encode("x.csv", output=f"python.{name}", **chosen)
        assert Path(f"shell.{name}").read_bytes() == Path(f"python.{name}").read_bytes()
        assert (done.path, done.rows, done.dim, done.blank) == (Path(f"python.{name}"), 4, 256, 1)
        assert (done.truncated, done.max_seq_length) == (1, 128)
        assert "4 rows, 256 dimensions" in said
        assert "1 text truncated at 128 tokens" in said
    assert np.array_equal(encode("x.csv", **chosen), np.load("shell.x.npy"))


def test_standard_input(run: Run) -> None:
    done = run("encode", "-", "--output", "x.npy", stdin="A dog.\n\nEin Hündchen.\n".encode())
    assert done.code == 0
    assert "3 rows" in done.out
    assert "1 row without text (zeros)" in done.out
    wanted = isotrope.load().encode(["A dog.", "Ein Hündchen."])
    assert np.abs(np.load("x.npy")[[0, 2]] - wanted).max() < 1e-5


def test_a_table_of_columns_that_are_joined(run: Run) -> None:
    Path("x.csv").write_text("id;Subject;Body\n7;Dog;<b>barks</b>\n8;;\n9;;sleeps\n")
    options = ("--columns", "Subject,Body", "--join", ": ", "--strip-html", "--vector-column", "v")
    done = run("encode", "x.csv", "--output", "x.parquet", *options)
    assert "3 rows" in done.out
    assert "1 row without text (null)" in done.out
    encode("x.csv", output="y.parquet", columns="Subject,Body", join=": ", strip_html=True, vector_column="v")
    assert Path("x.parquet").read_bytes() == Path("y.parquet").read_bytes()
    rows = parquet.read_table("x.parquet").to_pylist()
    assert [row["id"] for row in rows] == ["7", "8", "9"]
    assert rows[0]["Body"] == "<b>barks</b>"
    assert np.abs(np.array(rows[0]["v"]) - isotrope.load().encode("Dog: barks")).max() < 1e-5


def test_a_chosen_column(run: Run) -> None:
    Path("x.tsv").write_text("sentence1\tsentence2\nno\tyes\n")
    assert run("encode", "x.tsv", "--column", "sentence2", "--output", "x.npy").code == 0
    assert np.abs(np.load("x.npy")[0] - isotrope.load().encode("yes")).max() < 1e-5


def test_an_output_is_overwritten_with_force_only(run: Run, sentences: str) -> None:
    Path("x.npy").write_text("mine")
    done = run("encode", sentences, "--output", "x.npy")
    assert (done.code, done.out, done.err) == (2, "", "Error: x.npy: exists already; give --force to overwrite it\n")
    assert Path("x.npy").read_text() == "mine"
    assert run("encode", sentences, "--output", "x.npy", "--force").code == 0
    assert len(np.load("x.npy")) == len(SENTENCES)


@pytest.mark.parametrize("output", ["x.npy", "x.parquet"])
def test_a_full_disk_leaves_nothing_behind(run: Run, sentences: str, output: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        done = run("encode", sentences, "--output", output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(rf"Error: {re.escape(output)}: can't be written \(.*File too large\)\n", done.err)
    assert [path.name for path in Path().iterdir()] == [sentences]


def test_a_bad_line_far_down_is_found_before_any_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("x.txt").write_bytes(b"A dog.\n" * 5000 + b"\xff\n")
    monkeypatch.setattr("isotrope.encoders.encoding.load_any", None)
    assert run("encode", "x.txt", "--output", "x.npy").err == (
        "Error: x.txt: line 5001: byte 0xff at position 1 is not UTF-8; convert the file\n"
    )


def test_a_bad_line_on_standard_input_leaves_nothing_behind(run: Run) -> None:
    done = run("encode", "-", "--output", "x.npy", "--batch-size", "1", stdin=b"A dog.\n" * 100 + b"\xff\n")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Error: standard input: line 101: byte 0xff")
    assert not list(Path().iterdir())


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def test_a_kill_leaves_nothing_behind(spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """All are stopped in the midst of it: waiting for more text, with rows written already."""
    processes = {number: spawn("encode", "-", "--output", f"{number}.npy", "--batch-size", "1") for number in SIGNALS}
    for process in processes.values():
        assert process.stdin is not None
        process.stdin.write("A dog.\n" * 70)
        process.stdin.flush()
    deadline = time.monotonic() + 120
    while len([path for path in tmp_path.glob(".*.partial.npy") if path.stat().st_size > 0]) < len(SIGNALS):
        assert time.monotonic() < deadline
        assert all(process.poll() is None for process in processes.values())
        time.sleep(0.1)
    for number, process in processes.items():
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (128 + number, "", "")
    assert not list(tmp_path.iterdir())
