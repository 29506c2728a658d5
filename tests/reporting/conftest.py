from __future__ import annotations

import csv
from pathlib import Path

import pytest

import isotrope
from isotrope.text import bundled_sentences

HOSTILE = [
    "<script>alert(1)</script> is a ticket",
    "</script><img src=x onerror=alert(2)> {braces} {0}",
    "quotes \" and ' and &amp; &lt;b&gt; \u202eright to left\x07 bell",
    "-->]]> ends everything <!-- or begins it",
]
QUICK = {"training.batch_size": 16, "training.eval_steps": 2}


@pytest.fixture(scope="session")
def runs(tiny: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, isotrope.Run]:
    """Two finished runs on a table with columns beside its text: one that decides by itself, one by a recipe."""
    folder = tmp_path_factory.mktemp("reports")
    with (folder / "tickets.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "title", "queue <b>"])
        for number, text in enumerate([*HOSTILE, *bundled_sentences()[:140]]):
            writer.writerow([number, text, ("cards", "<i>loans</i>", "")[number % 3]])
    table = {"sentences": folder / "tickets.csv", "column": "title", "model": tiny, "steps": 4, "set": QUICK}
    return {
        "automatic": isotrope.train(output=folder / "automatic", **table),
        "simcse": isotrope.train(recipe="simcse", output=folder / "simcse", **table),
    }


@pytest.fixture(scope="session")
def found(runs: dict[str, isotrope.Run]) -> isotrope.Report:
    return isotrope.report(runs["automatic"], texts=144)


@pytest.fixture(scope="session")
def page(found: isotrope.Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found.write(tmp_path_factory.mktemp("page") / "report.html")
