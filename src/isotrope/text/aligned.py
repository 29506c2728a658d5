"""Translations out of tables that say the same in several languages, row by row, such as those of XNLI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from isotrope.io.errors import IsotropeError
from isotrope.text.cells import cell_sentence
from isotrope.text.files import check_columns
from isotrope.text.parallel import PAIR
from isotrope.text.sources import Source, source_rows
from isotrope.text.tables import Rows, TextTable, check_table, table_writer

Key = tuple[str, ...]
Texts = dict[Key, list[str | None]]  # what stands in each of the columns


def aligned_pairs(
    source: Source,
    targets: Sequence[Source],
    output: str | Path | None = None,
    *,
    on: Sequence[str],
    columns: Sequence[str],
    force: bool = False,
) -> TextTable:
    """Pairs a text with each of its translations as `source` and `target`; those of one text follow each other.

    Args:
        source: the table in the language that all others are translations of: a file, a table of another library, or a
            list of rows.
        targets: tables in the other languages. Rows that `source` has not are left out.
        output: where to write: .tsv or .jsonl, each also .gz, or .parquet; without it the pairs stay in memory.
        on: the columns that say which rows belong together.
        columns: those that hold text.
        force: replaces an output that is there already.

    Example:
        >>> english, german = [{"id": 1, "text": "A dog."}], [{"id": 1, "text": "Ein Hund."}]
        >>> list(aligned_pairs(english, [german], on=["id"], columns=["text"]))
        [{'source': 'A dog.', 'target': 'Ein Hund.'}]
    """
    file = None if output is None else Path(output)
    if file is not None:
        check_table(file, force=force)
    first, others = _texts(source, on, columns), [_texts(target, on, columns) for target in targets]
    pairs = list(dict.fromkeys(_pairs(first, others)))
    if not pairs:
        raise IsotropeError(f"no row has a translation: none agree in {', '.join(on)}")
    kept: Rows = []
    with table_writer(file, PAIR, kept) as write:
        write(pairs)
    return TextTable(columns=PAIR, count=len(pairs), output=file, in_memory=kept)


def _pairs(first: Texts, others: Sequence[Texts]) -> Iterator[tuple[str, str]]:
    for key, texts in first.items():
        for place, text in enumerate(texts):
            translations = (other[key][place] for other in others if key in other)
            yield from ((text, translation) for translation in translations if text and translation)


def _texts(source: Source, on: Sequence[str], columns: Sequence[str]) -> Texts:
    found: Texts = {}
    name, rows = source_rows(source)
    for number, row in enumerate(rows, 1):
        check_columns(row, [*on, *columns], f"{name}: row {number}")
        key = tuple(str(row[column]) for column in on)
        if key in found:
            told = f"{name}: row {number}: {_shown(on, key)} was there before; name more columns with on="
            raise IsotropeError(told, argument="on=")
        found[key] = [cell_sentence(row[column], f"column '{column}'") for column in columns]
    return found


def _shown(on: Sequence[str], key: Key) -> str:
    return ", ".join(f"{column} {value}" for column, value in zip(on, key, strict=True))
