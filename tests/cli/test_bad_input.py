"""Bad input is one clear line, exit code 2, and nothing written."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

FILES = {
    "good.txt": b"A dog.\n",
    "good.csv": b"id,title\n1,A dog.\n",
    "empty.txt": b"",
    "blank.txt": b"\n \n",
    "latin.txt": "A dog.\nA café.\n".encode("latin-1"),
    "picture.txt": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "cut.txt.gz": gzip.compress(b"A dog.\n" * 999)[:-9],
    "numbers.csv": b"id,score\n1,2.5\n",
    "header.csv": b"id,text\n",
    "words.docx": b"A dog.\n",
    "there.npy": b"mine",
    "there.png": b"mine",
    "folder/notes.txt": b"not a model\n",
    "data/stsb/stsb.tsv": b"split\tscore\tsentence1\tsentence2\ntest\thigh\ta\tb\n",
}
TO = ("--output", "x.npy")
BAD = {
    # encode: the input
    "no such file": ("encode", "none.txt", *TO),
    "the file is empty": ("encode", "empty.txt", *TO),
    "no sentences in it (blank lines only)": ("encode", "blank.txt", *TO),
    "latin.txt: line 2: byte 0xe9 at position 6 is not UTF-8": ("encode", "latin.txt", *TO),
    "a binary file, not text": ("encode", "picture.txt", *TO),
    "not a complete gzip file": ("encode", "cut.txt.gz", *TO),
    "no column 'text'; it has: id, title": ("encode", "good.csv", "--column", "text", *TO),
    "which column? Name one with --column: title": ("encode", "good.csv", *TO),
    "no column with text; it has: id, score": ("encode", "numbers.csv", *TO),
    "header.csv: no sentences in it": ("encode", "header.csv", *TO),
    "unknown kind of file; one of .txt, .csv, .tsv, .jsonl, .parquet": ("encode", "words.docx", *TO),
    "a folder, but a file is needed; give the files in it, such as folder/*.txt": ("train", "folder", "-o", "x"),
    "--join joins several columns; name them with --columns": ("encode", "good.csv", *TO, "--join", " "),
    "give --column or --columns, not both": ("encode", "good.csv", *TO, "--column", "id", "--columns", "id,title"),
    "a development set in --dev, or tasks in --tasks": ("sweep", "simcse", "good.txt", "--grid", "training.seed=1,2"),
    "plain text has no columns": ("encode", "good.txt", "--column", "text", *TO),
    "standard input: no sentences": ("encode", "-", *TO),
    # encode: the output
    "there.npy: exists already; give --force": ("encode", "good.txt", "--output", "there.npy"),
    "must end in .npy or .parquet": ("encode", "good.txt", "--output", "x.csv"),
    "there is no folder 'none'": ("encode", "good.txt", "--output", "none/x.npy"),
    # models and poolings, wherever they are named
    "'folder' is not a model folder": ("encode", "good.txt", *TO, "--model", "folder"),
    "'good.txt' is a file; a model is a folder": ("layers", "good.txt"),
    "there is no model folder './none'": ("layers", "./none"),
    "available offline: bundled": ("encode", "good.txt", *TO, "--model", "someone/something"),
    "(did you mean 'bundled'?)": ("evaluate", "bundled", "bundle"),
    "unknown pooling 'men' (did you mean 'mean'?)": ("encode", "good.txt", *TO, "--pooling", "men"),
    "unknown pooling 'clss' (did you mean 'cls'?)": ("evaluate", "bundled", "--pooling", "mean,clss"),
    "this encoder's layers are 0 to 4": ("evaluate", "bundled", "--pooling", "mean@5"),
    "there is no device 'nonsense'": ("encode", "good.txt", *TO, "--device", "nonsense"),
    # tasks
    "unknown task 'stbs' (did you mean 'stsb'?)": ("evaluate", "bundled", "--tasks", "bundled,stbs"),
    "unknown task 'sts18'": ("layers", "bundled", "--task", "sts18"),
    "task 'bundled' has no split 'train'; it has: dev, test": ("evaluate", "bundled", "--split", "train"),
    "none: no such folder of data sets": ("evaluate", "bundled", "--tasks", "stsb", "--data", "none"),
    "line 2: the score 'high' is not a number": ("evaluate", "bundled", "--tasks", "stsb", "--data", "data"),
    "task 'sts12': no sts/sts12.tsv": ("evaluate", "bundled", "--tasks", "sts12", "--data", "data"),
    # layers and pretrain
    "must end in .png or .svg or .pdf": ("layers", "bundled", "--output", "x.jpg"),
    "there.png: exists already; give --force": ("layers", "bundled", "--output", "there.png"),
    "none.txt: no such file": ("pretrain", "good.txt", "none.txt:2", "--output", "run"),
    "latin.txt: line 2": ("pretrain", "latin.txt", "--output", "run"),
    "a weight must be above 0, not -1": ("pretrain", "good.txt:-1", "--output", "run"),
    "give files, not standard input": ("pretrain", "-", "--output", "run"),
    "dim 30 is not a multiple of heads 4": ("pretrain", "good.txt", "--output", "run", "--dim", "30"),
    "nothing to resume": ("pretrain", "good.txt", "--output", "run", "--resume"),
    "Invalid value for '--tokenizer'": ("pretrain", "good.txt", "--output", "run", "--tokenizer", "none"),
}


def listing() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("message", BAD)
def test_it_is_one_line_and_nothing_is_written(folder: Path, run: Run, message: str) -> None:
    before = set(Path().rglob("*"))
    done = run(*BAD[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("Error: ")
    assert message in done.err
    assert set(Path().rglob("*")) == before
    assert listing() == FILES


def test_an_unknown_model_without_a_network(folder: Path, spawn: Callable[..., subprocess.Popen[str]]) -> None:
    """As a person types it, not told to be offline: nobody listens at the Hub's address."""
    arguments = ("encode", "good.txt", *TO, "--model", "someone/something")
    process = spawn(*arguments, HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="")
    out, err = process.communicate(timeout=60)  # the Hub's client alone would take 70 s
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("Error: no folder 'someone/something' here")
    assert "no network" in err
    assert "available offline: bundled" in err
    assert not (folder / "x.npy").exists()
