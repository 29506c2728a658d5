"""How time and memory grow with the text: runs of a few steps on a thousand to a million sentences, in Markdown.

    python bench/growth.py [--most 1000000] [--plot docs/growth.png]

Each size is a process of its own: `isotrope.train` with `simcse` and the bundled encoder for two steps, so what grows
is what is done with the text: it is read, looked at, written as a corpus and planned; then the rows of every batch of
an epoch are asked for. Processor seconds, and the most memory that the process ever had.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from turns import peak_memory


class Grown(NamedTuple):
    sentences: int
    trained: float  # processor seconds of `isotrope.train`
    epoch: float  # of all batches of an epoch, as row numbers
    memory: float  # MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=1_000_000)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    print("| sentences | seconds of `train` | of an epoch's batches | peak memory, MB |\n|---|---|---|---|")
    found = []
    size = 1000
    while size <= options.most:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(grown, (size,)))
        one = found[-1]
        print(f"| {size:,} | {one.trained:.1f} | {one.epoch:.2f} | {one.memory:.0f} |", flush=True)
        size *= 10
    if options.plot:
        plot(found, options.plot)


def grown(sentences: int) -> Grown:
    import isotrope
    from isotrope.text.corpus import Corpus
    from isotrope.text.plan import plan_batches

    with TemporaryDirectory() as folder:
        text = made_up(Path(folder) / "text.txt", sentences)
        began = time.process_time()
        isotrope.train(text, "simcse", output=Path(folder) / "run", steps=2, device="cpu")
        trained = time.process_time() - began
        began = time.process_time()
        plan = plan_batches(Corpus(Path(folder) / "run" / "corpus"), batch_size=64, seed=1)
        for k in range(len(plan)):
            plan[k]
        return Grown(sentences, trained, time.process_time() - began, peak_memory())


def made_up(path: Path, count: int) -> Path:
    """Sentences of five to fifteen words, which are those of the bundled text; hardly one comes twice."""
    from isotrope.text import bundled_sentences

    words = sorted({word for sentence in bundled_sentences() for word in sentence.split()})
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            file.write(" ".join(draw.choices(words, k=draw.randint(5, 15))) + ".\n")
    return path


def plot(found: list[Grown], path: Path) -> None:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3))
    sizes = [one.sentences for one in found]
    thousands = [size / 1000 for size in sizes]
    axes[0].plot(thousands, [one.trained for one in found], "o-", label="isotrope.train, two steps")
    axes[0].plot(thousands, [one.epoch for one in found], "o-", label="rows of an epoch's batches")
    axes[0].set(xlabel="thousand sentences", ylabel="processor seconds", ylim=(0, None))
    axes[0].legend()
    axes[1].semilogx(sizes, [one.memory for one in found], "o-")
    axes[1].set(xlabel="sentences", ylabel="peak memory, MB", ylim=(0, 1.2 * max(one.memory for one in found)))
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()
