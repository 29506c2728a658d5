"""/similarity and /search."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from isotrope.encoders.nearest import unit_rows
from isotrope.io.errors import IsotropeError
from isotrope.serving.errors import RefusedError, json_response
from isotrope.serving.routes.answers import REFUSALS, usage
from isotrope.serving.schemas import SearchAnswer, SearchRequest, SimilarityAnswer, SimilarityRequest
from isotrope.serving.service import ServedIndex, Service


def router(service: Service) -> APIRouter:
    """Of a service's models and indexes."""
    routes = APIRouter(tags=["Isotrope"])

    @routes.post("/similarity", response_model=SimilarityAnswer, responses=REFUSALS)
    async def similarity(request: SimilarityRequest) -> Response:
        """Cosines of texts with each other, or with other texts."""
        model, first = service.model(request.model), request.first
        second = first if request.second is None else request.second
        if len(first) * len(second) > service.limits.cells:
            said = f"{len(first):,} x {len(second):,} similarities, at most {service.limits.cells:,}"
            raise RefusedError(413, said, "validation")
        found = await model.embed(first if request.second is None else [*first, *second])
        units = unit_rows(found.vectors)
        cosines = units[: len(first)] @ (units if request.second is None else units[len(first) :]).T
        return json_response(
            {"model": model.name, "similarity": cosines.clip(-1, 1).tolist(), "usage": usage(found.tokens)}
        )

    @routes.post("/search", response_model=SearchAnswer, responses=REFUSALS)
    async def search(request: SearchRequest) -> Response:
        """The rows of an index that are nearest to a query."""
        served = service.index(request.index)
        if request.k > service.limits.hits:
            raise RefusedError(422, f"k is {request.k}, of at most {service.limits.hits}", "validation", param="k")
        found = await served.model.embed([request.query])
        hits = await run_in_threadpool(_hits, served, found.vectors[0], request)
        return json_response({"index": served.name, **hits})

    return routes


def _hits(served: ServedIndex, vector: Any, request: SearchRequest) -> dict[str, Any]:
    try:
        found = served.index.search_vector(vector, request.k, where=request.where, query=request.query)
    except IsotropeError as error:
        said = str(error).replace(f"{served.index.files.folder}: ", "")  # where it lies is nobody's business
        raise RefusedError(422, said, "validation", param="where") from error
    return (found.without_html() if request.strip_html else found).as_dict()
