"""OpenAI's API by the real app: the vectors of `Encoder.encode`, and refusals as text-embeddings-inference has them."""

from __future__ import annotations

import base64
import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

import isotrope
from isotrope.encoders.nearest import unit_rows
from isotrope.serving import schemas
from isotrope.serving.app import make_app
from isotrope.serving.limits import Limits
from isotrope.text import bundled_sentences

TEXTS = [*bundled_sentences()[:60], "word " * 300, "x", "Ein Satz mit Ümlauten 🐕 和中文"]


def vectors(answer: Any) -> Any:
    assert answer.status_code == 200, answer.text
    data = answer.json()["data"]
    assert [one["index"] for one in data] == list(range(len(data)))
    first = data[0]["embedding"]
    if isinstance(first, str):
        return np.stack([np.frombuffer(base64.b64decode(one["embedding"]), "<f4") for one in data])
    return np.array([one["embedding"] for one in data])


def post(client: Any, body: Any, **headers: str) -> Any:
    return client.post(
        "/v1/embeddings", content=json.dumps(body), headers={"Content-Type": "application/json", **headers}
    )


def test_the_vectors_are_those_of_encode(client: Any, encoder: isotrope.Encoder) -> None:
    wanted = encoder.encode(TEXTS)
    assert np.abs(vectors(post(client, {"input": TEXTS, "model": "bundled"})) - wanted).max() < 1e-5
    assert np.abs(vectors(post(client, {"input": TEXTS[3]})) - wanted[3:4]).max() < 1e-5
    short = vectors(post(client, {"input": TEXTS, "dimensions": 64, "encoding_format": "base64"}))
    assert short.dtype == np.float32
    assert np.abs(short - encoder.encode(TEXTS, truncate_dim=64)).max() < 1e-5
    unit = vectors(post(client, {"input": TEXTS, "dimensions": 64, "normalize": True}))
    assert np.abs(unit - encoder.encode(TEXTS, truncate_dim=64, normalize_embeddings=True)).max() < 1e-5


def test_token_arrays_are_the_models_own(client: Any, encoder: isotrope.Encoder) -> None:
    wanted = encoder.encode(TEXTS)
    whole = encoder.tokenizer(TEXTS)["input_ids"]  # the long one is cut by the server
    bare = encoder.tokenizer(TEXTS, add_special_tokens=False)["input_ids"]
    for arrays in (whole, bare):
        assert np.abs(vectors(post(client, {"input": arrays})) - wanted).max() < 1e-5
    assert np.abs(vectors(post(client, {"input": bare[0]})) - wanted[:1]).max() < 1e-5


def test_usage_counts_the_tokens(client: Any, encoder: isotrope.Encoder) -> None:
    tokens = sum(map(len, encoder.tokenize(TEXTS)))
    answer = post(client, {"input": TEXTS}).json()
    assert answer["usage"] == {"prompt_tokens": tokens, "total_tokens": tokens}
    assert (answer["object"], answer["model"]) == ("list", "bundled")


def test_many_at_once_change_nothing(client: Any, encoder: isotrope.Encoder) -> None:
    wanted = dict(zip(TEXTS, encoder.encode(TEXTS), strict=True))
    draw = random.Random(1)
    asked = [draw.choices(TEXTS, k=draw.randint(1, 6)) for _ in range(60)]
    with ThreadPoolExecutor(12) as pool:
        for texts, answer in zip(asked, pool.map(lambda texts: post(client, {"input": texts}), asked), strict=True):
            assert np.abs(vectors(answer) - np.stack([wanted[text] for text in texts])).max() < 1e-5


def test_models_are_listed_and_chosen_by_name(client: Any) -> None:
    listed = client.get("/v1/models").json()
    assert [one["id"] for one in listed["data"]] == ["bundled", "small"]
    assert client.get("/v1/models/small").json() == listed["data"][1]
    assert vectors(post(client, {"input": "x", "model": "small"})).shape == (1, 384)
    refused = post(client, {"input": "x", "model": "gpt"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "model_not_found")
    assert client.get("/v1/models/gpt").status_code == 404


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"input": []}, 400, "an empty list: there is nothing to encode"),
        ({"input": "  "}, 400, "input 0 is blank: there is nothing to encode"),
        ({"input": ["x", ""]}, 400, "input 1 is blank: there is nothing to encode"),
        ({"input": [[1], []]}, 400, "an empty token array: there is nothing to encode"),
        ({"input": ["x"] * 2049}, 413, "2,049 inputs in one request, at most 2,048 are allowed"),
        ({"input": [8192]}, 422, "token 8192 is not in this model's vocabulary, 0 to 8191"),
        ({"input": "\ud800"}, 422, "input 0 is not valid text: it contains half a character (a lone surrogate)"),
        ({"input": "x", "dimensions": 257}, 422, "257 dimensions; the vectors of 'bundled' have 256"),
        ({"input": "x", "dimensions": 0}, 422, "dimensions: Input should be greater than or equal to 1"),
        ({"input": "x", "encoding_format": "hex"}, 422, "encoding_format: Input should be 'float' or 'base64'"),
        ({}, 422, "input: Field required"),
        ([], 422, "a JSON object is needed (Content-Type: application/json)"),
    ],
)
def test_what_is_refused(client: Any, body: Any, status: int, said: str) -> None:
    answer = post(client, body)
    assert (answer.status_code, answer.json()["error"]["message"]) == (status, said)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"input":[' + b"9" * 9000 + b"]}", b""])
def test_what_is_no_json(client: Any, body: bytes) -> None:
    answer = client.post("/v1/embeddings", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("schema", "body"),
    [
        (schemas.EmbeddingsRequest, {"input": [None] * 9999}),
        (schemas.EmbeddingsRequest, {"input": [[None]] * 9999}),
        (schemas.EmbeddingsRequest, {"input": [[None] * 9999]}),
        (schemas.EmbeddingsRequest, {"input": [-1] * 9999}),
        (schemas.SimilarityRequest, {"first": [None] * 9999, "second": [1] * 9999}),
        (schemas.SearchRequest, {"query": "x", "where": [None] * 9999}),
        (schemas.SearchRequest, {"query": "x", "where": {str(i): None for i in range(9999)}}),
        (schemas.PairsRequest, {"texts": [None] * 9999, "models": [None] * 9999}),
    ],
)
def test_many_mistakes_do_not_make_as_many_messages(schema: Any, body: Any) -> None:
    with pytest.raises(ValidationError) as found:
        schema.model_validate(body)
    assert found.value.error_count() < 10


def test_limits_of_tokens_and_a_model_that_fails(tiny: str) -> None:
    from fastapi.testclient import TestClient

    encoder = isotrope.load(tiny, device="cpu")
    with TestClient(make_app({"x": encoder}, limits=Limits(tokens=50, batch_tokens=16), normalize=True)) as client:
        found = vectors(post(client, {"input": TEXTS[:2]}))
        assert np.abs(found - unit_rows(encoder.encode(TEXTS[:2]))).max() < 1e-5
        refused = post(client, {"input": TEXTS[:20]})
        assert refused.status_code == 413
        assert refused.json()["error"]["message"].endswith(
            "tokens in one request, at most 50 are allowed; send fewer inputs at a time"
        )
        encoder.backbone.model.embeddings.word_embeddings.weight.data.fill_(float("nan"))
        failed = post(client, {"input": "x"})
        assert (failed.status_code, failed.json()["error"]["code"]) == (424, "backend")
        assert "not numbers" in failed.json()["error"]["message"]
        assert client.get("/health").status_code == 200


def test_an_encoder_of_another_make(tmp_path: Any) -> None:
    """Word counts have no tokens of a transformer; texts are encoded as their own `encode` does."""
    from fastapi.testclient import TestClient

    isotrope.fit_baseline("tfidf", TEXTS, output=tmp_path / "counts")
    foreign = isotrope.encoders.load_any(tmp_path / "counts", device="cpu")
    with TestClient(make_app(tmp_path / "counts", device="cpu")) as client:
        assert [one["id"] for one in client.get("/v1/models").json()["data"]] == ["counts"]
        assert np.abs(vectors(post(client, {"input": TEXTS[:9]})) - foreign.encode(TEXTS[:9])).max() < 1e-5
        refused = post(client, {"input": [1, 2]})
        assert (refused.status_code, refused.json()["error"]["message"]) == (
            422,
            "this model has no tokens; send texts",
        )
