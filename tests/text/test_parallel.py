from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.io.errors import IsotropeError
from isotrope.text import parallel
from isotrope.text.files import read_table
from isotrope.text.parallel import RULES, Cleaner, language_identifier, read_pairs
from isotrope.text.scripts import SCRIPTS, Writing

EN = "The children are playing in the garden."
ZH = "孩子们正在花园里玩耍。"
DE = "Die Kinder spielen gerade im Garten."
RU = "Дети играют в саду."
JA = "子供たちは庭で遊んでいます。"


def cleaned(cleaner: Cleaner, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [pair for chunk in cleaner(pairs) for pair in chunk]


# -- rule by rule ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("languages", "pair", "rule"),
    [
        ("en zh", (EN, ZH), None),
        ("zh-CN EN_us", (ZH, EN), None),
        ("en ja", (EN, JA), None),
        ("en ru", (EN, RU), None),
        ("en xx", (EN, RU), None),  # its script is not known
        ("en zh", ("", ZH), "empty"),
        ("en zh", (EN, " \u3000\n"), "empty"),
        ("en zh", (EN, ZH + "\x07"), "control"),
        ("en zh", (EN.replace("e", "\ufffd"), ZH), "control"),
        ("en zh", (EN, ZH + "\udc80"), "control"),
        ("en zh", ("x", ZH), "length"),
        ("en zh", ("你好", "Hi."), "script"),
        ("en zh", ("Hi.", "嗨。"), None),  # one character of Chinese is not too short
        ("en zh", (EN * 20, ZH * 20), "length"),
        ("en de", (EN, EN.upper()), "identical"),
        ("en de", ("Call +49 (89) 636-48018-0, 636-48018-1", "Tel. +49 (89) 636-48018-0, 636-48018-1"), "symbols"),
        ("en de", ("* * * * * * * * * a *", "- - - - - - - - - b -"), "symbols"),
        ("en de", ("It's 7:45.", "Es ist 7:45 Uhr."), None),
        ("en zh", ("He was born on July 28th, 1888.", "他出生于1888年7月28日。"), None),
        ("en zh", (EN, DE), "script"),
        ("en ru", (EN, "Äåòè èãðàþò â ñàäó."), "script"),  # the bytes of another code page
        ("en zh", ("I use Twitter.", "我用Twitter。"), None),
        ("en ru", ("The children are playing Twister.", "Дети играют Twister."), None),
        ("en de", (EN, DE * 4), "ratio"),
        ("en zh", (EN, ZH * 4), "ratio"),
        ("en zh", (EN * 3, ZH), "ratio"),
        ("en de", ("Hi.", "Guten Tag."), None),  # short ones differ more
    ],
)
def test_a_pair_is_dropped_by_the_rule_that_it_breaks(languages: str, pair: tuple[str, str], rule: str | None) -> None:
    cleaner = Cleaner(*languages.split())
    kept = cleaned(cleaner, [pair])
    assert {name: n for name, n in cleaner.dropped.items() if n} == ({rule: 1} if rule else {})
    assert len(kept) == cleaner.kept == (0 if rule else 1)


def test_limits_can_be_set() -> None:
    assert Cleaner("en", "de", max_length=10).fault(EN, DE) == "length"
    assert Cleaner("en", "de", min_length=50).fault(EN, DE) == "length"
    assert Cleaner("en", "de", max_ratio=1.01).fault(EN, DE) == "ratio"


def test_spaces_are_made_single() -> None:
    assert cleaned(Cleaner("en", "de"), [(f" {EN}\t", "Die  Kinder\u3000spielen\n")]) == [(EN, "Die Kinder spielen")]


def test_another_language_is_dropped_where_it_can_be_told() -> None:
    asked: list[tuple[str, str]] = []

    def foreign(text: str, language: str) -> bool:
        asked.append((text, language))
        return text == DE + DE

    cleaner = Cleaner("en-GB", "fr", foreign=foreign)
    long_enough = EN + EN
    assert cleaner.fault(long_enough, DE + DE) == "language"
    assert asked == [(long_enough, "en"), (DE + DE, "fr")]
    assert cleaner.fault("Hello.", "Hallo.") is None
    assert len(asked) == 2, "of a short text nobody can tell"
    assert cleaner.off == []
    assert Cleaner("en", "xx").off == ["script: that of xx is not known", "language: pip install py3langid"]


def test_the_real_library() -> None:
    if importlib.util.find_spec("py3langid") is None:
        assert language_identifier() is None
        pytest.skip("needs language identification: pip install py3langid")
    foreign = language_identifier()
    assert foreign is not None
    assert foreign("Die Kinder spielen gerade im Garten hinter dem Haus.", "en")
    assert not foreign("The children are playing in the garden behind the house.", "en")
    assert not foreign("The children are playing in the garden behind the house.", "xx")


# -- duplicates ------------------------------------------------------------------------------------------------------

side = st.sampled_from(["a dog", "a  dog", "a cat", "the cow", "some pigs", "no hens"])


@given(st.lists(st.tuples(side, side), max_size=40), st.integers(1, 5), st.booleans())
@settings(deadline=None)
def test_duplicates_are_those_of_a_plain_set(pairs: list[tuple[str, str]], chunk: int, one_per_source: bool) -> None:
    tidy = [(" ".join(a.split()), " ".join(b.split())) for a, b in pairs]
    fine = [(a, b) for a, b in tidy if a != b]
    wanted = list(dict.fromkeys(fine))
    distinct = len(wanted)
    if one_per_source:
        sources: dict[str, tuple[str, str]] = {}
        for pair in wanted:
            sources.setdefault(pair[0], pair)
        wanted = list(sources.values())
    cleaner = Cleaner("en", "de", one_per_source=one_per_source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "CHUNK_PAIRS", chunk)
        assert cleaned(cleaner, pairs) == wanted
    assert cleaner.dropped["duplicate"] == len(fine) - distinct
    assert cleaner.dropped["identical"] == len(tidy) - len(fine)
    assert cleaner.dropped.get("same source", 0) == distinct - len(wanted)
    assert cleaner.seen == len(pairs)


def test_many_pairs_have_no_false_duplicates() -> None:
    pairs = [(f"sentence {i}", f"Satz {i}") for i in range(30_000)]
    cleaner = Cleaner("en", "de", min_length=0)
    assert cleaned(cleaner, pairs + pairs) == pairs
    assert cleaner.dropped["duplicate"] == len(pairs)


def test_text_without_end_is_taken_some_at_a_time() -> None:
    taken = count()

    def endless() -> Iterator[tuple[str, str]]:
        for number in taken:
            yield f"Sentence number {number}.", f"Satz mit Nummer {number}."

    chunks = list(islice(Cleaner("en", "de")(endless()), 3))
    assert sum(map(len, chunks)) == next(taken) == 3 * parallel.CHUNK_PAIRS


# -- real text -------------------------------------------------------------------------------------------------------


def test_hardly_any_good_pair_is_dropped(shared_data: Path) -> None:
    """Tatoeba has been checked by many people: what is left out are a few free translations."""
    for language in ("zh", "de"):
        cleaner = Cleaner("en", language)
        file = shared_data / "parallel" / f"tatoeba_en_{language}.tsv.gz"
        kept = cleaned(cleaner, list(islice(read_pairs(file, "en", language), 15_000)))
        assert cleaner.seen == 15_000
        assert len(kept) >= 0.999 * cleaner.seen, cleaner.dropped


def test_bad_pairs_among_good_ones_are_found(shared_data: Path) -> None:
    """Real news, in which some pairs were spoilt on purpose."""
    rows = [row for row in read_table(shared_data / "parallel" / "wmt21_23.tsv.gz") if row["lang"] == "ru"]
    pairs = list(dict.fromkeys((row["en"], row["text"]) for row in rows))
    judge = Cleaner("en", "ru")
    good = [pair for pair in pairs if judge.fault(*pair) is None and len(pair[0]) > 40]
    assert len(good) > 0.7 * len(pairs)
    chance = random.Random(1)
    bad = {
        "script": [(en, en[::-1]) for en, _ in good[:50]],
        "identical": [(ru, ru) for _, ru in good[:50]],
        "control": [(en, ru[:5] + "\ufffd" + ru[5:]) for en, ru in good[:50]],
        "symbols": [(" ".join(str(chance.random()) for _ in range(5)), ru) for _, ru in good[:50]],
        "duplicate": good[:50],
    }
    cleaner = Cleaner("en", "ru")
    assert cleaned(cleaner, good + [pair for pairs in bad.values() for pair in pairs]) == good
    assert {rule: n for rule, n in cleaner.dropped.items() if n} == dict.fromkeys(bad, 50)
    assert cleaner.examples["duplicate"] == good[0]


def test_russian_in_another_code_page_is_found(shared_data: Path) -> None:
    rows = [row for row in read_table(shared_data / "parallel" / "wmt21_23.tsv.gz") if row["lang"] == "ru"]
    broken = [row["text"] for row in rows if row["text"].count("î") > 5]
    assert len(broken) > 5
    cleaner = Cleaner("en", "ru", max_length=1e9)
    assert all(cleaner.fault("x" * len(text), text) == "script" for text in broken)


# -- what texts look like --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("en", EN),
        ("zh", ZH),
        ("ja", JA),
        ("ru", RU),
        ("ko", "아이들이 정원에서 놀고 있다"),
        ("th", "เด็กๆ กำลังเล่นอยู่ในสวน"),
        ("hi", "बच्चे बगीचे में खेल रहे हैं"),
        ("ar", "الأطفال يلعبون في الحديقة"),
        ("el", "Παιδιά παίζουν στον κήπο"),
        ("vi", "Bọn trẻ đang chơi trong vườn"),
    ],
)
def test_a_language_is_in_its_own_script(code: str, text: str) -> None:
    look = Writing(code).look(text)
    assert look.own == 1
    assert look.letters > 0.9
    others = [other for other in ("en", "zh", "ru", "th", "hi", "ar", "el") if other not in (code, "ja")]
    shared = {("ja", "zh"), ("vi", "en")}
    assert all(Writing(other).look(text).own == 0 for other in others if (code, other) not in shared)


def test_lengths_can_be_compared() -> None:
    lengths = [Writing(code).look(text).length for code, text in (("en", EN), ("zh", ZH), ("ja", JA), ("de", DE))]
    assert max(lengths) < 1.5 * min(lengths)
    assert Writing("en").look("").length == 0


@given(st.text())
@settings(deadline=None)
def test_shares_are_shares(text: str) -> None:
    for code in ("en", "zh", "xx"):
        look = Writing(code).look(text)
        assert 0 <= look.letters <= 1
        assert 0 <= look.own <= 1 + 1e-9


def test_scripts_are_named_as_unicode_names_them() -> None:
    import unicodedata

    names = {unicodedata.name(chr(point), "").split(" ")[0].split("-")[0] for point in range(0x20000)}
    assert set(SCRIPTS) <= names


# -- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [("zh", "en"), ("source", "target")])
def test_columns_by_language_or_by_side(tmp_path: Path, columns: tuple[str, str]) -> None:
    rows = [{"id": 1, columns[1]: EN, columns[0]: ZH}, {"id": 2, columns[1]: None, columns[0]: ZH}]
    (tmp_path / "x.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert list(read_pairs(tmp_path / "x.jsonl", "zh", "en")) == [(ZH, EN), (ZH, "")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"de": EN, "en": EN}, "x.jsonl: the columns must be zh and en, or source and target; it has: de, en"),
        ({"zh": 7, "en": EN}, "x.jsonl: row 1: column 'zh' holds 7, not text"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    with pytest.raises(IsotropeError, match=message):
        list(read_pairs(tmp_path / "x.jsonl", "zh", "en"))


def test_every_rule_is_explained() -> None:
    assert set(Cleaner("en", "de", one_per_source=True, foreign=lambda text, language: False).dropped) == set(RULES)
