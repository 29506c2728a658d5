from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import isotrope
import isotrope.evaluation
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.text import bundled_pairs_path, read_table
from isotrope.text.corpus import build_corpus

Run = Callable[..., Any]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Bundled pairs, laid out as STS13 and STS14 with two subtasks each."""
    folder = tmp_path / "data"
    (folder / "sts").mkdir(parents=True)
    rows = list(read_table(bundled_pairs_path()))
    for name, some in (("sts13", rows[:60]), ("sts14", rows[60:100])):
        lines = (
            f"{'even' if i % 2 == 0 else 'odd'}\t{row['score']}\t{row['sentence1']}\t{row['sentence2']}\n"
            for i, row in enumerate(some)
        )
        (folder / "sts" / f"{name}.tsv").write_text("subtask\tscore\tsentence1\tsentence2\n" + "".join(lines))
    return folder


def test_json_is_what_the_library_measures(run: Run, data: Path) -> None:
    done = run("evaluate", "bundled", "--tasks", "sts13,sts14", "--pooling", "mean,cls", "--data", str(data), "--json")
    assert (done.code, done.err) == (0, "")
    results = json.loads(done.out)["results"]
    assert [(entry["model"], entry["pooling"]) for entry in results] == [("bundled", "mean"), ("bundled", "cls")]
    for entry in results:
        encoder = isotrope.load(pooling=entry["pooling"])
        measured = {task: score_pairs(encoder, load_pairs(task, data=data)) for task in ("sts13", "sts14")}
        assert entry["tasks"] == {task: result.as_json() for task, result in measured.items()}
        assert entry.keys() == {"model", "pooling", "tasks", "average"}
        assert entry["average"] == round(sum(result.spearman["all"] for result in measured.values()) / 2, 2)
    task = results[0]["tasks"]["sts13"]
    assert task.keys() == {"spearman", "pearson", "pairs", "split"}
    assert task["spearman"].keys() == task["pearson"].keys() == {"all", "mean", "wmean"}
    assert (task["pairs"], task["split"]) == (60, "test")


def test_python_and_the_command_line_agree(run: Run, data: Path) -> None:
    options: dict[str, Any] = {"data": data, "pooling": ["mean", "cls"]}
    results = isotrope.evaluation.evaluate("bundled", ["sts13", "bundled"], **options)
    arguments = ("evaluate", "bundled", "--tasks", "sts13,bundled", "--data", str(data), "--pooling", "mean,cls")
    suite = isotrope.evaluation.evaluate(["bundled"], suite="sts", **options)
    in_suite = ("evaluate", "bundled", "--suite", "sts", "--data", str(data), "--pooling", "mean,cls")
    for found, command in ((results, arguments), (suite, in_suite)):
        assert run(*command, "--json").out == found.json()
        assert run(*command, "--csv").out == found.csv()
        assert run(*command, "--markdown").out == found.markdown()
        assert run(*command, "--latex").out == found.latex()
        assert [line.rstrip() for line in run(*command).out.splitlines()] == str(found).splitlines()


def test_a_task_of_ones_own(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_tasks.py").write_text("def dim(encode, *, word: str = 'a'):\n    return encode([word]).shape[1]\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = run("evaluate", "bundled", "--tasks", "my_tasks:dim,bundled", "--json")
    (entry,) = json.loads(done.out)["results"]
    assert entry["tasks"]["my_tasks:dim"] == {"dim": 256}
    assert "dim" in run("evaluate", "bundled", "--tasks", "my_tasks:dim").out


def test_tasks_are_listed(run: Run) -> None:
    done = run("evaluate", "--list")
    assert done.code == 0
    assert all(name in done.out for name in ("stsb-multi", "papers, transfer", "spearman, pearson", "bundled"))


def test_a_split_can_be_chosen(run: Run) -> None:
    done = run("evaluate", "bundled", "--split", "dev", "--json")
    (entry,) = json.loads(done.out)["results"]
    assert entry["pooling"] == "mean"  # the model's own
    assert (
        entry["tasks"]["bundled"]
        == score_pairs(isotrope.load(), load_pairs("bundled", split="dev"), split="dev").as_json()
    )
    assert (entry["tasks"]["bundled"]["split"], entry["tasks"]["bundled"]["pairs"]) == ("dev", 110)


def test_the_table_has_a_row_for_each_pooling_with_the_best_in_bold(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ("evaluate", "bundled", "--tasks", "sts13,sts14", "--pooling", "mean,max", "--data", str(data))
    plain = run(*arguments)
    assert plain.err == ""
    assert "\x1b" not in plain.out
    assert all(word in plain.out for word in ("bundled", "sts13", "sts14", "test, 60 pairs", "Average", "mean", "max"))
    results = json.loads(run(*arguments, "--json").out)["results"]
    monkeypatch.setenv("FORCE_COLOR", "1")
    colourful = run(*arguments).out
    columns = [
        *([entry["tasks"][task]["spearman"]["all"] for entry in results] for task in ("sts13", "sts14")),
        [entry["average"] for entry in results],
    ]
    for column in columns:
        assert f"\x1b[1m{max(column):.2f}\x1b[0m" in colourful
        assert f" {min(column):.2f} " in colourful


def test_its_own_pooling_keeps_what_was_trained_behind_it(run: Run, tmp_path: Path) -> None:
    isotrope.load(pooling="cls-mlp").save(tmp_path / "model")
    own = json.loads(run("evaluate", "model", "--json").out)["results"]
    (same,) = json.loads(run("evaluate", "model", "--pooling", own[0]["pooling"], "--json").out)["results"]
    assert same == own[0]


# -- suites -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def runs(data: Path, tmp_path: Path) -> Path:
    """Three runs `runs/s-1` ... of one recipe, on text that holds all sentences of STS13; their encoders differ."""
    encoder = isotrope.load(pooling="mean@1")
    rows = list(read_table(data / "sts" / "sts13.tsv"))
    text = [row[side] for row in rows for side in ("sentence1", "sentence2")]
    for seed in (1, 2, 3):
        folder = tmp_path / "runs" / f"s-{seed}"
        build_corpus([text], ("text",), folder / "corpus")
        settings = {"recipe": "sg", "model": "bundled", "training": {"seed": seed}}
        (folder / "run.json").write_text(json.dumps(settings))
        encoder.backbone.model.embeddings.word_embeddings.weight.data[:, seed] *= 5
        encoder.save(folder / "encoder")
    return tmp_path / "runs"


def test_a_suite_has_seeds_marks_differences_and_what_is_absent(run: Run, data: Path, runs: Path) -> None:
    seeds = [f"runs/s-{seed}" for seed in (1, 2, 3)]
    arguments = ("evaluate", "bundled", *seeds, "--suite", "sts", "--data", str(data))
    done = run(*arguments, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["absent"] == ["stsb", "sts12", "sts15", "sts16", "sickr"]
    assert [one["model"] for one in found["encoders"]] == ["bundled", *seeds]
    sentences = found["sentences"]["sts13"]
    assert [one["seen"] and one["seen"]["sts13"] for one in found["encoders"]] == [None, *[sentences] * 3]
    figures = {(one["model"], one["task"]): one for one in found["figures"]}
    assert set(figures) == {(name, task) for name in ("bundled", "runs/s") for task in ("sts13", "sts14", "average")}
    for task in ("sts13", "sts14"):
        own = [
            score_pairs(isotrope.load(runs / f"s-{seed}/encoder"), load_pairs(task, data=data)).spearman["all"]
            for seed in (1, 2, 3)
        ]
        one, first = figures["runs/s", task], figures["bundled", task]
        assert (one["figure"], one["deviation"]) == (round(mean(own), 2), round(stdev(own), 2))
        assert one["seeds"] == 3
        assert one["low"] <= one["difference"] <= one["high"]
        assert one["difference"] == pytest.approx(one["figure"] - first["figure"], abs=0.02)
        assert first["difference"] is None
    shown = run(*arguments).out
    assert "runs/s †" in shown
    assert "bundled ?" in shown
    assert f"  runs/s: sts13 {sentences:,} of {sentences:,}" in shown
    assert "runs/s: mean ± standard deviation of 3 seeds (runs/s-1, runs/s-2, runs/s-3)" in shown
    assert "Difference from bundled" in shown
    assert "Not measured, because the data is missing: stsb, sts12, sts15, sts16, sickr" in shown


def test_a_run_folder_is_its_encoder_and_a_copy_of_that_may_have_seen_anything(
    run: Run, data: Path, runs: Path, tmp_path: Path
) -> None:
    shutil.copytree(runs / "s-1" / "encoder", tmp_path / "copy")
    done = run("evaluate", "runs/s-1", "copy", "--tasks", "sts13", "--data", str(data), "--json")
    one, other = json.loads(done.out)["results"]
    assert one["tasks"] == other["tasks"]
    assert (one["model"], other["model"]) == ("runs/s-1", "copy")
    shown = run("evaluate", "runs/s-1", "copy", "--suite", "sts", "--data", str(data)).out
    assert "runs/s-1 †" in shown
    assert "copy ?" in shown


def test_a_second_time_nothing_is_encoded(run: Run, data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("evaluate", "bundled", "--suite", "sts", "--data", str(data), "--pooling", "mean,cls")
    assert run(*arguments, "--no-cache").code == 0
    assert not list(cache.iterdir())
    first = run(*arguments)
    monkeypatch.setattr(isotrope.Encoder, "encode", None)
    assert run(*arguments) == first
    assert len(list((cache / "vectors").iterdir())) == 2


@pytest.mark.parametrize(
    ("name", "begin"), [("t.md", "**STS"), ("t.tex", "% STS"), ("t.csv", "model,"), ("t.json", "{")]
)
def test_a_file_as_well_as_the_table(run: Run, data: Path, tmp_path: Path, name: str, begin: str) -> None:
    arguments = ("evaluate", "bundled", "--suite", "sts", "--data", str(data), "-o", name)
    done = run(*arguments)
    assert "STS, Spearman x 100" in done.out
    assert (tmp_path / name).read_text().startswith(begin)
    kind = {"md": "--markdown", "tex": "--latex", "csv": "--csv", "json": "--json"}[name.partition(".")[2]]
    assert run(*arguments[:-2], kind).out == (tmp_path / name).read_text()
    again = run(*arguments)
    assert (again.code, again.err) == (2, f"Error: {name}: exists already; give --force to overwrite it\n")
    assert run(*arguments, "--force").code == 0


def test_tasks_beside_a_suite_and_tasks_of_several_kinds(run: Run, data: Path) -> None:
    (data / "parallel").mkdir()
    rows = "".join(f"deu\t{text}\t{text}\n" for text in ("Rain.", "Snow.", "Wind."))
    (data / "parallel" / "tatoeba_laser.tsv").write_text("lang\ten\ttext\n" + rows)
    done = run("evaluate", "bundled", "--suite", "sts", "--tasks", "bundled,tatoeba:de", "--data", str(data), "--csv")
    assert [line.split(",")[2:4] for line in done.out.splitlines()[1:]] == [
        ["STS", "sts13"],
        ["STS", "sts14"],
        ["STS", "average"],
        ["Tatoeba", "tatoeba:de"],
        ["Bundled", "bundled"],
    ]
    (entry,) = json.loads(run("evaluate", "bundled", "--tasks", "tatoeba,sts13", "--data", str(data), "--json").out)[
        "results"
    ]
    assert entry["tasks"]["tatoeba"]["accuracy"] == 100
    assert entry["average"] is None  # of an accuracy and a correlation


def test_an_encoder_that_fails_on_a_task_of_a_suite_is_noted(run: Run, data: Path) -> None:
    """Every pair is twice the same sentence, so that all have the same cosine."""
    lines = "".join(f"x\t{i}\tRain {i}.\tRain {i}.\n" for i in range(4))
    (data / "sts" / "sts15.tsv").write_text("subtask\tscore\tsentence1\tsentence2\n" + lines)
    done = run("evaluate", "bundled", "minilm=bundled", "--suite", "sts", "--data", str(data))
    assert done.code == 0
    assert "- bundled: sts15: x: the encoder gives every pair the same cosine" in done.out
    alone = run("evaluate", "bundled", "--tasks", "sts15", "--data", str(data))
    assert (alone.code, alone.out) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--suite", "stss"), "unknown suite 'stss' (did you mean 'sts'?); choose from papers, sts, transfer"),
        (("--suite", "sts", "--split", "dev"), "a suite measures test splits; for another split name tasks"),
        (("--suite", "arguments"), "suite 'arguments': neither a data folder nor the Hugging Face Hub has any of"),
        (("--suite", "sts", "--tasks", "sickr"), "task 'sickr': no sick/sick.tsv[.gz] in a data folder, and the"),
        (("--csv", "--json"), "choose one of --json, --csv"),
        (("-o", "x.txt"), "x.txt: the output's name must end in .json or .csv or .md or .tex"),
        (("--classifier", "svm"), "Invalid value for '--classifier': 'svm' is not one of 'logistic'"),
    ],
)
def test_what_does_not_go_together_is_one_line(run: Run, data: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run("evaluate", "bundled", "--data", str(data), *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Error: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("chosen", [("--suite", "sts"), ("--tasks", "sts13")])
def test_bad_rows_are_one_line_before_a_model_is_loaded(run: Run, data: Path, chosen: tuple[str, str]) -> None:
    file = data / "sts" / "sts13.tsv"
    for rows, message in (
        ("a\tfour\tx\ty\n", f"{file}: line 2: the score 'four' is not a number"),
        ("a\t4\tx\ty\na\t3\tx\tz\n", "sts13: a: 2 pairs; a correlation needs at least 3"),
    ):
        file.write_text("subtask\tscore\tsentence1\tsentence2\n" + rows)
        done = run("evaluate", "nowhere/model", *chosen, "--data", str(data))
        assert (done.code, done.err) == (2, f"Error: {message}\n")


def test_tables_of_ones_own(run: Run, tmp_path: Path) -> None:
    """As Python has them, one by one and several of a kind."""
    rows = list(read_table(bundled_pairs_path()))[:30]
    for name in ("one.jsonl", "two.jsonl"):
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("classes.csv").write_text("text;label\n" + "".join(f"{row['sentence1']};{row['score'][0]}\n" for row in rows))
    Path("found.tsv").write_text("query\tdocument\n" + "".join(f"{r['sentence1']}\t{r['sentence2']}\n" for r in rows))
    results = isotrope.evaluate(
        ["bundled"], pairs=["one.jsonl", "dup=two.jsonl"], classes="classes.csv", retrieval={"faq": "found.tsv"}
    )
    options = ("--pairs", "one.jsonl", "--pairs", "dup=two.jsonl", "--classes", "classes.csv")
    done = run("evaluate", "bundled", *options, "--retrieval", "faq=found.tsv", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.out == results.json()
    assert {record["task"] for record in json.loads(done.out)["figures"]} == {
        *("one", "dup", "average", "classes", "faq")
    }
    assert run("evaluate", "bundled", "--pairs", "three.csv").err == "Error: three.csv: no such file\n"
    assert run("evaluate", "bundled", "--tasks", "one.jsonl").code == 2
