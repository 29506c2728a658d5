"""Encoding against SentenceTransformer.encode, as ratios within one run.

    python bench/encoding.py [--model minilm] [--sentences 2000] [--rounds 5] [--data DIR] [--kinds openvino,static]
                             [--peer-python PYTHON]

The peer computes in float32 with batches of 32; ours in float32 and bfloat16, and exported in int8, calibrated on other
sentences of the same sources. All take turns, and the median of the ratios counts; times are those of the processor
(one thread: OMP_NUM_THREADS=1), so that other work on the machine disturbs little. Sentences are a mixture of all files
of DIR/pretrain, else the bundled ones; with DIR there is Spearman x 100 on STS-B too. PYTHON is that of an environment
with sentence-transformers' int8 backends (see `bench/peer_backends.py`), which then take turns with the others.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
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
WARM_UP = 2000  # texts that each encodes first, off the clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kinds", default="openvino,onnx,static")
    parser.add_argument("--data", default=os.environ.get("ISOTROPE_DATA"))
    parser.add_argument("--peer-python")
    options = parser.parse_args()
    data = Path(options.data) if options.data else None
    texts, others = mixed(data, options.sentences)
    with TemporaryDirectory() as scratch:
        models = contestants(options.model, options.kinds.split(","), others, Path(scratch))
        if options.peer_python:
            models |= peers(options.peer_python, options.model, others, Path(scratch))
        times, vectors = compete(models, texts, options.rounds)
        scores = {name: spearman(model, data) for name, model in models.items()}
    threads = torch.get_num_threads()
    print(f"{options.model}, {len(texts):,} sentences, {threads} thread(s), {matmul_peaks()}\n")
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


class Elsewhere:
    """An encoder in a process of another Python: what it encodes goes there and back by way of files."""

    def __init__(self, python: str, model: str, backend: str, calibration: Path, scratch: Path) -> None:
        command = [python, str(Path(__file__).with_name("peer_backends.py")), resolve(model), backend]
        command += [str(calibration), str(scratch)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.scratch, self.seconds = scratch, 0.0
        self._answer("ready")

    def encode(self, sentences: Sequence[str], **_: Any) -> Any:
        texts, output = self.scratch / "texts.json", self.scratch / "vectors.npy"
        texts.write_text(json.dumps(list(sentences)), encoding="utf-8")
        assert self.process.stdin is not None
        print(json.dumps([str(texts), str(output)]), file=self.process.stdin, flush=True)
        self.seconds += float(self._answer("took"))
        return np.load(output)

    def process_time(self) -> float:
        """Seconds that encoding took there so far."""
        return self.seconds

    def _answer(self, word: str) -> str:
        """The rest of the line that begins with the word; libraries may print lines of their own before."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(word):
                return line.removeprefix(word)
        raise SystemExit(f"{self.process.args!r} ended with {self.process.wait()}")


def peers(python: str, model: str, calibration: list[str], scratch: Path) -> dict[str, Any]:
    """sentence-transformers' own int8 backends; processes end with ours, when their standard input does."""
    folder = scratch / "calibration"
    folder.mkdir()
    lines = "".join(json.dumps({"text": text}) + "\n" for text in calibration)
    (folder / "train.jsonl").write_text(lines, encoding="utf-8")
    found = {}
    for backend in ("openvino", "onnx"):
        own = scratch / f"peer-{backend}"
        own.mkdir()
        found[f"peer's {backend} int8"] = Elsewhere(python, model, backend, folder, own)
    return found


def compete(models: dict[str, Any], texts: list[str], rounds: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    times: dict[str, list[float]] = {name: [] for name in models}
    vectors: dict[str, Any] = {}
    for model in models.values():
        model.encode(texts[:WARM_UP], batch_size=32)
    for _ in range(rounds):
        for name, model in models.items():
            clock = getattr(model, "process_time", time.process_time)
            began = clock()
            vectors[name] = np.asarray(model.encode(texts, batch_size=32))
            times[name].append(clock() - began)
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


if __name__ == "__main__":
    main()
