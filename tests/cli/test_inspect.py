from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.table import Table
from sentence_transformers import SentenceTransformer

import isotrope
import isotrope.evaluation
from isotrope.encoders import ForeignEncoder
from isotrope.encoders.loading import BUNDLED
from isotrope.evaluation import Inspections
from isotrope.evaluation.geometry import effective_rank, mean_cosine, uniformity
from isotrope.evaluation.geometry.inspection import inspect_encoder, reading
from isotrope.evaluation.label_free.sampling import sample_sentences
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
SENTENCES = bundled_sentences()[:150]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "own.txt").write_text("\n".join([*SENTENCES, *SENTENCES[:50]]))
    return tmp_path


def test_json_is_what_the_library_finds_on_a_sample_without_repetition(corpus: Path, run: Run) -> None:
    done = run("inspect", "bundled", "own.txt", "--sentences", "40", "--seed", "3", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    (entry,) = found["models"]
    sentences, encoder = sample_sentences(SENTENCES, 40, 3), isotrope.load()
    vectors = encoder.encode(sentences)
    assert (found["corpus"], entry["model"], entry["sentences"], entry["dim"]) == ("own.txt", "bundled", 40, 256)
    for name, figure in (("mean_cosine", mean_cosine), ("uniformity", uniformity), ("effective_rank", effective_rank)):
        assert entry[name] == pytest.approx(figure(vectors), rel=1e-3)
    assert len(entry["spectrum"]) == 40
    assert sum(entry["spectrum"]) == pytest.approx(1, abs=0.01)
    assert {"[CLS]", "[SEP]"} < set(list(entry["tokens"])[:4])
    assert entry["sensitivity"]["mean_cosine"][0] == pytest.approx(entry["mean_cosine"], rel=1e-3)
    assert entry["sensitivity"]["removed"] == [0, 2, 10, 20, 34, 50, 100]
    assert entry["graded"] is None
    assert f"mean cosine of {entry['mean_cosine']:.2f}" in entry["reading"][0]


def test_python_and_the_command_line_agree(corpus: Path, run: Run) -> None:
    arguments = ("inspect", "bundled", "own.txt", "--sentences", "40", "--task", "bundled")
    found = isotrope.evaluation.inspect("bundled", "own.txt", sentences=40, task="bundled")
    assert run(*arguments, "--json").out == found.json()
    assert [line.rstrip() for line in run(*arguments).out.splitlines()] == str(found).splitlines()
    same = isotrope.evaluation.inspect(isotrope.load(), [*SENTENCES, *SENTENCES[:50]], sentences=40, task="bundled")
    assert same.as_dict()["models"] == found.as_dict()["models"]


def test_a_page_for_people_and_a_picture(corpus: Path, run: Run) -> None:
    pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'isotrope[plots]'")
    done = run(
        "inspect", "bundled", "bundled", "own.txt", "--sentences", "30", "--task", "bundled", "--plot", "space.svg"
    )
    assert done.code == 0
    assert "30 sentences from own.txt" in done.out
    for words in ("Effective rank", "First 10 directions", "Without 34 tokens", "Spearman x 100 on bundled"):
        assert words in done.out
    assert done.out.count("- The most frequent tokens: ") == 2
    assert "how the vectors are spread, not how good they are" in done.out
    assert done.err == "Picture: space.svg\n"
    assert "<svg" in Path("space.svg").read_text()
    assert sorted(path.name for path in Path().iterdir()) == ["own.txt", "space.svg"]


def test_text_without_long_sentences_has_no_alignment(run: Run) -> None:
    short = "\n".join(f"Word number {i}." for i in range(30)).encode()
    done = run("inspect", "bundled", "-", "--json", stdin=short)
    (entry,) = json.loads(done.out)["models"]
    assert (entry["alignment"], entry["halves"]) == (None, 0)
    assert math.isnan(inspect_encoder(isotrope.load(), [f"Word number {i}." for i in range(30)]).alignment)


def test_an_encoder_of_another_make_has_no_tokens_to_leave_out() -> None:
    encoder = isotrope.load()
    plain = ForeignEncoder(
        SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32}), "plain"
    )
    whole, other = (inspect_encoder(one, SENTENCES[:30]) for one in (encoder, plain))
    assert other.mean_cosine == pytest.approx(whole.mean_cosine, abs=1e-5)
    assert (other.tokens, other.sensitivity, other.graded) == ({}, None, None)
    assert len(reading(other)) == 2 < len(reading(whole))
    table = next(Inspections([other, whole]).parts())
    assert isinstance(table, Table)
    assert next(iter(table.columns[1].cells)) == f"{other.mean_cosine:.3f}"
    assert list(table.columns[1].cells)[-1] == "-"


BAD = {
    "19 different sentences; at least 20 are needed": ("inspect", "bundled", "few.txt"),
    "none.txt: no such file": ("inspect", "bundled", "none.txt"),
    "available offline: bundled": ("inspect", "bundled", "someone/something", "own.txt"),
    "Missing argument 'MODEL...'": ("inspect", "own.txt"),
    "must end in .png or .svg or .pdf": ("inspect", "bundled", "own.txt", "--plot", "x.jpg"),
    "unknown task 'stbs' (did you mean 'stsb'?)": ("inspect", "bundled", "own.txt", "--task", "stbs"),
    "greater than or equal to 20": ("inspect", "bundled", "own.txt", "--sentences", "5"),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_line(corpus: Path, run: Run, message: str) -> None:
    Path("few.txt").write_text("\n".join(SENTENCES[:19] + SENTENCES[:9]))
    done = run(*BAD[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert sorted(path.name for path in Path().iterdir()) == ["few.txt", "own.txt"]
