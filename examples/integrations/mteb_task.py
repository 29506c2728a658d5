"""MTEB on a saved folder, with a task of one's own: pip install mteb.

    python examples/integrations/mteb_task.py [FOLDER]

A task of MTEB's own needs a network: `mteb.get_task("STSBenchmark")` in place of `BundledPairs()`.
"""

from __future__ import annotations

import sys

import mteb
from datasets import Dataset, DatasetDict
from mteb.abstasks import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata

from isotrope.evaluation import load_pairs


class BundledPairs(AbsTaskSTS):
    """The 220 graded pairs inside isotrope, as a task of semantic similarity."""

    metadata = TaskMetadata(
        name="BundledPairs",
        description="Graded pairs that come with isotrope",
        reference=None,
        dataset={"path": "isotrope/bundled", "revision": "1"},
        type="STS",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="cosine_spearman",
        date=("2026-01-01", "2026-01-01"),
        domains=["Written"],
        task_subtypes=[],
        license="cc0-1.0",
        annotations_creators="human-annotated",
        dialect=[],
        sample_creation="created",
        bibtex_citation="",
    )
    min_score, max_score = 0, 5

    def load_data(self, **options: object) -> None:
        """From the package, not from the Hub."""
        pairs = load_pairs("bundled")
        columns = {"sentence1": pairs.sentences1, "sentence2": pairs.sentences2, "score": pairs.scores}
        self.dataset = DatasetDict({"test": Dataset.from_dict(columns)})
        self.data_loaded = True


def main(folder: str) -> None:
    """Prints MTEB's main score, Spearman's correlation of the cosine."""
    from sentence_transformers import SentenceTransformer

    found = mteb.evaluate(SentenceTransformer(folder), [BundledPairs()], cache=None)
    print(f"{100 * found.task_results[0].get_score():.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
