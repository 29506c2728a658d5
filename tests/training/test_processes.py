"""Two processes with half of each batch are one process with all of it: the real learner, under `torchrun` on gloo."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

import isotrope
from isotrope import recipes
from isotrope.text import bundled_sentences
from isotrope.text.corpus import build_corpus
from isotrope.text.plan import plan_batches
from isotrope.training import checkpoints
from isotrope.training.assemble import make_learner, with_teacher
from isotrope.training.batches import StageBatches
from isotrope.training.frozen import FrozenEncoders, FrozenVectors
from isotrope.training.learner import Learner
from isotrope.training.pretrain import Pretraining, pretrain
from isotrope.training.run import train

pytestmark = pytest.mark.xdist_group("processes")  # the other worker would wait for what one of them starts

WORLD, BATCH = 2, 8
TEXTS = bundled_sentences()[:120]
NAMES = ("text", "view1", "view2", "source", "target", "sentence1", "sentence2")
ROWS = [dict(zip(NAMES, TEXTS[k : k + 7], strict=True)) for k in range(113)]
UNLABELLED = {"supervision.kind": "none"}  # its loss is a mean over each process's own share
NARROW = {"heads.projection.width": 64}
OBJECTIVES: dict[str, tuple[str, dict[str, Any]]] = {
    "nt_xent": ("bt", NARROW),
    "opt3": ("sg-opt", NARROW),
    "bootstrap": ("bsl", {}),  # batch norm of the predictor
    "by_column": ("consert-joint:official", {"views.second.kind": "none"} | UNLABELLED),
    "info_nce": ("parallel", {"queue.size": 12}),
    "guided": ("simcse", {"negatives.guided_by": "start", "negatives.threshold": 0.7, "queue.size": 12}),
    "ranking": ("rankcse:start", {}),
    "distil": ("distil", {}),
    "cached": ("simcse", {"training.gradient_cache": 2, "queue.size": 12}),
}
TAUGHT = ("info_nce", "distil")  # by another encoder
PLAIN = {"training.batch_size": BATCH, "training.dropout": 0.0}
RUN: dict[str, Any] = {  # with such an epsilon Adam moves by the gradient, not by its sign, however small that is
    "recipe": "sg-opt",
    "steps": 3,
    "set": PLAIN
    | NARROW
    | {"training.eval_steps": 2, "training.learning_rate": 0.5, "training.epsilon": 1.0}
    | {"training.keep_checkpoints": True},
}
SIZES: dict[str, Any] = {"vocabulary": 400, "layers": 2, "dim": 32, "heads": 2, "batch_tokens": 128, "warmup": 1}
Result = tuple[Tensor, dict[str, Tensor], dict[str, Tensor]]  # loss, gradients, buffers after the step


def learner_of(name: str, model: str) -> Learner:
    """In double precision, away from where it began, and with a queue that is full."""
    recipe, settings = OBJECTIVES[name]
    taught = with_teacher(recipes.load(recipe), model) if name in TAUGHT else {}
    stage = recipes.load(recipe, PLAIN | settings | taught).stages[0]
    torch.manual_seed(0)
    encoder = isotrope.load(model)
    learner = make_learner(stage, encoder, encoder).double()
    with torch.no_grad():
        for parameter in learner.student.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.01)
        if learner.queue is not None:
            learner.queue.push(torch.randn(30, learner.student.dim))
        if learner.guided is not None and learner.guided.queue is not None:
            learner.guided.queue.push(torch.randn(30, learner.student.dim))
    return learner.train()


def step(name: str, model: str, folder: Path, rank: int, world: int) -> Result:
    """Loss, gradients and what is remembered of one step over this process's share of the batch."""
    learner = learner_of(name, model)
    corpus = build_corpus([ROWS], learner.stage.columns, folder / f"{name}-{rank}-{world}")
    plan = plan_batches(corpus, batch_size=BATCH, steps=1, seed=1)
    reader = learner.guide.reader or learner.student
    known = folder / f"frozen-{name}-{world}"  # the first process fills it for both
    stage = learner.stage
    frozen = FrozenVectors(stage, corpus, FrozenEncoders(isotrope.load(model)), known) if stage.frozen else None
    batches = StageBatches(corpus, plan, stage, learner.student, reader, frozen=frozen, rank=rank, world=world)
    model = DistributedDataParallel(learner, find_unused_parameters=True) if world > 1 else learner
    loss = model(**batches[0])["loss"]
    loss.backward()
    learner.after_step(0.5)
    gradients = {key: p.grad for key, p in learner.named_parameters() if p.grad is not None}
    return loss.detach(), gradients, dict(learner.named_buffers())


def process(folder: Path, model: str) -> None:
    """What `torchrun` runs in each process: this file is also its script."""
    rank, written = int(os.environ["RANK"]), []
    if rank > 0:
        checkpoints.save_model = None  # type: ignore[assignment]  # it fails if it is called
        sys.addaudithook(lambda event, args: written.extend(writes(event, args, str(folder / "run"))))
    train([row["text"] for row in ROWS], model=model, output=folder / "run", **RUN)  # makes the group itself
    figures = pretrain(pretraining(folder), folder / "pretrained")
    if rank == 0:
        shutil.rmtree(folder / "pretrained" / "checkpoint-4")  # as if both had been killed before it
    assert pretrain(pretraining(folder), folder / "pretrained", resume=True) == figures
    results = {name: step(name, model, folder, rank, WORLD) for name in OBJECTIVES}
    torch.save((results, written), folder / f"{rank}.pt")
    while not all((folder / f"{one}.pt").exists() for one in range(WORLD)):
        time.sleep(0.01)  # nobody goes on while another may still be talking to it
    killed_process(folder / "killed", model)
    os._exit(0)  # what gloo's threads do when an interpreter ends is not what is tested: now and then they abort it


def pretraining(folder: Path, steps: int = 4) -> Pretraining:
    """In batches of one to three rows."""
    return Pretraining(files={str(folder / "text.txt"): 1.0}, positions=64, steps=steps, save_steps=2, **SIZES)


def writes(event: str, args: tuple[Any, ...], folder: str) -> list[str]:
    """Files under the folder that are opened for writing, renamed or removed."""
    if not args or not str(args[0]).startswith(folder):
        return []
    changes = event in ("os.rename", "os.remove", "shutil.rmtree")
    opened = event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR)
    return [f"{event} {args[0]}"] if changes or opened else []


@pytest.fixture(scope="module")
def together(small: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which two processes have left their results, before the second was killed in another run."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "killed").mkdir()
    (folder / "text.txt").write_text("\n".join(bundled_sentences()))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={WORLD}", __file__]
    done = subprocess.run([*command, str(folder), small], capture_output=True, text=True, timeout=300)
    assert all((folder / f"{rank}.pt").exists() for rank in range(WORLD)), done.stderr
    (folder / "killed" / "code").write_text(str(done.returncode))
    return folder


@pytest.mark.parametrize("name", OBJECTIVES)
def test_loss_and_gradients_are_those_of_one_process(name: str, together: Path, small: str, tmp_path: Path) -> None:
    wanted, gradients, buffers = step(name, small, tmp_path, 0, 1)
    assert "student.backbone.model.encoder.layer.0.output.dense.weight" in gradients
    assert max(float(gradient.abs().max()) for gradient in gradients.values()) > 1e-3
    for rank in range(WORLD):
        results, _ = torch.load(together / f"{rank}.pt")
        loss, found, kept = results[name]
        torch.testing.assert_close(loss, wanted, rtol=0, atol=1e-9)
        assert found.keys() >= gradients.keys()  # those that take no part may have a gradient of zero
        for key, gradient in found.items():
            expected = gradients.get(key, torch.zeros_like(gradient))
            torch.testing.assert_close(gradient, expected, rtol=0, atol=1e-8, msg=lambda m, key=key: f"{key}: {m}")
        for key, buffer in buffers.items():
            torch.testing.assert_close(kept[key], buffer, rtol=0, atol=1e-9, msg=lambda m, key=key: f"{key}: {m}")


def test_a_whole_run_is_that_of_one_process(together: Path, small: str, tmp_path: Path) -> None:
    one, two = tmp_path / "run", together / "run"
    train([row["text"] for row in ROWS], model=small, output=one, **RUN)
    before = load_file(Path(small, "model.safetensors"))
    wanted, found = (load_file(run / "encoder" / "model.safetensors") for run in (one, two))
    for key, value in wanted.items():
        torch.testing.assert_close(found[key], value, rtol=0, atol=1e-5, msg=lambda m, key=key: f"{key}: {m}")
    key = "encoder.layer.0.output.dense.weight"
    assert (wanted[key] - before[key]).abs().max() > 1e-3
    logs = [[json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()] for run in (one, two)]
    assert [line["step"] for line in logs[1]] == [line["step"] for line in logs[0]] == [0, 2, 2, 3]
    for name in ("eval_held_out_loss", "eval_uniformity", "eval_effective_rank"):
        assert [line.get(name) for line in logs[1]] == [pytest.approx(line.get(name), abs=1e-3) for line in logs[0]]
    assert logs[1][1]["loss"] == pytest.approx(logs[0][1]["loss"], abs=1e-3)


def test_pretraining_is_that_of_one_process(together: Path, tmp_path: Path) -> None:
    found = json.loads((together / "pretrained" / "figures.json").read_text())
    alone = pretrain(pretraining(together), tmp_path / "alone")
    assert found == {key: pytest.approx(value, abs=1e-4) for key, value in alone.items()}
    wanted = load_file(tmp_path / "alone" / "checkpoint-4" / "model.safetensors")
    weights = load_file(together / "pretrained" / "checkpoint-4" / "model.safetensors")
    for key, value in wanted.items():  # Adam's first steps go by the sign of a gradient, however small
        torch.testing.assert_close(weights[key], value, rtol=0, atol=1e-4, msg=lambda m, key=key: f"{key}: {m}")
    rank_files = {file.name for file in (together / "pretrained" / "checkpoint-4").glob("rng-*")}
    assert rank_files == {"rng-0.pt", "rng-1.pt"}
    with pytest.raises(isotrope.IsotropeError, match=r"and this run has 1; .*other_processes="):
        pretrain(pretraining(together), together / "pretrained", resume=True)
    again = pretrain(pretraining(together), together / "pretrained", resume=True, other_processes=True)
    assert again == found


def test_the_first_process_alone_writes(together: Path, tmp_path: Path) -> None:
    written = [torch.load(together / f"{rank}.pt")[1] for rank in range(WORLD)]
    assert written == [[], []]
    files = {str(file.relative_to(together / "run")) for file in (together / "run").rglob("*") if file.is_file()}
    assert {file for file in files if "rng" in file} == {f"checkpoint-3/rng-{rank}.pt" for rank in range(WORLD)}
    assert {"run.json", "recipe.toml", "log.jsonl", "corpus/keys.npy", "encoder/modules.json"} <= files


SAVED_OFTEN = {"training.save_steps": 1, "training.eval_steps": 100, "training.epsilon": 1.0}
KILLED: dict[str, Any] = {"steps": 9, "set": PLAIN | SAVED_OFTEN | {"training.learning_rate": 0.5}}


def killed_process(folder: Path, model: str) -> None:
    """What each of two does, until the second is killed in the midst of its third step."""
    if int(os.environ["RANK"]) == 1:
        after_step, steps = Learner.after_step, iter(range(3))

        def step_or_die(learner: Learner, progress: float) -> None:
            after_step(learner, progress)
            if next(steps) == 2:
                os.kill(os.getpid(), signal.SIGKILL)

        Learner.after_step = step_or_die  # type: ignore[method-assign]
    signal.signal(
        signal.SIGTERM, signal.SIG_IGN
    )  # torchrun sends it to the one that is left, maybe before it has spoken
    try:
        train([row["text"] for row in ROWS], "simcse", model, folder / "run", **KILLED)
    except isotrope.IsotropeError as error:
        (folder / "said").write_text(str(error))


def test_a_killed_process_ends_the_others_with_one_line(small: str, together: Path) -> None:
    folder = together / "killed"
    assert (folder / "code").read_text() != "0"
    said = (folder / "said").read_text()
    assert said.startswith("another process of this run has ended, so this one ends too; the last good checkpoint is ")
    kept = checkpoints.last_checkpoint(folder / "run")
    assert kept is not None
    assert said.endswith(kept.name)
    texts = [row["text"] for row in ROWS]
    with pytest.raises(
        isotrope.IsotropeError, match=r"written by 2 process\(es\), and this run has 1; .*other_processes="
    ):
        train(texts, "simcse", small, folder / "run", resume=True, **KILLED)
    resumed = train(texts, "simcse", small, folder / "run", resume=True, other_processes=True, **KILLED)
    whole = train(texts, "simcse", small, folder / "whole", **KILLED)
    wanted, found = (load_file(run.folder / "encoder" / "model.safetensors") for run in (whole, resumed))
    for key, value in wanted.items():  # without dropout the same batches give the same weights, but for the last digits
        torch.testing.assert_close(found[key], value, rtol=0, atol=1e-5, msg=lambda m, key=key: f"{key}: {m}")


if __name__ == "__main__":
    process(Path(sys.argv[1]), sys.argv[2])
