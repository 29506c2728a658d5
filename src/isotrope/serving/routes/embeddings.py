"""OpenAI's API: /v1/embeddings and /v1/models."""

from __future__ import annotations

import base64
import time
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from isotrope.encoders.nearest import Floats, unit_rows
from isotrope.serving.errors import RefusedError, json_response
from isotrope.serving.models import Inputs
from isotrope.serving.routes.answers import REFUSALS, usage
from isotrope.serving.schemas import EmbeddingsAnswer, EmbeddingsRequest, ModelCard, ModelList
from isotrope.serving.service import Service


def router(service: Service) -> APIRouter:
    """Of a service's models."""
    routes, began = APIRouter(tags=["OpenAI"]), int(time.time())

    @routes.post("/v1/embeddings", response_model=EmbeddingsAnswer, responses=REFUSALS)
    async def embeddings(request: EmbeddingsRequest) -> Response:
        """Vectors of texts or token arrays, as OpenAI's clients ask for them."""
        model = service.model(request.model)
        if request.dimensions is not None and request.dimensions > model.encoder.dim:
            said = f"{request.dimensions} dimensions; the vectors of '{model.name}' have {model.encoder.dim}"
            raise RefusedError(422, said, "validation", param="dimensions")
        found = await model.embed(as_inputs(request.input))
        normalize = service.normalize if request.normalize is None else request.normalize
        vectors = found.vectors[:, : request.dimensions]
        written = await run_in_threadpool(_written, unit_rows(vectors) if normalize else vectors, request)
        return json_response({"object": "list", "data": written, "model": model.name, "usage": usage(found.tokens)})

    def card(name: str) -> dict[str, Any]:
        return {"id": name, "object": "model", "created": began, "owned_by": "isotrope"}

    @routes.get("/v1/models", response_model=ModelList)
    async def models() -> Any:
        """What is served."""
        return {"object": "list", "data": [card(name) for name in service.models]}

    @routes.get("/v1/models/{name:path}", response_model=ModelCard, responses=REFUSALS)
    async def model(name: str) -> Any:
        """One of them."""
        return card(service.model(name).name)

    return routes


def as_inputs(given: Any) -> Inputs:
    """One text or token array is a list of one."""
    if isinstance(given, str):
        return [given]
    several: Inputs = [given] if given and isinstance(given[0], int) else given
    return several


def _written(vectors: Floats, request: EmbeddingsRequest) -> list[dict[str, Any]]:
    if request.encoding_format == "base64":
        rows: list[Any] = [base64.b64encode(one.astype("<f4").tobytes()).decode() for one in vectors]
    else:
        rows = np.asarray(vectors, np.float64).tolist()
    return [{"object": "embedding", "index": number, "embedding": row} for number, row in enumerate(rows)]
