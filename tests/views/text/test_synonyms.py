from __future__ import annotations

import builtins
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.views.text import make_text_view
from isotrope.views.text.synonyms import STOP_WORDS, WORD, Synonyms, SynonymsSpec

nltk = pytest.importorskip("nltk", reason="needs NLTK: pip install 'isotrope[views]'")
wordnet = pytest.importorskip("isotrope.views.text.engines.wordnet")
SENTENCES = bundled_sentences()[:300]


@pytest.fixture(scope="module")
def opened() -> Any:
    try:
        return wordnet.open_wordnet()
    except IsotropeError as error:
        pytest.skip(f"needs WordNet: {error}")


def view(opened: Any, **options: Any) -> Synonyms:
    made = SynonymsSpec(**options).make()
    made.wordnet = opened  # opened once for all tests
    return made


def taken_apart(text: str, other: str, opened: Any) -> list[tuple[str, str]] | None:
    """The words of `text` for which `other` has a synonym, with that; None where anything else differs."""
    words, gaps = WORD.findall(text), WORD.split(text)
    pattern = re.escape(gaps[0])
    for word, gap in zip(words, gaps[1:], strict=True):
        synonyms = [synonym.word for synonym in opened.synonyms(word.lower())]
        synonyms = [one.capitalize() for one in synonyms] if word[0].isupper() else synonyms
        pattern += f"({'|'.join(map(re.escape, [word, *synonyms]))}){re.escape(gap)}"
    found = re.fullmatch(pattern, other)
    return found and [(word, new) for word, new in zip(words, found.groups(), strict=True) if word != new]


class Lexicon:
    """A stand-in whose synonyms can be told from all other words."""

    fingerprint = "stand-in"

    def __init__(self, known: Mapping[str, Sequence[str]] | None = None, names: str = "") -> None:
        self.known, self.names = known, names.split()

    def synonyms(self, form: str) -> tuple[Any, ...]:
        words = [f"<{form}>"] if self.known is None else self.known.get(form, ())
        return tuple(wordnet.Synonym(word, 1) for word in words)

    def is_name(self, form: str) -> bool:
        return form in self.names


# -- which words are replaced, and how many --------------------------------------------------------------------------


@given(
    st.lists(
        st.sampled_from(["the", "a", "dog", "barks", "loudly", "Paris", "1999", "12th", "don't", "TV"]), max_size=30
    ),
    st.sampled_from([0.1, 0.3, 0.5, 1.0]),
    st.integers(0, 5),
)
@settings(deadline=None)
def test_the_share_is_exact_and_the_rest_is_untouched(words: list[str], rate: float, seed: int) -> None:
    text = " ".join(["So", *words])  # its first word is a function word
    (other,) = view(Lexicon(), rate=rate, seed=seed)([text])
    pairs = list(zip(text.split(), other.split(), strict=True))
    free = sum(word in ("dog", "barks", "loudly") for word in words)
    changed = [(old, new) for old, new in pairs if old != new]
    assert len(changed) == min(free, max(1, round(rate * (len(words) + 1))))
    assert all(new == f"<{old}>" for old, new in changed)


@pytest.mark.parametrize("word", ["the", "seven", "Dogs", "NATO", "eBay", "7", "7th", "isn't", "ox", "u.s.a", "x-3"])
def test_what_is_never_touched(word: str) -> None:
    (other,) = view(Lexicon(), rate=1.0)([f"It was {word} that"])
    assert word in other


def test_the_first_word_of_a_sentence_keeps_its_capital_and_a_name_stays() -> None:
    lexicon = Lexicon({"dogs": ["domestic dogs"], "mark": ["score"]}, names="mark")
    texts = ['Dogs bark. "Dogs!" Dogs', "Mark left. Mark is Dogs", "dogs mark"]
    assert view(lexicon, rate=1.0)(texts) == [
        'Domestic dogs bark. "Domestic dogs!" Domestic dogs',
        "Mark left. Mark is Dogs",
        "domestic dogs score",
    ]


@given(st.text())
@settings(max_examples=300, deadline=None)
def test_any_text_is_taken_and_nothing_but_words_changes(text: str) -> None:
    (other,) = view(Lexicon({}), rate=1.0)([text])
    assert other == text
    (other,) = view(Lexicon(), rate=1.0)([text])
    assert other.replace("<", "").replace(">", "").casefold() == text.replace("<", "").replace(">", "").casefold()


def test_a_view_is_a_function_of_text_and_seed() -> None:
    lexicon = Lexicon({word: [f"{word}{i}" for i in range(9)] for word in ("dog", "cat", "cow", "pig", "hen")})
    texts = ["dog cat cow pig hen", "hen pig cow cat dog", "dog cat cow", "no"]
    once = view(lexicon)(texts)
    assert view(lexicon)(texts[::-1]) == once[::-1]
    assert [view(lexicon)([text])[0] for text in texts] == once
    assert view(lexicon, seed=2)(texts) != once
    assert once[3] == "no"


def test_frequent_synonyms_are_drawn_more_often() -> None:
    class Weighted(Lexicon):
        def synonyms(self, form: str) -> tuple[Any, ...]:
            return wordnet.Synonym("often", 90), wordnet.Synonym("seldom", 10)

    views = view(Weighted())([f"word {i}" for i in range(1000)])
    assert 850 < sum("often" in one for one in views) < 950


@pytest.mark.parametrize("rate", [0, -0.1, 1.1])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    with pytest.raises(IsotropeError, match="'synonyms': rate: Input should be"):
        make_text_view("synonyms", rate=rate)


# -- with the real WordNet -------------------------------------------------------------------------------------------


def test_real_sentences_at_the_papers_rate(opened: Any) -> None:
    views = view(opened)(SENTENCES)
    assert view(opened)(SENTENCES[::-1]) == views[::-1]
    same = replaced = words = 0
    for text, other in zip(SENTENCES, views, strict=True):
        found = taken_apart(text, other, opened)
        assert found is not None, (text, other)
        assert len(found) <= max(1, round(0.3 * len(WORD.findall(text))))
        assert not any(old.lower() in STOP_WORDS for old, _ in found)
        same, replaced, words = same + (text == other), replaced + len(found), words + len(WORD.findall(text))
    assert same < 0.05 * len(SENTENCES)
    assert 0.2 < replaced / words < 0.35


def test_what_decides_the_result_is_in_the_parameters(opened: Any) -> None:
    parameters = view(opened, rate=0.5, seed=7).parameters
    assert json.loads(json.dumps(parameters)) == parameters
    assert parameters == {"kind": "synonyms", "rate": 0.5, "seed": 7, "wordnet": opened.fingerprint}


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        ("love", {"enjoy"}),  # a verb more often than a noun; of its senses the first with another word
        ("newspapers", {"papers"}),
        ("children", {"kids", "youngsters"}),  # an irregular form gets a regular one
        ("went", {"moved", "travelled"}),
        ("stopped", {"halted"}),
        ("saw", {"realized"}),  # the past of see, not the tool; understood is irregular and left out
        ("written", {"composed", "penned"}),
        ("walking", {"taking the air"}),  # of several words the first is inflected
        ("big", {"large"}),
    ],
)
def test_synonyms_have_the_part_of_speech_and_the_ending(opened: Any, form: str, wanted: set[str]) -> None:
    assert wanted <= {synonym.word for synonym in opened.synonyms(form)}


@pytest.mark.parametrize("form", ["bigger", "better", "xyzzy", "earliest", ""])
def test_words_without_synonyms(opened: Any, form: str) -> None:
    assert opened.synonyms(form) == ()


def test_names_are_known_and_never_put_in(opened: Any) -> None:
    assert opened.is_name("john")
    assert opened.is_name("paris")
    assert not opened.is_name("dog")
    for form in ("dog", "china", "turkey", "john", "bill"):
        assert all(word == word.lower() for word, _ in opened.synonyms(form))


@pytest.mark.parametrize(
    ("verb", "irregular", "forms"),
    [
        ("stop", ["stopped", "stopping"], ("stops", "stopped", "stopping")),
        ("lam", [], ("lams", "lammed", "lamming")),
        ("carry", [], ("carries", "carried", "carrying")),
        ("play", [], ("plays", "played", "playing")),
        ("love", [], ("loves", "loved", "loving")),
        ("see", ["saw", "seen"], ("sees", "", "seeing")),
        ("free", [], ("frees", "freed", "freeing")),
        ("go", ["went", "gone"], ("goes", "", "going")),
        ("watch", [], ("watches", "watched", "watching")),
        ("fix", [], ("fixes", "fixed", "fixing")),
    ],
)
def test_verbs_are_inflected(verb: str, irregular: list[str], forms: tuple[str, ...]) -> None:
    assert tuple(wordnet._verb(verb, ending, irregular) for ending in ("s", "ed", "ing")) == forms


def test_nouns_are_inflected() -> None:
    nouns = {"dog": "dogs", "box": "boxes", "city": "cities", "day": "days", "church": "churches", "class": "classes"}
    unsure = dict.fromkeys(("knife", "roof", "potato", "policeman", "series"), "")
    for noun, plural in (nouns | unsure).items():
        assert wordnet._plural(noun, []) == plural
    assert wordnet._plural("mouse", ["mice"]) == ""


# -- finding it ------------------------------------------------------------------------------------------------------


def test_a_folder_that_is_no_wordnet(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"not a WordNet folder, it has no index\.noun; get one by apt install"):
        wordnet.open_wordnet(tmp_path)
    (tmp_path / "index.noun").touch()
    with pytest.raises(
        IsotropeError, match=r"damaged or not whole \(.*data.adj.*\); get one by apt install wordnet-base"
    ):
        wordnet.open_wordnet(tmp_path)


def test_a_machine_without_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path)
    for variable in ("WNHOME", "WNSEARCHDIR"):
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(IsotropeError, match=r"there is no WordNet here; get one by .* or give the folder of another"):
        _ = SynonymsSpec().make().wordnet


def test_every_place_of_a_wordnet_is_found(opened: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As Princeton ships it (`dict` in a folder), as NLTK downloads it (a zip file), and by the variables."""
    if not wordnet.DEBIAN.is_dir():
        pytest.skip("needs Debian's WordNet: apt install wordnet-base")
    fingerprint, synonyms = opened.fingerprint, opened.synonyms("newspapers")
    princeton, data = tmp_path / "WordNet-3.0", tmp_path / "nltk_data" / "corpora"
    (princeton / "dict").mkdir(parents=True)
    for file in wordnet.DEBIAN.glob("*.*"):
        shutil.copy(file, princeton / "dict")
    shutil.copytree(princeton / "dict", tmp_path / "zip" / "wordnet")
    shutil.make_archive(str(data / "wordnet"), "zip", tmp_path / "zip", "wordnet")
    monkeypatch.setattr(wordnet, "DEBIAN", tmp_path)
    monkeypatch.setattr(nltk.data, "path", [])
    assert wordnet._root(princeton) == str(princeton / "dict")
    monkeypatch.setenv("WNHOME", str(princeton))
    assert wordnet._root_anywhere() == str(princeton / "dict")
    monkeypatch.setattr(nltk.data, "path", [str(data.parent)])
    zipped = wordnet.open_wordnet()
    assert "wordnet.zip" in repr(zipped)
    assert (zipped.fingerprint, zipped.synonyms("newspapers")) == (fingerprint, synonyms)


def test_without_nltk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    ordinary = builtins.__import__

    def missing(name: str, *others: Any, **more: Any) -> Any:
        if name == "isotrope.views.text.engines.wordnet":
            raise ModuleNotFoundError("No module named 'nltk'", name="nltk")
        return ordinary(name, *others, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(IsotropeError, match=r"synonyms need NLTK: pip install 'isotrope\[views\]'"):
        _ = SynonymsSpec().make().wordnet
