"""What goes wrong, as an answer: OpenAI's shape, text-embeddings-inference's status codes.

400 nothing to encode or no JSON, 401 no key, 404 no such model, 408 too slow, 413 too much, 421 another host's name,
422 not what the schema says or no text that the tokenizer takes, 424 the model failed, 429 too busy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from isotrope.io.errors import one_line

SAID = 300  # characters of a message


class RefusedError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.param, self.headers = status, code, param, dict(headers or {})

    def response(self) -> Response:
        """The answer."""
        return error_response(self.status, str(self), self.code, param=self.param, headers=self.headers)


def error_response(
    status: int, message: str, code: str, *, param: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """`{"error": {"message": ..., "type": ..., "param": ..., "code": ...}}`."""
    kind = "invalid_request_error" if status < 500 and status not in (424, 429) else "server_error"
    found = {"message": one_line(message, SAID), "type": kind, "param": param, "code": code}
    return json_response({"error": found}, status, headers)


def json_response(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON by pydantic's writer: vectors are long lists of numbers, and it is many times faster than Python's."""
    body = to_json(content, inf_nan_mode="null", fallback=str)
    return Response(body, status, dict(headers or {}), media_type="application/json")


def too_busy(seconds: float, why: str) -> RefusedError:
    """429, and when to try again."""
    wait = min(60, max(1, round(seconds)))
    return RefusedError(429, f"{why}; try again in {wait} s", "overloaded", headers={"Retry-After": str(wait)})
