"""Figures for Prometheus, of one server."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from isotrope.serving.models import ServedModel

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4


class Metrics:
    """Requests by route and status, and what the models do."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.requests = Counter(
            "isotrope_requests", "Requests that were answered.", ("route", "status"), registry=self._registry
        )
        self.seconds = Histogram(
            "isotrope_request_seconds", "Time to answer.", ("route",), buckets=SECONDS, registry=self._registry
        )
        self._inputs = Counter("isotrope_inputs", "Inputs encoded.", ("model",), registry=self._registry)
        self._tokens = Counter("isotrope_tokens", "Tokens encoded.", ("model",), registry=self._registry)
        self._busy = Counter("isotrope_encoding_seconds", "Time in the model.", ("model",), registry=self._registry)
        self._batch = Histogram(
            "isotrope_batch_inputs", "Inputs in one pass.", ("model",), buckets=SIZES, registry=self._registry
        )
        self._waiting = Gauge("isotrope_waiting_tokens", "Not yet encoded.", ("model",), registry=self._registry)
        self._cut = Gauge(
            "isotrope_cut_inputs", "Inputs longer than the model reads.", ("model",), registry=self._registry
        )

    def observer(self, model: str) -> Callable[[int, int, float], None]:
        """What a model's thread calls after each pass."""
        inputs, tokens, busy = (one.labels(model) for one in (self._inputs, self._tokens, self._busy))
        batch = self._batch.labels(model)

        def observe(count: int, length: int, seconds: float) -> None:
            inputs.inc(count)
            tokens.inc(length)
            busy.inc(seconds)
            batch.observe(count)

        return observe

    def exposition(self, models: Iterable[ServedModel]) -> bytes:
        """The text that Prometheus reads."""
        for model in models:
            self._waiting.labels(model.name).set(model.batcher.waiting)
            self._cut.labels(model.name).set(model.cut)
        return generate_latest(self._registry)
