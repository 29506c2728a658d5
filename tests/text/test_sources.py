from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from datasets import ClassLabel, Dataset, Features, Value, load_dataset

from isotrope.io.errors import IsotropeError
from isotrope.text.sources import Source, kind_of, matching_rows

PAIR = ("sentence1", "sentence2")
NLI = (*PAIR, "label")
TRIPLET = ("anchor", "positive", "negative")


def rows(sources: list[Source], columns: tuple[str, ...], column: str | None = None) -> list[dict[str, Any]]:
    return [row for _, found in matching_rows(sources, columns, column) for row in found]


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    file = tmp_path / "plain.txt"
    file.write_text("One.\n")
    return file


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "t.tsv"
    file.write_text("sentence1\tscore\na\t3\n")
    return file


def test_what_rows_are_called() -> None:
    assert [kind_of(columns) for columns in (("text",), PAIR, NLI, TRIPLET)] == [
        "sentences",
        "pairs",
        "labelled pairs",
        "triplets",
    ]


def test_missing_columns_are_named_with_those_there_are(plain: Path, table: Path) -> None:
    with pytest.raises(
        IsotropeError, match=r"t\.tsv: .*needs pairs: column sentence2 is missing; it has: sentence1, sco"
    ):
        rows([table], PAIR)
    with pytest.raises(
        IsotropeError, match=r"plain\.txt: .*needs triplets: columns .* are missing; plain sentences given"
    ):
        rows([plain], TRIPLET)
    with pytest.raises(
        IsotropeError, match=r"plain\.txt: .*plain sentences given / .*t\.tsv: .*labelled pairs: columns"
    ):
        rows([plain, table], NLI)
    with pytest.raises(IsotropeError, match=r"/ and 2 more$"):
        rows([plain] * 5, NLI)


def test_a_column_that_is_not_there(plain: Path, table: Path) -> None:
    with pytest.raises(IsotropeError, match=r"t\.tsv: no column 'sentense1' \(did you mean 'sentence1'\?\)"):
        rows([table], ("text",), "sentense1")
    with pytest.raises(IsotropeError, match=r"plain\.txt: plain text has no columns"):
        rows([plain], ("text",), "text")
    with pytest.raises(IsotropeError, match="which column"):
        rows([table], ("text",))


@pytest.fixture
def hub_folder(tmp_path: Path) -> Path:
    """A data set folder as the Hub has them, with a label order of its own."""
    folder = tmp_path / "org" / "nli"
    folder.mkdir(parents=True)
    names = ["contradiction", "entailment", "neutral"]
    features = Features({**{column: Value("string") for column in PAIR}, "label": ClassLabel(names=names)})
    for split, labels in (("train", [1, 2, 0, -1]), ("test", [2])):
        found = [{"sentence1": "a", "sentence2": "b", "label": label} for label in labels]
        Dataset.from_list(found, features=features).to_parquet(str(folder / f"{split}.parquet"))
    return folder


def test_hub_streams_a_split_and_its_labels_go_by_name(hub_folder: Path) -> None:
    train = rows([f"hub:{hub_folder}"], NLI)
    assert [row["label"] for row in train] == ["entailment", "neutral", "contradiction", -1]
    assert rows([f"hub:{hub_folder}:test"], NLI) == [{"sentence1": "a", "sentence2": "b", "label": "neutral"}]


def test_a_data_set_may_have_a_revision(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def opened(path: str, config: str | None, **options: Any) -> Any:
        asked.append((path, config, options["split"], options["revision"]))
        return load_dataset(str(hub_folder), split="test", streaming=True)

    monkeypatch.setattr("datasets.load_dataset", opened)
    for source in ("hub:org/nli", "hub:org/nli@v1", f"hub:org/nli@{'a' * 40}:de:dev"):
        assert len(rows([source], NLI)) == 1
    wanted = [("org/nli", None, "train", None), ("org/nli", None, "train", "v1"), ("org/nli", "de", "dev", "a" * 40)]
    assert asked == wanted


def test_hub_errors_are_one_line(hub_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(IsotropeError, match=r"nli:dev: can't be read \(.*dev.*train") as caught:
        rows([f"hub:{hub_folder}:dev"], NLI)
    assert "\n" not in str(caught.value)
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(IsotropeError, match=r"^hub:nobody/nothing: can't be read") as caught:
        rows(["hub:nobody/nothing"], ("text",))
    assert "\n" not in str(caught.value)
