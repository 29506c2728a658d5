"""The presets of the four papers say every number of the optimiser themselves, and mark what a paper leaves open."""

from __future__ import annotations

from importlib.resources import files

import pytest

SG = ("sg", "sg-opt", "sg-opt1", "sg-opt2", "bt", "bt+sg-opt")
CONSERT = ("consert", "consert-joint", "consert-joint-unsup", "consert-sup-unsup")
BSL = ("bsl", "bsl-post", "bsl-multilingual")
PARALLEL = (
    *("parallel", "parallel-dual", "parallel-multilingual", "parallel-nli", "parallel-pipeline", "parallel-teacher"),
    "nli-finetune",
)
MLM = ("mlm",)
SBERT = ("bsl-sbert",)
OPEN = {  # what the texts don't say; bsl's decay is one of three
    SG: {"weight_decay", "warmup", "schedule", "clip"},
    CONSERT: {"weight_decay", "clip"},
    BSL: {"weight_decay", "warmup", "schedule", "clip", "eval_steps"},
    MLM: {"schedule", "clip", "eval_steps"},
    SBERT: {"warmup", "schedule", "clip"},
    PARALLEL: {"optimiser", "weight_decay", "warmup", "clip"},
}
SAID = ("optimiser", "weight_decay", "warmup", "schedule", "clip")


@pytest.mark.parametrize(("name", "left_open"), [(name, keys) for names, keys in OPEN.items() for name in names])
def test_numbers_of_the_optimiser_are_written_and_marked(name: str, left_open: set[str]) -> None:
    text = (files("isotrope.recipes") / "presets" / f"{name}.toml").read_text()
    lines = text.partition("\n[training]")[2].partition("\n[variants")[0].splitlines()
    said = {line.split()[0]: line for line in lines if " = " in line and not line.startswith(("#", " "))}
    assert [key for key in SAID if not any(f"{key} = " in line for line in lines)] == []
    assert {key for key in left_open if "not stated" not in said[key]} == set()
