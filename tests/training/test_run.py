"""A run folder: what is in it, what is refused, and what one stage hands to the next."""

from __future__ import annotations

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

import isotrope
from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.text.corpus import Corpus, build_corpus
from isotrope.text.plan import held_out_rows, plan_batches
from isotrope.training import checkpoints
from isotrope.training.run import train
from isotrope.training.run_folder import differences
from isotrope.training.teacher_cache import VectorCache

TEXTS = bundled_sentences()[:120]
PAIRS = [{"source": one, "target": other} for one, other in zip(TEXTS[:60], TEXTS[60:], strict=True)]
SETTINGS: dict[str, Any] = {
    "training.batch_size": 8,
    "training.eval_steps": 2,
    "training.save_steps": 2,
    "training.learning_rate": 1e-3,
}
NARROW = SETTINGS | {"heads.projection.width": 16}  # the paper's 4,096 would be most of a small run


def encoder_of(run: Path) -> dict[str, Tensor]:
    return load_file(run / "encoder" / "model.safetensors")


def differ(one: dict[str, Tensor], other: dict[str, Tensor]) -> list[str]:
    assert one.keys() == other.keys()
    return [key for key, value in one.items() if not torch.equal(value, other[key])]


def log_of(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def done(small: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """A finished run, and what it was called with. Nobody may change it."""
    output = tmp_path_factory.mktemp("done") / "run"
    arguments: dict[str, Any] = {"sentences": TEXTS, "recipe": "sg-opt", "model": small, "output": output}
    arguments |= {"steps": 4, "set": NARROW}
    train(**arguments)
    return output, arguments


def test_the_folder_holds_recipe_log_checkpoint_and_encoder(done: tuple[Path, dict[str, Any]]) -> None:
    run, _ = done
    assert {path.name for path in run.iterdir()} == {
        *("run.json", "recipe.toml", "log.jsonl", "corpus", "encoder", "result.json"),
    }  # fmt: skip
    written = recipes.load(run / "recipe.toml")
    assert written == recipes.load("sg-opt", NARROW | {"training.steps": 4})
    saved = isotrope.load(run / "encoder")
    assert str(saved.pooling) == "cls"
    assert saved.encode(TEXTS[:2]).shape == (2, saved.dim)
    assert "sg-opt" in (run / "encoder" / "README.md").read_text()


def test_a_finished_run_takes_little_more_room_than_its_encoder(done: tuple[Path, dict[str, Any]]) -> None:
    run, arguments = done
    before = {file: file.stat().st_mtime_ns for file in (run / "encoder").rglob("*")}
    sizes = {folder: sum(file.stat().st_size for file in folder.rglob("*")) for folder in (run, run / "encoder")}
    assert sizes[run] < 1.2 * sizes[run / "encoder"]
    again = train(**arguments, resume=True)  # there is nothing left to do
    assert again.steps == 4
    assert {file: file.stat().st_mtime_ns for file in (run / "encoder").rglob("*")} == before


def test_the_same_seed_makes_the_same_encoder_and_another_another(
    done: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    run, arguments = done
    torch.rand(3)  # what was drawn before does not matter
    returned = train(**arguments | {"output": tmp_path / "again", "sentences": iter(TEXTS)})
    assert differ(encoder_of(tmp_path / "again"), encoder_of(run)) == []
    assert np.array_equal(returned.encode(TEXTS[:3]), isotrope.load(run / "encoder").encode(TEXTS[:3]))
    train(**arguments | {"output": tmp_path / "other"}, seed=2)
    assert "encoder.layer.0.output.dense.weight" in differ(encoder_of(tmp_path / "other"), encoder_of(run))


def test_without_a_development_set_rows_are_held_out_and_the_last_checkpoint_is_kept(
    done: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    _, arguments = done
    run = tmp_path / "run"
    train(**arguments | {"output": run, "set": NARROW | {"training.keep_checkpoints": True}})
    corpus = Corpus(run / "corpus")
    held_out = held_out_rows(corpus, 256)
    plan = plan_batches(corpus, batch_size=8, steps=4, seed=1, held_out=held_out)
    planned = np.stack([plan[k] for k in range(len(plan))])
    assert len(held_out) > 1
    assert planned.shape == (4, 8)
    assert not set(planned.ravel().tolist()) & set(held_out)
    assert not set(corpus.keys[planned.ravel(), 0].tolist()) & set(corpus.keys[held_out, 0].tolist())
    assert all("eval_held_out_loss" in line for line in log_of(run) if "eval_uniformity" in line)
    student = load_file(run / "checkpoint-4" / "model.safetensors")
    key = "encoder.layer.0.output.dense.weight"
    assert torch.equal(encoder_of(run)[key], student[f"student.backbone.model.{key}"])


def test_with_one_all_rows_are_trained_on_and_its_score_is_logged(small: str, tmp_path: Path) -> None:
    dev = tmp_path / "dev.tsv"
    rows = [f"{one}\t{other}\t{k % 6}" for k, (one, other) in enumerate(zip(TEXTS[:12], TEXTS[12:24], strict=True))]
    dev.write_text("\n".join(["sentence1\tsentence2\tscore", *rows]))
    run = tmp_path / "run"
    train(TEXTS[:40], "sg-opt", small, run, dev=dev, set=NARROW)  # one epoch: five batches of eight
    measured = [line for line in log_of(run) if "eval_uniformity" in line]
    assert [line["step"] for line in measured] == [0, 2, 4, 5]
    assert all(-100 <= line["eval_spearman"] <= 100 and "eval_held_out_loss" not in line for line in measured)


# -- refusals ----------------------------------------------------------------------------------------------------------


def begun(run: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in run.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seed": 7}, "settings differ from the original run: training.seed 1 -> 7"),
        ({"steps": 5}, "training.steps 4 -> 5"),
        ({"set": NARROW | {"objective.temperature": 0.5}}, "objective.temperature 0.01 -> 0.5"),
        ({"recipe": "sg"}, "recipe 'sg-opt:paper' -> 'sg:paper'"),
        ({"recipe": "sg-opt:official"}, "recipe 'sg-opt:paper' -> 'sg-opt:official'"),
        ({"model": "bundled"}, "encoder' -> 'bundled'"),
        ({"dev": "bundled"}, "dev None -> 'bundled'"),
        ({"unit": "sentence"}, "unit 'auto' -> 'sentence'"),
        ({"sentences": TEXTS[1:]}, "the text is not that of the original run: .*rows 120 -> 119"),
        ({"sentences": TEXTS[::-1]}, "the text is not that of the original run"),
    ],
)
def test_another_run_is_not_resumed(done: tuple[Path, dict[str, Any]], changes: dict[str, Any], words: str) -> None:
    run, arguments = done
    before = begun(run)
    with pytest.raises(IsotropeError, match=words) as told:
        train(**arguments | changes, resume=True)
    assert "\n" not in str(told.value)
    assert begun(run) == before


def test_a_run_from_before_there_were_units_is_resumed(done: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    shutil.copytree(done[0], tmp_path / "run")
    settings = json.loads((tmp_path / "run" / "run.json").read_text())
    assert settings.pop("unit") == "auto"
    (tmp_path / "run" / "run.json").write_text(json.dumps(settings))
    assert train(**done[1] | {"output": tmp_path / "run"}, resume=True).steps == 4


def test_what_is_done_stays_as_it_is(done: tuple[Path, dict[str, Any]]) -> None:
    run, arguments = done
    with pytest.raises(IsotropeError, match="exists already; resume that run"):
        train(**arguments)
    before = {path: seen for path, seen in begun(run).items() if "corpus" not in path}
    encoder = train(**arguments, resume=True)
    assert {path: seen for path, seen in begun(run).items() if "corpus" not in path} == before
    assert np.array_equal(encoder.encode(TEXTS[:3]), isotrope.load(run / "encoder").encode(TEXTS[:3]))


@pytest.mark.parametrize(
    ("written", "advice"), [(0, "is none; .* then start it again"), (1, "is checkpoint-2; .* then resume the run")]
)
def test_after_a_full_disk_what_is_advised_works(
    done: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: int, advice: str
) -> None:
    run, arguments = done[0], done[1] | {"output": tmp_path / "run"}
    save = checkpoints._manifest

    def until_it_is_full(*given: Any) -> Any:
        if len(list((tmp_path / "run").glob("checkpoint-*"))) == written:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(*given)

    monkeypatch.setattr(checkpoints, "_manifest", until_it_is_full)
    with pytest.raises(IsotropeError, match=advice):
        train(**arguments)
    monkeypatch.undo()
    train(**arguments, resume="resume" in advice)
    assert differ(encoder_of(tmp_path / "run"), encoder_of(run)) == []


def test_there_must_be_something_to_resume(small: str, tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match="nothing to resume"):
        train(TEXTS, model=small, output=tmp_path / "run", resume=True)


@pytest.mark.parametrize(
    ("sentences", "words"),
    [
        (TEXTS[:7], "batch_size is 8: give more text or --set training.batch_size="),
        (["The same."] * 50, "one distinct sentence only"),
        ([], "no text was given|no sentences"),
    ],
)
def test_a_run_that_can_not_begin_leaves_its_place_free(
    small: str, tmp_path: Path, sentences: list[str], words: str
) -> None:
    with pytest.raises(IsotropeError, match=words):
        train(sentences, model=small, output=tmp_path / "run", set=SETTINGS)
    assert not (tmp_path / "run").exists()


def test_differences_name_each_place() -> None:
    before = {"a": {"b": 1, "c": [1, {"d": 2}]}, "e": "x"}
    assert differences(before, before) == []
    now = {"a": {"b": 2, "c": [1, {"d": None}]}, "f": True}
    assert differences(before, now) == ["a.b 1 -> 2", "a.c.1.d 2 -> None", "e 'x' -> None", "f None -> True"]


# -- several stages, and teachers --------------------------------------------------------------------------------------


def two_stages(folder: Path, second: str) -> Path:
    recipe = folder / "mine.toml"
    recipe.write_text(f"""
        [objective]
        kind = "nt-xent"
        [training]
        batch_size = 8
        steps = 2
        learning_rate = 1e-3
        warmup = 0
        [[stages]]
        training = {{ freeze_embeddings = true, dropout = 0.0 }}
        [[stages]]
        {second}
    """)
    return recipe


def test_a_stage_begins_with_what_the_one_before_made_and_with_nothing_else_of_it(small: str, tmp_path: Path) -> None:
    recipe, run = two_stages(tmp_path, ""), tmp_path / "run"
    result = train(iter(TEXTS), recipe=recipe, model=small, output=run)  # read once, though two stages need it
    start, first = isotrope.load(small), isotrope.load(run / "stage-1" / "encoder")
    words = [e.backbone.model.embeddings.word_embeddings.weight for e in (start, first, result.encoder)]
    assert torch.equal(words[0], words[1])
    assert not torch.equal(words[1], words[2])  # frozen in the first stage only
    assert differ(encoder_of(run), encoder_of(run / "stage-2")) == []
    changed = differ(encoder_of(run / "stage-1"), encoder_of(run / "stage-2"))
    assert "encoder.layer.0.output.dense.weight" in changed
    assert log_of(run / "stage-2")[0]["eval_alignment"] > 0  # dropout is on again
    assert log_of(run / "stage-1")[0]["eval_alignment"] == 0


def test_a_student_may_learn_from_what_it_began_as(small: str, tmp_path: Path) -> None:
    second = 'guide = { kind = "teacher", model = "previous" }\n        objective.kind = "info-nce"'
    run = tmp_path / "run"
    settings = {"stages.1.training.keep_checkpoints": True}
    train(TEXTS, recipe=two_stages(tmp_path, second), model=small, output=run, set=settings)
    weights = load_file(run / "stage-2" / "checkpoint-2" / "model.safetensors")
    key = "backbone.model.encoder.layer.0.output.dense.weight"
    made = encoder_of(run / "stage-1")[key.removeprefix("backbone.model.")]
    assert torch.equal(weights[f"guide.encoder.{key}"], made)
    assert not torch.equal(weights[f"student.{key}"], made)


def test_a_teacher_from_disk_teaches_the_same(small: str, tmp_path: Path) -> None:
    settings = SETTINGS | {"queue.size": 16, "training.max_length": 8, "training.dropout": 0.0}  # most are cut
    settings["training.keep_checkpoints"] = True
    for name, cache in (("disk", True), ("live", False)):
        arguments: dict[str, Any] = {"recipe": "parallel", "model": small, "teacher": small, "steps": 4}
        train(PAIRS, output=tmp_path / name, set=settings | {"guide.cache": cache}, **arguments)
    assert (tmp_path / "disk" / "teacher" / "vectors.npy").is_file()
    live, disk = (encoder_of(tmp_path / name) for name in ("live", "disk"))
    for key, value in live.items():
        assert torch.allclose(disk[key], value, atol=2e-4), key
    losses = [[line["loss"] for line in log_of(tmp_path / name) if "loss" in line] for name in ("live", "disk")]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_an_interrupted_cache_goes_on_where_it_was(small: str, tmp_path: Path) -> None:
    teacher = isotrope.load(small)
    corpus = build_corpus([PAIRS], ("source", "target"), tmp_path / "corpus")
    seen: list[int] = []
    tokenize = teacher.tokenize

    def counted(stop: int) -> Callable[..., list[list[int]]]:
        def call(texts: list[str], *args: Any) -> list[list[int]]:
            if len(seen) == stop:
                raise KeyboardInterrupt
            seen.append(len(texts))
            return tokenize(texts, *args)

        return call

    teacher.tokenize = counted(2)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        VectorCache(tmp_path / "teacher", len(corpus), teacher.dim).fill(corpus, "source", teacher, 16)
    teacher.tokenize = counted(99)  # type: ignore[method-assign]
    cache = VectorCache(tmp_path / "teacher", len(corpus), teacher.dim)
    cache.fill(corpus, "source", teacher, 16)
    assert seen == [16, 16, 16, 12]
    wanted = isotrope.load(small).encode([row["source"] for row in PAIRS])
    assert np.allclose(cache[list(range(60))], wanted, atol=1e-5)
    assert cache[[3, 1]].shape == (2, teacher.dim)


@pytest.mark.parametrize("there", [False, True])
def test_auto_is_settled_when_the_run_begins(
    there: bool, small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": there})
    train(TEXTS, "sg-opt", small, tmp_path / "run", steps=1, precision="auto", set=NARROW)
    settled = json.loads((tmp_path / "run" / "run.json").read_text())["training"]["precision"]
    assert settled == ("bfloat16" if there else "float32")


def test_a_resumed_run_computes_as_it_began_on_any_hardware(
    small: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"steps": 2, "set": NARROW, "precision": "auto", "output": tmp_path / "run"}
    for there in (True, False):
        monkeypatch.setattr(torch.cpu, "get_capabilities", lambda there=there: {"avx512_bf16": there})
        run = train(TEXTS, "sg-opt", small, resume=not there, **options)
        assert run.recipe.stages[0].training.precision == "bfloat16"


def test_a_fit_encodes_in_the_precision_of_its_recipe(small: str, tmp_path: Path) -> None:
    found = {
        kind: train(TEXTS, "smooth", small, tmp_path / kind, precision=kind).encoder for kind in ("float32", "bfloat16")
    }
    maps = [encoder.after_pooling[-1].linear.weight.detach() for encoder in found.values()]
    assert not torch.equal(*maps)
    assert torch.allclose(*maps, atol=0.02)
    assert {encoder.precision for encoder in found.values()} == {"float32"}  # what is made is not bound to it
