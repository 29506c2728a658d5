from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.evaluation.data.bitexts import load_tatoeba
from isotrope.evaluation.results.resampling import resampled
from isotrope.evaluation.senteval.classifiers import PROTOTYPING
from isotrope.evaluation.tasks import Task, open_task
from isotrope.evaluation.tasks.arguments import evaluate_arguments
from isotrope.evaluation.tasks.graded import GradedTask
from isotrope.evaluation.tasks.tatoeba import evaluate_tatoeba
from isotrope.evaluation.tasks.transfer import TransferTask
from isotrope.evaluation.vectors import remembered
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_pairs_path, bundled_sentences, read_table

from ..toys import evaluate_transfer


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture(autouse=True)
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Bundled pairs as STS13 of two subtasks, as arguments of two topics, as translations; sentences as SST-2."""
    for name in ("sts", "argsim", "parallel", "transfer"):
        (tmp_path / name).mkdir()
    rows = list(read_table(bundled_pairs_path()))[:60]
    pairs = [(row["score"], row["sentence1"], row["sentence2"]) for row in rows]
    write(
        tmp_path / "sts/sts13.tsv",
        "subtask score sentence1 sentence2",
        [("ab"[i % 2], *p) for i, p in enumerate(pairs)],
    )
    grades = {"0": "NS", "1": "NS", "2": "SS", "3": "SS", "4": "HS", "5": "HS"}
    labelled = [("ab"[i % 2], grades[score[0]], *both) for i, (score, *both) in enumerate(pairs)]
    write(tmp_path / "argsim/ukp_aspect.tsv", "topic label sentence1 sentence2", labelled)
    write(tmp_path / "parallel/tatoeba_laser.tsv", "lang en text", [("deu", *both) for _, *both in pairs])
    texts = [
        (("train", "dev", "test")[i % 3], str(len(text) % 2), text) for i, text in enumerate(bundled_sentences()[:90])
    ]
    write(tmp_path / "transfer/sst2_sentences.tsv", "split label text", texts)
    return tmp_path


def write(file: Path, columns: str, rows: list[tuple[str, ...]]) -> None:
    file.write_text("".join("\t".join(row) + "\n" for row in [columns.split(), *rows]))


def test_every_task_gives_the_figures_of_its_own_function(encoder: isotrope.Encoder, data: Path) -> None:
    with remembered(encoder, cache=False) as vectors:
        pairs = open_task("sts13", data=data).measure(vectors)
        arguments = open_task("arguments", data=data).measure(vectors)
        tatoeba = open_task("tatoeba:de", data=data).measure(vectors)
        transfer = open_task("sst2", data=data, prototyping=True).measure(vectors)
    own = score_pairs(encoder, load_pairs("sts13", data=data))
    assert pairs.as_json == own.as_json()
    assert [figure.value for figure in pairs.figures.values()] == [own.spearman["all"], own.pearson["all"]]
    assert arguments.as_json == evaluate_arguments(encoder, data=data).as_json()
    assert tatoeba.as_json == evaluate_tatoeba(encoder, load_tatoeba("de", data=data)).as_json()
    assert transfer.as_json == evaluate_transfer(encoder, "sst2", data=data, settings=PROTOTYPING).as_json()
    for outcome in (pairs, arguments, tatoeba, transfer):
        for figure in outcome.figures.values():
            assert np.nanmedian(resampled(figure.samples)) == pytest.approx(figure.value, abs=8)


def test_items_and_sentences(data: Path) -> None:
    def about(task: Task) -> tuple[str, int]:
        return task.items, len(task.sentences)

    pairs = open_task("sts13", data=data)
    assert about(pairs)[0] == about(open_task("arguments", data=data))[0] == "60 pairs"
    assert set(pairs.sentences) == set(open_task("tatoeba", data=data).sentences)
    tested = [row["text"] for row in read_table(data / "transfer/sst2_sentences.tsv") if row["split"] == "test"]
    assert open_task("sst2", data=data).sentences == tested
    assert open_task("sst2", data=data).items == "30 rows"


def test_several_seeds_of_the_classifiers_are_averaged(encoder: isotrope.Encoder, data: Path) -> None:
    """Each is what it is alone; the rows' correctness, which intervals are made of, is averaged too."""
    options = {"data": data, "prototyping": True, "classifier": "mlp"}
    with remembered(encoder) as vectors:
        alone = [open_task("sst2", seeds=(seed,), **options).measure(vectors) for seed in (1, 2)]
        both = open_task("sst2", seeds=(1, 2), **options).measure(vectors)
    accuracies = [outcome.figures["accuracy"].value for outcome in alone]
    assert both.figures["accuracy"].value == pytest.approx(np.mean(accuracies))
    assert both.as_json["seeds"] == {"1": alone[0].as_json, "2": alone[1].as_json}
    items = [outcome.figures["accuracy"].samples[0].values for outcome in alone]
    assert np.allclose(both.figures["accuracy"].samples[0].values, np.mean(items, axis=0))
    assert open_task("sst2", seeds=(1, 2), **options).remark.endswith("mean of 2 seeds")


def test_it_is_said_how_a_transfer_task_is_measured(data: Path) -> None:
    paper, quick = open_task("sst2", data=data), open_task("sst2", data=data, prototyping=True, classifier="mlp")
    assert paper.remark == "Transfer tasks: logistic regression, 10 folds, adam, batch 64, tenacity 5, epoch size 4"
    assert quick.remark == "Transfer tasks: MLP of 50 units, 5 folds, rmsprop, batch 128, tenacity 3, epoch size 2"


def test_parts_are_tasks_of_their_own(encoder: isotrope.Encoder, data: Path) -> None:
    task = open_task("sts13", data=data)
    parts = task.parts()
    assert [part.name for part in parts] == ["sts13:a", "sts13:b"]
    with remembered(encoder, cache=False) as vectors:
        for part in parts:
            alone = open_task(part.name, data=data)
            assert isinstance(part, GradedTask)
            assert isinstance(alone, GradedTask)
            assert (part.name, part.pairs, part.sentences) == (alone.name, alone.pairs, alone.sentences)
            assert part.measure(vectors).as_json == alone.measure(vectors).as_json


def test_classifiers_are_not_trained_twice(
    encoder: isotrope.Encoder, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = open_task("sst2", data=data, prototyping=True)
    assert isinstance(task, TransferTask)
    with remembered(encoder) as vectors:
        first = task.measure(vectors)
    wrong = {"accuracy": -1.0, "as_json": {}, "correct": "1"}
    monkeypatch.setattr(TransferTask, "_train", lambda self, vectors, settings: wrong)
    with remembered(encoder) as vectors:
        again = task.measure(vectors)
        assert again.as_json == first.as_json
        assert again.figures["accuracy"].value == first.figures["accuracy"].value
        assert np.array_equal(again.figures["accuracy"].samples[0].values, first.figures["accuracy"].samples[0].values)
        mlp = open_task("sst2", data=data, prototyping=True, classifier="mlp")
        paper = open_task("sst2", data=data)
        assert [one.measure(vectors).figures["accuracy"].value for one in (mlp, paper)] == [-1, -1]
        with (data / "transfer/sst2_sentences.tsv").open("a") as file:
            file.write("test\t1\tOne more.\n")
        more = open_task("sst2", data=data, prototyping=True)
        assert more.measure(vectors).figures["accuracy"].value == -1
    with remembered(encoder.with_pooling("cls")) as other:
        assert task.measure(other).figures["accuracy"].value == -1


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        (
            "stbs",
            None,
            r"unknown task 'stbs' \(did you mean 'stsb'\?\); choose from stsb, .*mrpc.*tatoeba.*bundled, or",
        ),
        ("tatoeba", "dev", "task 'tatoeba' has no splits to choose from; leave out split="),
        ("sst2:x", None, "task 'sst2' has no parts such as 'x'"),
        ("bundled", "tset", r"task 'bundled' has no split 'tset' \(did you mean 'test'\?\)"),
    ],
)
def test_what_can_not_be_opened(data: Path, name: str, split: str | None, message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        open_task(name, data=data, split=split)


def test_fewer_pairs_than_three_are_refused_before_an_encoder_is_loaded(data: Path) -> None:
    write(data / "sts/sts13.tsv", "subtask score sentence1 sentence2", [("a", "1", "x", "y"), ("a", "2", "x", "z")])
    with pytest.raises(IsotropeError, match=r"^sts13: a: 2 pairs; a correlation needs at least 3$"):
        open_task("sts13", data=data)
    write(data / "sts/sts13.tsv", "subtask score sentence1 sentence2", [("a", "1", "x", "y")] * 3)
    with pytest.raises(IsotropeError, match=r"^sts13:a: every pair has the same gold score, 1"):
        open_task("sts13:a", data=data)
    write(data / "argsim/ukp_aspect.tsv", "topic label sentence1 sentence2", [("guns", "HS", "x", "y")])
    with pytest.raises(IsotropeError, match=r"^arguments: guns: 1 pairs"):
        open_task("arguments", data=data)
