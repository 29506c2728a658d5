from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from isotrope.io import hub


class NotFound(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_error(404)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass

    def log_error(self, template: str, *arguments: object) -> None:  # type: ignore[override]
        pass


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def address(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_hub_that_answers_anything_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), NotFound) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(hub, "HUB", address(server.socket))
        monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
        assert hub.hub_answers()
        hub.stay_offline_without_hub()
        assert "HF_HUB_OFFLINE" not in os.environ
        server.shutdown()


def test_a_hub_that_refuses_is_not(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    monkeypatch.setattr(hub, "HUB", address(listener))
    listener.close()
    monkeypatch.setenv("HF_HUB_OFFLINE", "")
    assert not hub.hub_answers()
    hub.stay_offline_without_hub()
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_a_hub_that_keeps_silent_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    monkeypatch.setattr(hub, "HUB", address(listener))
    monkeypatch.setattr(hub, "HUB_PATIENCE", 0.2)
    began = time.monotonic()
    assert not hub.hub_answers()
    assert time.monotonic() - began < 2
