from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.io.store import AT_ONCE
from isotrope.views.text.base import Outcome
from isotrope.views.text.store import FILE, Store, parameters_digest


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


def test_it_is_where_the_environment_says(cache: Path) -> None:
    with Store() as store:
        assert store.folder == cache
    assert (cache / FILE).is_file()


def test_a_folder_that_can_not_be_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IsotropeError, match="set ISOTROPE_CACHE to another folder"):
        Store(tmp_path / "file" / "cache")


def test_wordings_in_a_damaged_file_are_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    put(tmp_path, ["A dog."], "Ein Hündchen.")
    content = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(content.replace("Hündchen".encode(), b"Hundchen "))
    assert found(tmp_path, ["A dog."]) == {}
    put(tmp_path, ["A dog."], "Ein Hund.")
    assert found(tmp_path, ["A dog."]) == {"A dog.": Outcome("Ein Hund.")}
    assert len(caplog.messages) == 1
