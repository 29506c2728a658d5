"""Encoding against SentenceTransformer.encode, as ratios within one run.

    python bench/encoding.py [--model minilm] [--sentences 2000] [--rounds 5] [--data DIR] [--kinds openvino,static]

The peer computes in float32 with batches of 32; ours in float32 and bfloat16, and exported in int8, calibrated on other
sentences of the same sources. All take turns, and the median of the ratios counts; times are those of the processor
(one thread: OMP_NUM_THREADS=1), so that other work on the machine disturbs little. Sentences are a mixture of all files
of DIR/pretrain, else the bundled ones; with DIR there is Spearman x 100 on STS-B too.
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import statistics
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders import load_any
from isotrope.encoders.loading import resolve
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.fits.base import unit
from isotrope.text import bundled_sentences
from runs import print_head, print_row

PEER = "SentenceTransformer.encode, float32"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", default="openvino,onnx,static")
    parser.add_argument("--data", default=os.environ.get("ISOTROPE_DATA"))
    options = parser.parse_args()
    data = Path(options.data) if options.data else None
    texts, others = mixed(data, options.sentences)
    with TemporaryDirectory() as scratch:
        models = contestants(options.model, options.kinds.split(","), others, Path(scratch))
        times, vectors = compete(models, texts, options.rounds)
        scores = {name: spearman(model, data) for name, model in models.items()}
    threads = torch.get_num_threads()
    backends = "; ".join(f"{name}: {peer_backend(options.model, name)}" for name in ("openvino", "onnx"))
    print(f"{options.model}, {len(texts):,} sentences, {threads} thread(s), {matmul_peaks()}")
    print(f"The peer's own backends: {backends}\n")
    print_head("", "times as fast", "lowest - highest", "sentences/s", "cosine to float32", "STS-B")
    for name, spent in times.items():
        ratios = [peer / own for peer, own in zip(times[PEER], spent, strict=True)]
        same = vectors[name].shape == vectors[PEER].shape and "static" not in name
        cosine = f"{(unit(vectors[name]) * unit(vectors[PEER])).sum(1).mean():.5f}" if same else "-"
        rate = f"{len(texts) / statistics.median(spent):,.0f}"
        row = (name, f"{statistics.median(ratios):.2f}", f"{min(ratios):.2f} - {max(ratios):.2f}", rate, cosine)
        print_row(*row, scores[name])


def contestants(model: str, kinds: list[str], calibration: list[str], scratch: Path) -> dict[str, Any]:
    found: dict[str, Any] = {
        PEER: SentenceTransformer(resolve(model), device="cpu", model_kwargs={"dtype": torch.float32}),
        "float32": isotrope.load(model, device="cpu"),
        "bfloat16": isotrope.load(model, device="cpu", precision="bfloat16"),
    }
    for kind in filter(None, kinds):
        made = isotrope.export(model, kind, scratch / kind, int8=kind != "static", text=calibration)
        found[f"{kind}{'' if kind == 'static' else ' int8'}"] = load_any(made.path)
    return found


def compete(models: dict[str, Any], texts: list[str], rounds: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    times: dict[str, list[float]] = {name: [] for name in models}
    vectors: dict[str, Any] = {}
    for turn in range(rounds + 1):
        for name, model in models.items():
            began = time.process_time()
            vectors[name] = np.asarray(model.encode(texts, batch_size=32))
            if turn:  # the first round warms up
                times[name].append(time.process_time() - began)
    return times, vectors


def spearman(model: Any, data: Path | None) -> str:
    if data is None:
        return "-"
    return f"{score_pairs(model, load_pairs('stsb', data=data, split='test')).spearman['all']:.2f}"


def mixed(data: Path | None, count: int) -> tuple[list[str], list[str]]:
    """Sentences to encode, and others like them."""
    draw, found = random.Random(0), []
    for file in sorted((data / "pretrain").glob("*.txt.gz")) if data else ():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            read = [line.rstrip("\n") for line in islice(lines, 60_000)]
        found += draw.sample(read, min(len(read), count))
    found = found or bundled_sentences()
    draw.shuffle(found)
    return found[:count], found[count : count + 1000] or found


def matmul_peaks() -> str:
    """What this machine multiplies by in this run, on the same clock: matrices of the size that MiniLM has."""
    said = []
    for dtype in (torch.float32, torch.bfloat16):
        a, b = torch.randn(2048, 384, dtype=dtype), torch.randn(384, 1536, dtype=dtype)

        def once(a: torch.Tensor = a, b: torch.Tensor = b) -> None:
            a @ b

        seconds = min(timed(once) for _ in range(20))
        said.append(f"{2 * 2048 * 384 * 1536 / seconds / 1e9:.0f} GFLOP/s {str(dtype).removeprefix('torch.')}")
    return "matmul peak " + ", ".join(said)


def timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def peer_backend(model: str, backend: str) -> str:
    """Whether one of sentence-transformers' own fast backends runs here."""
    try:
        SentenceTransformer(resolve(model), device="cpu", backend=backend)
    except Exception as error:
        return " ".join(str(error).split())[:120]
    return "runs"


if __name__ == "__main__":
    main()
