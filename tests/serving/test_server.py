"""The command as people run it, on loopback: OpenAI's client, and the end of it."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import queue
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import numpy as np
import openai
import pytest

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.serving.server import check_keys, is_local, read_keys, stopped_by_signals
from isotrope.text import bundled_sentences

TEXTS = bundled_sentences()[:30]
KEY = "a-key-of-some-length"


@pytest.fixture(scope="module")
def live(encoder: isotrope.Encoder) -> str:
    """The address of a server in a thread of this process."""
    address: queue.Queue[str] = queue.Queue()
    options: dict[str, Any] = {"port": 0, "keys": [KEY], "ready": address.put}
    threading.Thread(target=isotrope.serve, args=({"bundled": encoder},), kwargs=options, daemon=True).start()
    return address.get(timeout=60)


def test_openais_client(live: str, encoder: isotrope.Encoder) -> None:
    wanted = encoder.encode(TEXTS)
    client = openai.OpenAI(base_url=f"{live}/v1", api_key=KEY)
    assert [model.id for model in client.models.list()] == ["bundled"]
    assert client.models.retrieve("bundled").id == "bundled"
    plain = client.embeddings.create(model="bundled", input=TEXTS)  # it asks for base64 by itself
    assert np.abs(np.array([one.embedding for one in plain.data]) - wanted).max() < 1e-5
    assert plain.usage.prompt_tokens == sum(map(len, encoder.tokenize(TEXTS)))
    floats = client.embeddings.create(model="bundled", input=TEXTS[0], encoding_format="float", dimensions=32)
    assert np.abs(np.array(floats.data[0].embedding) - wanted[0, :32]).max() < 1e-5
    packed: Any = client.embeddings.create(model="bundled", input=TEXTS[0], encoding_format="base64")
    assert np.abs(np.frombuffer(base64.b64decode(packed.data[0].embedding), "<f4") - wanted[0]).max() < 1e-5
    tokens = client.embeddings.create(model="bundled", input=encoder.tokenizer(TEXTS)["input_ids"])
    assert np.abs(np.array([one.embedding for one in tokens.data]) - wanted).max() < 1e-5
    with pytest.raises(openai.NotFoundError, match="there is no model 'gpt' here; available: bundled"):
        client.embeddings.create(model="gpt", input="x")
    with pytest.raises(openai.BadRequestError, match="an empty list"):
        client.embeddings.create(model="bundled", input=[])
    with pytest.raises(openai.AuthenticationError, match="a key is needed"):
        openai.OpenAI(base_url=f"{live}/v1", api_key="wrong").models.list()


def test_openais_javascript_client(live: str, encoder: isotrope.Encoder, tmp_path: Path) -> None:
    modules = os.environ.get("ISOTROPE_NODE_MODULES", "")
    if not shutil.which("node") or not (Path(modules) / "openai").is_dir():
        pytest.skip("needs node, and ISOTROPE_NODE_MODULES: a node_modules folder with the package openai")
    (tmp_path / "node_modules").symlink_to(Path(modules).resolve())
    script = tmp_path / "ask.mjs"
    script.write_text(
        'import OpenAI from "openai";\n'
        "const client = new OpenAI({ baseURL: process.argv[2], apiKey: process.argv[3] });\n"
        "const more = JSON.parse(process.argv[5]);\n"
        'const asked = { model: "bundled", input: JSON.parse(process.argv[4]), ...more };\n'
        "const found = await client.embeddings.create(asked);\n"
        "console.log(JSON.stringify(found.data.map((one) => one.embedding)));\n"
    )
    wanted = encoder.encode(TEXTS)
    for more in ({}, {"encoding_format": "float"}, {"dimensions": 32}):  # it asks for base64 by itself
        asked = ["node", str(script), f"{live}/v1", KEY, json.dumps(TEXTS), json.dumps(more)]
        done = subprocess.run(asked, capture_output=True, text=True, check=True)
        vectors = np.array(json.loads(done.stdout))
        assert vectors.shape[1] == more.get("dimensions", encoder.dim)
        assert np.abs(vectors - wanted[:, : vectors.shape[1]]).max() < 1e-5


def test_broken_connections_do_no_harm(live: str) -> None:
    host, port = live.removeprefix("http://").split(":")
    head = f"POST /v1/embeddings HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}\r\n".encode()
    kept = []
    for sent in (
        b"",
        b"\x00\xff\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        head,
        head + b"Content-Length: 100\r\n\r\n{",
        head + b"Content-Length: -1\r\n\r\n",
        head + b"Content-Length: 99999999999999999999999\r\n\r\n",
        head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n",
    ):
        for leave in (True, False):
            connection = socket.create_connection((host, int(port)))
            connection.sendall(sent)
            if leave:
                connection.close()
            kept.append(connection)
    idle = [socket.create_connection((host, int(port))) for _ in range(200)]
    assert httpx2.get(f"{live}/health").status_code == 200
    large = httpx2.post(
        f"{live}/v1/embeddings", content=b"x" * 2**24 + b"x", headers={"Authorization": f"Bearer {KEY}"}
    )
    assert large.status_code == 413
    for connection in (*kept, *idle):
        connection.close()
    assert httpx2.get(f"{live}/health").status_code == 200


def test_what_was_taken_is_answered_before_it_stops(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    encoder.save(tmp_path / "mine")
    command = [sys.executable, "-m", "isotrope", "serve", str(tmp_path / "mine"), "--device", "cpu", "--port", "0"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ISOTROPE_API_KEY": KEY}
    process = subprocess.Popen([*command, "--wait-ms", "3000"], env=environment, text=True, **pipes)
    line = process.stdout.readline() if process.stdout else ""
    found = re.fullmatch(r"(http://127\.0\.0\.1:\d+) \(Ctrl-C stops it\)\n", line)
    assert found, process.communicate()
    answers = asyncio.run(_ask_and_stop(found[1], process, sum(map(len, encoder.tokenize(TEXTS)))))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "Stopped; all accepted requests were answered\n", "")
    vectors = [one.json()["data"][0]["embedding"] for one in answers]
    assert np.abs(np.array(vectors) - encoder.encode(TEXTS)).max() < 1e-5
    with pytest.raises(httpx2.TransportError):
        httpx2.get(f"{found[1]}/health")


async def _ask_and_stop(address: str, process: subprocess.Popen[str], tokens: int) -> list[Any]:
    """Stops it while all requests wait for company."""
    async with httpx2.AsyncClient(base_url=address, headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as client:
        asked = [asyncio.create_task(client.post("/v1/embeddings", json={"input": text})) for text in TEXTS]
        waiting = f'isotrope_waiting_tokens{{model="mine"}} {float(tokens)}'
        while waiting not in (await client.get("/metrics")).text and not all(one.done() for one in asked):
            await asyncio.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        return await asyncio.gather(*asked)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_end_it_and_are_then_as_before(name: str) -> None:
    server, number = SimpleNamespace(should_exit=False), getattr(signal, name)
    before = signal.getsignal(number)
    with stopped_by_signals(server):
        os.kill(os.getpid(), number)
        time.sleep(0.01)
    assert server.should_exit
    assert signal.getsignal(number) == before


def test_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTROPE_API_KEY", f" {KEY} ")
    assert read_keys(None) == [KEY]
    monkeypatch.delenv("ISOTROPE_API_KEY")
    assert read_keys(None) == []
    (tmp_path / "keys").write_text(f"\n{KEY}\nanother-{KEY}\n")
    assert read_keys(tmp_path / "keys") == [KEY, f"another-{KEY}"]
    (tmp_path / "none").write_text("\n")
    for file in ("none", "nix"):
        with pytest.raises(IsotropeError, match="no key in it" if file == "none" else "can't be read"):
            read_keys(tmp_path / file)
    for key in ("short", "with a blank in the midst", "ключ" * 8, "x" * 20 + "\x7f"):
        with pytest.raises(IsotropeError, match="a key needs at least 16 ASCII characters") as refused:
            check_keys([key])
        assert key not in str(refused.value)


def test_which_addresses_are_local() -> None:
    assert all(map(is_local, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_local, ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "")))
