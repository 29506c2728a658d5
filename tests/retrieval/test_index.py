"""An index finds what comparing with everything finds, keeps its rows, grows, and survives being stopped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import isotrope
from isotrope.io.atomic import holder
from isotrope.io.errors import IsotropeError
from isotrope.retrieval import indexing
from isotrope.retrieval.filters import conditions
from isotrope.retrieval.store import ABOUT, IndexFolder
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:90]
ROWS: list[dict[str, Any]] = [
    {"id": i, "text": text if i % 9 else None, "queue": "ab"[i % 2], "score": i / 10 if i % 5 else None}
    for i, text in enumerate(TEXTS)
]
QUERIES = ("A man plays music in the street.", "Two dogs", TEXTS[4])


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture(scope="module")
def folder(encoder: isotrope.Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("index") / "index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "SHARD_ROWS", 32)  # several shards
        done = isotrope.index(ROWS, encoder, made, batch_size=1)
    assert (done.rows, done.added, done.known, done.blank, done.approximate) == (90, 90, 0, 10, False)
    return made


def naive(encoder: isotrope.Encoder, query: str, k: int, rows: list[dict[str, Any]]) -> list[tuple[int, float]]:
    """Numbers and cosines, by comparing with every row that has text."""
    there = [row for row in rows if row["text"]]
    vectors = encoder.encode([query, *(row["text"] for row in there)], normalize_embeddings=True)
    cosines = vectors[1:] @ vectors[0]
    return [(there[i]["id"], float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[:k]]


@pytest.mark.parametrize("query", QUERIES)
def test_it_finds_what_comparing_with_everything_finds(encoder: isotrope.Encoder, folder: Path, query: str) -> None:
    opened = isotrope.Index.open(folder, encoder)
    for k in (1, 7, 500):
        found, wanted = isotrope.search(opened, query, k), naive(encoder, query, k, ROWS)
        assert [hit.number for hit in found] == [number for number, _ in wanted]
        assert [hit.cosine for hit in found] == pytest.approx([cosine for _, cosine in wanted], abs=1e-5)
        assert [hit.row for hit in found] == [ROWS[number] for number, _ in wanted]
        assert found.exact


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("queue=a", lambda row: row["queue"] == "a"),
        ({"queue": "a"}, lambda row: row["queue"] == "a"),
        ("queue != a", lambda row: row["queue"] != "a"),
        (["queue=b", "score>=2.5"], lambda row: row["queue"] == "b" and (row["score"] or 0) >= 2.5),
        ("score<1", lambda row: row["score"] is not None and row["score"] < 1),
        ("text~DOG", lambda row: "dog" in (row["text"] or "").lower()),
        ({"id": 40}, lambda row: row["id"] == 40),
        ("queue=c", lambda row: False),
    ],
)
def test_conditions_on_columns(encoder: isotrope.Encoder, folder: Path, where: Any, holds: Any) -> None:
    found = isotrope.Index.open(folder, encoder).search(QUERIES[0], 90, where=where)
    wanted = naive(encoder, QUERIES[0], 90, [row for row in ROWS if holds(row)]) if any(map(holds, ROWS)) else []
    assert [hit.number for hit in found] == [number for number, _ in wanted]


def test_a_stopped_index_goes_on_and_a_table_that_grew_is_added(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    """A row twice in a table is twice in the index, however often the table is given."""
    table, more = [*ROWS[:40], ROWS[1]], [{"id": 99, "text": "New.", "queue": None, "score": None}]

    def stopped() -> Any:
        yield from table[:30]
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "SHARD_ROWS", 8)
        patch.setattr(indexing, "CHUNK_BATCHES", 4)
        with pytest.raises(KeyboardInterrupt):
            isotrope.index(stopped(), encoder, tmp_path / "index", batch_size=2)
        kept = len(IndexFolder.open(tmp_path / "index"))
        assert 0 < kept <= 30
        (tmp_path / "index" / "rows-00099.parquet").write_text("left behind")
        done = isotrope.index(table, encoder, tmp_path / "index", batch_size=2)
    assert (done.rows, done.added, done.known) == (41, 41 - kept, kept)
    done = isotrope.index([*table, *more], encoder, tmp_path / "index")
    assert (done.rows, done.added, done.known) == (42, 1, 41)
    assert [row["id"] for row in IndexFolder.open(tmp_path / "index").rows([41, 40, 0])] == [99, 1, 0]
    isotrope.index(table, encoder, tmp_path / "whole")
    for query in QUERIES:
        wanted = isotrope.Index.open(tmp_path / "whole", encoder).search(query, 41)
        found = [hit for hit in isotrope.Index.open(tmp_path / "index", encoder).search(query, 42) if hit.number < 41]
        assert [hit.row for hit in found] == [hit.row for hit in wanted]


def test_many_rows_are_searched_by_a_graph_that_grows(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    isotrope.index(ROWS[:60], encoder, tmp_path / "index", graph_above=50)
    done = isotrope.index(ROWS, encoder, tmp_path / "index", graph_above=50)
    assert (done.rows, done.approximate) == (90, True)
    opened = isotrope.Index.open(tmp_path / "index", encoder)
    for query in QUERIES:
        found, exact = opened.search(query, 5), opened.search(query, 5, exact=True)
        assert (found.exact, exact.exact) == (False, True)
        assert [hit.number for hit in found] == [hit.number for hit in exact]  # of so few none is missed
        assert [hit.cosine for hit in found] == pytest.approx([hit.cosine for hit in exact], abs=1e-5)
    assert opened.search(QUERIES[0], 5, where="queue=a").exact
    grown = isotrope.index([*ROWS, {**ROWS[1], "id": 91}], encoder, tmp_path / "index", graph_above=1000)
    assert not grown.approximate  # a graph that lacks rows is not used
    assert opened.search(QUERIES[0], 3, exact=True).hits[0].number < 90


def test_frames_columns_and_markup(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"Subject": ["Dog", "Cat"], "Body": ["<p>barks</p>", "sleeps"], "when": pd.to_datetime(["2024"] * 2)}
    )
    options: dict[str, Any] = {"columns": "Subject,Body", "join": ": ", "strip_html": True}
    isotrope.index(frame, encoder, tmp_path / "index", **options)
    (hit,) = isotrope.search(isotrope.Index.open(tmp_path / "index", encoder), "Dog: barks", 1)
    assert hit.cosine == pytest.approx(1, abs=1e-5)
    assert hit.row == {"Subject": "Dog", "Body": "<p>barks</p>", "when": frame["when"][0]}
    assert json.loads(isotrope.search(tmp_path / "index", "Dog", 1).json())["hits"][0]["columns"]["when"].startswith(
        "2024"
    )


def test_mistakes_are_said(encoder: isotrope.Encoder, folder: Path, tmp_path: Path) -> None:
    opened = isotrope.Index.open(folder, encoder)
    wrong = {
        "no column 'nix'; it has: id, text, queue, score": lambda: opened.search("x", where="nix=1"),
        "'queue' is not a condition; write COLUMN=VALUE": lambda: opened.search("x", where="queue"),
        "column 'score' can't be compared with 'much'": lambda: opened.search("x", where="score>much"),
        "k must be at least 1, not 0": lambda: opened.search("x", 0),
        "there is no index": lambda: isotrope.search(tmp_path, "x"),
        "the index was made with another model": lambda: isotrope.index(ROWS, "small", folder),
        "its columns are not those of the index: id, text": lambda: isotrope.index([{"text": "x"}], encoder, folder),
        "made by 'bundled', whose vectors have 256 dimensions": lambda: isotrope.search(folder, "x", model="small"),
    }
    for message, call in wrong.items():
        with pytest.raises(IsotropeError, match=message):
            call()
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(IsotropeError, match="a folder with other files in it"):
        isotrope.index(ROWS, encoder, tmp_path, force=True)
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_a_folder_of_one_that_was_killed_as_it_began(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    left = tmp_path / f".{Path(ABOUT).stem}.{holder().partition('-')[0]}-{2**22 + 1}-0123abcd.partial.json"
    left.write_text("{")
    assert isotrope.index(ROWS, encoder, tmp_path).rows == len(ROWS)
    assert not left.exists()


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "emptied": lambda data: b"",
    "cut short": lambda data: data[: len(data) // 2],
    "garbled": lambda data: bytes(reversed(data)),
}


@pytest.mark.parametrize(
    "name", ["rows-00001.parquet", "vectors-00001.npy", "keys-00001.npy", "index.json", "near.usearch"]
)
@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_file_is_one_line(
    encoder: isotrope.Encoder, folder: Path, tmp_path: Path, name: str, how: str
) -> None:
    there = shutil.copytree(folder, tmp_path / "index")
    if name == "near.usearch":
        isotrope.index(ROWS, encoder, there, graph_above=10)
    (there / name).write_bytes(DAMAGES[how]((there / name).read_bytes()))

    def use() -> None:
        isotrope.search(isotrope.Index.open(there, encoder), QUERIES[0], k=90)
        isotrope.index(ROWS, encoder, there)

    with pytest.raises(IsotropeError, match=r"^[^\n]+ (is damaged \(|can't be read; make the index again)"):
        use()
    isotrope.index(ROWS, encoder, there, force=True)
    assert len(isotrope.search(isotrope.Index.open(there, encoder), QUERIES[0], k=90)) == 80


def flip(file: Path, place: float = 0.25) -> None:
    data = bytearray(file.read_bytes())
    data[int(len(data) * place)] ^= 1
    file.write_bytes(data)


@pytest.mark.parametrize("name", ["rows-00000.parquet", "vectors-00000.npy", "keys-00000.npy", "near.usearch"])
def test_one_flipped_bit_is_found(encoder: isotrope.Encoder, folder: Path, tmp_path: Path, name: str) -> None:
    there = shutil.copytree(folder, tmp_path / "index")
    isotrope.index(ROWS, encoder, there, graph_above=10)

    def use() -> None:
        isotrope.search(isotrope.Index.open(there, encoder), QUERIES[0], k=90, exact=True)
        isotrope.index(ROWS, encoder, there)

    for place in (0.1, 0.5, 0.99):
        flip(there / name, place)
        with pytest.raises(IsotropeError, match=rf"{name} is damaged \(not the file that was written\)"):
            use()
        flip(there / name, place)
    assert len(isotrope.search(isotrope.Index.open(there, encoder), QUERIES[0], k=90)) == 80


def test_a_changed_word_in_index_json_is_found(encoder: isotrope.Encoder, folder: Path, tmp_path: Path) -> None:
    about = shutil.copytree(folder, tmp_path / "index") / "index.json"
    text = about.read_text()
    for before, after in (('"strip_html": false', '"strip_html": true'), ("bundled", "bundlee")):
        assert before in text
        about.write_text(text.replace(before, after))
        with pytest.raises(IsotropeError, match=r"its index.json can't be read; make the index again"):
            isotrope.Index.open(about.parent, encoder)


def test_an_index_from_before_there_were_checksums_is_read(
    encoder: isotrope.Encoder, folder: Path, tmp_path: Path
) -> None:
    about = shutil.copytree(folder, tmp_path / "index") / "index.json"
    values = json.loads(about.read_text())
    del values["sums"], values["sum"]
    about.write_text(json.dumps(values))
    assert len(isotrope.search(isotrope.Index.open(about.parent, encoder), QUERIES[0], k=90)) == 80


def test_a_graph_that_was_written_and_not_entered_is_made_anew(
    encoder: isotrope.Encoder, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a process leaves it that is killed between the two."""
    there = shutil.copytree(folder, tmp_path / "index")
    isotrope.index(ROWS, encoder, there, graph_above=10)
    more = [*ROWS, ROWS[0] | {"id": 1000, "text": "A hat that is new."}]
    with monkeypatch.context() as patch:
        write = IndexFolder.write
        killed = lambda self: write(self) if self.about.in_graph != len(self) else 1 / 0  # noqa: E731
        patch.setattr(IndexFolder, "write", killed)
        with pytest.raises(ZeroDivisionError):
            isotrope.index(more, encoder, there, graph_above=10)
    isotrope.index(more, encoder, there, graph_above=10)
    opened = isotrope.Index.open(there, encoder)
    assert (len(opened), opened.search("A hat that is new.", k=1)[0].row["id"]) == (len(more), 1000)


def test_a_condition_is_a_column_a_sign_and_a_value() -> None:
    assert conditions(["a b >= 2", "x=y=z"]) == [("a b", ">=", "2"), ("x", "=", "y=z")]
