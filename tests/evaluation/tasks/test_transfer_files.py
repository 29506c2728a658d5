"""Files of transfer tasks, on disk and on the Hub."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pytest

from isotrope.evaluation.data.labelled import WHOLE, Example, Labelled
from isotrope.evaluation.data.places import MissingDataError
from isotrope.io.errors import IsotropeError

from ..toys import QUICK, Letters, evaluate_transfer, load_transfer, source_of, toy


def write(folder: Path, name: str, *rows: str) -> Path:
    file = folder / "transfer" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(row.replace("|", "\t") + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return folder


def save(folder: Path, task: str, labelled: Labelled, ending: str = "") -> Path:
    """As a file of the shape that the task's own has."""
    columns = source_of(task).columns
    nested = WHOLE in source_of(task).hub_splits.values()
    header = "|".join([*([] if nested else ["split"]), "label", *columns])
    rows = ("|".join([*([] if nested else [row.split]), row.label, *row.texts]) for row in labelled.examples)
    return write(folder, Path(source_of(task).file).name + ending, header, *rows)


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
    write(tmp_path, Path(source_of(task).file).name, *rows)
    with pytest.raises(IsotropeError, match=message) as error:
        evaluate_transfer(Letters(), task, data=tmp_path, settings=QUICK)
    assert "\n" not in str(error.value)


def test_absent_data(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"^[^\n]*no transfer/cr\.tsv\[\.gz\] in a data folder.*name a folder"):
        load_transfer("cr", data=tmp_path)


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
    folder = hub / source_of(task).hub
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
    (hub / source_of("mrpc").hub / "README.md").write_text(card)
    wanted = [Example("test", "0", ("c", "cc")), Example("train", "0", ("a", "aa")), Example("train", "1", ("b", "bb"))]
    assert sorted(load_transfer("mrpc").examples) == wanted
    assert load_transfer("mrpc").source == "nyu-mll/glue mrpc"
