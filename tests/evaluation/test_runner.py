from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

import isotrope
from isotrope.encoders.loading import BUNDLED
from isotrope.evaluation import evaluate, load_pairs, score_pairs
from isotrope.evaluation.tasks import TASKS, open_task, read_task
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_pairs_path, read_table

from . import own_tasks


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of the user's."""
    monkeypatch.setitem(sys.modules, "own_tasks", own_tasks)
    return "own_tasks"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "sts"
    folder.mkdir(parents=True)
    rows = [f"x\t{row['score']}\t{row['sentence1']}\t{row['sentence2']}\n" for row in read_table(bundled_pairs_path())]
    (folder / "sts13.tsv").write_text("subtask\tscore\tsentence1\tsentence2\n" + "".join(rows[:40]))
    return folder.parent


# -- models -----------------------------------------------------------------------------------------------------------


def test_a_model_by_its_name_its_folder_or_in_memory_is_the_same(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    folder = encoder.save(tmp_path / "model")
    transformer = SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32})
    results = evaluate(["bundled", folder, encoder, transformer], split="dev", cache=False)
    assert [row.name for row in results.rows] == ["bundled", str(folder), "bundled", "SentenceTransformer"]
    figures = [cell.value for cell in results.columns[0].cells]
    wanted = score_pairs(encoder, load_pairs("bundled", split="dev")).spearman["all"]
    assert figures == pytest.approx([wanted] * 4, abs=1e-3)


def test_a_mapping_names_rows_and_several_models_are_seeds(encoder: isotrope.Encoder) -> None:
    results = evaluate({"one": encoder, "both": [encoder, encoder.with_pooling("mean")]}, split="dev", cache=False)
    assert {row.name: len(row.members) for row in results.rows} == {"one": 1, "both": 2}
    assert [cell.deviation for cell in results.columns[0].cells] == [None, 0]


def test_a_model_without_a_backbone_is_measured_too() -> None:
    words = [word for pair in load_pairs("bundled").sentences for word in pair.lower().split()]
    model = SentenceTransformer(modules=[BoW(sorted(set(words)))], device="cpu")
    (cell,) = evaluate(model, cache=False).columns[0].cells
    assert np.isfinite(cell.value)


def test_what_is_no_model(encoder: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match="no model was given"):
        evaluate([])
    with pytest.raises(IsotropeError, match="there is no device 'cuda:77' on this machine"):
        evaluate("bundled", device="cuda:77")
    with pytest.raises(IsotropeError, match="'bundled' is loaded already; choose its precision where it is loaded"):
        evaluate(encoder, precision="bfloat16", cache=False)


# -- tasks of one's own -----------------------------------------------------------------------------------------------


def test_a_function_is_a_task_by_its_path_and_by_itself(encoder: isotrope.Encoder, own: str) -> None:
    wanted = own_tasks.case(encoder.encode)
    path = f"{own}:case"
    results = evaluate(encoder, [path, "bundled"], split=None, cache=False)
    assert [(column.section.metric, column.task) for column in results.columns] == [
        ("case", path),
        ("spearman", "bundled"),
    ]
    assert results.columns[0].cells[0].value == pytest.approx(wanted, abs=1e-5)
    assert results.as_dict()["results"][0]["tasks"][path] == {"case": pytest.approx(wanted, abs=1e-5)}
    same = evaluate(encoder, own_tasks.case, cache=False)
    assert same.columns[0].cells == results.columns[0].cells
    assert "x 100" not in str(same)


def test_keyword_only_arguments_are_settings(encoder: isotrope.Encoder, own: str) -> None:
    given = {"kind": f"{own}:case", "word": "snow"}
    (cell,) = evaluate(encoder, [given], cache=False).columns[0].cells
    assert cell.value == pytest.approx(own_tasks.case(encoder.encode, word="snow"), abs=1e-5)
    with pytest.raises(IsotropeError, match=r"no such key.*did you mean 'word'"):
        read_task({"kind": f"{own}:case", "wrod": "snow"})
    with pytest.raises(IsotropeError, match="should be a valid string"):
        read_task({"kind": f"{own}:case", "word": 3})


def test_several_figures_are_several_columns_also_in_a_suite(encoder: isotrope.Encoder, own: str, data: Path) -> None:
    alone = evaluate(encoder, own_tasks.norms, cache=False)
    assert [column.section.metric for column in alone.columns] == ["shortest", "longest"]
    results = evaluate([encoder, encoder.with_pooling("cls")], f"{own}:norms", suite="sts", data=data, cache=False)
    assert [(column.section.title, column.section.metric) for column in results.columns] == [
        ("STS", "spearman"),
        (f"{own}:norms", "shortest"),
        (f"{own}:norms", "longest"),
    ]
    assert results.columns[0].cells[1].difference is not None
    assert results.columns[1].cells[1].difference is None  # there are no items to resample
    assert "norms" in results.markdown()


def test_classes_and_specs(encoder: isotrope.Encoder, own: str, data: Path) -> None:
    results = evaluate(encoder, [f"{own}:Dimensions", {"kind": f"{own}:Rows", "times": 2}], data=data, cache=False)
    assert [column.cells[0].value for column in results.columns] == [256, 2]
    assert results.items == {f"{own}:Dimensions": "2 sentences", f"{own}:Rows": "some rows"}
    assert results.sentences == {f"{own}:Dimensions": 2, f"{own}:Rows": 2}
    task = own_tasks.Dimensions(factor=3)
    task.name = "three"
    (column,) = evaluate(encoder, task, cache=False).columns
    assert (column.task, column.cells[0].value) == ("three", 768)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wordy", "task 'own_tasks:wordy' returned 'good'; it should return a number or a dict of numbers"),
        ("NoTask", "'own_tasks:NoTask' is not a task: it has no method 'measure'"),
        ("cse", r"module 'own_tasks' has no 'cse' \(did you mean 'case'\?\)"),
    ],
)
def test_what_is_no_task_is_one_line(encoder: isotrope.Encoder, own: str, name: str, message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        evaluate(encoder, f"{own}:{name}", cache=False)


def test_unknown_paths() -> None:
    with pytest.raises(IsotropeError, match=r"'no_such_package\.module:x' can't be imported"):
        open_task("no_such_package.module:x")
    with pytest.raises(IsotropeError, match=r"unknown task 'sts71' \(did you mean 'sts17'\?\)"):
        open_task("sts71:track5.en-en")
    assert TASKS.is_foreign("no_such_package.module:x")


# -- what comes back --------------------------------------------------------------------------------------------------


def test_results_export_themselves(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    results = evaluate(encoder, pooling=["mean", "cls"], cache=False)
    pandas = pytest.importorskip("pandas")
    frame = results.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["pooling"]) == ["mean", "cls"]
    assert list(frame["figure"]) == [one["figure"] for one in results.records()]
    assert json.loads(results.json()) == results.as_dict()
    assert results.markdown().startswith("**Spearman x 100**")
    assert results.latex().startswith("% Spearman x 100")
    assert results.csv().splitlines()[1].startswith("bundled,mean,,bundled,spearman,")
    assert "Spearman x 100" in str(results)


def test_without_pandas_it_is_said_what_to_install(encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    results = evaluate(encoder, split="dev", cache=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(IsotropeError, match="to_pandas needs pandas: pip install pandas"):
        results.to_pandas()
