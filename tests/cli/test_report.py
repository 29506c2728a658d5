"""`isotrope report`, and the page at the end of `train` and `tune`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from pyarrow import parquet

from isotrope.text import bundled_sentences

from .conftest import Outcome

STEPS = ("--steps", "2", "--set", "training.batch_size=8")


def write(name: str, count: int) -> None:
    Path(name).write_text("\n".join(bundled_sentences()[:count]) + "\n", encoding="utf-8")


def test_train_ends_with_a_page_and_report_makes_it_again(run: Callable[..., Outcome], tiny: str) -> None:
    write("text.txt", 60)
    done = run("train", "text.txt", "-o", "one", "-m", tiny, "-r", "simcse", *STEPS, "--report", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["report"] == "one/report.html"
    first = Path("one/report.html").read_text(encoding="utf-8")
    assert "60 texts from text.txt" in first
    again = run("report", "one", "--parquet", "map.parquet")
    assert again.code == 0, again.err
    assert again.out.splitlines()[-2:] == ["Written: one/report.html", "Written: map.parquet"]
    assert Path("one/report.html").read_text(encoding="utf-8") == first
    assert parquet.read_table("map.parquet").num_rows == 60
    for given, said in (
        (("one", "-o", "page.txt"), "must end in .html"),
        (("one", "--parquet", "map.parquet"), "map.parquet: exists already; give --force to overwrite it"),
        (("two",), "two: no such folder"),
        (("one", "--text", "none.txt"), "none.txt"),
        (("one", "--columns", "a,b"), "give it with --text"),
    ):
        refused = run("report", *given)
        assert refused.code == 2, given
        assert said in refused.err
        assert len(refused.err.splitlines()) == 1


def test_a_page_that_can_not_be_written_is_a_line_and_no_failure(run: Callable[..., Outcome], tiny: str) -> None:
    write("text.txt", 9)
    done = run("train", "text.txt", "-o", "few", "-m", tiny, "-r", "simcse", *STEPS, "--report")
    assert done.code == 0
    assert "No report: the corpus (text.txt): a report needs at least 10 different texts, and there are 9" in done.err
    assert "The encoder is in few/encoder" in done.out


def test_tune_ends_with_a_page_of_its_trials(run: Callable[..., Outcome], tiny: str) -> None:
    texts = bundled_sentences()[:260]
    rows = "".join(f'"{text}",{"ab"[k % 2]}\n' for k, text in enumerate(texts))
    Path("table.csv").write_text(f"title,half\n{rows}", encoding="utf-8")
    done = run(
        *(
            "tune",
            "table.csv",
            "--column",
            "title",
            "-o",
            "tuned",
            "-m",
            tiny,
            "--budget",
            "10m",
            "--candidates",
            "smooth:topics",
        ),
        "--report",
    )
    assert done.code == 0, done.err
    assert "Report on all trials: tuned/report.html" in done.out
    page = Path("tuned/report.html").read_text(encoding="utf-8")
    assert ">Trials</h2>" in page
    assert "smooth:topics" in page
    assert "isotrope index table.csv --column title --model tuned/encoder" in re.sub("<[^>]+>", "", page)
    assert "<option>half</option>" in page
    assert run("report", "tuned").code == 0


def test_seeds_are_set_side_by_side(run: Callable[..., Outcome], tiny: str) -> None:
    write("text.txt", 40)
    done = run(*("train", "text.txt", "-o", "runs", "-m", tiny, "-r", "simcse", "--seeds", "2", *STEPS), "--report")
    assert done.code == 0, done.err
    assert "Report on all runs: runs/report.html" in done.out
    page = Path("runs/report.html").read_text(encoding="utf-8")
    assert "runs/seed-1" in page
    assert "runs/seed-2" in page
