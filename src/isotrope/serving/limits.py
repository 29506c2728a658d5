"""How much the server takes on."""

from __future__ import annotations

from dataclasses import dataclass, fields

from isotrope.io.errors import IsotropeError

MIB = 2**20
LARGEST = 2**40  # of any limit: beyond it there is none


@dataclass(frozen=True)
class Limits:
    """Each is refused with the status that text-embeddings-inference gives it."""

    inputs: int = 2048  # of a request; 413 above, as with OpenAI
    tokens: int = 300_000  # of a request, after texts are cut to what the model reads; 413 above
    body: int = 16 * MIB  # bytes of a request; 413 above
    bodies: int = 256 * MIB  # bytes of all requests that are being answered; 429 above
    requests: int = 512  # that are being answered; 429 above
    waiting_tokens: int = 262_144  # of a model, not yet encoded; 429 above
    batch_tokens: int | None = None  # in one pass through a model; None: what suits its device
    wait: float = 0.002  # seconds that an input waits for company
    body_seconds: float = 30.0  # that a body may take to arrive; 408 above
    cells: int = 1_000_000  # of a matrix of similarities; 413 above
    hits: int = 1000  # of a search; 422 above

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            unset = (one.name == "wait" and value == 0) or (one.name == "batch_tokens" and value is None)
            if not (unset or 0 < value <= LARGEST):
                raise IsotropeError(f"limits: {one.name} must be above 0 and no more than {LARGEST:,}, not {value}")
