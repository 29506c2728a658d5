from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import isotrope
from isotrope.evaluation.finetuning import fine_tune, finetune

Run = Callable[..., Any]
QUICK = ("--epochs", "1", "--learning-rate", "0.001", "--batch-size", "8", "--limit", "16")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Entailment that is plain from the words, as RTE; and as QNLI's validation set."""
    (tmp_path / "data" / "glue").mkdir(parents=True)
    pairs = [
        (f"A man plays the {tool}.", f"A {who} plays.") for who in ("man", "cat") for tool in ("drum", "flute")
    ] * 10
    labels = ["not_" * ("cat" in hypothesis) + "entailment" for _, hypothesis in pairs]
    rows = [f"{label}\t{premise}\t{hypothesis}\n" for label, (premise, hypothesis) in zip(labels, pairs, strict=True)]
    header = "label\tsentence1\tsentence2\n"
    split = [f"{'train' if i < 20 else 'dev'}\t{row}" for i, row in enumerate(rows)]
    (tmp_path / "data/glue/rte.tsv").write_text("split\t" + header + "".join(split))
    (tmp_path / "data/glue/qnli_dev.tsv").write_text("label\tquestion\tsentence\n" + "".join(rows))
    return tmp_path / "data"


def test_json_is_what_the_library_measures(run: Run, data: Path) -> None:
    done = run("finetune", "bundled", "--task", "rte", "--data", str(data), "--seeds", "1,2", *QUICK, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    options: dict[str, Any] = {"epochs": 1, "learning_rate": 1e-3, "batch_size": 8, "limit": 16}
    runs = [fine_tune(isotrope.load(), "rte", data=data, seed=seed, **options) for seed in (1, 2)]
    scores = [result.score for result in runs]
    assert found == {
        "model": "bundled",
        "task": "rte",
        "metric": "accuracy",
        "mean": round(mean(scores), 2),
        "deviation": round(stdev(scores), 2),
        "runs": [result.as_json() for result in runs],
    }
    assert runs[0].rows == {"train": 16, "dev": 2, "test": 16}
    assert finetune("bundled", "rte", data=data, seeds=(1, 2), **options).json() == done.out


def test_the_table_has_a_row_for_each_seed_and_their_mean(run: Run, data: Path) -> None:
    arguments = ("finetune", "bundled", "--task", "rte", "--data", str(data), *QUICK)
    one, two = run(*arguments), run(*arguments, "--seeds", "1,2")
    assert all(
        words in two.out for words in ("bundled on rte, x 100 (train 16, dev 2, test 16 rows)", "accuracy", "mean ± sd")
    )
    assert "mean" not in one.out
    assert (one.err, two.err) == ("", "")


def test_what_is_not_as_in_the_paper_is_said(run: Run, data: Path) -> None:
    done = run("finetune", "bundled", "--task", "qnli", "--data", str(data), *QUICK)
    assert done.code == 0
    assert done.err == (
        f"Note: {data}/glue/qnli_dev.tsv has no training rows: every second row is trained on, "
        "so the figure can't be compared\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--task", "rtee"), "unknown GLUE task 'rtee' (did you mean 'rte'?); choose from qnli, sst2, cola, mrpc, rte"),
        (("--task", "rte", "--seeds", "1,two"), "--seeds takes whole numbers separated by commas, not '1,two'"),
        ((), "Missing option '--task'"),
        (("--task", "cola"), "no glue/cola.tsv[.gz] in a data folder"),
    ],
)
def test_mistakes_are_one_line(run: Run, data: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("finetune", "bundled", "--data", str(data), *arguments)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""
