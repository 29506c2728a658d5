from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isotrope
from isotrope.evaluation import evaluate, load_pairs
from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.tasks import domains, open_suite, open_task
from isotrope.evaluation.vectors import remembered
from isotrope.io.errors import IsotropeError

from ..toys import Letters

PAIRS = [("aab", "aac"), ("bbc", "ddb"), ("cc", "ccd"), ("dda", "bc"), ("ef", "fg"), ("ab", "ba"), ("gh", "ad")]


def write(data: Path, name: str, columns: str, rows: list[tuple[object, ...]]) -> None:
    (data / "domains" / name).mkdir(parents=True)
    lines = [columns.split(), *rows]
    (data / "domains" / name / "eval.tsv").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    texts = [("test", f"intent{letter}", letter * 3 + other) for letter in "abc" for other in "abcdefg"]
    write(tmp_path, "banking77", "split label text", [("train", "x", "zzz"), *texts])
    graded = [("test", 4 - i / 2, *pair) for i, pair in enumerate(PAIRS)]
    write(tmp_path, "biomedical", "split score sentence1 sentence2", graded)
    same = [("dev" if i < 3 else "test", i % 2, *pair) for i, pair in enumerate(PAIRS)]
    write(tmp_path, "medical_questions", "split score sentence1 sentence2", same)
    return tmp_path


def test_a_score_for_each_with_its_interval_and_their_average(data: Path) -> None:
    results = evaluate("bundled", suite="domains", data=data, pooling=["mean", "cls"], cache=False)
    assert [column.task for column in results.columns] == ["banking77", "biomedical", "medical_questions", "average"]
    cells = [column.cells[0] for column in results.columns]
    assert cells[-1].value == pytest.approx(np.mean([cell.value for cell in cells[:-1]]))
    for cell in cells:
        assert cell.interval is not None
        assert cell.interval.low <= cell.value <= cell.interval.high
    assert all(column.cells[1].difference is not None for column in results.columns)
    assert "biomedical: Spearman's correlation with the grades of pairs" in list(results.notes())
    assert set(results.absent) == {"stackoverflow_titles", "biomed_titles", "patent_phrase"}


def test_one_by_its_name_has_its_interval_too(data: Path) -> None:
    results = evaluate("bundled", "biomedical", data=data, cache=False)
    assert results.columns[0].cells[0].interval is not None
    assert results.as_dict()["results"][0]["tasks"]["biomedical"]["pairs"] == 7


def test_classes_that_letters_tell_apart_are_found(data: Path) -> None:
    with remembered(Letters(), cache=False) as vectors:
        outcome = open_task("banking77", data=data).measure(vectors)
    assert outcome.as_json == {"mean_average_precision": 100.0, "texts": 21, "classes": 3}
    assert outcome.figure("score") == outcome.figure("mean_average_precision") == outcome.main
    assert outcome.figure("accuracy") is None


def test_large_ones_are_sampled_always_the_same_way(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "MOST_TEXTS", 15)
    monkeypatch.setattr(domains, "MOST_PAIRS", 5)
    first, again = (open_task("banking77", data=data) for _ in range(2))
    assert first.sentences == again.sentences
    assert len(first.sentences) == 15
    assert open_task("biomedical", data=data).items == "5 pairs"
    assert load_pairs("biomedical", data=data).scores == load_pairs("biomedical", data=data).scores


def test_splits(data: Path) -> None:
    assert open_task("medical_questions", data=data, split="dev").items == "3 pairs"
    with pytest.raises(IsotropeError, match="task 'biomedical' has no split 'dev'; it has: test"):
        open_task("biomedical", data=data, split="dev")
    with pytest.raises(IsotropeError, match="task 'banking77' has no split 'dev'; it has: train, test"):
        open_task("banking77", data=data, split="dev")


def test_what_can_not_be_measured_is_refused_before_a_model_is_loaded(tmp_path: Path) -> None:
    write(tmp_path, "banking77", "split label text", [("test", "a", "one"), ("test", "b", "two")])
    with pytest.raises(IsotropeError, match="banking77: 2 texts of 2 classes; two classes or more"):
        open_task("banking77", data=tmp_path)
    write(tmp_path, "medical_questions", "split score sentence1 sentence2", [("test", 0.5, "a", "b")])
    with pytest.raises(IsotropeError, match=r"medical_questions: scores 0\.5; pairs of both 0 and 1"):
        open_task("medical_questions", data=tmp_path)
    with pytest.raises(MissingDataError, match=r"task 'patent_phrase': no domains/patent_phrase/eval\.tsv\[\.gz\] in"):
        open_task("patent_phrase", data=tmp_path)


def test_known_figures_of_minilm(
    minilm: isotrope.Encoder, shared_data: Path, whole_sets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they were measured by other code; of the questions a sample, unless whole sets are wanted."""
    if not whole_sets:
        monkeypatch.setattr(domains, "MOST_PAIRS", 300)
    figures = evaluate(minilm, ["biomedical", "medical_questions"], data=shared_data).records()
    assert {one["task"]: one["figure"] for one in figures if one["task"] != "average"} == pytest.approx(
        {"biomedical": 81.64, "medical_questions": 89.68 if whole_sets else 87.56}, abs=0.02
    )


def test_the_real_ones(shared_data: Path) -> None:
    tasks, absent = open_suite("domains", data=shared_data)
    assert not absent
    assert {task.name: task.items for task in tasks} == {
        "banking77": "2,000 texts",
        "stackoverflow_titles": "2,000 texts",
        "biomed_titles": "2,000 texts",
        "biomedical": "100 pairs",
        "patent_phrase": "4,000 pairs",
        "medical_questions": "2,132 pairs",
    }
