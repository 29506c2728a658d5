from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.evaluation import load_pairs, score_pairs
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences

Run = Callable[..., Any]
TEXTS = bundled_sentences()[:64]
RAW = ("--model", "bundled")
SMALL = ("--set", "training.batch_size=8", "--steps", "2")
NARROW = ("--set", "heads.projection.width=16")
LABELS = ("entailment", "neutral", "contradiction")
FILES = {
    "text.txt": "\n".join(TEXTS),
    "few.txt": "\n".join(TEXTS[:5]),
    "documents.txt": "\n".join(" ".join(TEXTS[start : start + 4]) for start in range(0, 64, 4)),
    "one.txt": "A dog.\n" * 40,
    "pairs.tsv": "".join(f"{a}\t{b}\n" for a, b in [("source", "target"), *zip(TEXTS, TEXTS[::-1], strict=True)]),
    "nli.tsv": "premise\thypothesis\tlabel\n"
    + "".join(f"{TEXTS[i]}\t{TEXTS[-i]}\t{LABELS[i % 3]}\n" for i in range(20)),
    "unsure.tsv": "sentence1\tsentence2\tlabel\nA dog.\tA cat.\tneutral\nA dog.\tA cow.\tmaybe\n",
    "empty.txt": "",
    "mine.toml": "[objective]\ntemprature = 0.1\n",
    "there/notes.txt": "mine",
}
BAD = {
    # the text
    "the corpus (few.txt) has 5 sentences, batch_size is 32: give more text or --set training.batch_size=5": (
        "few.txt",
    ),
    "the corpus (one.txt) has one distinct sentence only": ("one.txt",),
    "unsure.tsv: row 2: label 'maybe' is none of entailment, neutral, contradiction": (
        *("unsure.tsv", "--recipe", "sbert-nli"),
    ),
    "text.txt: the recipe needs pairs: columns view1, view2 are missing; plain sentences given": (
        *("text.txt", "--recipe", "bsl-post"),
    ),
    "column view1 is missing and can't be made here: bergamot translates only between en and pt": (
        *("text.txt", "--recipe", "bsl", "--set", "views.texts.view1.engine=bergamot"),
    ),
    "give files, not standard input": ("-", "--recipe", "bsl"),
    "nli.tsv: which column? Name one with --column: premise, hypothesis": (
        *("nli.tsv", "--recipe", "consert-sup-unsup", "--set", "training.batch_size=4"),
    ),
    "recipe sbert-nli reads labelled pairs, which are never split; leave out --unit": (
        *("nli.tsv", "--recipe", "sbert-nli", "--unit", "sentence"),
    ),
    "no column 'sentence'; it has: source, target": ("pairs.tsv", "--column", "sentence"),
    "none.txt: no such file": ("text.txt", "none.txt"),
    "empty.txt: the file is empty": ("empty.txt",),
    "consert-sup-unsup reads its text more than once; give files": ("-", "--recipe", "consert-sup-unsup"),
    # the recipe
    "unknown recipe 'sg-otp' (did you mean 'sg-opt'?)": ("text.txt", "--recipe", "sg-otp"),
    "recipe sg-opt has no variant 'offical' (did you mean 'official'?)": ("text.txt", "--recipe", "sg-opt:offical"),
    "objective.temprature: no such key (did you mean 'temperature'?)": (
        *("text.txt", "--set", "objective.temprature=0.1"),
    ),
    "mine.toml: objective.temprature: no such key": ("text.txt", "--recipe", "mine.toml"),
    "training.batch_size: 1 given; it should be greater than or equal to 2": (
        *("text.txt", "--set", "training.batch_size=1"),
    ),
    "--set batch_size: write KEY=VALUE": ("text.txt", "--set", "batch_size"),
    "name it with --teacher": ("pairs.tsv", "--recipe", "parallel"),
    "guide.layers [9]: this encoder's layers are 0 to 4": (
        *("text.txt", "--recipe", "sg-opt", "--set", "guide.layers=[9]"),
    ),
    # models and the development set
    "'there' is not a model folder": ("text.txt", "--model", "there"),
    "(did you mean 'bundled'?)": ("pairs.tsv", "--recipe", "parallel", "--teacher", "bundle"),
    "unknown task 'stbs' (did you mean 'stsb'?)": ("text.txt", "--dev", "stbs"),
    "none.tsv: no such file": ("text.txt", "--dev", "none.tsv"),
    "nli.tsv: row 1: the score 'entailment' is not a number": ("text.txt", "--dev", "nli.tsv"),
    # the output; the last --output counts
    "there: exists already; move it away, or choose another folder": ("text.txt", "--output", "there"),
    "there: nothing to resume (no run.json in it)": ("text.txt", "--output", "there", "--resume"),
    "text.txt: a file, not a folder": ("text.txt", "--output", "text.txt"),
    "text.txt/run: can't be created (Not a directory)": ("text.txt", "--output", "text.txt/run"),
}


@pytest.fixture
def folder(run: Run) -> Path:
    for name, content in FILES.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    return Path()


def listing(folder: Path = Path()) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_documents_are_split_if_asked_to_be(run: Run, folder: Path) -> None:
    done = run("train", *RAW, "documents.txt", "--output", "run", "--unit", "sentence", *SMALL, "--json")
    assert json.loads(done.out)["corpus"] == {
        "rows": 64,
        "blank": 0,
        "unlabelled": 0,
        "distinct": 64,
        "documents": 16,
    }
    assert "documents.txt: 16 documents, 64 sentences\n" in done.err


def test_a_run_and_what_it_says(run: Run, folder: Path) -> None:
    settings = ("--dev", "bundled", "--precision", "float32", *SMALL)
    done = run("train", *RAW, "text.txt", "--output", "run", *settings, "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert list(found) == [
        "output",
        "encoder",
        "recipe",
        "model",
        "steps",
        "seconds",
        "corpus",
        "survey",
        "dev",
        "figures",
        "outcome",
        "report",
    ]
    wanted = {"output": "run", "encoder": "run/encoder", "recipe": "raw:paper", "steps": 2}
    assert found | wanted == found
    pairs = load_pairs("bundled", split="dev")
    for when, encoder in (("before", isotrope.load(pooling="mean")), ("after", isotrope.load("run/encoder"))):
        assert found["dev"][when] == pytest.approx(score_pairs(encoder, pairs).spearman["all"], abs=0.02)
    log = [json.loads(line) for line in Path("run/log.jsonl").read_text().splitlines()]
    first, last = (line for line in log if "eval_uniformity" in line)
    assert (first["step"], last["step"]) == (0, 2)
    assert set(found["figures"]) == {"alignment", "uniformity", "effective_rank", "mean_cosine"}
    for name, figure in found["figures"].items():
        assert figure == {"before": first[f"eval_{name}"], "after": last[f"eval_{name}"]}
        assert figure["before"] != figure["after"]


def test_the_summary_tells_how_to_use_the_encoder(run: Run, folder: Path) -> None:
    done = run("train", "text.txt", "--output", "run", "--recipe", "simcse", *SMALL)
    assert done.out.startswith("simcse on bundled: 2 steps, ")
    assert "Spearman" not in done.out
    assert "Held-out loss" in done.out
    names: dict[str, Any] = {}
    exec("\n".join(line.strip() for line in done.out.splitlines()[-2:]), names)
    assert np.array_equal(names["vectors"], SentenceTransformer("run/encoder").encode(["A new sentence."]))


def test_the_function_does_what_the_command_does(run: Run, folder: Path) -> None:
    settings = ("--seed", "7", "--set", "objective.temperature=0.5", "--set", "pooling.evaluation=max")
    assert run("train", *RAW, "text.txt", "--output", "command", *SMALL, *settings).code == 0
    chosen = {"training.batch_size": 8, "objective.temperature": 0.5, "pooling.evaluation": "max"}
    done = isotrope.train(TEXTS, model="bundled", output="function", steps=2, seed=7, set=chosen)
    encoder = done.encoder
    assert str(encoder.pooling) == "max"
    assert (done.steps, done.corpus["rows"], done.recipe.full_name) == (2, len(TEXTS), "raw:paper")
    assert np.array_equal(done.encode(TEXTS), encoder.encode(TEXTS))
    for file in ("recipe.toml", "encoder/model.safetensors"):
        assert Path("command", file).read_bytes() == Path("function", file).read_bytes()
    assert np.array_equal(isotrope.load("command/encoder").encode(TEXTS), encoder.encode(TEXTS))
    assert not np.array_equal(isotrope.load(pooling="max").encode(TEXTS), encoder.encode(TEXTS))


def test_a_finished_run_is_resumed_to_its_summary(run: Run, folder: Path) -> None:
    arguments = ("train", *RAW, "text.txt", "--output", "run", *SMALL, "--json")
    first = json.loads(run(*arguments).out)
    weights = Path("run/encoder/model.safetensors").read_bytes()
    second = json.loads(run(*arguments, "--resume").out)
    assert {**first, "seconds": 0} == {**second, "seconds": 0}
    assert Path("run/encoder/model.safetensors").read_bytes() == weights


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_says_how_to_continue(run: Run, folder: Path, number: int, code: int) -> None:
    arguments = ("train", *RAW, "text.txt", "--output", "run", *SMALL, "--steps", "500")
    arguments += ("--set", "training.eval_steps=1000", "--set", "training.save_steps=1000")

    ended = threading.Event()

    def stop() -> None:
        log = Path("run/log.jsonl").absolute()
        while not (log.is_file() and '"step": 10' in log.read_text()):
            if ended.wait(0.01):  # the run failed before
                return
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    done = run(*arguments)
    ended.set()
    thread.join()
    step = int(next(Path("run").glob("checkpoint-*")).name.removeprefix("checkpoint-"))
    assert 10 <= step < 500
    assert done.code == code
    assert done.err.endswith(f"\nStopped at step {step}; continue with --resume\n")
    assert not Path("run/encoder").exists()


def test_precision_is_the_recipes(run: Run, folder: Path) -> None:
    assert run("train", *RAW, "text.txt", "--output", "run", *SMALL, "--precision", "bfloat16").code == 0
    assert 'precision = "bfloat16"' in Path("run/recipe.toml").read_text()


def test_stages_find_their_text_among_the_files(run: Run, folder: Path) -> None:
    arguments = ("nli.tsv", "text.txt", "--recipe", "consert-sup-unsup", *SMALL)
    done = run("train", *RAW, *arguments, "--output", "run", "--json", "--dev", "bundled")
    assert done.code == 0
    assert json.loads(done.out)["steps"] == 4
    columns = [json.loads(Path(f"run/stage-{k}/corpus/corpus.json").read_text())["columns"] for k in (1, 2)]
    assert columns == [["sentence1", "sentence2", "label"], ["text"]]


def test_the_text_of_stsb_is_one_command(run: Run, folder: Path) -> None:
    """Both columns of all splits, in their order, duplicates kept, grades left out."""
    pairs = list(zip(TEXTS[:32], [*TEXTS[32:63], TEXTS[0]], strict=True))
    splits = ["train"] * 20 + ["dev"] * 6 + ["test"] * 6
    rows = [f"{split}\tmain-news\t2.5\t{a}\t{b}" for split, (a, b) in zip(splits, pairs, strict=True)]
    Path("stsb.tsv").write_text("\n".join(["split\tgenre\tscore\tsentence1\tsentence2", *rows]) + "\n")
    Path("lines.txt").write_text("\n".join(side for pair in pairs for side in pair) + "\n")
    options = ("--recipe", "sg-opt", *NARROW, *SMALL)
    done = run("train", *RAW, "stsb.tsv", "--columns", "sentence1,sentence2", "--output", "table", *options)
    assert done.code == 0
    assert "64 texts" in done.err
    assert run("train", *RAW, "lines.txt", "--output", "lines", *options).code == 0
    assert Path("table/encoder/model.safetensors").read_bytes() == Path("lines/encoder/model.safetensors").read_bytes()


def test_five_languages_out_of_parallel_tables(run: Run, folder: Path) -> None:
    """As paper 3 has it: "we obtain 5 pairs (EN-AR/ES/TR/DE/FR) from one sentence"."""
    languages = ("en", "ar", "es", "tr", "de", "fr")
    for language in languages:
        rows = [f"test\t{k}\t{language} {TEXTS[k]}\t{language} {TEXTS[-k - 1]}" for k in range(12)]
        text = "\n".join(["split\tindex\tpremise\thypothesis", *rows]) + "\n"
        Path(f"xnli_{language}.tsv").write_text(text)
    files = [f"xnli_{language}.tsv" for language in languages]
    options = ("--on", "split,index", "--columns", "premise,hypothesis", "--output", "five.tsv")
    assert run("pairs", "align", *files, *options).code == 0
    done = run("train", *RAW, "five.tsv", "--recipe", "bsl-multilingual", "--output", "run", "--json", *SMALL)
    assert done.code == 0
    corpus = json.loads(Path("run/corpus/corpus.json").read_text())
    assert corpus["columns"] == ["source", "target"]
    assert corpus["counts"]["rows"] == 5 * 24
    assert json.loads(done.out)["steps"] == 2


def test_a_teacher_and_standard_input(run: Run, folder: Path) -> None:
    teacher = ("--recipe", "parallel", "--teacher", "bundled")
    assert run("train", *RAW, "pairs.tsv", "--output", "pairs", *teacher, *SMALL).code == 0
    assert run("train", *RAW, "-", "--output", "piped", *SMALL, stdin=FILES["text.txt"].encode()).code == 0
    assert run("train", *RAW, "text.txt", "--output", "read", *SMALL).code == 0
    assert Path("piped/encoder/model.safetensors").read_bytes() == Path("read/encoder/model.safetensors").read_bytes()


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_line_and_leaves_no_run_behind(run: Run, folder: Path, message: str) -> None:
    before = listing()
    done = run("train", *RAW, "--output", "run", *BAD[message])
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("Error: ")
    assert message in done.err
    assert listing() == before
    assert not Path("run").exists()


OTHER_RUNS = {
    "recipe 'sg-opt:paper' -> 'simcse:paper'; guide.kind 'frozen-layers' -> 'self'": ("text.txt", "--recipe", "simcse"),
    "the original run: objective.temperature 0.01 -> 0.5\n": (
        "text.txt",
        "--set",
        "objective.temperature=0.5",
    ),
    "the original run: training.seed 1 -> 2\n": ("text.txt", "--seed", "2"),
    "the original run: dev None -> 'bundled'\n": ("text.txt", "--dev", "bundled"),
    "is not that of the original run: text.txt -> pairs.tsv; the texts differ\n": ("pairs.tsv", "--column", "target"),
    "is not that of the original run: text.txt -> text.txt, few.txt; rows 64 -> 69\n": ("text.txt", "few.txt"),
}


def test_a_resume_that_is_another_run_is_refused(run: Run, folder: Path) -> None:
    assert run("train", "--recipe", "sg-opt", "text.txt", "--output", "run", *SMALL, *NARROW).code == 0
    before = listing(Path("run"))
    for difference, arguments in OTHER_RUNS.items():
        done = run("train", "--recipe", "sg-opt", *arguments, "--output", "run", *SMALL, *NARROW, "--resume")
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert difference in done.err
        assert listing(Path("run")) == before
    same_text = ("--recipe", "sg-opt", "pairs.tsv", "--column", "source")
    assert run("train", *RAW, *same_text, "--output", "run", *SMALL, *NARROW, "--resume").code == 0


def test_a_failed_start_is_not_in_the_way_of_the_corrected_command(run: Run, folder: Path) -> None:
    assert run("train", *RAW, "few.txt", "--output", "run").code == 2
    assert (
        run(
            "train",
            "--model",
            "bundled",
            "few.txt",
            "--output",
            "run",
            "--set",
            "training.batch_size=2",
            "--steps",
            "1",
        ).code
        == 0
    )


def test_an_error_after_a_checkpoint_leaves_the_run(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: Any) -> None:
        raise IsotropeError("out of luck")

    with monkeypatch.context() as patch:
        patch.setattr("isotrope.training.session.handed_on", fails)
        assert run("train", *RAW, "text.txt", "--output", "run", *SMALL).err.endswith("Error: out of luck\n")
    assert Path("run/checkpoint-2").is_dir()
    assert run("train", *RAW, "text.txt", "--output", "run", *SMALL, "--resume").code == 0


@pytest.mark.parametrize(
    "message",
    [
        "unknown recipe 'sg-otp'",
        "none.txt: no such file",
        "there: exists already",
        "there: nothing to resume",
    ],
)
def test_cheap_mistakes_are_found_before_torch_is_imported(folder: Path, message: str) -> None:
    arguments = next(arguments for known, arguments in BAD.items() if message in known)
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'scipy', 'pyarrow', 'datasets')))\n"
        f"from isotrope.cli import main; main({['train', '--output', 'run', *arguments]})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_help_does_not_wait_for_torch() -> None:
    for arguments in (["train", "--help"], ["recipes", "--help"]):
        code = (
            "import sys; sys.modules.update(dict.fromkeys(('torch', 'transformers', 'scipy', 'pyarrow', 'numpy')))\n"
            f"from isotrope.cli import main; main({arguments})"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_several_seeds_are_runs_beside_each_other_with_their_spread(run: Run, folder: Path) -> None:
    arguments = ("train", *RAW, "text.txt", "--recipe", "simcse", "--output", "runs", "--dev", "bundled", *SMALL)
    found = json.loads(run(*arguments, "--seeds", "2", "--json").out)
    assert sorted(path.name for path in Path("runs").iterdir()) == ["seed-1", "seed-2"]
    scores = [found["runs"][seed]["dev"]["after"] for seed in ("1", "2")]
    assert found["figures"]["Spearman x 100, dev"]["mean"] == pytest.approx(sum(scores) / 2)
    done = run(*arguments, "--seeds", "2", "--seed", "3", "--resume")
    assert (done.code, "can't be used together" in done.err) == (2, True)
    assert "give files, not standard input" in run("train", "-", "--output", "piped", "--seeds", "2").err
