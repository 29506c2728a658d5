"""`serve`: encoders over HTTP, until somebody stops it."""

from __future__ import annotations

import importlib.util
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isotrope.io.errors import IsotropeError, reason
from isotrope.serving.limits import Limits

if TYPE_CHECKING:
    from isotrope.serving.service import Models

NEEDED = ("fastapi", "uvicorn", "prometheus_client")
KEY_VARIABLE = "ISOTROPE_API_KEY"
SHORTEST_KEY = 16  # characters
CONNECTIONS = 2048  # at once; 503 above
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


def serve(
    models: Models = "small",
    indexes: Mapping[str, str | Path] | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    keys: Sequence[str] = (),
    without_key: bool = False,
    limits: Limits | None = None,
    normalize: bool = False,
    device: str | None = None,
    precision: str | None = None,
    patience: int = 30,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serves encoders over HTTP: OpenAI's `/v1/embeddings`, `/similarity`, `/search`, and a page at `/`.

    It returns when it is stopped (Ctrl-C, SIGTERM), after it has answered what it took.

    Args:
        models: a model or several, by name, folder or `NAME=MODEL`; or a mapping of names to models. The first is the
            one for requests that name none.
        indexes: folders that `isotrope.index` made, by the name that requests give. Their models are served too.
        host: the address to listen at; by default only this machine can ask.
        port: 0 chooses one that is free.
        keys: of which a request must have one (`Authorization: Bearer KEY`).
        without_key: lets everybody ask who reaches another address than this machine's own.
        limits: how much it takes on: `isotrope.serving.limits.Limits`.
        normalize: vectors of length one, unless a request says otherwise.
        device: `cpu`, `cuda` ...; by default the fastest there is.
        precision: `float32`, `bfloat16` or `float16`.
        patience: seconds in which what was taken is answered, once it is stopped.
        ready: called with the address when it listens.

    Example:
        >>> import isotrope
        >>> isotrope.serve("bundled", host="0.0.0.0")
        Traceback (most recent call last):
        isotrope.io.errors.IsotropeError: other machines can reach 0.0.0.0, but no key is set; set one, or ...
    """
    check_keys(keys)
    local = is_local(host)
    if not local and not keys and not without_key:
        said = f"other machines can reach {host}, but no key is set; set one, or allow everybody with without_key=True"
        raise IsotropeError(said, argument="without_key=True")
    _check_extra()
    import uvicorn

    from isotrope.serving.app import make_app
    from isotrope.serving.guard import LOCAL

    hosts = tuple(dict.fromkeys((*LOCAL, host))) if local else ()
    options: dict[str, Any] = {"limits": limits, "normalize": normalize, "device": device, "precision": precision}
    with _listening(host, port) as taken:
        app = make_app(models, indexes, keys=keys, hosts=hosts, **options)
        quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
        server = uvicorn.Server(
            uvicorn.Config(app, limit_concurrency=CONNECTIONS, timeout_graceful_shutdown=patience, **quiet)
        )
        with stopped_by_signals(server):
            if ready:
                ready(_address(taken))
            server.run(sockets=[taken])


def read_keys(file: Path | None) -> list[str]:
    """Keys from a file, one on each line, or else the one in `ISOTROPE_API_KEY`."""
    if file is None:
        return [key] if (key := os.environ.get(KEY_VARIABLE, "").strip()) else []
    try:
        keys = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise IsotropeError(f"{file}: can't be read ({reason(error)})") from error
    if not keys:
        raise IsotropeError(f"{file}: no key in it")
    return keys


def check_keys(keys: Sequence[str]) -> None:
    """Refuses keys that could be guessed, or that no header can hold. No message shows one."""
    for key in keys:
        if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
            raise IsotropeError(
                f"a key needs at least {SHORTEST_KEY} ASCII characters without blanks; "
                "to make one: python -c 'import secrets; print(secrets.token_urlsafe())'"
            )


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_extra() -> None:
    if missing := [name for name in NEEDED if importlib.util.find_spec(name) is None]:
        raise IsotropeError(f"the server needs {', '.join(missing)}: pip install 'isotrope[serve]'")


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """The socket, before models are loaded: a port that is taken is said at once."""
    if not 0 <= port <= 65535:
        raise IsotropeError(f"port {port}: a port is 0 to 65535")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        taken = socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except (OSError, UnicodeError) as error:
        why = reason(error).partition(" (while")[0]  # Python adds the address once more
        raise IsotropeError(f"can't listen at {host}, port {port} ({why})") from error
    with taken:
        yield taken


def _address(taken: socket.socket) -> str:
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def stopped_by_signals(server: Any) -> Iterator[None]:
    """uvicorn gives a signal again once it has stopped; here that is no error, but the end."""

    def stop(number: int, frame: Any) -> None:
        server.should_exit = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] != signal.SIG_IGN:
            signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
