from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.views.text.base import Outcome
from isotrope.views.text.store import AT_ONCE, FILE, Shelf, Store, parameters_digest

FORK = multiprocessing.get_context("fork")


class View:
    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        raise AssertionError("a store makes nothing")


def put(folder: Path, texts: Sequence[str], wording: str) -> None:
    with Store(folder) as store:
        for text in texts:
            store.of(View(kind="a")).add({text: Outcome(wording)})


def found(folder: Path, texts: Sequence[str]) -> dict[str, Outcome]:
    with Store(folder) as store:
        return store.of(View(kind="a")).find(texts)


def test_what_was_put_is_found_by_another_store(tmp_path: Path) -> None:
    made = {f"text {i}": Outcome(f"Wörding {i}", "flaw" if i % 3 else "") for i in range(AT_ONCE + 20)}
    with Store(tmp_path) as store:
        store.of(View(kind="a")).add(made)
    assert found(tmp_path, [*made, "another"]) == made
    assert found(tmp_path, []) == {}


def test_every_parameter_is_part_of_the_key(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.of(View(kind="a", seed=1, of={"x": 1, "y": 2})).add({"A dog.": Outcome("One")})
        assert store.of(View(of={"y": 2, "x": 1}, seed=1, kind="a")).find(["A dog."])
        for other in ({"seed": 2}, {"kind": "b"}, {"more": None}, {"of": {"x": 1}}):
            assert not store.of(View(**{"kind": "a", "seed": 1, "of": {"x": 1, "y": 2}, **other})).find(["A dog."])


def test_the_digest_does_not_change_from_process_to_process() -> None:
    assert parameters_digest({"kind": "a", "seed": 1}).hex() == "902f99e9295174720aad3b90b6739be1"


def test_the_first_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        shelf = store.of(View(kind="a"))
        shelf.add({"A dog.": Outcome("first")})
        shelf.add({"A dog.": Outcome("second"), "A cat.": Outcome("new")})
        assert shelf.find(["A dog.", "A cat."]) == {"A dog.": Outcome("first"), "A cat.": Outcome("new")}
        shelf.add({"A dog.": Outcome("third")}, replace=True)
        assert shelf.find(["A dog."]) == {"A dog.": Outcome("third")}


def test_a_chunk_is_whole_or_absent(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        shelf = store.of(View(kind="a"))
        bad: Any = {"one": Outcome("1"), "two": Outcome(object())}  # type: ignore[arg-type]
        with pytest.raises(IsotropeError, match="the cache of views can't be written"):
            shelf.add(bad)
        assert not shelf.find(["one", "two"])
        shelf.add({"one": Outcome("1")})  # and goes on


def test_several_processes_begin_and_write_at_the_same_time(tmp_path: Path) -> None:
    texts = [[f"{writer} {i}" for i in range(40)] + ["shared"] for writer in range(6)]
    writers = [FORK.Process(target=put, args=(tmp_path, part, f"by {i}")) for i, part in enumerate(texts)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0] * 6
    there = found(tmp_path, [text for part in texts for text in part])
    assert len(there) == 6 * 40 + 1
    assert all(there[text] == Outcome(f"by {i}") for i, part in enumerate(texts) for text in part if text != "shared")


def killed_within_a_transaction(folder: Path) -> None:
    with Store(folder) as store:
        shelf: Shelf = store.of(View(kind="a"))
        shelf.add({"before": Outcome("there")})
        shelf._base.execute("BEGIN IMMEDIATE")
        shelf._base.execute("INSERT INTO views VALUES (?, ?, ?)", (shelf._key("half"), "half", ""))
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_kill_takes_what_was_not_finished_and_nothing_else(tmp_path: Path) -> None:
    process = FORK.Process(target=killed_within_a_transaction, args=(tmp_path,))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert found(tmp_path, ["before", "half"]) == {"before": Outcome("there")}


def test_it_is_where_the_environment_says(cache: Path) -> None:
    with Store() as store:
        assert store.folder == cache
    assert (cache / FILE).is_file()


def test_a_folder_that_can_not_be_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IsotropeError, match="set ISOTROPE_CACHE to another folder"):
        Store(tmp_path / "file" / "cache")
    (tmp_path / FILE).write_text("this is no data base, but a text that is long enough to be read as one " * 9)
    with pytest.raises(IsotropeError, match=r"can't keep views there \(file is not a database\)"):
        Store(tmp_path)
