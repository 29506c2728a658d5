"""Whatever the body of a request holds, the server answers in JSON, and never with an error of its own (5xx)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .test_inputs import content, many, values

pytest.importorskip("fastapi", reason="needs the server: pip install 'isotrope[serve]'")
PATHS = ("/v1/embeddings", "/similarity", "/search", "/texts", "/pairs")
KEYS = (
    "model",
    "input",
    "dimensions",
    "encoding_format",
    "user",
    "normalize",
    "prompt",
    "a",
    "b",
    "texts",
    "index",
    "k",
)
right: dict[str, Any] = {"model": "small", "input": ["A dog.", "A cat."], "index": "rows", "query": "A dog.", "k": 2}
bodies = st.one_of(
    content,
    st.builds(
        lambda changes: json.dumps(right | changes).encode(),
        st.dictionaries(st.sampled_from((*KEYS, "query", "where", "exact", "left", "right")), values, max_size=3),
    ),
    values.map(lambda value: json.dumps(value).encode()),
    st.builds(lambda depth: b'{"input": ' + b"[" * depth + b"]" * depth + b"}", st.integers(0, 3000)),
)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    from fastapi.testclient import TestClient

    from isotrope.serving.app import make_app

    with TestClient(make_app("small", device="cpu"), raise_server_exceptions=False) as client:
        yield client


@many
@given(path=st.sampled_from(PATHS), body=bodies)
def test_bodies(client: Any, path: str, body: bytes) -> None:
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code < 500, answer.text
    assert isinstance(answer.json(), dict)
    if answer.status_code >= 400:
        assert len(answer.text) < 2000
