"""Packed against padded and against SentenceTransformer, as ratios within one run.

    python bench/packing.py [--model bundled] [--sentences 1536] [--batch 64] [--data DIR]

Encoding and a training step (forward and backward of a contrastive loss), on random batches and on batches of like
lengths. Every pair of contestants takes turns on the same batches, and the ratio is that of their best rounds, so that
a busy machine slows both. Sentences are those of STS-B where a data folder is given, else the bundled ones.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from sentence_transformers import SentenceTransformer
from torch import Tensor

import isotrope
from isotrope.encoders.loading import resolve
from isotrope.text import bundled_sentences, read_table

Step = Callable[[Sequence[str]], object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--sentences", type=int, default=1536)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", default=os.environ.get("ISOTROPE_DATA"))
    options = parser.parse_args()
    encoder = isotrope.load(options.model, device="cpu")
    peer = SentenceTransformer(resolve(options.model), device="cpu", model_kwargs={"dtype": torch.float32})
    texts = sentences(options.data, options.sentences)
    table = Table(
        title=f"{options.model}, {len(texts)} sentences, batch {options.batch}, {torch.get_num_threads()} threads"
    )
    for column in ("work", "batches", "padding if padded", "padding if packed", "padded / packed", "peer / packed"):
        table.add_column(column, justify="left" if column in ("work", "batches") else "right")
    for order in ("random", "length-sorted"):
        ordered = texts if order == "random" else sorted(texts, key=len)
        batches = [ordered[i : i + options.batch] for i in range(0, len(ordered), options.batch)]
        shares = [f"{padding(encoder, batches, packing=packing):.0%}" for packing in (False, True)]
        for work, contestants in (("encode", encoding(encoder, peer)), ("train", training(encoder, peer))):
            some = batches if work == "encode" else batches[:: max(1, len(batches) // 6)]
            packed, padded, other = best_times(contestants, some, options.rounds)
            table.add_row(work, order, *shares, f"{padded / packed:.2f}x", f"{other / packed:.2f}x")
    Console().print(table)
    whole = best_times(
        (lambda b: encoder.encode(b, batch_size=options.batch), lambda b: peer.encode(b, batch_size=options.batch)),
        [texts],
        options.rounds,
    )
    print(f"encode() of the whole list, against SentenceTransformer.encode: {whole[1] / whole[0]:.2f}x")


def encoding(encoder: isotrope.Encoder, peer: SentenceTransformer) -> tuple[Step, ...]:
    def ours(packing: bool) -> Step:
        def step(batch: Sequence[str]) -> object:
            encoder.packing = packing
            with torch.no_grad():
                return encoder(encoder.batch(batch))

        return step

    encoder.eval()
    return ours(True), ours(False), lambda batch: peer.encode(list(batch), batch_size=len(batch))


def training(encoder: isotrope.Encoder, peer: SentenceTransformer) -> tuple[Step, ...]:
    def ours(packing: bool) -> Step:
        def step(batch: Sequence[str]) -> None:
            encoder.packing = packing
            encoder.train()
            spread(encoder(encoder.batch(batch))).backward()
            encoder.eval()

        return step

    def theirs(batch: Sequence[str]) -> None:
        peer.train()
        spread(peer(peer.preprocess(list(batch)))["sentence_embedding"]).backward()
        peer.eval()

    return ours(True), ours(False), theirs


def spread(vectors: Tensor) -> Tensor:
    """Uniformity: any loss over the whole batch does for timing."""
    unit = torch.nn.functional.normalize(vectors, dim=-1)
    return (unit @ unit.T).exp().mean().log()


def best_times(steps: Sequence[Step], batches: Sequence[Sequence[str]], rounds: int) -> list[float]:
    best = [float("inf")] * len(steps)
    for turn in range(rounds + 1):
        for k, step in enumerate(steps):
            began = time.perf_counter()
            for batch in batches:
                step(batch)
            if turn:  # the first round warms up
                best[k] = min(best[k], time.perf_counter() - began)
    return best


def padding(encoder: isotrope.Encoder, batches: Sequence[Sequence[str]], *, packing: bool) -> float:
    encoder.packing = packing
    laid = [encoder.batch(batch) for batch in batches]
    encoder.packing = True
    return 1 - sum(b.token_index.numel() for b in laid) / sum(b.input_ids.numel() for b in laid)


def sentences(data: str | None, count: int) -> list[str]:
    if data:
        rows = read_table(Path(data) / "stsb" / "stsb.tsv.gz", ("sentence1",))
        found = list(dict.fromkeys(row["sentence1"] for row in rows))
    else:
        found = bundled_sentences()
    random.Random(0).shuffle(found)
    return found[:count]


if __name__ == "__main__":
    main()
