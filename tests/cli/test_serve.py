from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--host", "0.0.0.0"),
            "other machines can reach 0.0.0.0, but no key is set; set one, or allow everybody with --without-key",
        ),
        (("--index", "x"), "--index x: write NAME=DIR, such as tickets=tickets.index"),
        (("--index", "x=a", "--index", "x=b"), "--index x=b: two indexes are called 'x'"),
        (("--api-key-file", "nix"), "nix: can't be read (No such file or directory)"),
        (("bundled", "bundled"), "two models are called 'bundled'; name them: NAME=MODEL"),
        (("bundled", "--index", "x=nix"), "nix: there is no index; make one with isotrope index"),
        (("--host", "no.such.host.invalid", "--without-key"), "can't listen at no.such.host.invalid, port 8000"),
    ],
)
def test_mistakes_are_one_line(run: Run, arguments: tuple[str, ...], said: str) -> None:
    if importlib.util.find_spec("fastapi") is None:
        pytest.skip("needs the serve extra: pip install 'isotrope[serve]'")
    done = run("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {said}")
    assert done.err.count("\n") == 1


def test_a_port_that_is_taken(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("serve", "bundled", "--port", port)
    assert done.err == f"Error: can't listen at 127.0.0.1, port {port} (Address already in use)\n"


def test_without_the_extra_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "uvicorn" else there(name))
    done = run("serve", "bundled")
    assert (done.code, done.err) == (2, "Error: the server needs uvicorn: pip install 'isotrope[serve]'\n")
