"""Pairs and triplets to train on: translations that were cleaned, and entailments out of NLI data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from isotrope.io.errors import IsotropeError
from isotrope.io.progress import progress
from isotrope.text import parallel
from isotrope.text.entailment import PAIR, TRIPLET, pair_rows, read_nli, triplet_rows
from isotrope.text.parallel import Cleaner, read_pairs
from isotrope.text.sources import as_sources
from isotrope.text.tables import Rows, TextTable, check_table, table_writer


@dataclass(frozen=True, kw_only=True)
class CleanedPairs(TextTable):
    """Translations that passed every rule, in the columns `source` and `target`.

    `seen` counts all pairs, `dropped` those that each rule has dropped, `examples` has the first of them; `off` says
    what could not be checked, and why.
    """

    seen: int
    dropped: dict[str, int]
    examples: dict[str, tuple[str, str]]
    off: list[str]


@dataclass(frozen=True, kw_only=True)
class EntailmentPairs(TextTable):
    """Pairs in the columns `view1` and `view2`, or triplets in `anchor`, `positive` and `negative`.

    `labelled` counts the rows that they come from, `unlabelled` and `blank` those that were left out.
    """

    labelled: int
    unlabelled: int
    blank: int


def clean_pairs(
    text: Any,
    source: str,
    target: str,
    output: str | Path | None = None,
    *,
    min_length: float = 2,
    max_length: float = 600,
    max_ratio: float = 2.5,
    one_per_source: bool = False,
    force: bool = False,
    show_progress: bool = False,
) -> CleanedPairs:
    """Drops translations that would do harm, and counts what each rule drops.

    Lengths are in characters of English: one of Chinese counts as 3.2. Languages are identified where py3langid is
    installed.

    Args:
        text: a table with columns named as the languages are, or `source` and `target`: a file, several files as
            `Path`, a table of another library, or a list of rows or of pairs.
        source: language of the source side, such as `"zh"`.
        target: language of the target side, such as `"en"`.
        output: where to write: .tsv or .jsonl, each also .gz, or .parquet; without it the pairs stay in memory.
        min_length: characters of English that a side must have.
        max_length: characters of English that a side may have.
        max_ratio: how many times as long one side may be.
        one_per_source: keeps one translation of each source only.
        force: replaces an output that is there already.
        show_progress: shows a bar on a terminal.

    Example:
        >>> from isotrope.text.pairs import clean_pairs
        >>> list(clean_pairs([("你好。", "Hi."), ("The same.", "The same.")], "zh", "en"))
        [{'source': '你好。', 'target': 'Hi.'}]
    """
    file = _checked(output, force=force)
    cleaner = Cleaner(source, target, min_length, max_length, max_ratio, one_per_source, parallel.language_identifier())
    sources = as_sources(_as_rows(text))
    rows = chain.from_iterable(read_pairs(one, source, target) for one in sources)
    kept: Rows = []
    with table_writer(file, parallel.PAIR, kept) as write:
        for good in progress(cleaner(rows), "Cleaning", shown=show_progress):
            write(good)
        if not cleaner.kept:
            reasons = ", ".join(f"{rule} {count:,}" for rule, count in cleaner.dropped.items() if count)
            where = ", ".join(str(one) if isinstance(one, str | Path) else "the given text" for one in sources)
            raise IsotropeError(
                f"{where}: of {cleaner.seen:,} pair{'' if cleaner.seen == 1 else 's'} none is left "
                f"({reasons or 'it is empty'})"
            )
    return CleanedPairs(
        columns=parallel.PAIR,
        count=cleaner.kept,
        output=file,
        in_memory=kept,
        seen=cleaner.seen,
        dropped=cleaner.dropped,
        examples=cleaner.examples,
        off=cleaner.off,
    )


def entailment_pairs(
    text: Any, output: str | Path | None = None, *, triplets: bool = False, force: bool = False
) -> EntailmentPairs:
    """Takes the pairs of which one sentence entails the other out of NLI data, each once.

    Args:
        text: premise, hypothesis and label (or sentence1, sentence2, label): a file, `hub:org/name[:split]`,
            several files as `Path`, a table of another library, or a list of rows.
        output: where to write: .tsv or .jsonl, each also .gz, or .parquet; without it the pairs stay in memory.
        triplets: premise, entailment and contradiction, as anchor, positive and negative.
        force: replaces an output that is there already.

    Example:
        >>> from isotrope.text.pairs import entailment_pairs
        >>> row = {"premise": "A man sleeps.", "hypothesis": "A person rests.", "label": "entailment"}
        >>> list(entailment_pairs([row]))
        [{'view1': 'A man sleeps.', 'view2': 'A person rests.'}]
    """
    file = _checked(output, force=force)
    columns, chunks_of = (TRIPLET, triplet_rows) if triplets else (PAIR, pair_rows)
    kept: Rows = []
    rows = 0
    with TemporaryDirectory() as folder:
        nli = read_nli(as_sources(text), Path(folder))
        with table_writer(file, columns, kept) as write:
            for chunk in chunks_of(nli):
                write(chunk)
                rows += len(chunk)
        counts = nli.counts
    return EntailmentPairs(
        columns=columns,
        count=rows,
        output=file,
        in_memory=kept,
        labelled=counts.rows,
        unlabelled=counts.unlabelled,
        blank=counts.blank,
    )


def _checked(output: str | Path | None, *, force: bool) -> Path | None:
    if output is None:
        return None
    check_table(Path(output), force=force)
    return Path(output)


def _as_rows(text: Any) -> Any:
    """Pairs in memory as rows with their columns; anything else as it is."""
    if not isinstance(text, list):
        return text
    return [_row(item) for item in text]


def _row(item: Any) -> Any:
    is_pair = isinstance(item, tuple) and len(item) == len(parallel.PAIR)
    return dict(zip(parallel.PAIR, item, strict=True)) if is_pair else item
