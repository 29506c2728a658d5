"""The page at /, and what it asks for beside vectors: the texts of a file, and pairs to grade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from isotrope.io.errors import IsotropeError
from isotrope.serving.errors import RefusedError, json_response
from isotrope.serving.grading import choose_pairs
from isotrope.serving.models import ServedModel
from isotrope.serving.routes.answers import REFUSALS
from isotrope.serving.schemas import PairsAnswer, PairsRequest, TextsAnswer, TextsRequest
from isotrope.serving.service import Service
from isotrope.serving.uploads import texts_of
from isotrope.text import bundled_sentences

FOLDER = Path(__file__).parents[1] / "page"
FILES = StaticFiles(directory=FOLDER)
REVALIDATE = {"Cache-Control": "no-cache"}
EXAMPLES = 400  # sentences that come with the package


def router(service: Service) -> APIRouter:
    """Of a service."""
    routes = APIRouter(tags=["Page"])

    @routes.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(FOLDER / "index.html", headers=REVALIDATE)

    @routes.get("/favicon.ico", include_in_schema=False)
    async def favicon() -> Response:
        return FileResponse(FOLDER / "icon.svg", media_type="image/svg+xml", headers=REVALIDATE)

    @routes.get("/texts/example", response_model=TextsAnswer)
    async def example() -> Any:
        """Sentences that come with the package, to try the page with."""
        texts = bundled_sentences()[:EXAMPLES]
        return {"texts": texts, "column": "text", "columns": ["text"], "rows": len(texts), "left_out": 0}

    @routes.post("/texts", response_model=TextsAnswer, responses=REFUSALS)
    async def texts(request: TextsRequest) -> Response:
        """The texts of a file, which is read in memory and forgotten."""
        try:
            found = await run_in_threadpool(
                texts_of, request.name, request.content, request.column, most=service.limits.inputs
            )
        except IsotropeError as error:
            raise RefusedError(422, str(error), "validation", param="content") from error
        return json_response(found)

    @routes.post("/pairs", response_model=PairsAnswer, responses=REFUSALS)
    async def pairs(request: PairsRequest) -> Response:
        """Pairs for a person to grade: where two models disagree most, or over the range of one's similarities."""
        models, distinct = _models(service, request.models), list(dict.fromkeys(request.texts))
        if len(distinct) < 2:
            raise RefusedError(400, "at least two different texts are needed to make a pair", "empty", param="texts")
        vectors = [(await model.embed(distinct)).vectors for model in models]
        found = await run_in_threadpool(choose_pairs, vectors, min(request.count, len(distinct) * 8), request.seed)
        chosen = [
            {
                "first": distinct[pair.first],
                "second": distinct[pair.second],
                "cosines": pair.cosines,
                "chosen_for": pair.chosen_for,
            }
            for pair in found
        ]
        return json_response({"models": [model.name for model in models], "pairs": chosen})

    return routes


def _models(service: Service, names: Sequence[str] | None) -> list[ServedModel]:
    wanted = list(dict.fromkeys(names if names is not None else list(service.models)[:2]))
    if not 1 <= len(wanted) <= 2:
        raise RefusedError(422, f"give one or two models, not {len(wanted)}", "validation", param="models")
    return [service.model(name) for name in wanted]
