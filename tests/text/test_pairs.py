from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from isotrope.io.errors import IsotropeError
from isotrope.text.pairs import clean_pairs, entailment_pairs

PAIRS = [("你好。", "Hi."), ("你好。", "Hi."), ("The same.", "The same."), ("", "The children.")]
NLI = [
    {"premise": "A man sleeps.", "hypothesis": "A person rests.", "label": "entailment"},
    {"premise": "A man sleeps.", "hypothesis": "A man runs.", "label": "contradiction"},
    {"premise": "A cat sits.", "hypothesis": "A cat is there.", "label": "-"},
]


def test_pairs_in_memory_as_tuples_rows_or_a_frame() -> None:
    frame = pd.DataFrame(PAIRS, columns=["zh", "en"])
    for given in (PAIRS, [{"source": a, "target": b} for a, b in PAIRS], frame):
        made = clean_pairs(given, "zh", "en")
        assert list(made) == [{"source": "你好。", "target": "Hi."}]
        assert (made.seen, len(made), made.output) == (4, 1, None)
        assert {rule: count for rule, count in made.dropped.items() if count} == {
            "empty": 1,
            "identical": 1,
            "duplicate": 1,
        }
    assert made.to_pandas()["target"].tolist() == ["Hi."]


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"^the given text: of 1 pair none is left \(identical 1\)$"):
        clean_pairs([("The same.", "The same.")], "de", "en", tmp_path / "x.tsv")
    assert not list(tmp_path.iterdir())


def test_entailments_in_memory() -> None:
    pairs, triplets = entailment_pairs(NLI), entailment_pairs(pd.DataFrame(NLI), triplets=True)
    assert list(pairs) == [{"view1": "A man sleeps.", "view2": "A person rests."}]
    assert (pairs.labelled, pairs.unlabelled, pairs.blank) == (2, 1, 0)
    assert list(triplets) == [{"anchor": "A man sleeps.", "positive": "A person rests.", "negative": "A man runs."}]


def test_outputs_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("mine")
    file = tmp_path / "x.tsv"
    for make in (lambda: entailment_pairs(NLI, file), lambda: clean_pairs(PAIRS, "zh", "en", file)):
        with pytest.raises(IsotropeError, match="exists already; give force=True"):
            make()
