from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from isotrope.io.errors import IsotropeError
from isotrope.views.text import back_translation, make_text_view
from isotrope.views.text.back_translation import BackTranslationSpec
from isotrope.views.text.base import Outcome
from isotrope.views.text.engines.translators import TRANSLATORS


class Fake:
    """An engine whose translations are known, between any two of its languages."""

    def __init__(self, name: str = "bergamot", languages: str = "en pt") -> None:
        self.name, self.languages = name, languages.split()
        self.asked: list[tuple[list[str], str, str]] = []

    def lacks(self, source: str, target: str) -> str:
        return "" if {source, target} <= set(self.languages) else f"{self.name} lacks {source}-{target}"

    def parameters(self, source: str, target: str) -> dict[str, Any]:
        return {"direction": f"{source}-{target}"}

    def translate(self, sentences: Sequence[str], source: str, target: str) -> list[str]:
        self.asked.append((list(sentences), source, target))
        return [self._one(sentence, target) for sentence in sentences]

    def _one(self, sentence: str, target: str) -> str:
        if "silence" in sentence:
            return ""
        return sentence.removesuffix(f" ({'en' if target != 'en' else 'pt'})") + f" ({target})"

    def flaw(self, sentence: str, translation: str) -> str:
        return "unknown words" if "frisbee" in translation else ""


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> dict[str, Fake]:
    known = {
        "bergamot": Fake("bergamot"),
        "apertium": Fake("apertium", "en es ca pt"),
        "transformers": Fake("t", "en fi"),
    }
    for name, engine in known.items():
        monkeypatch.setitem(TRANSLATORS, name, lambda settings, engine=engine: engine)
    return known


def test_there_and_back(engines: dict[str, Fake]) -> None:
    view = BackTranslationSpec(pivot="pt").make()
    assert view(["A  dog\n\truns.\0", "A cat."]) == ["A dog runs. (en)", "A cat. (en)"]
    assert engines["bergamot"].asked == [
        (["A dog runs.", "A cat."], "en", "pt"),
        (["A dog runs. (pt)", "A cat. (pt)"], "pt", "en"),
    ]


def test_what_fails_is_not_sent_on_and_says_why(engines: dict[str, Fake], monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(wording: str, text: str, source: str, pivot: str) -> bool:
        assert (source, pivot) == ("en", "pt")
        return "foreign" in wording

    monkeypatch.setattr(back_translation, "is_wrong_language", wrong)
    view = BackTranslationSpec(pivot="pt").make()
    texts = ["silence", "A dog.", "A frisbee.", "", "A foreign word."]
    assert view.outcomes(texts) == [
        Outcome(""),
        Outcome("A dog. (en)"),
        Outcome("", "unknown words"),
        Outcome(""),
        Outcome("", "wrong language"),
    ]
    assert engines["bergamot"].asked[1][0] == ["A dog. (pt)", "A foreign word. (pt)"]


def test_auto_takes_the_first_that_can(engines: dict[str, Fake]) -> None:
    chosen = {pivot: BackTranslationSpec(pivot=pivot).make().parameters["engine"] for pivot in ("pt", "es", "fi")}
    assert chosen == {"pt": "bergamot", "es": "apertium", "fi": "t"}
    assert BackTranslationSpec(pivot="pt", engine="apertium").make().parameters["engine"] == "apertium"


def test_when_none_can_it_says_what_each_lacks(engines: dict[str, Fake]) -> None:
    with pytest.raises(IsotropeError, match="nothing here translates en-xx and back: bergamot lacks en-xx; ") as error:
        BackTranslationSpec(pivot="xx").make()
    assert "; t lacks en-xx" in str(error.value)
    with pytest.raises(IsotropeError, match=r"^apertium lacks en-xx$"):
        BackTranslationSpec(pivot="xx", engine="apertium").make()


def test_both_directions_are_needed(engines: dict[str, Fake], monkeypatch: pytest.MonkeyPatch) -> None:
    one_way = engines["bergamot"]
    monkeypatch.setattr(one_way, "lacks", lambda source, target: "no way back" if source == "pt" else "")
    assert BackTranslationSpec(pivot="pt").make().parameters["engine"] == "apertium"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"engine": "bergamott"}, r"unknown engine 'bergamott' \(did you mean 'bergamot'\?\); choose auto, bergamot, "),
        ({"pivot": "en"}, "the pivot 'en' is the language of the sentences"),
        ({"pivot": "pt", "source": "pt"}, "the pivot 'pt' is the language of the sentences"),
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        make_text_view("back-translation", **fields)


def test_parameters_are_all_that_decides(engines: dict[str, Fake]) -> None:
    parameters = BackTranslationSpec(pivot="es", seed=5).make().parameters
    assert json.loads(json.dumps(parameters)) == parameters
    assert parameters["there"] == {"direction": "en-es"}
    assert parameters["back"] == {"direction": "es-en"}
    assert parameters["seed"] is None  # no chance in it
    assert BackTranslationSpec(pivot="fi", sampling=True, seed=5).make().parameters["seed"] == 5
