"""/similarity, /search, and what the server says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.serving.app import make_app
from isotrope.text import bundled_sentences
from isotrope.text.markup import strip_markup

TEXTS = bundled_sentences()[:12]


def test_similarity_is_that_of_the_encoder(client: Any, encoder: isotrope.Encoder) -> None:
    answer = client.post("/similarity", json={"first": TEXTS})
    assert np.abs(np.array(answer.json()["similarity"]) - encoder.similarity(TEXTS)).max() < 1e-5
    answer = client.post("/similarity", json={"first": TEXTS[:3], "second": TEXTS[3:], "model": "bundled"})
    assert np.abs(np.array(answer.json()["similarity"]) - encoder.similarity(TEXTS[:3], TEXTS[3:])).max() < 1e-5
    assert client.post("/similarity", json={"first": ["x"] * 1001}).status_code == 413
    assert client.post("/similarity", json={"first": [], "second": []}).status_code == 400
    assert client.post("/similarity", json={"first": [], "second": ["x"]}).json()["similarity"] == []


def test_search_is_that_of_the_index(client: Any, index_folder: Path) -> None:
    found = client.post("/search", json={"query": "Some people", "k": 3, "where": {"queue": "a"}})
    wanted = isotrope.search(index_folder, "Some people", 3, where="queue=a", device="cpu")
    assert found.json() == {"index": "rows", **wanted.as_dict()}
    assert found.json()["hits"][0]["columns"]["text"].startswith("<p>")
    found = client.post("/search", json={"query": "Some people", "k": 3, "where": {"queue": "a"}, "strip_html": True})
    texts = [one["columns"]["text"] for one in found.json()["hits"]]
    assert texts == [strip_markup(one.row["text"]) for one in wanted]
    assert texts[0].endswith("& so on")
    assert len(client.post("/search", json={"query": "x", "index": "rows"}).json()["hits"]) == 10
    for body, status, said in (
        ({"query": "x", "index": "other"}, 404, "there is no index 'other' here; available: rows"),
        ({"query": " "}, 400, "input 0 is blank: there is nothing to encode"),
        ({"query": "x", "where": "nix"}, 422, "'nix' is not a condition; write COLUMN=VALUE"),
        ({"query": "x", "where": "nix=1"}, 422, "no column 'nix'"),
        ({"query": "x", "k": 1001}, 422, "k is 1001, of at most 1000"),
        ({"query": "x", "k": 0}, 422, "k: Input should be greater than or equal to 1"),
    ):
        refused = client.post("/search", json=body)
        message = refused.json()["error"]["message"]
        assert (refused.status_code, message[: len(said)]) == (status, said)
        assert str(index_folder) not in message


def test_info_health_and_metrics(client: Any) -> None:
    about = client.get("/info").json()
    assert [(one["id"], one["dim"]) for one in about["models"]] == [("bundled", 256), ("small", 384)]
    assert about["indexes"] == [{"name": "rows", "rows": 40, "model": "bundled", "columns": ["id", "text", "queue"]}]
    assert about["limits"]["inputs"] == 2048
    assert client.get("/health").json() == {"status": "ok"}
    before = figures(client)
    client.post("/v1/embeddings", json={"input": TEXTS})
    client.post("/v1/embeddings", json={"input": []})
    after = figures(client)

    def more(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert more('isotrope_inputs_total{model="bundled"}') == 12
    assert more('isotrope_requests_total{route="/v1/embeddings",status="200"}') == 1
    assert more('isotrope_requests_total{route="/v1/embeddings",status="400"}') == 1
    assert after['isotrope_waiting_tokens{model="bundled"}'] == 0


def figures(client: Any) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = [line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def test_names_of_models(tmp_path: Path, tiny: str, index_folder: Path) -> None:
    encoder = isotrope.load(tiny, device="cpu")
    folders = [encoder.save(tmp_path / "a" / "mine"), encoder.save(tmp_path / "b" / "mine")]
    run = encoder.save(tmp_path / "tickets" / "encoder")
    with pytest.raises(IsotropeError, match="two models are called 'mine'; name them: NAME=MODEL"):
        make_app([str(folder) for folder in folders], device="cpu")
    with pytest.raises(IsotropeError, match="'=x': a model with a name is written NAME=MODEL"):
        make_app(["=x"])
    app = make_app([str(folders[0]), f"other={folders[1]}", str(run)], {"rows": index_folder}, device="cpu")
    with TestClient(app) as client:
        about = client.get("/info").json()
        assert [one["id"] for one in about["models"]] == ["mine", "other", "tickets", "bundled"]  # the index's own
        assert about["indexes"][0]["model"] == "bundled"
        assert str(tmp_path) not in client.get("/info").text
        assert len(client.post("/search", json={"query": "x"}).json()["hits"]) == 10
    with TestClient(make_app(encoder)) as client:
        assert client.post("/search", json={"query": "x"}).status_code == 404
