"""What answers of several routes share."""

from __future__ import annotations

from typing import Any

from isotrope.serving.schemas import ErrorAnswer

_WORDS = {
    400: "Nothing to encode, or not JSON.",
    404: "No such model or index.",
    413: "Too much for one request.",
    422: "Does not match the schema, or text that the tokenizer refuses.",
    424: "The model failed.",
    429: "Too busy; Retry-After says when to try again.",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": words} for status, words in _WORDS.items()
}


def usage(tokens: int) -> dict[str, int]:
    """As OpenAI counts: an embedding has no completion."""
    return {"prompt_tokens": tokens, "total_tokens": tokens}
