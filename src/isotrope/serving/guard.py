"""Who may ask, and how much, before anything else looks at a request: hosts, keys, sizes; and the headers of answers.

Written as plain ASGI, so that a body is refused while it arrives.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections.abc import Iterable, Sequence

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isotrope.serving.errors import RefusedError, too_busy
from isotrope.serving.limits import Limits
from isotrope.serving.metrics import Metrics

OPEN = ("/", "/health", "/favicon.ico")  # need no key: they tell nothing
OPEN_UNDER = "/page/"
LOCAL = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class Guard:
    """Around the whole app. `hosts`: names that a request may call this server by; none means any."""

    def __init__(
        self, app: ASGIApp, limits: Limits, metrics: Metrics, keys: Iterable[str] = (), hosts: Sequence[str] = ()
    ) -> None:
        self._app, self._limits, self._metrics = app, limits, metrics
        self._keys = [_digest(key.encode()) for key in keys]
        self._hosts = tuple(host.lower() for host in hosts)
        self._requests = self._bytes = 0  # that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or has the app answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._answer(scope, receive, sending)
        finally:
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.seconds.labels(route).observe(time.perf_counter() - began)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requests += 1
        taken = 0
        try:
            self._check(scope)
            body = await asyncio.wait_for(self._read(scope, receive), self._limits.body_seconds)
            taken = len(body)
            await self._app(scope, _replay(body, receive), send)
        except RefusedError as error:
            await error.response()(scope, receive, send)
        except asyncio.TimeoutError:
            said = f"the body took longer than {self._limits.body_seconds:g} s"
            await RefusedError(408, said, "timeout", headers=_CLOSE).response()(scope, receive, send)
        finally:
            self._requests -= 1
            self._bytes -= taken

    def _check(self, scope: Scope) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        if self._hosts and _host(headers.get("host", "")) not in self._hosts:
            said = f"this server answers to {', '.join(self._hosts)} only"
            raise RefusedError(421, said, "host", headers=_CLOSE)
        needs_key = self._keys and path not in OPEN and not path.startswith(OPEN_UNDER)
        if needs_key and not self._known(headers.get("authorization", "")):
            said = "a key is needed: Authorization: Bearer KEY"
            raise RefusedError(401, said, "invalid_api_key", headers={"WWW-Authenticate": "Bearer", **_CLOSE})
        if self._requests > self._limits.requests and path not in OPEN:
            raise too_busy(1, f"{self._limits.requests} requests are being answered")
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self._limits.body:
            raise self._too_large()

    def _known(self, header: str) -> bool:
        """All keys are compared, each in constant time: how long it takes says nothing."""
        scheme, _, given = header.partition(" ")
        found = _digest(given.strip().encode(errors="surrogatepass"))
        same = [hmac.compare_digest(found, key) for key in self._keys]
        return any(same) and scheme.lower() == "bearer"

    async def _read(self, scope: Scope, receive: Receive) -> bytes:
        """The body, which is counted from its first byte on; given back here unless it is whole."""
        chunks: list[bytes] = []
        size = 0
        try:
            while True:
                message = await receive()
                chunk = message.get("body", b"")
                size += len(chunk)
                self._bytes += len(chunk)
                if size > self._limits.body:
                    raise self._too_large()
                if self._bytes > self._limits.bodies:
                    raise too_busy(1, "too many large requests are being answered")
                chunks.append(chunk)
                if not message.get("more_body", False):
                    return b"".join(chunks)
        except BaseException:
            self._bytes -= size
            raise

    def _too_large(self) -> RefusedError:
        said = f"the body has more than {self._limits.body:,} bytes; send fewer inputs at a time"
        return RefusedError(413, said, "validation", headers=_CLOSE)


_CLOSE = {"Connection": "close"}  # what is left of the body is not read


def _replay(body: bytes, receive: Receive) -> Receive:
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay


def _digest(key: bytes) -> bytes:
    """Of one length for keys of any."""
    return hashlib.sha256(key).digest()


def _host(header: str) -> str:
    """Without its port: `[::1]:8000` -> `::1`."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.rpartition(":")[0] if name.rpartition(":")[2].isdecimal() and ":" in name else name
