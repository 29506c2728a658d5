from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.text import bundled_sentences


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The server's tests share its models: one worker takes them all."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("serving"))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Without the extra there is nothing to test; tests/cli/test_serve.py tests that it is asked for."""
    return True if importlib.util.find_spec("fastapi") is None else None


@pytest.fixture(scope="session")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


@pytest.fixture(scope="session")
def index_folder(tmp_path_factory: pytest.TempPathFactory, encoder: isotrope.Encoder) -> Path:
    """Forty rows with HTML, of the model `bundled`."""
    folder = tmp_path_factory.mktemp("index")
    texts = [f"<p>{text}<br>&amp;&nbsp;so on</p>" for text in bundled_sentences()[:40]]
    rows = [{"id": i, "text": text, "queue": "ab"[i % 2]} for i, text in enumerate(texts)]
    isotrope.index(rows, "bundled", folder, strip_html=True, device="cpu")
    return folder


@pytest.fixture(scope="session")
def app(index_folder: Path) -> Any:
    from isotrope.serving.app import make_app

    return make_app({"bundled": "bundled", "small": "small"}, {"rows": index_folder}, device="cpu")


@pytest.fixture(scope="session")
def client(app: Any) -> Iterator[Any]:
    from fastapi.testclient import TestClient

    with TestClient(app, raise_server_exceptions=False) as client:
        yield client
