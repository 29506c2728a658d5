"""Support tickets: a messy table in, and out come an encoder that suits it, duplicates, topics and a search.

    python examples/tutorials/tickets.py [TABLE.csv] [OUTPUT]

The table has a subject and a body. The one beside this script has forty tickets, far too few to tune an encoder by, so
the encoder is left as it was and the run says so; with a thousand or more it may change.
"""

from __future__ import annotations

import sys
from pathlib import Path

import isotrope

HERE = Path(__file__).parent
SHAPE = {"columns": "Subject,Body", "join": ". ", "strip_html": True}  # how a row becomes one text


def main(table: str = str(HERE / "tickets.csv"), output: str = "runs/tickets") -> None:
    """Tune, look for duplicates and topics, search."""
    folder = Path(output)
    run = isotrope.train(table, output=folder, purpose="both", **SHAPE)
    print(run.survey)  # rows, blank ones, duplicates, HTML, languages
    print(f"\nThe encoder is {run.outcome.kept}. {run.outcome.because}")
    if run.verdict is not None:
        print(run.verdict)

    print("\nSay the same, or almost:")
    print(isotrope.duplicates(table, run.encoder, output=folder / "marked.parquet", **SHAPE))

    print("\nWhat the tickets are about:")
    print(isotrope.cluster(table, run.encoder, output=folder / "topics.parquet", **SHAPE))

    isotrope.index(table, run.encoder, folder / "index", **SHAPE)
    print('\n"I can\'t get into my account":')
    for hit in isotrope.search(folder / "index", "I can't get into my account", k=3):
        print(f"{hit.cosine:.2f}  {hit.row['queue']:10}  {hit.row['Subject']}")
    print('\n"it makes no sound", among those for "hardware" only:')
    for hit in isotrope.search(folder / "index", "it makes no sound", k=2, where={"queue": "hardware"}):
        print(f"{hit.cosine:.2f}  {hit.row['queue']:10}  {hit.row['Subject']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
