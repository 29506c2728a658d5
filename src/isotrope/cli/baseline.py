"""`isotrope baseline`: what tuned encoders are measured against, each saved as an encoder like any other."""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from isotrope.cli.console import many, waiting
from isotrope.cli.models import MODEL_HELP, check_models, load_transformer
from isotrope.cli.options import Column
from isotrope.io.errors import IsotropeError, nearest
from isotrope.io.hub import stay_offline_without_hub
from isotrope.text.files import file_kind, open_bytes
from isotrope.text.sources import HUB, matching_rows

if TYPE_CHECKING:
    from isotrope.encoders import Encoder, PlainEncoder

Text = Iterable[str]
KEY_BYTES = 8

Kind = Annotated[str, typer.Argument(metavar="KIND", help="whitening, flow, wk, frequent, glove, tfidf, ct or tsdae.")]
Corpus = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CORPUS]...",
        help="Text to fit on: .txt, .csv, .tsv, .jsonl or .parquet, each also .gz; - (stdin); or hub:org/name.",
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(help="As in encode.", show_default="the model's own; flow: last2, ct: mean, tsdae: cls"),
]
Dim = Annotated[
    int | None,
    typer.Option(min=1, help="whitening, tfidf: dimensions to keep.", show_default="all; tfidf: 20,000 words"),
]
Top = Annotated[
    int | None,
    typer.Option(min=0, help="frequent: how many tokens to leave out, [CLS] and [SEP] included.", show_default="34"),
]
Steps = Annotated[
    int | None, typer.Option(min=1, help="flow, ct, tsdae: optimiser steps.", show_default="once through the text")
]
WordVectors = Annotated[
    Path | None,
    typer.Option(help="glove: a text file of word vectors, also .gz.", show_default="GloVe 6B, 50 dimensions"),
]


def baseline(
    kind: Kind,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the encoder.")],
    corpus: Corpus = None,
    model: Annotated[str | None, typer.Option("--model", "-m", help=MODEL_HELP, show_default="bundled")] = None,
    pooling: Pooling = None,
    dim: Dim = None,
    top: Top = None,
    steps: Steps = None,
    seed: Annotated[int | None, typer.Option(min=0, help="flow, ct, tsdae.", show_default="1")] = None,
    vectors: WordVectors = None,
    column: Column = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the output.")] = False,
) -> None:
    """Fit a baseline on raw text, or train a reference, and save it as an encoder.

    [dim]Example:[/] isotrope baseline whitening sentences.txt --model bundled --output runs/white
    """
    options = {"model": model, "pooling": pooling, "dim": dim, "top": top, "steps": steps, "seed": seed}
    given = {name: value for name, value in {**options, "vectors": vectors}.items() if value is not None}
    chosen, sources = _checked(kind, given, corpus or []), corpus or []
    settings = {**chosen.defaults, **given}
    with waiting("Starting"):
        from isotrope.encoders.progress import progress
        from isotrope.encoders.saving import check_folder

        check_folder(output, force=force)
    check_models([settings["model"]] if "model" in settings else [], [pooling] if pooling else [])
    began, text = time.monotonic(), _Counted(sources, column)
    made = chosen.make(progress(text, f"{kind}: sentences", shown=True) if sources else None, **settings)
    try:
        made.save(output, card=_card(chosen, settings, text.count), force=force)
        _say_what_it_saw(output, settings.get("model"), text.keys)
    except OSError as error:
        raise IsotropeError(f"{output}: can't be written ({error.strerror or error})") from error
    fitted = f"{many(text.count, 'sentence')}, " if sources else ""
    typer.echo(f"{output}: {kind}, {made.dim} dimensions, {fitted}{time.monotonic() - began:.1f} s")


# -- how each is made; the named arguments of a maker are the options that it takes -----------------------------------


def _whitening(text: Text, *, model: str = "bundled", pooling: str | None = None, dim: int | None = None) -> Encoder:
    from isotrope.baselines.whitening import whiten

    return whiten(load_transformer(model, pooling=pooling), text, dim)


def _flow(
    text: Text, *, model: str = "bundled", pooling: str = "last2", steps: int | None = None, seed: int = 1
) -> Encoder:
    from isotrope.baselines.flow import FlowSettings, fit_flow

    encoder = load_transformer(model, pooling=pooling)
    return fit_flow(encoder, text, FlowSettings(steps=steps, seed=seed), show_progress=True)


def _wk(text: None, *, model: str = "bundled") -> PlainEncoder:
    from isotrope.baselines.wk import wk_pooled

    return wk_pooled(load_transformer(model))


def _frequent(text: Text, *, model: str = "bundled", pooling: str | None = None, top: int = 34) -> PlainEncoder:
    from isotrope.baselines.frequent import without_frequent

    return without_frequent(load_transformer(model, pooling=pooling), text, top)


def _glove(text: Text | None, *, vectors: Path | None = None) -> PlainEncoder:
    from isotrope.baselines.glove import word_vector_mean

    return word_vector_mean(vectors, text)


def _tfidf(text: Text, *, dim: int = 20_000) -> PlainEncoder:
    from isotrope.baselines.tfidf import fit_tfidf

    return fit_tfidf(text, dim)


def _reference(kind: str) -> Callable[..., Encoder]:
    def make(
        text: Text,
        *,
        model: str = "bundled",
        pooling: str | None = None,
        steps: int | None = None,
        seed: int = 1,
    ) -> Encoder:
        from isotrope.baselines.references import train_reference

        return train_reference(kind, text, model, steps=steps, seed=seed, pooling=pooling, show_progress=True)

    return make


@dataclass(frozen=True)
class _Kind:
    title: str
    make: Callable[..., Encoder | PlainEncoder]
    text: Literal["needed", "optional", "unused"] = "needed"

    @property
    def defaults(self) -> dict[str, Any]:
        """The options that it takes, and their values where none is given."""
        parameters = inspect.signature(self.make).parameters.values()
        return {one.name: one.default for one in parameters if one.kind is one.KEYWORD_ONLY}


KINDS = {
    "whitening": _Kind("Whitening (Su et al., 2021)", _whitening),
    "flow": _Kind("A normalising flow, BERT-flow (Li et al., 2020)", _flow),
    "wk": _Kind("WK pooling, SBERT-WK (Wang and Kuo, 2020)", _wk, "unused"),
    "frequent": _Kind("A mean without the most frequent tokens (Yan et al., 2021, Figure 4)", _frequent),
    "glove": _Kind("The mean of word vectors (GloVe: Pennington et al., 2014)", _glove, "optional"),
    "tfidf": _Kind("Unigram TF-IDF", _tfidf),
    "ct": _Kind("Contrastive Tension (Carlsson et al., 2021), by sentence-transformers", _reference("ct")),
    "tsdae": _Kind("TSDAE (Wang et al., 2021), by sentence-transformers", _reference("tsdae")),
}


def _checked(kind: str, given: dict[str, Any], corpus: list[str]) -> _Kind:
    """The kind, after all that can be said about the arguments without reading anything."""
    if kind not in KINDS:
        raise IsotropeError(f"unknown baseline '{kind}'{nearest(kind, KINDS)}; choose from {', '.join(KINDS)}")
    chosen = KINDS[kind]
    for name in given:
        if name not in chosen.defaults:
            takers = ", ".join(other for other, one in KINDS.items() if name in one.defaults)
            raise IsotropeError(f"{kind} takes no --{name}; that is for {takers}")
    if chosen.text == "needed" and not corpus:
        raise IsotropeError(f"{kind} is fitted on text: isotrope baseline {kind} CORPUS ...")
    if chosen.text == "unused" and corpus:
        raise IsotropeError(f"{kind} is fitted on nothing; leave out {corpus[0]}")
    for source in corpus:
        if source.startswith(HUB):
            stay_offline_without_hub()
        elif source != "-":
            file_kind(source)
            with open_bytes(source):
                pass
    return chosen


class _Counted:
    """The sentences of the sources, one after the other; their keys are kept as they go by."""

    def __init__(self, sources: list[str], column: str | None) -> None:
        self.sources, self.column, self.keys = sources, column, bytearray()

    @property
    def count(self) -> int:
        return len(self.keys) // KEY_BYTES

    def __iter__(self) -> Iterator[str]:
        from isotrope.text.hashes import hash_texts  # slow to import

        for name, found in matching_rows(self.sources, ("text",), self.column):
            for number, row in enumerate(found, 1):
                text = row["text"]
                if text is not None and not isinstance(text, str):
                    raise IsotropeError(f"{name}: row {number}: column 'text' holds {text!r:.40}, not text")
                if text and text.strip():
                    self.keys += hash_texts([text.strip()]).tobytes()
                    yield text.strip()


def _say_what_it_saw(output: Path, model: str | None, keys: bytearray) -> None:
    """Beside the encoder, for `evaluate`, which marks the rows that have met test sentences."""
    import numpy as np

    from isotrope.evaluation.provenance import BASELINE
    from isotrope.text.arrays import growing_table
    from isotrope.text.corpus import KEYS

    with growing_table(output / KEYS, 1) as add:
        add(np.frombuffer(keys, dtype="<i8").reshape(-1, 1))
    (output / BASELINE).write_text(json.dumps({"model": model}) + "\n", encoding="utf-8")


def _card(chosen: _Kind, settings: dict[str, Any], sentences: int) -> str:
    used = ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)
    fitted = f", on {many(sentences, 'sentence')}" if sentences else ""
    return f"{chosen.title}: made by `isotrope baseline`{fitted}{f' ({used})' if used else ''}."
