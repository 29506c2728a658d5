from __future__ import annotations

import json
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from isotrope.text.files import read_table
from isotrope.text.pairs import clean_pairs, entailment_pairs

Run = Callable[..., Any]
NLI = """\
premise	hypothesis	label
A man sleeps.	A person rests.	entailment
A man sleeps.	A man runs.	contradiction
A man sleeps.	A man dreams.	neutral
A dog runs.	An animal moves.	0
A dog runs.	An animal moves.	entailment
A cat sits.	A cat is there.	-
"""
PAIRS = """\
zh	en
你好。	Hi.
你好。	Hi.
孩子们正在花园里玩耍。	The children are playing in the garden.
孩子们正在花园里玩耍。	Children play in the garden.
The same.	The same.
Nicht chinesisch, leider.	Not Chinese, I am afraid.
	The children.
"""


@pytest.fixture(autouse=True)
def _without_language_identification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isotrope.text.parallel.language_identifier", lambda: None)


# -- entailment ------------------------------------------------------------------------------------------------------


def test_entailment_pairs(run: Run) -> None:
    Path("nli.tsv").write_text(NLI)
    done = run("pairs", "entailment", "nli.tsv", "--output", "pairs.tsv")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "pairs.tsv: 2 pairs (view1, view2) from 5 labelled rows; "
        "1 row without a gold label and 0 with a blank field left out\n"
    )
    assert Path("pairs.tsv").read_text() == (
        "view1\tview2\nA man sleeps.\tA person rests.\nA dog runs.\tAn animal moves.\n"
    )


def test_entailment_triplets(run: Run) -> None:
    Path("nli.tsv").write_text(NLI)
    assert run("pairs", "entailment", "nli.tsv", "--triplets", "--output", "t.parquet").code == 0
    texts = ("A man sleeps.", "A person rests.", "A man runs.")
    assert list(read_table("t.parquet")) == [dict(zip(("anchor", "positive", "negative"), texts, strict=True))]


def test_bad_nli(run: Run) -> None:
    Path("nli.tsv").write_text(NLI.replace("entailment", "neutral").replace("\t0", "\t1"))
    done = run("pairs", "entailment", "nli.tsv", "--output", "x.tsv")
    assert (done.code, done.out) == (2, "")
    assert done.err == "Error: the corpus (nli.tsv): no pair in it is labelled entailment\n"
    Path("nli.tsv").write_text(NLI.replace("contradiction", "neutral"))
    done = run("pairs", "entailment", "nli.tsv", "--triplets", "--output", "x.tsv")
    assert done.err == "Error: the corpus (nli.tsv): no premise in it has both an entailment and a contradiction\n"
    assert [path.name for path in Path().iterdir()] == ["nli.tsv"]


# -- clean -----------------------------------------------------------------------------------------------------------


def test_clean(run: Run) -> None:
    Path("wmt.tsv").write_text(PAIRS)
    done = run("pairs", "clean", "wmt.tsv", "--source", "zh", "--target", "en", "--output", "clean.jsonl.gz")
    assert (done.code, done.err) == (0, "")
    counts = dict(re.findall(r"│ ([a-z ]+?) +│ [^│]*│ +(\d+) │", done.out))
    assert {rule: n for rule, n in counts.items() if n != "0"} == {
        "empty": "1",
        "identical": "1",
        "script": "1",
        "duplicate": "1",
    }
    assert "Nicht chinesisch, leider. | Not Chinese, I am afraid." in done.out
    assert "Not checked: language: pip install py3langid\n" in done.out
    assert re.search(r"clean\.jsonl\.gz: 3 of 7 pairs kept, \d+\.\d s, [\d,]+ pairs/s\n$", done.out)
    assert [row["target"] for row in read_table("clean.jsonl.gz")] == [
        "Hi.",
        "The children are playing in the garden.",
        "Children play in the garden.",
    ]


def test_one_translation_of_each_source(run: Run) -> None:
    Path("a.tsv").write_text(PAIRS)
    Path("b.jsonl").write_text(json.dumps({"source": "你好。", "target": "Hello."}))
    options = ("--source", "zh", "--target", "en", "--one-per-source", "--json")
    done = run("pairs", "clean", "a.tsv", "b.jsonl", *options, "--output", "clean.tsv")
    found = json.loads(done.out)
    assert (found["pairs"], found["kept"], found["off"]) == (8, 2, ["language: pip install py3langid"])
    assert found["dropped"]["same source"] == 2
    assert [row["target"] for row in read_table("clean.tsv")] == ["Hi.", "The children are playing in the garden."]


def test_markup_and_control_characters_in_examples_are_harmless(run: Run) -> None:
    Path("x.tsv").write_text(
        "en\tde\n[bold]A dog[/] barks.\t[bold]a dog[/] barks.\nA\x1b[31m dog\tEin Hund\nHello.\tHallo.\n"
    )
    done = run("pairs", "clean", "x.tsv", "--source", "en", "--target", "de", "--output", "y.tsv")
    assert "[bold]A dog[/] barks. | [bold]a dog[/] barks." in done.out
    assert "A\ufffd[31m dog | Ein Hund" in done.out
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nix.tsv", "--source", "zh", "--target", "en"), "nix.tsv: no such file"),
        (("x.tsv", "--source", "de", "--target", "en"), "x.tsv: the columns must be de and en, or source and target;"),
        (("x.tsv", "--source", "zh"), "Missing option '--target'; see isotrope pairs clean --help"),
        (("bad.tsv", "--source", "zh", "--target", "en"), "bad.tsv: of 1 pair none is left (script 1)"),
        (("none.tsv", "--source", "zh", "--target", "en"), "none.tsv: of 0 pairs none is left (it is empty)"),
        (
            ("x.tsv", "--source", "zh", "--target", "en", "--output", "x.csv"),
            "x.csv: the output's name must end in .tsv",
        ),
        (("x.tsv", "--source", "zh", "--target", "en", "--output", "x.tsv"), "x.tsv: exists already; give --force"),
        (("x.tsv", "--source", "zh", "--target", "en", "--max-ratio", "0.5"), "Invalid value for '--max-ratio'"),
    ],
)
def test_mistakes(run: Run, arguments: tuple[str, ...], message: str) -> None:
    Path("x.tsv").write_text(PAIRS)
    Path("bad.tsv").write_text("zh\ten\nnot Chinese\tbut English\n")
    Path("none.tsv").write_text("zh\ten\n")
    before = sorted(Path().iterdir())
    output = () if "--output" in arguments else ("--output", "y.tsv")
    done = run("pairs", "clean", *arguments, *output)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {message}")
    assert done.err.count("\n") == 1
    assert sorted(Path().iterdir()) == before


def test_help(run: Run) -> None:
    assert run("pairs").out == run("pairs", "--help").out
    assert "entailment" in run("pairs").out


@pytest.mark.parametrize("output", ["y.tsv", "y.jsonl.gz", "y.parquet"])
def test_a_full_disk_leaves_nothing_behind(run: Run, output: str) -> None:
    lines = [f"这是第{i}个句子。\tThis is sentence number {i}.\n" for i in range(20_000)]
    Path("x.tsv").write_text("zh\ten\n" + "".join(lines))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        done = run("pairs", "clean", "x.tsv", "--source", "zh", "--target", "en", "--output", output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.code, done.out) == (2, "")
    assert re.fullmatch(rf"Error: {re.escape(output)}: can't be written \(.*File too large\)\n", done.err)
    assert [path.name for path in Path().iterdir()] == ["x.tsv"]


def test_a_kill_leaves_nothing_behind(spawn: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> None:
    """Stopped in the midst of it, with rows written already."""
    with (tmp_path / "x.tsv").open("w") as file:
        file.write("zh\ten\n")
        file.writelines(f"这是第{i}个句子。\tThis is sentence number {i}.\n" for i in range(400_000))
    for number in (signal.SIGINT, signal.SIGTERM):
        process = spawn("pairs", "clean", "x.tsv", "--source", "zh", "--target", "en", "--output", "y.tsv")
        deadline = time.monotonic() + 120
        while not [path for path in tmp_path.glob(".*.partial.tsv") if path.stat().st_size > 0]:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (128 + number, "", "")
        assert [path.name for path in tmp_path.iterdir()] == ["x.tsv"]


def test_the_command_line_and_python_agree(run: Run) -> None:
    Path("wmt.tsv").write_text(PAIRS)
    Path("nli.tsv").write_text(NLI)
    told = json.loads(run("pairs", "clean", "wmt.tsv", "--source", "zh", "--target", "en", "-o", "s.tsv", "--json").out)
    cleaned = clean_pairs(Path("wmt.tsv"), "zh", "en", "p.tsv")
    assert Path("s.tsv").read_bytes() == Path("p.tsv").read_bytes()
    assert (told["pairs"], told["kept"], told["dropped"]) == (cleaned.seen, len(cleaned), cleaned.dropped)
    for option, triplets in (((), False), (("--triplets",), True)):
        assert run("pairs", "entailment", "nli.tsv", *option, "--force", "-o", "s.tsv").code == 0
        taken = entailment_pairs(Path("nli.tsv"), "p.tsv", triplets=triplets, force=True)
        assert Path("s.tsv").read_bytes() == Path("p.tsv").read_bytes()
        assert list(taken) == list(entailment_pairs(list(read_table("nli.tsv")), triplets=triplets))
