"""The text of a tuning: most of it is for the trials to learn from, the rest for all of them to be judged on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isotrope.encoders import Encoder
from isotrope.evaluation.label_free.neighbourhoods import FEWEST
from isotrope.io.atomic import whole_or_nothing
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import Display
from isotrope.text.arrays import IntArray
from isotrope.text.corpus import CHUNK_ROWS, Corpus
from isotrope.text.plan import held_out_rows
from isotrope.text.sources import Source
from isotrope.text.survey import Survey
from isotrope.text.units import Unit, Units
from isotrope.training.stage_text import JUDGED_ROWS, PLAIN, build_text, one_in
from isotrope.training.strange_text import strange_text

LEARNT = "text.parquet"


class TuningText(NamedTuple):
    """`file` has what trials learn from, about `learnt` texts; `judged` are texts that none of them sees."""

    file: Path
    learnt: int
    learnt_sample: list[str]
    judged: list[str]
    enough: bool  # to trust the judge with a sentence encoder


def read_tuning_text(
    sources: Sequence[Source],
    column: str | None,
    folder: Path,
    reader: Encoder,
    unit: Unit,
    *,
    judged: bool,
    resume: bool,
) -> TuningText:
    """Reads the sources into `folder`, in two parts by the hash of each text: equal texts are in the same part.

    With `judged`, too little text to judge by is an error.
    """
    survey = Survey()
    build_text(sources, PLAIN, folder / "corpus", column, None, survey, resume=resume)
    corpus = Corpus(folder / "corpus")
    rows = held_out_rows(corpus, JUDGED_ROWS, one_in(corpus))
    units = Units(unit, lambda texts: reader.too_long(texts, None))
    given = ({"text": text} for text in corpus.rows(rows)["text"]) if rows else iter(())
    texts = [row["text"] for row in units.rows("the held-out text", given)]
    distinct = len(set(texts))
    if judged and distinct < FEWEST:
        raise IsotropeError(
            f"too little text to judge by: {distinct:,} of {len(corpus):,} texts are held out, {FEWEST} are needed; "
            "give more text, or a development set of scored pairs"
        )
    for note in (*survey.lines(), *strange_text(survey, reader)):
        Display("text").say(note)
    left = np.setdiff1d(np.arange(len(corpus)), rows)
    if not len(left):
        raise IsotropeError(f"{corpus}: no text is left to learn from; give more text")
    _write(corpus, left, folder / LEARNT)  # also where it is there: it may have been damaged since
    about = round(len(left) * len(texts) / len(rows)) if rows else len(left)  # where documents are split, more
    sample: list[str] = corpus.rows(left[:FEWEST].tolist())["text"]
    return TuningText(
        folder / LEARNT, about, sample, texts if distinct >= FEWEST else [], corpus.counts.distinct >= JUDGED_ROWS
    )


def _write(corpus: Corpus, rows: IntArray, file: Path) -> None:
    import pyarrow  # slow to import
    from pyarrow import parquet

    schema = pyarrow.schema({"text": pyarrow.string()})
    with whole_or_nothing(file) as path, parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = corpus.rows(rows[start : start + CHUNK_ROWS].tolist())
            writer.write_table(pyarrow.table(chunk, schema=schema))
