"""The text of a pre-training run: tokenised once into arrays on disk, with some sentences held out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.io.atomic import whole_folder
from isotrope.io.checksums import SUMS, changed_since, write_sums
from isotrope.io.errors import IsotropeError
from isotrope.text import read_sentences
from isotrope.training.masked_lm import MaskedBatches, TokenizedText

HELD_OUT = 200  # one sentence in so many, by its checksum, is never trained on
HELD_OUT_BATCHES = 100
HELD_OUT_SEED = 20_26


def tokenized(
    files: dict[str, float], tokenizer: Any, output: Path, *, positions: int, batch_tokens: int
) -> tuple[TokenizedText, MaskedBatches]:
    """The text to train on, and the held-out batches: tokenised once, then memory-mapped; made again if damaged."""
    folder, names = output / "text", ("tokens", "lengths", "source", "held_out")
    if not (folder / SUMS).is_file() or changed_since(folder):
        with whole_folder(folder, force=True) as partial:
            for name, array in zip(names, _tokenize_files(files, tokenizer, positions), strict=True):
                np.save(partial / f"{name}.npy", array)
            write_sums(partial)
    tokens, lengths, source, held_out = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in names)
    weights = tuple(files.values())
    whole = TokenizedText(tokens, lengths, np.where(held_out, -1, source), weights)
    aside = TokenizedText(tokens, lengths, np.where(held_out, source, -1), weights)
    have = int((lengths[held_out] + 2).sum())
    if have == 0 or int(held_out.sum()) == len(lengths):
        raise IsotropeError("too little text to hold any out; a few thousand sentences are the least that makes sense")
    batches = MaskedBatches(
        aside,
        tokenizer,
        batches=max(1, min(HELD_OUT_BATCHES, have // batch_tokens)),
        batch_tokens=min(have, batch_tokens),
        seed=HELD_OUT_SEED,
        masked=0.15,
    )
    return whole, batches


def _tokenize_files(files: dict[str, float], tokenizer: Any, positions: int) -> tuple[Any, Any, Any, Any]:
    dtype = np.uint16 if len(tokenizer) < 2**16 else np.uint32
    tokens, lengths, source, held_out = [], [], [], []
    for k, path in enumerate(files):
        for block in _blocks(read_sentences(path), 20_000):
            ids = tokenizer(
                block,
                add_special_tokens=False,
                truncation=True,
                max_length=min(positions, tokenizer.model_max_length) - 2,
                return_attention_mask=False,
                return_token_type_ids=False,
            )["input_ids"]
            tokens.append(np.fromiter((i for one in ids for i in one), dtype=dtype))
            lengths.append(np.array([len(one) for one in ids], dtype=np.int32))
            source.append(np.full(len(ids), k, dtype=np.int16))
            held_out.append(np.array([zlib.crc32(text.encode()) % HELD_OUT == 0 for text in block]))
    return np.concatenate(tokens), np.concatenate(lengths), np.concatenate(source), np.concatenate(held_out)


def _blocks(items: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(islice(items, size)):
        yield block
