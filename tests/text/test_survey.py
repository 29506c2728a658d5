from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isotrope.text import bundled_sentences, survey
from isotrope.text.corpus import build_corpus
from isotrope.text.survey import Survey

SPANISH = [
    "Hola, mi impresora no funciona desde el lunes; por favor ayúdenme a resolverlo pronto.",
    "El pedido llegó tarde y la caja estaba rota, quiero que me devuelvan el dinero.",
    "No puedo entrar en mi cuenta porque he olvidado la contraseña y nadie me contesta.",
]


def looked_at(texts: list[Any]) -> Survey:
    found = Survey()
    rows = [{"text": text, "id": i} for i, text in enumerate(texts)]
    assert list(found.rows_of(rows, ("text",))) == rows  # they pass by as they are
    return found


def test_everything_is_counted() -> None:
    sentences = bundled_sentences()[:20]
    near = [sentences[0].upper(), f"{sentences[1]}!!", "Order 12 is late", "Order 345 is late", "Order 346 is late"]
    found = looked_at([*sentences, *sentences[:3], *near, None, " " * 0, "<b>bold</b>", "N/A", "n/a", "N/A"]).as_dict()
    assert {name: found[name] for name in ("rows", "blank", "looked_at", "markup", "placeholders")} == {
        "rows": 34,
        "blank": 2,
        "looked_at": 32,
        "markup": 1,
        "placeholders": 3,
    }
    assert found["duplicates"] == 4  # three sentences, and N/A again
    assert found["near_duplicates"] == 4  # upper case, punctuation, one more number of the same length, n/a


def test_the_line_names_what_there_is_and_what_will_hurt() -> None:
    first, *warnings = looked_at([f"<p>{text}</p>" for text in bundled_sentences()[:50]] + ["N/A"] * 3).lines()
    assert first.startswith("read 53 rows: 2 duplicates, 50 with HTML, 3 placeholders such as 'N/A'")
    assert [line.split(";")[0] for line in warnings] == [
        "Warning: HTML is learnt as if it were words",
        "Warning: placeholders carry no meaning and all look alike",
    ]
    (only,) = looked_at(bundled_sentences()[:50]).lines()
    assert only.startswith("read 50 rows")
    assert ":" not in only.split(";")[0]
    assert next(looked_at(["A dog barks."]).lines()).split(";")[0] == "read 1 row"


def test_languages_are_found() -> None:
    pytest.importorskip("py3langid")
    found = looked_at([*bundled_sentences()[:9], *SPANISH]).languages
    assert found.keys() == {"en", "es"}
    assert found["es"] == pytest.approx(3 / 12, abs=0.1)
    said = next(looked_at([*bundled_sentences()[:9], *SPANISH]).lines())
    assert said.endswith(f"languages: en {found['en']:.0%}, es {found['es']:.0%}")


def test_short_texts_count_in_the_language_of_their_script() -> None:
    pytest.importorskip("py3langid")
    chinese = ["今天天气很好", "我喜欢吃苹果", "他昨天去了北京", "你好", "我要退货,因为盒子坏了", "这个多少钱?"]
    found = looked_at([*bundled_sentences()[:6], *SPANISH, *SPANISH, *chinese]).languages
    assert found == {"en": 6 / 18, "es": 6 / 18, "zh": 6 / 18}


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("ja", ["東京へ行きます", "ラーメン", "これは何ですか"]),
        ("ko", ["안녕하세요", "감사합니다"]),
        ("el", ["Καλημέρα", "Ευχαριστώ"]),
        ("ar", ["مرحبا", "كيف حالك"]),
        ("ru", ["Я не знаю", "Мой заказ", "Почему?"]),
        ("uk", ["Я не знаю, що робити з цим замовленням", "Моє замовлення прийшло пізно", "Дякую", "Чому?"]),
    ],
)
def test_a_script_tells_the_language_of_words_too_few_for_anything_else(language: str, texts: list[str]) -> None:
    pytest.importorskip("py3langid")
    assert looked_at(texts).languages == {language: 1}


def test_what_is_unclear_is_told_when_it_is_more_than_a_little() -> None:
    pytest.importorskip("py3langid")
    texts = bundled_sentences()[:30]
    assert looked_at([*texts, "12:30"]).languages == {"en": 1}
    many = looked_at([*texts, *["12:30", "+49 30 1234"] * 5])
    assert many.languages == {"en": 30 / 40, "unclear": 10 / 40}
    assert next(many.lines()).endswith("languages: en 75%, unclear 25%")
    assert looked_at([]).languages == {}


def test_a_large_text_is_looked_at_in_part_and_sampled_from_all_of_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "LOOKED_AT", 1000)
    monkeypatch.setattr(survey, "IDENTIFIED", 50)
    found = looked_at([f"number {'x' * i}" for i in range(1500)])
    assert next(found.lines()).startswith("read 1,500 rows, 1,000 of them checked")
    assert len(found.sample) == 50
    later = sum(len(text) > 500 + len("number ") for text in found.texts())
    assert 10 < later < 40  # a half of them, about


def test_of_a_very_long_text_the_beginning_is_sampled() -> None:
    found = Survey()
    list(found.rows_of([{"a": "A dog barks. " * 200_000, "b": "A cat."}], ("a", "b")))
    (excerpt,) = found.sample
    assert (len(excerpt["a"]), excerpt["b"]) == (survey.EXCERPT, "A cat.")


def test_it_is_kept_with_the_corpus(tmp_path: Path) -> None:
    found = Survey()
    build_corpus([["A dog.", None, "A dog."]], ("text",), tmp_path / "corpus", survey=found)
    assert '"survey": {\n    "rows": 3,\n    "blank": 1' in (tmp_path / "corpus" / "corpus.json").read_text()
