"""What many texts share is left out, and nothing else."""

from __future__ import annotations

from isotrope.text import bundled_sentences
from isotrope.text.boilerplate import without_boilerplate

WANTS = ["The blue printer is out of paper", "I can't get into my account", "Where is my new card", "It rains in here"]


def test_phrases_that_many_texts_share_are_left_out_wherever_they_stand() -> None:
    texts = [f"Hello,\n\n{want} today?\nBest regards\nAna | Room {i}" for i, want in enumerate(WANTS * 2)]
    texts += [f"HELLO, {want}. best  regards Ben" for want in WANTS]  # on one line, as it comes out of HTML
    found, phrases = without_boilerplate(list(dict.fromkeys(texts)))
    assert phrases == ["hello", "best regards", "ana"]
    assert found[0] == "The blue printer is out of paper today? Room 0"
    assert found[8:] == [f"{want}. Ben" for want in WANTS]


def test_text_that_shares_nothing_stays_as_it_is() -> None:
    texts = ["One line,\n  and another; here.", *bundled_sentences()[:300]]
    assert without_boilerplate(texts) == (texts, [])
    assert without_boilerplate([]) == ([], [])


def test_a_text_that_is_nothing_else_stays_whole() -> None:
    tags = [f"red, cotton, {size}" for size in ("small", "large", "wide", "long", "short", "slim")]
    assert without_boilerplate(tags) == (tags, ["red", "cotton"])
