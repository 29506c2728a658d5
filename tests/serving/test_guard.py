"""Who may ask, and how much; and what every answer carries."""

from __future__ import annotations

import asyncio
import hmac
import logging
import threading
from typing import Any

import pytest
from fastapi.testclient import TestClient

from isotrope.serving import guard
from isotrope.serving.app import make_app
from isotrope.serving.guard import LOCAL, Guard
from isotrope.serving.limits import Limits
from isotrope.serving.metrics import Metrics

KEY, OTHER = "a-key-of-some-length", "another-key-of-this"
GUARDED = ("/v1/models", "/info", "/metrics", "/openapi.json", "/texts/example", "/nix")


@pytest.fixture(scope="module")
def keyed(encoder: Any) -> Any:
    app = make_app({"x": encoder}, keys=[KEY, OTHER], hosts=LOCAL, limits=Limits(body=2000, body_seconds=0.2))
    with TestClient(app, base_url="http://localhost:8000") as client:
        yield client


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def test_without_the_key_nothing_but_the_page_and_health(keyed: Any) -> None:
    for path in GUARDED:
        refused = keyed.get(path)
        assert refused.status_code == 401, path
        assert refused.headers["www-authenticate"] == "Bearer"
        assert keyed.get(path, headers=bearer(KEY)).status_code == (404 if path == "/nix" else 200)
    assert keyed.get("/health").status_code == keyed.get("/").status_code == 200
    body = {"input": "x"}
    wrong = (KEY[:-1], KEY + "x", "", " ")
    assert {keyed.post("/v1/embeddings", json=body, headers=bearer(one)).status_code for one in wrong} == {401}
    for header in (f"Basic {KEY}".encode(), KEY.encode(), b"Bearer \xff\xfe"):
        assert keyed.post("/v1/embeddings", json=body, headers={b"Authorization": header}).status_code == 401
    for key in (KEY, OTHER):
        assert keyed.post("/v1/embeddings", json=body, headers=bearer(key)).status_code == 200


def test_keys_are_compared_in_constant_time_and_never_logged(
    keyed: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    compared: list[tuple[bytes, bytes]] = []
    real = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(guard.hmac, "compare_digest", compare)
    with caplog.at_level(logging.DEBUG):
        for key in (KEY, "x", KEY[:10]):
            keyed.post("/v1/embeddings", json={"input": "x"}, headers=bearer(key))
    assert len(compared) == 6  # each with every key, whether the first was right or not
    assert {len(side) for pair in compared for side in pair} == {32}
    assert KEY not in caplog.text
    assert KEY not in keyed.get("/metrics", headers=bearer(KEY)).text


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8000", "", "[::2]", "127.0.0.1.nip.io"])
def test_another_name_for_this_machine_is_refused(keyed: Any, host: str) -> None:
    """A page elsewhere whose name was made to point here (DNS rebinding) gets nothing."""
    refused = keyed.get("/", headers={"Host": host})
    assert (refused.status_code, refused.json()["error"]["code"]) == (421, "host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:80", "[::1]:8000", "[::1]"])
def test_this_machines_names(keyed: Any, host: str) -> None:
    assert keyed.get("/health", headers={"Host": host}).status_code == 200


def test_every_answer_has_the_headers(keyed: Any, client: Any) -> None:
    for answer in (keyed.get("/"), keyed.get("/info"), client.get("/nix"), client.post("/v1/embeddings", json={})):
        for name, value in guard.HEADERS.items():
            assert answer.headers[name] == value or name == "Cache-Control"
    assert "unsafe" not in guard.HEADERS["Content-Security-Policy"]
    assert "server" not in client.get("/").headers


def test_large_bodies_are_refused_before_they_are_read(keyed: Any) -> None:
    refused = keyed.post("/v1/embeddings", content=b"x" * 2001, headers=bearer(KEY))
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "validation")

    with_length_untold = Body([b"x" * 500] * 100)
    status, _ = run(Guard(app_of("unreached"), Limits(body=2000), Metrics()), with_length_untold)
    assert status == 413
    assert with_length_untold.read < 8


def test_slow_bodies_are_given_up() -> None:
    status, _ = run(Guard(app_of("unreached"), Limits(body_seconds=0.05), Metrics()), Body([b"x", None]))
    assert status == 408


def test_bodies_and_requests_at_once_are_bounded() -> None:
    guarded = Guard(app_of("waits"), Limits(bodies=1500, requests=3), Metrics())

    async def many(size: int, count: int) -> list[tuple[int, dict[str, str]]]:
        return await asyncio.gather(*(call(guarded, Body([b"x" * size])) for _ in range(count)))

    large = asyncio.run(many(1000, 2))
    assert sorted(status for status, _ in large) == [200, 429]
    several = asyncio.run(many(1, 5))
    assert sorted(status for status, _ in several) == [200, 200, 200, 429, 429]
    assert all(int(headers["retry-after"]) >= 1 for status, headers in (*large, *several) if status == 429)
    assert asyncio.run(many(1000, 1))[0][0] == 200  # what was taken has been given back


def test_a_busy_model_says_when_to_come_again(tiny: str) -> None:
    import isotrope

    encoder = isotrope.load(tiny, device="cpu")
    release, plain = threading.Event(), encoder.lay_out
    app = make_app({"x": encoder}, limits=Limits(waiting_tokens=20))
    encoder.lay_out = lambda ids: (release.wait(10), plain(ids))[1]  # type: ignore[method-assign]
    with TestClient(app) as client:
        asked = [threading.Thread(target=client.post, args=("/v1/embeddings",), kwargs={"json": {"input": "one two"}})]
        asked[0].start()
        statuses = []
        for _ in range(12):
            if statuses[-1:] == [429]:
                break
            one = threading.Thread(
                target=lambda: statuses.append(
                    _status(client.post("/v1/embeddings", json={"input": "three four five"}))
                )
            )
            one.start()
            one.join(0.3)
            asked.append(one)
        release.set()
        for one in asked:
            one.join()
    assert 429 in statuses
    assert set(statuses) == {200, 429}


def _status(answer: Any) -> int:
    assert answer.status_code != 429 or int(answer.headers["retry-after"]) >= 1
    return int(answer.status_code)


class Body:
    """What a connection sends; None is a pause without end."""

    def __init__(self, chunks: list[bytes | None]) -> None:
        self.chunks, self.read = chunks, 0

    async def __call__(self) -> dict[str, Any]:
        chunk = self.chunks[self.read]
        self.read += 1
        if chunk is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": chunk or b"", "more_body": self.read < len(self.chunks)}


def app_of(kind: str) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert kind != "unreached"
        assert (await receive())["body"]
        await asyncio.sleep(0.05)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


async def call(app: Any, body: Body) -> tuple[int, dict[str, str]]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/x", "headers": [], "query_string": b""}
    await app(scope, body, send)
    return sent[0]["status"], {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}


def run(app: Any, body: Body) -> tuple[int, dict[str, str]]:
    return asyncio.run(call(app, body))
