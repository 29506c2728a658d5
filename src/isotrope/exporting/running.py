"""`export`: an encoder to a folder for another runtime, loaded again and set beside the original."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isotrope.encoders import Encoder, load, load_any
from isotrope.encoders.loading import Model
from isotrope.encoders.saving import CARD
from isotrope.evaluation import load_pairs
from isotrope.evaluation.results.printing import Printable
from isotrope.exporting.base import EXPORTS, ExportSpec
from isotrope.exporting.dimensions import cut
from isotrope.exporting.parity import Parity, folder_bytes, measure
from isotrope.io.atomic import check_folder, whole_folder
from isotrope.io.checksums import write_sums
from isotrope.io.names import EXPORT
from isotrope.text import bundled_sentences
from isotrope.text.shaping import Shape, shaped_sentences
from isotrope.text.sources import Source

MOST = 20_000  # texts that are looked at
CALIBRATED = 320  # texts that ranges of activations are found on
MEASURED = 256  # others, on which the two are compared
SEED = 1  # of the draw


@dataclass(frozen=True, repr=False)
class Exported(Printable):
    """A folder, what is in it, and how near it is to the original."""

    path: Path
    format: str
    int8: bool
    dim: int
    how: list[str]  # in words: what was done
    parity: Parity

    def parts(self) -> Iterator[str]:
        """Lines for people."""
        yield f"{self.path}: {self.format}{' int8' if self.int8 else ''}, {self.dim} dimensions"
        yield from (f"  {line}" for line in (*self.how, *self.parity.lines()))

    def as_dict(self) -> dict[str, Any]:
        """What export.json says."""
        return {
            "path": str(self.path),
            "format": self.format,
            "int8": self.int8,
            "dim": self.dim,
            "how": self.how,
            "parity": self.parity.to_dict(),
        }


def export(
    model: Model,
    kind: str,
    output: str | Path,
    *,
    int8: bool = False,
    dim: int | None = None,
    text: Source | None = None,
    column: str | None = None,
    columns: str | Iterable[str] | None = None,
    join: str | None = None,
    strip_html: bool = False,
    pairs: str = "bundled",
    data: str | Path | None = None,
    pooling: str | None = None,
    force: bool = False,
    **settings: Any,
) -> Exported:
    """Writes an encoder for another runtime, loads it again and reports how near it is to the original.

    Args:
        model: a name, a folder, a run, an `Encoder` or a `SentenceTransformer`.
        kind: `"openvino"` or `"onnx"` (a graph for fast inference), `"static"` (a vector for each token: much faster,
            less exact), `"torch"` (a plain sentence-transformers folder, with `dim`).
        output: the folder to write. `isotrope.load` takes it, and with it every verb that needs vectors only.
        int8: openvino, onnx: eight bits. OpenVINO finds the ranges of activations on the text.
        dim: fewer numbers in a vector: the first ones if the encoder was trained with Matryoshka, else principal
            directions of the text's vectors.
        text: sentences like those that it will read, a file or a table. Without it int8 takes those of the package.
        column: the column of a table that holds the sentences.
        columns: several columns: `"Subject,Body"` or a list; each is a text of its own, or with `join` they make one.
        join: what stands between the columns of a row: `". "`.
        strip_html: takes HTML out of the text.
        pairs: a task with graded pairs, such as `"stsb"`, that the two are compared on.
        data: the folder of data sets, for tasks that need one.
        pooling: another than the model's own.
        force: replaces a folder that is there already.
        settings: what else the format can be told; static: `rare`.

    Returns:
        An `Exported`: `path`, `dim`, and `parity` with cosine, Spearman, speed and size before and after.

    Example:
        >>> import isotrope, tempfile
        >>> from isotrope.text import bundled_sentences
        >>> made = isotrope.export("bundled", "torch", tempfile.mkdtemp() + "/m", dim=64, text=bundled_sentences())
        >>> isotrope.load(made.path).encode("A dog runs.").shape
        (64,)
    """
    spec = EXPORTS.make(kind, int8=int8, dim=dim, **settings)
    target = Path(output)
    check_folder(target, force=force)
    graded = load_pairs(pairs, data=None if data is None else Path(data), split="test")
    shape = Shape.of(columns, join, strip_html, column=column)
    given = None if text is None else drawn(shaped_sentences(text, shape, column))
    encoder = opened(model, pooling)
    chosen, how = given or drawn(bundled_sentences()), []
    if given is None and (spec.int8 or spec.needs_text):
        how.append("no text was given: fitted on the bundled sentences, which may differ from yours")
    before = encoder
    if dim is not None and not spec.reduces:
        encoder, said = cut(encoder, dim, given)
        how.append(f"{dim} of {before.dim} numbers: {said}")
    with whole_folder(target, force=force) as made:
        about = spec.write(encoder, made, _calibrated(spec, chosen))
        (made / EXPORT).write_text(json.dumps(about), encoding="utf-8")
        after = load_any(made)
        sizes = _saved_size(before), folder_bytes(made)
        same = before.dim == after.dim and not spec.reduces
        parity = measure(before, after, chosen[-MEASURED:], graded, pairs, sizes, same_space=same)
        done = Exported(target, spec.kind, int8, after.dim, how, parity)
        (made / EXPORT).write_text(json.dumps(about | done.as_dict(), indent=2) + "\n", encoding="utf-8")
        (made / CARD).write_text(card(before, done), encoding="utf-8")
        write_sums(made, but=(CARD,))
        for file in made.rglob("*"):
            file.chmod(0o755 if file.is_dir() else 0o644)
    return done


def opened(model: Model, pooling: str | None) -> Encoder:
    """The encoder of a name, folder or run, on the CPU."""
    encoder = load(model, pooling=pooling, device="cpu")
    encoder.precision = "float32"
    return encoder


def drawn(sentences: Iterable[str]) -> list[str]:
    """Distinct texts of the first `MOST`, in an order that is random and always the same."""
    texts = list(dict.fromkeys(islice(sentences, MOST)))
    random.Random(SEED).shuffle(texts)
    return texts


def card(before: Encoder, done: Exported) -> str:
    """Markdown: what it is, and the report."""
    lines = "\n".join(f"- {line}" for line in (*done.how, *done.parity.lines()))
    name = before.name.rstrip("/").rpartition("/")[2] or "an encoder"
    eight = " in int8" if done.int8 else ""
    return (
        "---\nlibrary_name: sentence-transformers\npipeline_tag: sentence-similarity\ntags:\n- isotrope\n---\n"
        f"# {name} for {done.format}{eight}\n\n"
        f"It turns text into vectors of {done.dim} numbers. Made by `isotrope export`.\n\n"
        '```python\nimport isotrope\n\nvectors = isotrope.encode(["A sentence."], "PATH-TO-THIS-FOLDER")\n```\n\n'
        f"Compared with the encoder it was made from:\n{lines}\n"
    )


def _calibrated(spec: ExportSpec, texts: Sequence[str]) -> Sequence[str]:
    """All, where they are counted; else as many as ranges need. Those that are measured on come last."""
    return texts if spec.needs_text else texts[:CALIBRATED]


def _saved_size(encoder: Encoder) -> int:
    with TemporaryDirectory() as scratch:
        return folder_bytes(encoder.save(Path(scratch, "encoder")))
