"""Fits a baseline, saves it as an encoder like any other, and keeps a record of the text that it has seen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isotrope.baselines.base import BASELINES, BaselineSpec, Made
from isotrope.encoders.loading import Model
from isotrope.io.atomic import check_folder, whole_folder
from isotrope.io.errors import IsotropeError
from isotrope.io.names import BASELINE
from isotrope.io.progress import progress
from isotrope.text.arrays import growing_table
from isotrope.text.corpus import KEYS
from isotrope.text.files import file_kind, open_bytes
from isotrope.text.hashes import hash_texts
from isotrope.text.sources import HUB, Source, as_sources, matching_rows

KEY_BYTES = 8


def fit_baseline(
    kind: Any,
    text: Any = None,
    *,
    model: Model | None = None,
    output: str | Path | None = None,
    force: bool = False,
    column: str | None = None,
    show_progress: bool = False,
    **settings: Any,
) -> Made:
    """Fits a baseline on raw text, or trains a reference, and returns it as an encoder.

    Args:
        kind: `"whitening"`, `"flow"`, `"wk"`, `"frequent"`, `"glove"`, `"tfidf"`, `"ct"`, `"tsdae"`, `"use"`,
            `"my_package.module:function"`, or such a function `(encoder, text, *, settings) -> encoder` itself.
        text: what it is fitted on: sentences, a file, or several files as `Path`. `wk` and `use` take none.
        model: the encoder that it stands on: a name, a folder, an `Encoder` or a `SentenceTransformer`; `"bundled"` if
            left out. `glove`, `tfidf` and `use` stand on none.
        output: a folder to save it in, with a model card and the keys of the text that it has seen.
        force: replaces a folder that is there already.
        column: the column of a table that holds the sentences.
        show_progress: shows bars on a terminal.
        settings: what the kind can be told: `dim`, `pooling`, `steps`, `seed`, `top`, `vectors` ...

    Example:
        >>> from isotrope.baselines import fit_baseline
        >>> from isotrope.text import bundled_sentences
        >>> fit_baseline("whitening", bundled_sentences(), dim=64).encode("A dog runs.").shape
        (64,)
    """
    chosen = settings if model is None else {"model": model, **settings}
    spec = BASELINES.make(kind, **chosen)
    sources = _checked_sources(spec, text)
    if output is not None:
        check_folder(Path(output), force=force)
    sentences = Sentences(sources, column)
    given = progress(sentences, f"{spec.kind}: sentences", shown=show_progress) if sources else None
    made = spec.fit(given, show_progress=show_progress)
    if output is not None:
        _save(made, spec, sentences, Path(output), force=force)
    return made


class Sentences:
    """The sentences of the sources, one after the other; their keys are kept as they go by."""

    def __init__(self, sources: Sequence[Source], column: str | None = None) -> None:
        self.sources, self.column, self.keys = sources, column, bytearray()

    @property
    def count(self) -> int:
        """How many have gone by."""
        return len(self.keys) // KEY_BYTES

    def __iter__(self) -> Iterator[str]:
        for _, found in matching_rows(self.sources, ("text",), self.column):
            for text in (row["text"] for row in found if row["text"] is not None):
                self.keys += hash_texts([text]).tobytes()
                yield text


def _checked_sources(spec: BaselineSpec, text: Any) -> list[Source]:
    """The text as sources, after all that can be said about it without reading it."""
    if text is None:
        if spec.text == "needed":
            raise IsotropeError(f"{spec.kind} needs text to be fitted on; give some")
        return []
    if spec.text == "unused":
        raise IsotropeError(f"{spec.kind} needs no text; leave it out")
    sources = as_sources(text)
    for source in sources:
        if isinstance(source, str | Path) and str(source) != "-" and not str(source).startswith(HUB):
            file_kind(source)
            with open_bytes(source):
                pass
    return sources


def _save(made: Made, spec: BaselineSpec, sentences: Sentences, output: Path, *, force: bool) -> None:
    settings = {name: _named(value) for name, value in spec.settings().items() if value is not None}
    with whole_folder(output, force=force) as folder:
        made.save(folder, card=_card(spec, settings, sentences.count), force=True)
        with growing_table(folder / KEYS, 1) as add:
            add(np.frombuffer(sentences.keys, dtype="<i8").reshape(-1, 1))
        about = json.dumps({"model": settings.get("model")})
        (folder / BASELINE).write_text(about + "\n", encoding="utf-8")


def _card(spec: BaselineSpec, settings: dict[str, Any], sentences: int) -> str:
    used = ", ".join(f"{name} {value}" for name, value in settings.items())
    fitted = f", on {sentences:,} sentence{'' if sentences == 1 else 's'}" if sentences else ""
    return f"{spec.title or spec.kind}: made by `isotrope baseline`{fitted}{f' ({used})' if used else ''}."


def _named(value: Any) -> Any:
    """A model in memory by its name; any other value as it is."""
    return value if isinstance(value, str | int | float | bool) else getattr(value, "name", "") or type(value).__name__
