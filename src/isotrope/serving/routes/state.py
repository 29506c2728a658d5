"""/health, /info and /metrics."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from isotrope.serving.errors import RefusedError
from isotrope.serving.metrics import CONTENT_TYPE
from isotrope.serving.service import Service


def router(service: Service) -> APIRouter:
    """Of a service."""
    routes = APIRouter(tags=["State"])

    @routes.get("/health")
    async def health() -> dict[str, str]:
        """Whether every model encodes."""
        ended = [model.name for model in service.models.values() if not model.batcher.alive]
        if ended:
            raise RefusedError(503, f"the thread of {', '.join(ended)} has ended", "unhealthy")
        return {"status": "ok"}

    @routes.get("/info")
    async def info() -> dict[str, Any]:
        """Models, indexes, limits."""
        return {
            "version": version("isotrope"),
            "models": [model.about() for model in service.models.values()],
            "indexes": [index.about() for index in service.indexes.values()],
            "limits": asdict(service.limits),
            "normalize": service.normalize,
        }

    @routes.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Figures for Prometheus."""
        return Response(service.metrics.exposition(service.models.values()), headers={"Content-Type": CONTENT_TYPE})

    return routes
