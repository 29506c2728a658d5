"""Vectors on disk, so that an encoder that has not changed need not encode the same sentences again.

One store per encoder, named by what decides its vectors: weights, tokenizer, pooling and the rest, but not what stands
behind the pooling. It holds a pooled vector for each text, and the figures of classifiers that were trained on vectors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from isotrope.encoders import Encoder, ForeignEncoder, encode_poolings
from isotrope.evaluation.protocols import SentenceEncoder
from isotrope.io.cache import cache_folder
from isotrope.io.checksums import SUMS
from isotrope.io.hashes import digest, hasher, sha256
from isotrope.io.store import Store

LARGEST = 4 * 2**30  # bytes of all files together; beyond it those that were used longest ago are removed
ENCODED_AT_ONCE = 4096  # sentences, after which they are written


def vectors_folder() -> Path:
    """Where the files are."""
    return cache_folder() / "vectors"


def fingerprint(encoder: SentenceEncoder) -> str | None:
    """A digest of all that decides an encoder's vectors; None for one of a kind that can't be looked into."""
    found = hasher()
    found.update(version("isotrope").encode())
    if isinstance(encoder, Encoder):
        found.update(json.dumps(_settings(encoder), sort_keys=True, default=str).encode())
    elif isinstance(encoder, ForeignEncoder):
        found.update(encoder.precision.encode())
        for name, content in _saved(encoder):
            found.update(f"{name} {content}".encode())
    else:
        return None
    for name, weights in encoder.state_dict().items():
        if "pooler." not in name:  # BERT's own may be random; `cls-mlp` has it after the pooling
            found.update(f"{name} {weights.dtype} {tuple(weights.shape)}".encode())
            found.update(weights.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return found.hexdigest()


def _settings(encoder: Encoder) -> dict[str, Any]:
    """What decides vectors beside the weights."""
    config = encoder.backbone.model.config.to_dict()
    backend = getattr(encoder.tokenizer, "backend_tokenizer", None)
    tokenizer = json.loads(backend.to_str()) if backend else {"vocabulary": encoder.tokenizer.get_vocab()}
    return {
        "config": {key: value for key, value in config.items() if key not in ("_name_or_path", "transformers_version")},
        "tokenizer": tokenizer | {"truncation": None, "padding": None},  # which are as the last call left them
        "pooling": str(encoder.pooling),
        "after_pooling": repr(encoder.after_pooling),
        "longest": encoder.max_seq_length,
        "prompt": encoder.default_prompt,
        "precision": encoder.precision,
    }


def _saved(encoder: ForeignEncoder) -> Iterator[tuple[str, str]]:
    """What decides the vectors of an encoder of any make beside the weights: the files that it saves."""
    with TemporaryDirectory() as scratch:
        folder = encoder.save(Path(scratch, "encoder"))
        for file in sorted(folder.rglob("*")):
            of_weights = file.suffix == ".safetensors" or file.name == SUMS
            if file.is_file() and file.suffix != ".md" and not of_weights:
                yield str(file.relative_to(folder)), sha256(file)


@contextmanager
def remembered(
    encoder: SentenceEncoder, *, cache: bool = True, encoded: Callable[[int], None] = lambda sentences: None
) -> Iterator[Vectors]:
    """The encoder with its cache open, or with one in memory. `encoded` hears how many sentences more have vectors."""
    with remembered_together([encoder], cache=cache, encoded=encoded) as (vectors,):
        yield vectors


@contextmanager
def remembered_together(
    encoders: Sequence[SentenceEncoder], *, cache: bool = True, encoded: Callable[[int], None] = lambda sentences: None
) -> Iterator[list[Vectors]]:
    """The same for several encoders of one backbone: what one of them encodes, the others need not."""
    with ExitStack() as stack:
        several = [_open(encoder, cache, stack) for encoder in encoders]
        for one in several:
            one.several, one.encoded = several, encoded
        yield several


def _open(encoder: SentenceEncoder, cache: bool, stack: ExitStack) -> Vectors:
    """A file is of the pooled vectors: what stands behind the pooling is cheap, and takes them as they are."""
    body = encoder.with_after_pooling([]) if isinstance(encoder, Encoder) and len(encoder.after_pooling) else encoder
    identity = fingerprint(body) if cache else None
    whole = fingerprint(encoder) if identity and body is not encoder else identity
    if not identity:
        return Vectors(encoder, body, stack.enter_context(Store()), "")
    file = vectors_folder() / f"{identity}.sqlite"
    store = stack.enter_context(Store(file))
    _make_room(file)
    return Vectors(encoder, body, store, whole or "")


class Vectors:
    """An encoder that looks up before it encodes."""

    def __init__(self, encoder: SentenceEncoder, body: SentenceEncoder, store: Store, whole: str) -> None:
        self.encoder = encoder
        self.several: list[Vectors] = [self]  # those that have vectors of whatever one of them encodes
        self.encoded: Callable[[int], None] = lambda sentences: None
        self._body, self._store, self._whole = body, store, whole

    def encode(self, sentences: Iterable[str], *, batch_size: int = 64) -> NDArray[np.floating[Any]]:
        """One vector a sentence, in their order: (sentences, dim)."""
        pairs = [(digest(text), text) for text in sentences]
        texts = dict(pairs)
        found = self._look_up(list(texts))
        self.encoded(len(found))
        missing = [key for key in texts if key not in found]
        for start in range(0, len(missing), ENCODED_AT_ONCE):
            some = missing[start : start + ENCODED_AT_ONCE]
            pooled = _pooled([one._body for one in self.several], [texts[key] for key in some], batch_size)
            for one, vectors in zip(self.several, pooled, strict=True):
                fresh = dict(zip(some, vectors, strict=True))
                one._write(fresh)
                found |= fresh if one is self else {}
            self.encoded(len(some))
        return self._behind(np.stack([found[key] for key, _ in pairs]))

    def once(self, work: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The figures of some `work` on the vectors: made, or as they were made before. They must be plain JSON."""
        key = digest(f"figures {self._whole} {work}")
        if known := self._store.find([key]):
            figures: dict[str, Any] = json.loads(known[key])
            return figures
        figures = make()
        self._store.add({key: json.dumps(figures).encode()})
        return figures

    @torch.no_grad()
    def _behind(self, pooled: NDArray[Any]) -> NDArray[Any]:
        """Pooled vectors (sentences, dim) -> what the modules after the pooling make of them."""
        if self._body is self.encoder or not isinstance(self.encoder, Encoder):
            return pooled
        given = torch.from_numpy(pooled).to(self.encoder.device, self.encoder.backbone.dtype)
        blocks = [
            self.encoder.finish_pooled({"sentence_embedding": one}) for one in torch.split(given, ENCODED_AT_ONCE)
        ]
        return torch.cat(blocks).float().cpu().numpy()

    def _look_up(self, keys: list[bytes]) -> dict[bytes, NDArray[Any]]:
        return {key: np.frombuffer(vector, "<f4") for key, vector in self._store.find(keys).items()}

    def _write(self, vectors: dict[bytes, NDArray[Any]]) -> None:
        self._store.add({key: vector.astype("<f4", copy=False).tobytes() for key, vector in vectors.items()})


def _pooled(bodies: Sequence[SentenceEncoder], texts: list[str], batch_size: int) -> list[NDArray[Any]]:
    if len(bodies) == 1:
        return [bodies[0].encode(texts, batch_size=batch_size)]
    return encode_poolings([one for one in bodies if isinstance(one, Encoder)], texts, batch_size=batch_size)


def _make_room(kept: Path) -> None:
    """Removes what was used longest ago, until the rest is small enough."""
    with suppress(OSError):  # another process may remove a file first; where it has one open, Windows says no
        files = sorted(kept.parent.glob("*.sqlite"), key=lambda file: file.stat().st_mtime)
        size = sum(file.stat().st_size for file in files)
        for file in files:
            if size > LARGEST and file != kept:
                size -= file.stat().st_size
                file.unlink()
