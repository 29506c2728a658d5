"""Pushing: what is sent, what the card says, and what is refused; against a server that speaks the Hub's endpoints."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from huggingface_hub import ModelCard

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

from .conftest import HOSTILE


def test_a_dry_run_writes_what_would_be_sent_and_no_text(runs: dict[str, isotrope.Run], tmp_path: Path) -> None:
    run = runs["automatic"]
    found = isotrope.push(run, "my-org/tickets", dry_run=tmp_path / "pushed")
    card = ModelCard(found.card)
    assert (card.data.library_name, card.data.pipeline_tag) == ("sentence-transformers", "sentence-similarity")
    assert run.outcome is not None
    for said in (
        'SentenceTransformer("my-org/tickets")',
        "## Results",
        "## Verdict",
        run.outcome.because.splitlines()[0],
        "144 texts, 144 different",
        "test sentences in it: ",
        "## How it was made",
        "| pooling |",
    ):
        assert said in found.card
    assert str(run.folder) not in found.card
    assert run.model not in found.card  # a path of this machine
    sent = b"".join(path.read_bytes() for path in (tmp_path / "pushed").rglob("*") if path.is_file())
    assert not [text for text in HOSTILE if text.encode() in sent]
    assert not {"log.jsonl", "report.html", "run.json", "result.json"} & set(found.files)
    pushed = isotrope.load(tmp_path / "pushed")
    np.testing.assert_array_equal(
        pushed.encode("A dog runs."), isotrope.load(run.folder / "encoder").encode("A dog runs.")
    )


def test_the_licence_is_that_of_the_start_where_its_card_has_one(tmp_path: Path) -> None:
    encoder = isotrope.load("bundled").save(tmp_path / "encoder")
    found = isotrope.push(encoder, "me/mine", tasks=(), dry_run=tmp_path / "pushed")
    assert ModelCard(found.card).data.license is None
    card = (tmp_path / "encoder" / "README.md").read_text()
    (tmp_path / "encoder" / "README.md").write_text(card.replace("- isotrope\n", "- isotrope\nlicense: mit\n"))
    found = isotrope.push(encoder, "me/mine", tasks=(), dry_run=tmp_path / "again")
    assert ModelCard(found.card).data.license == "mit"
    assert "Saved by isotrope without any training." in found.card


def test_why_an_encoder_was_kept_as_it_was_is_said_once(tmp_path: Path) -> None:
    run = isotrope.train(bundled_sentences()[:60], model="small", output=tmp_path / "run", device="cpu")
    assert run.outcome is not None
    assert run.outcome.kept == "untuned"
    assert run.outcome.because in (run.folder / "encoder" / "README.md").read_text()  # which has no verdict beside it
    card = isotrope.push(run, "me/mine", tasks=(), dry_run=tmp_path / "pushed").card
    assert card.count(run.outcome.because) == 1
    assert card.index("## Verdict") < card.index(run.outcome.because) < card.index("## How it was made")
    assert card.strip().endswith("and did not keep the result.")


def test_what_can_not_be_pushed_is_refused_in_a_line(runs: dict[str, isotrope.Run], tmp_path: Path) -> None:
    folder = runs["simcse"].folder
    for run, name, said in (
        (folder, "not a name", "is not a name on the Hub"),
        (tmp_path / "none", "me/mine", "no such folder"),
        (tmp_path, "me/mine", "is not a model folder"),
        (list(runs.values()), "me/mine", "only one encoder"),
        (folder, "me/mine", "can't be pushed .*(token|offline mode)"),
    ):
        with pytest.raises(IsotropeError, match=said):
            isotrope.push(run, name, tasks=())


class Hub(BaseHTTPRequestHandler):
    """Takes a repository, a branch and a commit of small files, and remembers them."""

    def do_GET(self) -> None:
        self.answer({"name": "me", "type": "user", "auth": {}} if "whoami" in self.path else {})

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server: Any = self.server
        server.asked.append((self.path, self.headers.get("Authorization"), body))
        if self.path.endswith("/repos/create"):
            self.answer({"url": f"http://{self.headers['Host']}/me/mine", "name": "me/mine"})
        elif "/preupload/" in self.path:
            names = [one["path"] for one in json.loads(body)["files"]]
            self.answer({"files": [{"path": one, "uploadMode": "regular", "shouldIgnore": False} for one in names]})
        elif "/commit/" in self.path:
            self.answer({"commitUrl": f"http://{self.headers['Host']}/me/mine/commit/1", "commitOid": "1" * 40})
        else:
            self.answer({})

    def answer(self, value: Any) -> None:
        text = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()


def test_the_hub_gets_every_file_and_the_card(runs: dict[str, isotrope.Run], hub: Any, tmp_path: Path) -> None:
    run = runs["simcse"]
    variables = {**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}", "HF_TOKEN": "hf_test"}
    variables |= {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "", "HF_HUB_DISABLE_XET": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "isotrope", "push", str(run.folder), "me/mine", "--tasks", "", "--revision", "v1"]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "/me/mine: " in done.stdout
    asked = {path.rpartition("?")[0] or path: (token, body) for path, token, body in hub.asked}
    created = json.loads(asked["/api/repos/create"][1])
    assert (created["name"], created.get("organization")) == ("mine", "me")
    assert any("/branch/v1" in path for path in asked)
    assert {token for token, _ in asked.values()} == {"Bearer hf_test"}
    (commit,) = [body for path, (_, body) in asked.items() if path.endswith("/commit/v1")]
    sent = [json.loads(line)["value"] for line in commit.splitlines() if json.loads(line)["key"] == "file"]
    files = {one["path"]: base64.b64decode(one["content"]) for one in sent}
    there = run.folder / "encoder"
    wanted = {str(path.relative_to(there)) for path in there.rglob("*") if path.is_file() and path.stat().st_size}
    assert set(files) == wanted
    for name in wanted - {"README.md"}:
        assert files[name] == (there / name).read_bytes()
    assert b'SentenceTransformer("me/mine")' in files["README.md"]
