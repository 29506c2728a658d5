"""Every baseline is a folder like any other: `load_any` and sentence-transformers give the vectors that were saved."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.baselines.flow import fit_flow
from isotrope.baselines.frequent import without_frequent
from isotrope.baselines.glove import word_vector_mean
from isotrope.baselines.tfidf import fit_tfidf
from isotrope.baselines.wk import wk_pooled
from isotrope.encoders import Encoder, ForeignEncoder, load_any
from isotrope.fits.whitening import whiten
from isotrope.io.errors import IsotropeError

WITHOUT_ISOTROPE = """
import sys
sys.modules["isotrope"] = None  # any import of it fails
import numpy, json
from sentence_transformers import SentenceTransformer
for folder in sys.argv[2:]:
    numpy.save(folder + ".npy", SentenceTransformer(folder, device="cpu").encode(json.loads(sys.argv[1])))
"""


def same(found: object, wanted: object) -> bool:
    return bool(np.abs(np.asarray(found) - np.asarray(wanted)).max() <= 1e-5 * max(1, np.abs(np.asarray(wanted)).max()))


def test_those_of_plain_modules_load_without_isotrope(
    encoder: isotrope.Encoder, text: list[str], tmp_path: Path
) -> None:
    (tmp_path / "vectors.txt").write_text("a 1 2\nthe 0 1\n")
    made: dict[str, Encoder | ForeignEncoder] = {
        "whitening": whiten(encoder, text, 64),
        "frequent": without_frequent(encoder.with_pooling("last2"), text, 20),
        "glove": word_vector_mean(tmp_path / "vectors.txt"),
        "tfidf": fit_tfidf(text),
    }
    some = text[:10]
    for name, one in made.items():
        folder = one.save(tmp_path / name, card="Fitted on little.")
        card = (folder / "README.md").read_text()
        assert "Fitted on little." in card
        assert "trust_remote_code" not in card
        assert str(one.dim) in card
        again = load_any(folder)
        assert type(again) is type(one)
        assert same(again.encode(some), one.encode(some))
    folders = [str(tmp_path / name) for name in made]
    subprocess.run(
        [sys.executable, "-c", WITHOUT_ISOTROPE, json.dumps(some), *folders], check=True, capture_output=True
    )
    for name, one in made.items():
        assert same(np.load(tmp_path / f"{name}.npy"), one.encode(some)), name


def test_those_of_own_modules_say_what_they_need(encoder: isotrope.Encoder, text: list[str], tmp_path: Path) -> None:
    some = text[:10]
    made = {"flow": fit_flow(encoder.with_pooling("last2"), text[:70]), "wk": wk_pooled(encoder)}
    for name, one in made.items():
        folder = one.save(tmp_path / name)
        card = (folder / "README.md").read_text()
        assert "trust_remote_code=True" in card
        assert "isotrope must be installed" in card
        again = load_any(folder)
        assert type(again) is type(one)
        assert same(again.encode(some), one.encode(some))
        peer = SentenceTransformer(str(folder), device="cpu", trust_remote_code=True)
        assert same(peer.encode(some), one.encode(some))
        twice = again.save(tmp_path / f"{name}-again")
        assert same(load_any(twice).encode(some), one.encode(some))
    assert isinstance(isotrope.load(tmp_path / "flow"), Encoder)  # what is behind the pooling can be kept in training
    with pytest.raises(IsotropeError, match="has a WKPooling module after its transformer"):
        isotrope.load(tmp_path / "wk")


def test_prompts_are_kept(encoder: isotrope.Encoder, text: list[str], tmp_path: Path) -> None:
    prompted = encoder.with_after_pooling([])
    prompted.prompts, prompted.default_prompt_name = {"query": "find: "}, "query"
    for number, one in enumerate((wk_pooled(prompted), without_frequent(prompted, text[:9], 2))):
        again = load_any(one.save(tmp_path / str(number)))
        assert same(again.encode("a cat"), one.encode("find: a cat", prompt=""))
        assert not same(again.encode("a cat"), one.encode("a cat", prompt=""))
