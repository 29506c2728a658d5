"""The app: routes, errors in one shape, and the guard around all of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from isotrope.io.memory import give_back_freed_memory
from isotrope.serving.errors import RefusedError, error_response
from isotrope.serving.guard import HEADERS, Guard
from isotrope.serving.limits import Limits
from isotrope.serving.routes import comparing, embeddings, page, state
from isotrope.serving.service import Models, Service, open_service

ROUTES = (embeddings, comparing, state, page)
TIDY = 5.0  # seconds between two times that freed memory is given back
CODES = {404: "not_found", 405: "method_not_allowed"}


def make_app(
    models: Models = "small",
    indexes: Mapping[str, str | Path] | None = None,
    *,
    keys: Iterable[str] = (),
    hosts: Sequence[str] = (),
    limits: Limits | None = None,
    normalize: bool = False,
    device: str | None = None,
    precision: str | None = None,
) -> FastAPI:
    """The server as an ASGI app, for uvicorn, hypercorn, or a test.

    Args:
        models: a model or several, by name, folder or `NAME=MODEL`; or a mapping of names to models.
        indexes: folders that `isotrope.index` made, by the name that requests give.
        keys: of which a request must have one (`Authorization: Bearer KEY`); none: everybody may ask.
        hosts: names that requests may call this server by; none: any.
        limits: how much it takes on.
        normalize: vectors of length one, unless a request says otherwise.
        device: `cpu`, `cuda` ...; by default the fastest there is.
        precision: `float32`, `bfloat16` or `float16`.

    Example:
        >>> from isotrope.serving.app import make_app
        >>> app = make_app(["bundled"])
        >>> "/v1/embeddings" in app.openapi()["paths"]
        True
    """
    service = open_service(models, indexes, limits=limits, normalize=normalize, device=device, precision=precision)
    app = FastAPI(
        title="Isotrope", version=version("isotrope"), docs_url=None, redoc_url=None, lifespan=_lifespan(service)
    )  # the usual pages of documentation load scripts from elsewhere
    for part in ROUTES:
        app.include_router(part.router(service))
    app.mount("/page", page.FILES, name="page")
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _unforeseen)
    app.add_middleware(Guard, limits=service.limits, metrics=service.metrics, keys=list(keys), hosts=hosts)
    app.state.service = service
    return app


def _lifespan(service: Service) -> Any:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy())
        yield
        tidying.cancel()
        service.close()

    return lifespan


async def _tidy() -> None:
    while True:
        await asyncio.sleep(TIDY)
        await run_in_threadpool(give_back_freed_memory)


async def _refused(request: Request, error: Any) -> Response:
    found: RefusedError = error
    return found.response()


async def _not_valid(request: Request, error: Any) -> Response:
    """What is wrong, and where; a field that may have several forms lists them."""
    found = error.errors()
    if found[0]["type"] == "json_invalid":
        return error_response(400, f"not JSON: {found[0]['ctx']['error']}", "validation")
    if found[0]["loc"] == ("body",):
        return error_response(422, "a JSON object is needed (Content-Type: application/json)", "validation")
    where = str(found[0]["loc"][1])
    said = dict.fromkeys(one["msg"] for one in found if str(one["loc"][1:2]) == str(found[0]["loc"][1:2]))
    return error_response(422, f"{where}: {'; or: '.join(list(said)[:3])}", "validation", param=where)


async def _http(request: Request, error: Any) -> Response:
    code = CODES.get(error.status_code, "request")
    return error_response(error.status_code, str(error.detail), code, headers=error.headers)


async def _unforeseen(request: Request, error: Exception) -> Response:
    return error_response(500, "an internal error; see the server's log", "internal", headers=HEADERS)
