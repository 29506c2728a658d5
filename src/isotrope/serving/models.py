"""A served encoder: texts or token arrays in, vectors out, whatever else is encoded at the same time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from starlette.concurrency import run_in_threadpool

from isotrope.encoders import Encoder, ForeignEncoder
from isotrope.encoders.nearest import Floats
from isotrope.io.errors import reason
from isotrope.serving.batching import Batcher, OverloadedError
from isotrope.serving.errors import RefusedError, too_busy
from isotrope.serving.limits import Limits

Inputs = Sequence[str] | Sequence[Sequence[int]]  # texts, or token arrays
PROBE = "a"
ON_CPU, ELSEWHERE = 1024, 4096  # tokens of a pass: on a CPU more are no faster, and take more memory


@dataclass(frozen=True)
class Prepared:
    """Inputs as a model takes them, the tokens of each, and how many were cut to what the model reads."""

    inputs: Sequence[Any]
    lengths: Sequence[int]
    cut: int = 0


class Inside(Protocol):
    """How inputs get into an encoder."""

    packed: bool

    def prepare(self, inputs: Inputs) -> Prepared:
        """Tokenises."""

    def vectors(self, inputs: list[Any]) -> Floats:
        """Encodes what was prepared, (inputs, dim)."""


class ByTokens:
    """An `Encoder`: token ids are laid out in one pass, packed where it packs."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.packed = encoder.eval(), encoder.packing
        ids = encoder.tokenize([PROBE])[0]
        special = set(encoder.tokenizer.all_special_ids)
        first = next((i for i, one in enumerate(ids) if one not in special), len(ids))
        last = next((i for i, one in enumerate(reversed(ids)) if one not in special), 0)
        self._before, self._behind = ids[:first], ids[len(ids) - last :]

    def prepare(self, inputs: Inputs) -> Prepared:
        """Texts behind the encoder's default prompt; token arrays with the special tokens, unless they have them."""
        texts = [self.encoder.default_prompt + one for one in inputs if isinstance(one, str)]
        if texts:
            before = self.encoder.truncated
            ids = self.encoder.tokenize(texts)
            return Prepared(ids, [len(one) for one in ids], self.encoder.truncated - before)
        arrays = [self._whole([int(token) for token in one]) for one in inputs]
        most = self.encoder.max_seq_length
        kept = [self._cut(one, most) for one in arrays]
        return Prepared(kept, [len(one) for one in kept], sum(len(one) > most for one in arrays))

    @torch.no_grad()
    def vectors(self, inputs: list[Any]) -> Floats:
        """One pass."""
        batch = self.encoder.lay_out(inputs).to(self.encoder.device)
        found: Floats = self.encoder(batch).float().cpu().numpy()
        return found

    def _whole(self, ids: list[int]) -> list[int]:
        size = len(self.encoder.tokenizer)
        if not ids:
            raise RefusedError(400, "an empty token array: there is nothing to encode", "empty", param="input")
        for one in ids:
            if not 0 <= one < size:
                said = f"token {one!s:.20} is not in this model's vocabulary, 0 to {size - 1}"
                raise RefusedError(422, said, "tokenizer", param="input")
        before, behind = self._before, self._behind
        has = ids[: len(before)] == before and ids[len(ids) - len(behind) :] == behind
        return ids if has and len(ids) >= len(before) + len(behind) else [*before, *ids, *behind]

    def _cut(self, ids: list[int], most: int) -> list[int]:
        return ids if len(ids) <= most else [*ids[: most - len(self._behind)], *self._behind]


class ByText:
    """Anything else that sentence-transformers loads: it encodes texts in a way of its own."""

    packed = False

    def __init__(self, encoder: ForeignEncoder) -> None:
        self.encoder = encoder.eval()

    def prepare(self, inputs: Inputs) -> Prepared:
        """Texts; their words stand for tokens."""
        texts = [one for one in inputs if isinstance(one, str)]
        if len(texts) < len(inputs):
            raise RefusedError(422, "this model has no tokens; send texts", "tokenizer", param="input")
        return Prepared(texts, [min(max(1, len(one.split())), self.encoder.max_seq_length) for one in texts])

    def vectors(self, inputs: list[Any]) -> Floats:
        """As its own `encode` does."""
        found: Floats = self.encoder.encode(inputs)
        return found


@dataclass(frozen=True)
class Embedded:
    """Vectors (inputs, dim), and how many tokens they took."""

    vectors: Floats
    tokens: int


class ServedModel:
    """An encoder under the name that requests give, with its thread."""

    def __init__(
        self,
        name: str,
        encoder: Encoder | ForeignEncoder,
        limits: Limits,
        observe: Callable[[int, int, float], None] = lambda inputs, tokens, seconds: None,
    ) -> None:
        self.name, self.encoder, self._limits = name, encoder, limits
        self._inside: Inside = ByTokens(encoder) if isinstance(encoder, Encoder) else ByText(encoder)
        self._tokenizing = threading.Lock()  # tokenizers are not safe in several threads
        self.cut = 0  # inputs that were longer than the model reads
        self.batcher = Batcher(
            self._inside.vectors,
            budget=limits.batch_tokens or (ON_CPU if torch.device(encoder.device).type == "cpu" else ELSEWHERE),
            wait=limits.wait,
            most_waiting=limits.waiting_tokens,
            packed=self._inside.packed,
            observe=observe,
            name=name,
        )

    def about(self) -> dict[str, Any]:
        """What `/info` says of it."""
        return {
            "id": self.name,
            "dim": self.encoder.dim,
            "max_seq_length": self.encoder.max_seq_length,
            "pooling": str(self.encoder.pooling),
            "device": str(self.encoder.device),
            "precision": self.encoder.precision,
            "packed": self._inside.packed,
        }

    async def embed(self, inputs: Inputs) -> Embedded:
        """The vectors that `Encoder.encode` gives, in order."""
        self._check(inputs)
        prepared = await run_in_threadpool(self._prepare, inputs)
        tokens = sum(prepared.lengths)
        if tokens > self._limits.tokens:
            most = f"at most {self._limits.tokens:,} are allowed; send fewer inputs at a time"
            said = f"{tokens:,} tokens in one request, {most}"
            raise RefusedError(413, said, "validation", param="input")
        try:
            vectors = await asyncio.wrap_future(self.batcher.submit(prepared.inputs, prepared.lengths))
        except OverloadedError as error:
            raise too_busy(error.seconds, f"the model '{self.name}' is busy") from error
        except Exception as error:
            raise RefusedError(424, f"the model '{self.name}' failed ({reason(error)})", "backend") from error
        return Embedded(vectors, tokens)

    def _check(self, inputs: Inputs) -> None:
        if not inputs:
            raise RefusedError(400, "an empty list: there is nothing to encode", "empty", param="input")
        if len(inputs) > self._limits.inputs:
            said = f"{len(inputs):,} inputs in one request, at most {self._limits.inputs:,} are allowed"
            raise RefusedError(413, said, "validation", param="input")
        for number, one in enumerate(inputs):
            if isinstance(one, str) and not one.strip():
                raise RefusedError(400, f"input {number} is blank: there is nothing to encode", "empty", param="input")

    def _prepare(self, inputs: Inputs) -> Prepared:
        for number, one in enumerate(inputs):
            if isinstance(one, str) and not _is_unicode(one):
                said = f"input {number} is not valid text: it contains half a character (a lone surrogate)"
                raise RefusedError(422, said, "tokenizer", param="input")
        try:
            with self._tokenizing:
                prepared = self._inside.prepare(inputs)
                self.cut += prepared.cut
                return prepared
        except RefusedError:
            raise
        except Exception as error:
            raise RefusedError(422, f"the tokenizer fails ({reason(error)})", "tokenizer", param="input") from error


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
