from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.evaluation.models import ModelGroup, encoder_folder, group_models
from isotrope.evaluation.provenance import training_text
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus


def make_run(folder: Path, *, seed: int = 1, text: str = "A cat.", stages: int = 1, **settings: Any) -> str:
    """A run folder as `isotrope train` leaves it, as far as evaluation looks into it."""
    (folder / "encoder").mkdir(parents=True)
    stage: dict[str, Any] = {"training": {"seed": seed, "steps": 3}}
    begun = {"recipe": "sg", "model": "bundled", **settings}
    begun |= stage if stages == 1 else {"stages": [stage] * stages}
    (folder / "run.json").write_text(json.dumps(begun))
    for number in range(1, stages + 1):
        build_corpus([[text]], ("text",), folder / (f"stage-{number}/corpus" if stages > 1 else "corpus"))
    return str(folder)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_models_by_themselves_are_a_group_each() -> None:
    assert group_models(["bundled", "org/name", "bundled"]) == [
        ModelGroup("bundled", ("bundled",)),
        ModelGroup("org/name", ("org/name",)),
        ModelGroup("bundled", ("bundled",)),
    ]


def test_a_name_joins_models(here: Path) -> None:
    assert group_models(["x=a,b", "minilm", "x=c", "y=d"]) == [
        ModelGroup("x", ("a", "b", "c")),
        ModelGroup("minilm", ("minilm",)),
        ModelGroup("y", ("d",)),
    ]
    (here / "lr=1e-4,b=2").mkdir()
    assert group_models(["lr=1e-4,b=2"]) == [ModelGroup("lr=1e-4,b=2", ("lr=1e-4,b=2",))]
    for wrong in ("=a", "x=", "x=a,,b"):
        with pytest.raises(IsotropeError, match="a row of several models is written NAME=MODEL,MODEL"):
            group_models([wrong])


@pytest.mark.parametrize("stages", [1, 2])
def test_runs_that_differ_in_the_seed_alone_are_one_group(stages: int) -> None:
    runs = [make_run(Path("runs", f"sg-{seed}"), seed=seed, stages=stages) for seed in (1, 2, 3)]
    assert group_models([runs[0], "minilm", *runs[1:]]) == [
        ModelGroup("runs/sg", tuple(runs)),
        ModelGroup("minilm", ("minilm",)),
    ]
    assert group_models([f"{run}/encoder" for run in runs]) == [
        ModelGroup(f"{run}/encoder", (f"{run}/encoder",)) for run in runs
    ]


def test_runs_that_differ_otherwise_are_not() -> None:
    runs = [
        make_run(Path("runs/a"), seed=1),
        make_run(Path("runs/same-seed"), seed=1),
        make_run(Path("runs/recipe"), seed=2, recipe="simcse"),
        make_run(Path("runs/text"), seed=3, text="A dog."),
    ]
    assert group_models(runs) == [ModelGroup(run, (run,)) for run in runs]
    assert group_models([runs[0], "x=runs/recipe"])[0] == ModelGroup("runs/a", ("runs/a",))


def test_seeds_that_share_no_name_are_all_named() -> None:
    runs = [make_run(Path(name), seed=seed) for seed, name in enumerate(("runs/a", "runs/b"))]
    assert group_models(runs) == [ModelGroup("runs/a, runs/b", tuple(runs))]


def test_the_encoder_of_a_run(here: Path) -> None:
    run = make_run(here / "run")
    assert encoder_folder(run) == str(here / "run" / "encoder")
    assert encoder_folder("minilm") == "minilm"
    (here / "run" / "encoder").rmdir()
    with pytest.raises(IsotropeError, match="this run has no encoder yet; resume it until it is finished"):
        encoder_folder(run)


def test_training_text_goes_back_from_run_to_run(here: Path) -> None:
    first = make_run(here / "first", stages=2)
    second = make_run(here / "second", model=f"{first}/encoder")
    corpora = [here / "second" / "corpus", *(here / "first" / f"stage-{i}" / "corpus" for i in (1, 2))]
    assert training_text(second) == training_text(f"{second}/encoder") == corpora


def test_without_its_run_an_encoder_may_have_seen_anything(here: Path) -> None:
    make_run(here / "run")
    (here / "run" / "encoder").rename(here / "copy")
    for model in ("bundled", "minilm", "org/name", "copy", "run/checkpoint-1"):
        assert training_text(model) is None
    for file in (here / "run" / "corpus").iterdir():
        file.unlink()
    assert training_text("run") is None


def test_a_run_that_can_not_be_read_is_one_line(here: Path) -> None:
    make_run(here / "run")
    (here / "run" / "run.json").write_text("{")
    with pytest.raises(IsotropeError, match=r"^run/run\.json: can't be read .*; give run/encoder instead$"):
        group_models(["run"])


def test_real_runs_are_recognised(here: Path) -> None:
    small = isotrope.load(pooling="mean@1").save(here / "small")
    sentences = bundled_sentences()[:40]
    for seed in (1, 2):
        settings = {"training.batch_size": 16}
        isotrope.train(sentences, "simcse", small, f"runs/s{seed}", steps=1, seed=seed, set=settings)
    assert group_models(["runs/s1", "runs/s2"]) == [ModelGroup("runs/s", ("runs/s1", "runs/s2"))]
    assert training_text("runs/s1/encoder") == [Path("runs/s1/corpus")]
