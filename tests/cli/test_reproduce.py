"""`isotrope reproduce` on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.evaluation import layers, load_pairs

Run = Callable[..., Any]
BAD = {
    "unknown table 'sg-opt/tabel1' (did you mean 'sg-opt/table1'?)": ("sg-opt/tabel1",),
    "--paper is for claims": ("sg-opt/table1", "--paper", "bsl"),
    "--rows is for tables": ("claims", "--rows", "x"),
    "no row is called nothing": ("sg-opt/table1", "--rows", "nothing", "--data", "."),
    "neither a data folder nor the Hub has STS-B": ("bsl/table6", "--model", "bundled", "--data", "."),
}


def test_the_list_has_every_table(run: Run) -> None:
    done = run("reproduce", "list")
    assert done.code == 0
    assert all(name in done.out for name in ("sg-opt/table1", "consert/figure7", "bsl/table6", "parallel/table5"))
    listed = json.loads(run("reproduce", "list", "--json").out)
    assert {"name", "label", "caption", "rows", "misprints"} <= set(listed[0])


@pytest.mark.parametrize("message", BAD)
def test_mistakes_are_one_line_and_leave_nothing(run: Run, message: str) -> None:
    done = run("reproduce", *BAD[message], "--output", "out")
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert not Path("out").exists()


def test_layers_of_the_bundled_encoder_as_in_figure_1(run: Run) -> None:
    pairs = load_pairs("bundled", split="dev")
    rows = zip(pairs.scores, pairs.sentences1, pairs.sentences2, strict=True)
    Path("stsb").mkdir()
    table = "".join(f"test\t{score}\t{one}\t{other}\n" for score, one, other in rows)
    Path("stsb/stsb.tsv").write_text("split\tscore\tsentence1\tsentence2\n" + table)
    names = [word for k in (2, 9) for word in ("--rows", f"CLS: layer {k}")]
    chosen = ("--model", "bundled", "--data", ".", "--output", "out", "--json")
    done = run("reproduce", "sg-opt/figure1", *names, *chosen)
    assert done.code == 0, done.err
    second, ninth = json.loads(done.out)["rows"]
    expected = layers("bundled", "bundled", split="dev").spearman["cls"][2]
    assert second["measured"]["STS-B"][0] == pytest.approx(expected, abs=0.01)
    assert ninth["measured"] == {}
    assert "layer" in ninth["problem"]
    assert Path("out/sg-opt-figure1.png").is_file()


def test_a_table_of_paper_1_by_the_name_of_its_encoder(
    run: Run, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command of a machine with the Hub, on a folder shaped as that of bert-base-uncased is there."""
    monkeypatch.chdir(tmp_path)
    encoder = isotrope.load(tiny)
    encoder.backbone.model.save_pretrained("bert-base-uncased")
    encoder.tokenizer.save_pretrained("bert-base-uncased")
    pairs = load_pairs("bundled", split="dev")
    Path("stsb").mkdir()
    with Path("stsb/stsb.tsv").open("w") as file:
        file.write("split\tscore\tsentence1\tsentence2\n")
        for split in ("train", "dev", "test"):
            for row in zip(pairs.scores[:20], pairs.sentences1, pairs.sentences2, strict=False):
                file.write("\t".join([split, *map(str, row)]) + "\n")
    short = [word for key in ("training.steps=1", "heads.projection.width=8") for word in ("--set", key)]
    row = "BERT-base: Contrastive (SG-OPT), CLS"
    chosen = ("--model", "bert-base-uncased", "--rows", row, "--columns", "STS-B", "--seeds", "1", *short)
    done = run("reproduce", "sg-opt/table1", *chosen, "--data", ".", "--output", "out")
    assert done.code == 0, done.err
    (folder,) = Path("out/runs").glob("sg-opt-*-1")
    settings = isotrope.recipes.load(str(folder / "recipe.toml")).stages[0]
    assert (settings.training.batch_size, settings.objective.temperature) == (16, 0.01)  # type: ignore[attr-defined]
