"""`make_views`: sentences beside their other wordings, from Python as from the command line."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isotrope.io.atomic import check_output
from isotrope.io.progress import Display
from isotrope.text.files import read_table
from isotrope.text.sources import Source, as_sources
from isotrope.text.tables import TextTable
from isotrope.views.text.base import TEXT_VIEWS, TextView, TextViewSpec, make_text_view
from isotrope.views.text.runner import Counts, count_texts, write_views


@dataclass(frozen=True, kw_only=True)
class ViewTable(TextTable):
    """Rows with the column `text` and one for each view.

    `counts` says what became of the sentences, `parameters` how each view was made.
    """

    counts: Counts
    parameters: dict[str, dict[str, Any]]


def make_views(
    text: Any,
    views: Mapping[str, Any],
    output: str | Path | None = None,
    *,
    column: str | None = None,
    drop_identical: bool = False,
    cache: str | Path | None = None,
    fresh: bool = False,
    force: bool = False,
    show_progress: bool = False,
) -> ViewTable:
    """Says each sentence in other words: a table with the column `text` and one for each view.

    Only rows that have all the views are kept, since a recipe needs them together. What was made before comes out of
    the cache, so a run that was stopped goes on where it was.

    Args:
        text: sentences, a file, or several files as `Path`.
        views: names of columns, and what makes each: a kind (`"mlm"`), a kind with its settings
            (`{"kind": "back-translation", "pivot": "pt"}`), a spec, a function `(texts, *, settings) -> texts`, or a
            `TextView`.
        output: where to write, a `.parquet`; without it the rows stay in memory.
        column: the column of a table that holds the sentences.
        drop_identical: leaves out sentences that a view repeats.
        cache: folder of what was made before; `$ISOTROPE_CACHE` or the user's own if left out.
        fresh: makes everything anew, whatever the cache has.
        force: replaces an output that is there already.
        show_progress: shows on standard error how far it is.

    Example:
        >>> from isotrope.views.text import make_views
        >>> def shout(texts: list[str], *, mark: str = "!") -> list[str]:
        ...     return [text.upper() + mark for text in texts]
        >>> list(make_views(["a dog"], {"view1": shout}))
        [{'text': 'a dog', 'view1': 'A DOG!'}]
    """
    if output is not None:
        check_output(Path(output), (".parquet",), force=force)
    made = {name: as_text_view(view) for name, view in views.items()}
    sources = as_sources(text)
    options: dict[str, Any] = {"column": column, "drop_identical": drop_identical, "fresh": fresh}
    options["cache"] = None if cache is None else Path(cache)
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch, "views.parquet") if output is None else Path(output)
        with _display(sources, column, shown=show_progress) as progress:
            counts = write_views(sources, made, file, progress=progress, **options)
        return ViewTable(
            columns=("text", *made),
            count=counts.written,
            output=None if output is None else file,
            in_memory=[] if output is not None else [tuple(row.values()) for row in read_table(file)],
            counts=counts,
            parameters={name: view.parameters for name, view in made.items()},
        )


def as_text_view(view: Any) -> TextView:
    """A view from a kind, a kind with its settings, a spec, a function, or a view that is one already."""
    if isinstance(view, TextViewSpec):
        return view.make()
    if isinstance(view, Mapping):
        return make_text_view(view.get("kind", TEXT_VIEWS.default), **{k: v for k, v in view.items() if k != "kind"})
    if inspect.getattr_static(view, "parameters", None) is not None:  # asked for, it might load a model
        made: TextView = view
        return made
    return make_text_view(view)


def _display(
    sources: list[Source], column: str | None, *, shown: bool
) -> AbstractContextManager[Callable[[int], None]]:
    """Where all is in files the number of sentences is known before, and a bad row is found now, not after hours."""
    if not shown:
        return nullcontext(lambda rows: None)
    files = all(isinstance(source, str | Path) and Path(source).is_file() for source in sources)
    return Display("Views", count_texts(sources, column) if files else None, unit="rows")
