"""`cluster`: what a table is about: groups of texts, and the words that name each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.markup import escape
from rich.table import Table

from isotrope.encoders.loading import Model
from isotrope.encoders.nearest import Floats
from isotrope.evaluation.results.printing import Printable, many
from isotrope.io.atomic import check_output
from isotrope.io.errors import IsotropeError, one_line
from isotrope.retrieval.left_out import LeftOut
from isotrope.retrieval.texts import ENDINGS, read_texts, write_columns
from isotrope.text.sources import Source

Labels = NDArray[np.int64]
NUMBERS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 40)  # of clusters, among which one is chosen
JUDGED = 1000  # texts by which it is chosen
SMALLEST = 5  # texts of an average cluster
WORDS, EXAMPLES = 5, 3
TYPICAL = 2.0  # so many times as frequent as elsewhere: see naming_words
COMMON = 0.1  # share of the texts of most clusters above which a word names none of them
WORD = r"(?u)\b[^\W\d_]{3,}\b"
WIDEST = 80


@dataclass(frozen=True)
class Cluster:
    """Rows of one kind: the words that set them off from the others, and the texts nearest to their middle."""

    words: list[str]
    rows: list[int]
    examples: list[str]


@dataclass(frozen=True, repr=False)
class Clusters(Printable):
    """The clusters of a table, largest first. Rows without text, or with a placeholder for it, are in none."""

    clusters: list[Cluster]
    rows: int
    left_out: LeftOut = field(default_factory=LeftOut)

    def labels(self) -> list[int | None]:
        """Of each row, the number of its cluster, or None."""
        found: list[int | None] = [None] * self.rows
        for number, one in enumerate(self.clusters):
            for row in one.rows:
                found[row] = number
        return found

    def parts(self) -> Iterator[Table | str]:
        """A table."""
        title = f"{many(len(self.clusters), 'cluster')} from {many(self.rows, 'row')}"
        table = Table("", "Rows", "Words", "Typical text", title=title, title_justify="left")
        for number, one in enumerate(self.clusters):
            middle = escape(one_line(one.examples[0], WIDEST))
            table.add_row(str(number), f"{len(one.rows):,}", escape(", ".join(one.words)), middle)
        yield table
        yield from map(escape, self.left_out.lines())

    def as_dict(self) -> dict[str, Any]:
        """`{"rows": ..., "left_out": [...], "placeholders": ..., "clusters": [{"words": [...], ...}]}`."""
        clusters = [{"words": c.words, "rows": c.rows, "examples": c.examples} for c in self.clusters]
        return {"rows": self.rows, **self.left_out.as_dict(), "clusters": clusters}


def cluster(
    table: Source,
    model: Model = "small",
    *,
    clusters: int | None = None,
    output: str | Path | None = None,
    seed: int = 0,
    whole: bool = False,
    force: bool = False,
    **options: Any,
) -> Clusters:
    """Groups the texts of a table by meaning (k-means of unit vectors) and names each group by its words (c-TF-IDF).

    Greetings, signatures and footers would make groups of their own: phrases that one in a hundred of the different
    texts share word for word are left out first, and so are rows that hold a placeholder such as N/A.

    Args:
        table: a file, a data frame, rows or sentences.
        model: a name, a folder, an encoder.
        clusters: how many; by default the number whose clusters are set off best (silhouette), of 2 to 40.
        output: a .parquet with the table and the columns `cluster` and `cluster_words`, null for rows that are in none.
        seed: another seed may group a little differently.
        whole: leaves nothing out.
        force: replaces the output.
        options: `column`, `columns`, `join`, `strip_html`, `batch_size`, `device`, `precision`, as of `encode`.

    Example:
        >>> import isotrope
        >>> animals = ["A dog barks.", "The dog sleeps.", "Dogs chase a cat."]
        >>> money = ["Interest rates rise.", "The bank raises rates.", "Rates fall again."]
        >>> [one.rows for one in isotrope.cluster([*animals, *money], clusters=2).clusters]
        [[0, 1, 2], [3, 4, 5]]
    """
    if output is not None:
        check_output(Path(output), ENDINGS, force=force)
    read = read_texts(table, model, boilerplate=whole, placeholders=whole, **options)
    weights = np.array([len(rows) for rows in read.rows])
    if clusters is not None and not 1 <= clusters <= len(read.texts):
        raise IsotropeError(
            f"clusters must be from 1 to {len(read.texts):,}, as many as there are different texts, not {clusters}"
        )
    wanted = _suggest(read.vectors, seed) if clusters is None else clusters
    labels, centres = fit_clusters(read.vectors, wanted, seed, weights)
    words = naming_words(read.contents, labels, wanted)
    made = []
    for number in range(wanted):
        mine = np.flatnonzero(labels == number)
        near = mine[np.argsort(-(read.vectors[mine] @ centres[number]), kind="stable")[:EXAMPLES]]
        rows = sorted(row for i in mine for row in read.rows[i])
        made.append(Cluster(words[number], rows, [read.texts[i] for i in near]))
    largest_first = sorted((one for one in made if one.rows), key=lambda one: (-len(one.rows), one.rows))
    found = Clusters(largest_first, read.count, read.left_out)
    if output is not None:
        numbers = found.labels()
        named = [None if n is None else ", ".join(found.clusters[n].words) for n in numbers]
        write_columns(table, Path(output), {"cluster": numbers, "cluster_words": named}, **options)
    return found


def naming_words(texts: Sequence[str], labels: Labels, clusters: int) -> list[list[str]]:
    """The words of each cluster by c-TF-IDF (Grootendorst 2022): how often in it, times log(1 + A / how often in all),
    with A the mean number of words of a cluster. Words that are common in most clusters name none, and a word that is
    not TYPICAL times as frequent in a cluster as in the rest ("and", "who") does not name that one.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    counter = CountVectorizer(token_pattern=WORD, binary=False)
    try:
        counts = counter.fit_transform(texts).tocsr()
    except ValueError:  # no words at all
        return [[] for _ in range(clusters)]
    names = counter.get_feature_names_out()
    of_cluster = _sums(counts, labels, clusters)  # (clusters, words)
    shares = _sums(counts > 0, labels, clusters) / np.maximum(np.bincount(labels, minlength=clusters), 1)[:, None]
    common = ((shares > COMMON).mean(axis=0) > 0.5) if clusters > 1 else np.zeros(len(names), bool)
    rare = np.log1p(of_cluster.sum() / clusters / of_cluster.sum(axis=0))
    sizes = of_cluster.sum(axis=1, keepdims=True)
    elsewhere = (of_cluster.sum(axis=0) - of_cluster) / np.maximum(of_cluster.sum() - sizes, 1)
    named = (of_cluster / np.maximum(sizes, 1) > TYPICAL * elsewhere) & ~common
    kept = np.where(named.any(axis=1, keepdims=True), named, ~common | common.all())
    weights = np.where(kept, of_cluster * rare, 0)
    best = np.argsort(-weights, axis=1, kind="stable")[:, :WORDS]
    return [[str(names[j]) for j in row if weights[k, j] > 0] for k, row in enumerate(best)]


def _sums(counts: Any, labels: Labels, clusters: int) -> NDArray[np.float64]:
    """(texts, words) -> (clusters, words)."""
    sums = [np.asarray(counts[labels == k].sum(axis=0)).ravel() for k in range(clusters)]
    return np.stack(sums).astype(np.float64)


def _suggest(vectors: Floats, seed: int) -> int:
    """The number with the highest silhouette, on some of the texts."""
    from sklearn.metrics import silhouette_score

    generator = np.random.default_rng(seed)
    some = vectors[np.sort(generator.choice(len(vectors), min(JUDGED, len(vectors)), replace=False))]
    numbers = [number for number in NUMBERS if number * SMALLEST <= len(vectors) and number < len(some)]
    if not numbers:
        return 1
    scores = []
    for number in numbers:
        labels, _ = fit_clusters(some, number, seed, np.ones(len(some)))
        scores.append(silhouette_score(some, labels, metric="cosine") if len(set(labels.tolist())) > 1 else -1.0)
    return numbers[int(np.argmax(scores))]


def fit_clusters(vectors: Floats, clusters: int, seed: int, weights: NDArray[Any]) -> tuple[Labels, Floats]:
    """Which cluster each text (texts, dim) is in, and the middle of each; a text counts by its weight."""
    from sklearn.cluster import KMeans

    fitted = KMeans(clusters, n_init=3, random_state=seed).fit(vectors, sample_weight=weights)
    return np.asarray(fitted.labels_, np.int64), np.asarray(fitted.cluster_centers_, np.float32)
