"""Every verb that writes something, on text so small that each takes about a second."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from isotrope.io.hashes import digest
from isotrope.text import bundled_sentences

from .processes import Command, Ended

RUN_FILES = ("run.json", "settings.json", "tuning.json")  # with one of these in it a run can be resumed
TIMED = ("seconds", "spent", "took", "finished", "speed", "speed_before", "speed_up", "path", "sources")
MEASURED = ("README.md", "SHA256SUMS")  # an export's card says how fast it is
DATED = ("sweep.html", "seconds.json")  # pictures in SVG have a date, and names of chance


RECIPE = """name = "{name}"
pooling = {{ training = "mean", evaluation = "mean" }}
training = {{ steps = 4, batch_size = 8, learning_rate = {rate}, eval_steps = 4, save_steps = 2 }}
"""


@dataclass(frozen=True)
class Verb:
    """A command line; `made` is the file or folder that it makes, `run` whether that is a run that can be resumed."""

    arguments: tuple[str, ...]
    made: str
    run: bool = False
    reads_run: bool = False  # a finished one, `trained`
    but: tuple[str, ...] = DATED  # files that differ each time

    def command(self, folder: Path, memory: int | None = None) -> Command:
        """The command as a person would give it next: to go on with a run, if there is one."""
        begun = self.run and any((folder / "work" / self.made / name).is_file() for name in RUN_FILES)
        again = ("--resume",) if begun else ()
        return Command((*self.arguments, *again), folder / "work", folder / "cache", memory)

    def results(self, folder: Path) -> dict[str, str]:
        """The bytes of what it made, as digests: of a run its encoder and last weights."""
        made = folder / "work" / self.made
        files = [made] if made.is_file() else sorted(path for path in made.rglob("*") if path.is_file())
        kept = (file for file in files if file.name not in self.but and (not self.run or "encoder" in file.parts))
        return {str(file.relative_to(folder)): digest(_timeless(file)).hex() for file in kept}


SMALL = ("--set", "training.batch_size=8", "--set", "training.eval_steps=4", "--set", "training.save_steps=2")
NARROW = ("--set", "heads.projection.width=16")  # the paper's 4,096 would be most of a small run
BERT = ("--layers", "1", "--dim", "32", "--heads", "2", "--positions", "32", "--vocabulary", "400")
VERBS: dict[str, Verb] = {
    "train": Verb(
        (
            "train",
            "text.txt",
            "-o",
            "run",
            "-m",
            "model",
            "-r",
            "sg-opt",
            "--steps",
            "6",
            "--no-report",
            *SMALL,
            *NARROW,
        ),
        "run",
        True,
    ),
    "pretrain": Verb(
        ("pretrain", "most.txt", "-o", "run", *BERT, "--steps", "9", "--batch-tokens", "256", "--save-steps", "3"),
        "run",
        True,
    ),
    "encode": Verb(("encode", "text.txt", "-o", "x.npy", "-m", "model", "--batch-size", "1"), "x.npy"),
    "encode parquet": Verb(("encode", "text.txt", "-o", "x.parquet", "-m", "model"), "x.parquet"),
    "views": Verb(("views", "text.txt", "-o", "v.parquet", "--kind", "mlm", "--seed", "3"), "v.parquet"),
    "pairs clean": Verb(("pairs", "clean", "pairs.tsv", "--source", "de", "--target", "en", "-o", "p.tsv"), "p.tsv"),
    "pairs entailment": Verb(("pairs", "entailment", "nli.tsv", "-o", "p.jsonl"), "p.jsonl"),
    "baseline whitening": Verb(
        ("baseline", "whitening", "text.txt", "-o", "white", "-m", "model", "--dim", "8"), "white"
    ),
    "baseline flow": Verb(("baseline", "flow", "more.txt", "-o", "flow", "-m", "model", "--steps", "3"), "flow"),
    "evaluate": Verb(("evaluate", "model", "--tasks", "bundled", "-o", "e.json"), "e.json"),
    "index": Verb(("index", "text.txt", "-o", "found.index", "-m", "model", "--batch-size", "1"), "found.index"),
    "duplicates": Verb(("duplicates", "text.txt", "-o", "d.parquet", "-m", "model"), "d.parquet"),
    "cluster": Verb(("cluster", "text.txt", "-o", "c.parquet", "-m", "model", "--clusters", "3"), "c.parquet"),
    "tune": Verb(
        (
            "tune",
            "more.txt",
            "-o",
            "run",
            "-m",
            "model",
            "--budget",
            "9h",
            "--candidates",
            "a.toml,b.toml",
            "--no-report",
        ),
        "run",
        True,
    ),
    "export": Verb(("export", "model", "-o", "static", "--format", "static", "--dim", "16"), "static", but=MEASURED),
    "export onnx": Verb(
        ("export", "model", "--text", "text.txt", "-o", "onnx", "--format", "onnx", "--int8"), "onnx", but=MEASURED
    ),
    "export openvino": Verb(
        ("export", "model", "-o", "openvino", "--format", "openvino"), "openvino", but=(*MEASURED, "openvino_model.xml")
    ),
    "export torch": Verb(("export", "model", "-o", "torch", "--format", "torch"), "torch", but=MEASURED),
    "report": Verb(("report", "trained", "-o", "r.html", "--texts", "40"), "r.html", reads_run=True),
    "push": Verb(("push", "trained", "my/name", "--dry-run", "pushed"), "pushed", reads_run=True),
    "layers": Verb(("layers", "model", "-o", "l.png"), "l.png"),
    "inspect": Verb(("inspect", "model", "text.txt", "--plot", "i.png"), "i.png"),
    "encode shards": Verb(("encode", "text.txt", "-o", "x", "-m", "model", "--shard-size", "20"), "x"),
    "sweep": Verb(
        (
            *("sweep", "simcse", "text.txt", "-o", "swept", "-m", "model", "--seeds", "1", "--tasks", "bundled"),
            *(
                "--grid",
                "training.learning_rate=1e-5,1e-3",
                "--set",
                "training.steps=2",
                "--set",
                "training.batch_size=4",
            ),
        ),
        "swept",
        but=(*DATED, "result.json"),  # which says where the text lay
    ),
    "recipes copy": Verb(("recipes", "copy", "sg-opt", "mine.toml"), "mine.toml"),
}


def prepare(folder: Path, model: Path, trained: Path | None = None) -> None:
    """What the verbs read: sentences, pairs, labelled pairs, recipes, a small model, and a run if there is one."""
    work, texts = folder / "work", bundled_sentences()[:48]
    work.mkdir(parents=True, exist_ok=True)
    (work / "text.txt").write_text("\n".join(texts) + "\n")
    (work / "more.txt").write_text("\n".join(bundled_sentences()[:400]) + "\n")
    (work / "most.txt").write_text("\n".join(bundled_sentences()) + "\n")
    rows = [f"{one}\t{other}" for one, other in pairwise(texts)]
    (work / "pairs.tsv").write_text("\n".join(["de\ten", *rows]) + "\n")
    labels = ("entailment", "neutral", "contradiction")
    (work / "nli.tsv").write_text(
        "\n".join(["premise\thypothesis\tlabel", *(f"{row}\t{labels[k % 3]}" for k, row in enumerate(rows))]) + "\n"
    )
    for name, rate in (("a", 1e-4), ("b", 5e-3)):
        (work / f"{name}.toml").write_text(RECIPE.format(name=name, rate=rate))
    shutil.copytree(model, work / "model")
    if trained:
        shutil.copytree(trained, work / "trained")


def leftovers(folder: Path) -> list[str]:
    """What is half-written and was left behind."""
    return [str(path) for path in (folder / "work").rglob(".*") if "partial" in path.name or "replaced" in path.name]


def same_or_said(ended: Ended, verb: Verb, folder: Path, wanted: dict[str, str]) -> str:
    """`same` if it made the same bytes, `said` if one clear line says why not; anything else is a failure."""
    if ended.code == 0 and verb.results(folder) == wanted:
        return "same"
    if ended.has_one_clear_line:
        return "said"
    differing = {name for name, one in verb.results(folder).items() if wanted.get(name) != one}
    raise AssertionError(f"{verb.arguments}: exit code {ended.code}, other bytes in {differing}; {ended.err[-2000:]}")


def _timeless(file: Path) -> bytes:
    if file.suffix != ".json":
        return file.read_bytes()
    return json.dumps(_without_times(json.loads(file.read_text()))).encode()


def _without_times(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_times(inner) for key, inner in value.items() if key not in TIMED}
    return [_without_times(inner) for inner in value] if isinstance(value, list) else value
