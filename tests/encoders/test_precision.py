"""Half precision is how an encoder computes, not what it is: weights and vectors stay float32."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders.foreign import ForeignEncoder
from isotrope.encoders.loading import BUNDLED, load_any
from isotrope.encoders.precision import encoding_in, fastest_precision
from isotrope.io.errors import IsotropeError

TEXTS = ["A cat sat.", "Dogs bark loudly at night in the old town.", "Hello!"]


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize("pooling", ["mean", "last2"])
def test_vectors_are_float32_and_nearly_the_same(precision: str, pooling: str) -> None:
    exact, half = (isotrope.load(pooling=pooling, precision=kind) for kind in (None, precision))
    assert (exact.precision, half.precision) == ("float32", precision)
    assert half.with_pooling("cls").precision == precision
    wanted, found = exact.encode(TEXTS), half.encode(TEXTS)
    assert found.dtype == np.float32
    assert not np.array_equal(found, wanted)
    cosines = (found * wanted).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
    assert cosines.min() > 0.999
    tokens = half.encode(TEXTS[0], output_value="token_embeddings")
    assert tokens.dtype == half.backbone.hidden_states(half.batch(TEXTS))[1].dtype == torch.float32


def test_the_weights_stay_as_they_are(tmp_path: Path) -> None:
    for precision in ("float32", "bfloat16"):
        isotrope.load(precision=precision).save(tmp_path / precision)
    files = [tmp_path / precision / "model.safetensors" for precision in ("float32", "bfloat16")]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_an_encoder_of_any_make_has_it_too() -> None:
    model = SentenceTransformer(str(BUNDLED), device="cpu", model_kwargs={"dtype": torch.float32})
    exact, half = ForeignEncoder(model), ForeignEncoder(model)
    half.precision = "bfloat16"
    assert half.encode(TEXTS).dtype == np.float32
    assert not np.array_equal(half.encode(TEXTS), exact.encode(TEXTS))
    assert np.allclose(half.encode(TEXTS), exact.encode(TEXTS), atol=0.05)


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(IsotropeError, match=r"unknown precision 'bfloat'.*choose from float32, bfloat16, float16"):
        load_any(precision="bfloat")


@pytest.mark.parametrize(
    ("found", "precision"),
    [
        ({"avx2": True, "avx512_f": True}, "float32"),  # which imitate it, slowly
        ({"avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
        ({"amx_bf16": False, "avx512_bf16": False}, "float32"),
    ],
)
def test_the_fastest_is_what_the_processor_has(
    found: dict[str, bool], precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found, raising=False)
    assert fastest_precision("cpu") == precision
    monkeypatch.delattr(torch.cpu, "get_capabilities")  # older versions of torch
    assert fastest_precision("cpu") == "float32"


def test_encoders_compute_in_it_for_a_while() -> None:
    mine, other = isotrope.load(), isotrope.load(precision="float16")
    with encoding_in("bfloat16", mine, other):
        assert (mine.precision, other.precision) == ("bfloat16", "bfloat16")
    with pytest.raises(KeyboardInterrupt), encoding_in("bfloat16", mine, other):
        raise KeyboardInterrupt
    assert (mine.precision, other.precision) == ("float32", "float16")
