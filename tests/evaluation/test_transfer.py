from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

import isotrope
from isotrope.errors import IsotropeError
from isotrope.evaluation.labelled import WHOLE, Example, Labelled
from isotrope.evaluation.pairs import MissingDataError
from isotrope.evaluation.transfer import (
    PAPER,
    PROTOTYPING,
    TRANSFER_TASKS,
    Transfer,
    evaluate_transfer,
    load_transfer,
)

from . import naive_senteval as naive

QUICK = replace(PROTOTYPING, folds=3, batch_size=16, max_epoch=20)
Floats = NDArray[np.floating[Any]]


class Letters:
    """Counts letters: an encoder of any make."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
        self.seen += sentences
        return np.array([[text.count(letter) for letter in "abcdefghijklmnop"] for text in sentences], np.float32)


class Once:
    """An encoder that encodes no sentence twice."""

    def __init__(self, encoder: isotrope.Encoder) -> None:
        self.encoder, self.known = encoder, dict[str, Floats]()

    def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
        new = [text for text in dict.fromkeys(sentences) if text not in self.known]
        self.known.update(zip(new, self.encoder.encode(new, batch_size=batch_size), strict=True))
        return np.stack([self.known[text] for text in sentences])


@pytest.fixture(autouse=True)
def no_data_folder(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "shared_data" in request.fixturenames:
        request.getfixturevalue("shared_data")
    monkeypatch.delenv("ISOTROPE_DATA", raising=False)


def write(folder: Path, name: str, *rows: str) -> Path:
    file = folder / "transfer" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(row.replace("|", "\t") + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


def toy(task: str, rows: int = 150) -> Labelled:
    """Rows of every class in every split of a task; a class has a letter that it uses more than others."""
    generator = np.random.default_rng(3)
    names = ["ABBR", "DESC", "HUM"] if task == "trec" else ["0", "1"]
    splits = sorted(set(TRANSFER_TASKS[task].hub_splits.values()))

    def text(label: int) -> str:
        letters = [*"abcdefgh", *("abc"[label] * 9)]
        return " ".join(generator.choice(letters, generator.integers(2, 9)))

    def example(number: int) -> Example:
        label = int(generator.integers(len(names)))
        texts = tuple(text(label) for _ in TRANSFER_TASKS[task].columns)
        return Example(splits[number % len(splits)], names[label], texts)

    return Labelled("toy.tsv", [example(number) for number in range(rows)])


def save(folder: Path, task: str, labelled: Labelled, ending: str = "") -> Path:
    """As a file of the shape that the task's own has."""
    columns = TRANSFER_TASKS[task].columns
    nested = WHOLE in TRANSFER_TASKS[task].hub_splits.values()
    header = "|".join([*([] if nested else ["split"]), "label", *columns])
    rows = ("|".join([*([] if nested else [row.split]), row.label, *row.texts]) for row in labelled.examples)
    return write(folder, Path(TRANSFER_TASKS[task].file).name + ending, header, *rows)


# -- against scikit-learn ---------------------------------------------------------------------------------------------


def regression(x: Floats, y: Floats, regs: Sequence[float]) -> LogisticRegression:
    """The logistic regression that three folds of these rows choose."""
    scores = []
    for reg in regs:
        found = [
            LogisticRegression(C=reg, max_iter=1000).fit(x[train], y[train]).score(x[held_out], y[held_out])
            for train, held_out in StratifiedKFold(3, shuffle=True, random_state=1111).split(x, y)
        ]
        scores.append(np.mean(found))
    return LogisticRegression(C=regs[int(np.argmax(scores))], max_iter=1000).fit(x, y)


# On few rows SentEval's own tenacity ends training before a classifier of vectors as short as MiniLM's has learnt much.
PATIENT = replace(PAPER, folds=3, tenacity=20)


def short(data: Path, task: str, most: int) -> Labelled:
    """Rows of so many words at most: they encode faster."""
    everything = load_transfer(task, data=data)
    rows = [row for row in everything.examples if all(len(text.split()) <= most for text in row.texts)]
    return Labelled(everything.source, rows)


def test_mr_agrees_with_scikit_learn(shared_data: Path, minilm: isotrope.Encoder) -> None:
    """Within two standard errors on 963 rows: same vectors, same folds, another solver, SentEval's other grid."""
    labelled = short(shared_data, "mr", 8)
    encoder = Once(minilm)
    result = evaluate_transfer(encoder, "mr", data=labelled, settings=PATIENT)
    rows = sorted(labelled.examples, key=lambda row: (len(row.texts[0].split()), row.label))
    x, y = encoder.encode([row.texts[0] for row in rows]), np.array([int(row.label) for row in rows])
    accuracy = [
        regression(x[train], y[train], [2.0**t for t in range(-2, 4)]).score(x[test], y[test])
        for train, test in StratifiedKFold(3, shuffle=True, random_state=1111).split(x, y)
    ]
    assert result.accuracy == pytest.approx(100 * np.mean(accuracy), abs=2.7)
    assert result.accuracy > 75
    assert (result.classes, result.rows, result.f1) == (2, 963, None)


def test_mrpc_agrees_with_scikit_learn(shared_data: Path, minilm: isotrope.Encoder) -> None:
    """Within one standard error on 214 test pairs."""
    labelled = short(shared_data, "mrpc", 16)
    encoder = Once(minilm)
    result = evaluate_transfer(encoder, "mrpc", data=labelled, settings=PATIENT)

    def features(split: str) -> tuple[Floats, Floats]:
        rows = labelled.part(split)
        u, v = (encoder.encode([row.texts[side] for row in rows]) for side in (0, 1))
        return np.hstack([abs(u - v), u * v]), np.array([int(row.label) for row in rows])

    test, classes = features("test")
    model = regression(*features("train"), [2.0**t for t in range(-1, 6)])
    assert result.accuracy == pytest.approx(100 * model.score(test, classes), abs=3)
    assert result.f1 == pytest.approx(100 * f1_score(classes, model.predict(test)), abs=3)
    assert result.accuracy > 100 * classes.mean() + 3  # more than to call every pair a paraphrase
    assert result.rows == 666


# -- SentEval's three protocols, in plain loops -----------------------------------------------------------------------


@pytest.mark.parametrize("classifier", ["logistic", "mlp"])
@pytest.mark.parametrize("task", ["cr", "trec", "sst2", "mrpc"])
def test_a_protocol_is_that_of_plain_loops(task: str, classifier: Any) -> None:
    settings = replace(QUICK, hidden=5, l2=(1e-4, 1e-1), seed=7)
    labelled = toy(task)
    result = evaluate_transfer(Letters(), task, data=labelled, settings=settings, classifier=classifier)
    examples = sorted(labelled.examples, key=lambda row: (*(len(text.split()) for text in row.texts), row.label))
    sides = [
        torch.from_numpy(Letters().encode(list(side))) for side in zip(*(row.texts for row in examples), strict=True)
    ]
    x = sides[0] if len(sides) == 1 else torch.hstack([(sides[0] - sides[1]).abs(), sides[0] * sides[1]])
    y = torch.tensor([labelled.classes.index(row.label) for row in examples])
    rows = {
        split: np.array([i for i, row in enumerate(examples) if row.split == split])
        for split in ("all", "train", "dev", "test")
    }
    hidden = 5 if classifier == "mlp" else 0
    if task == "cr":
        accuracy, dev = naive.nested(x, y, rows["all"], settings, hidden)
    elif task == "sst2":
        accuracy, dev = naive.by_dev(x, y, rows["train"], rows["dev"], rows["test"], settings, hidden)
    else:
        accuracy, dev = naive.by_folds(x, y, rows["train"], rows["test"], settings, hidden)
    assert (result.accuracy, result.dev) == (pytest.approx(accuracy, abs=1e-9), pytest.approx(dev, abs=1e-9))
    assert result.correct.mean() == pytest.approx(accuracy / 100, abs=0.01)  # folds differ by a row
    assert accuracy > 100 * max(Counter(row.label for row in examples).values()) / len(examples)


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("task", ["cr", "trec", "mrpc"])
def test_a_file_is_read_as_it_was_written(tmp_path: Path, task: str, ending: str) -> None:
    labelled = toy(task)
    data = save(tmp_path, task, labelled, ending)
    assert load_transfer(task, data=data).examples == labelled.examples
    from_file = evaluate_transfer(Letters(), task, data=data, settings=QUICK)
    assert from_file.as_json() == evaluate_transfer(Letters(), task, data=labelled, settings=QUICK).as_json()
    assert (from_file.classes, from_file.rows) == (3 if task == "trec" else 2, 150)


def test_the_folder_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTROPE_DATA", str(save(tmp_path, "cr", toy("cr"))))
    assert len(load_transfer("cr").examples) == 150


def test_each_distinct_sentence_is_encoded_once() -> None:
    encoder, labelled = Letters(), toy("mrpc")
    evaluate_transfer(encoder, "mrpc", data=labelled, settings=QUICK)
    assert sorted(encoder.seen) == sorted({text for row in labelled.examples for text in row.texts})


def test_as_json_is_plain_and_rounded() -> None:
    right = np.array([True, False])
    plain = Transfer("mr", 76.1249, 77.0, None, 2, 90, right).as_json()
    assert plain == {"accuracy": 76.12, "dev": 77.0, "classes": 2, "rows": 90}
    shown = Transfer("mrpc", 76.126, 77.0, 81.239, 2, 90, right).as_json()
    assert shown == {"accuracy": 76.13, "f1": 81.24, "dev": 77.0, "classes": 2, "rows": 90}
    json.dumps(shown)


@pytest.mark.parametrize(
    ("task", "rows", "message"),
    [
        ("cr", ["label|text", *["1|a b"] * 30], r"cr\.tsv: every row has the label '1'; two are needed"),
        ("cr", ["label|text", *["1|a b"] * 30, *["0|b"] * 4], r"cr\.tsv: just 4 rows have the label '0'; .* need 5"),
        ("cr", ["label|text"], r"cr\.tsv: no rows in it$"),
        ("cr", ["class|text", "1|a"], r"cr\.tsv: no column 'label'; it has: class, text"),
        ("trec", ["label|text", "HUM|a"], r"trec\.tsv: no column 'split'; it has: label, text"),
        (
            "trec",
            ["split|label|text", *["train|HUM|a", "train|LOC|b"] * 9],
            r"trec\.tsv: no split 'test'; it has: train",
        ),
        ("trec", ["split|label|text", "dev|HUM|a"], r"trec\.tsv: no rows in it of the splits train, test"),
        (
            "trec",
            ["split|label|text", *["train|HUM|a"] * 9, *["test|LOC|b"] * 9],
            r"trec\.tsv: every row of 'train' has the label 'HUM'; two are needed",
        ),
        (
            "sst2",
            ["split|label|text", "train|0|a", "train|1|b", "test|0|c"],
            r"sst2.*: no split 'dev'; it has: train, test",
        ),
        ("mrpc", ["split|label|text", "train|0|a"], r"mrpc\.tsv: no column 'sentence1'"),
    ],
)
def test_what_can_not_be_learnt_from_is_named(tmp_path: Path, task: str, rows: list[str], message: str) -> None:
    write(tmp_path, Path(TRANSFER_TASKS[task].file).name, *rows)
    with pytest.raises(IsotropeError, match=message) as error:
        evaluate_transfer(Letters(), task, data=tmp_path, settings=QUICK)
    assert "\n" not in str(error.value)


def test_as_few_rows_of_a_class_as_folds_allow(recwarn: pytest.WarningsRecorder) -> None:
    few = [Example(WHOLE, "1", ("a" * i,)) for i in range(1, 6)] + [
        Example(WHOLE, "0", ("b" * i,)) for i in range(1, 31)
    ]
    assert evaluate_transfer(Letters(), "cr", data=Labelled("few", few), settings=QUICK).rows == 35
    assert not recwarn


def test_unknown_tasks_and_absent_data(tmp_path: Path) -> None:
    with pytest.raises(
        IsotropeError, match=r"unknown transfer task 'subjj' \(did you mean 'subj'\?\); choose from mr, cr"
    ):
        evaluate_transfer(Letters(), "subjj")
    with pytest.raises(MissingDataError, match=r"^[^\n]*no transfer/cr\.tsv\[\.gz\] in a data folder.*--data DIR"):
        load_transfer("cr", data=tmp_path)


def test_vectors_that_are_not_numbers() -> None:
    class Broken:
        def encode(self, sentences: list[str], *, batch_size: int = 32) -> Floats:
            return np.full((len(sentences), 3), np.nan, np.float32)

    with pytest.raises(IsotropeError, match=r"toy\.tsv: the encoder gives vectors that are not numbers"):
        evaluate_transfer(Broken(), "cr", data=toy("cr"), settings=QUICK)


def test_the_real_sets_have_their_published_sizes(shared_data: Path) -> None:
    def sizes(task: str) -> dict[str, int]:
        return dict(Counter(row.split for row in load_transfer(task, data=shared_data).examples))

    assert sizes("mr") == {"all": 10662}
    assert sizes("subj") == {"all": 10000}
    assert sizes("sst2") == {"train": 6920, "dev": 872, "test": 1821}
    assert sizes("mrpc") == {"train": 4076, "test": 1725}


# -- the Hub: `load_dataset` takes a folder of that name for the data set itself --------------------------------------


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path


def publish(hub: Path, task: str, split: str, *rows: dict[str, Any]) -> None:
    folder = hub / TRANSFER_TASKS[task].hub
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_hub_sets_by_the_names_that_they_have_there(hub: Path) -> None:
    who, where = ({"text": text, "label": 10 * kind, "label_coarse": kind} for text, kind in (("who", 3), ("where", 4)))
    publish(hub, "trec", "train", who, where)
    publish(hub, "trec", "test", where)
    wanted = [Example("train", "3", ("who",)), Example("train", "4", ("where",)), Example("test", "4", ("where",))]
    assert load_transfer("trec").examples == wanted
    for split in ("train", "validation", "test"):
        publish(hub, "sst2", split, {"text": f"good {split}", "label": 1}, {"text": f"bad {split}", "label": 0})
    found = load_transfer("sst2")
    assert [row.texts[0] for row in found.part("dev")] == ["good validation", "bad validation"]
    assert (len(found.examples), found.source) == (6, "SetFit/sst2")


def test_hub_sets_without_splits_are_put_together(hub: Path) -> None:
    for label, (split, text) in enumerate((("train", "a"), ("validation", "b"), ("test", "c"))):
        publish(hub, "mr", split, {"text": text, "label": label})
        publish(hub, "mpqa", split, {"sentence": text, "label": label})
    both = [Example(WHOLE, "0", ("a",)), Example(WHOLE, "2", ("c",))]
    assert sorted(load_transfer("mr").examples) == [both[0], Example(WHOLE, "1", ("b",)), both[1]]
    assert sorted(load_transfer("mpqa").examples) == both


def test_hub_set_of_pairs_with_a_configuration(hub: Path) -> None:
    rows = {"train": "a", "validation": "b", "test": "c"}
    for label, (split, text) in enumerate(rows.items()):
        publish(hub, "mrpc", split, {"sentence1": text, "sentence2": text * 2, "label": label % 2})
    entries = "".join(f"  - split: {split}\n    path: {split}.jsonl\n" for split in rows)
    card = f"---\nconfigs:\n- config_name: mrpc\n  data_files:\n{entries}---\n"
    (hub / TRANSFER_TASKS["mrpc"].hub / "README.md").write_text(card)
    wanted = [Example("test", "0", ("c", "cc")), Example("train", "0", ("a", "aa")), Example("train", "1", ("b", "bb"))]
    assert sorted(load_transfer("mrpc").examples) == wanted
    assert load_transfer("mrpc").source == "nyu-mll/glue mrpc"
