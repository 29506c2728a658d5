"""Pre-training a small BERT from raw text: vocabulary, word vectors to start from, masked language modelling."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.optim import AdamW
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM, set_seed

from isotrope.encoders.devices import on_device
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.atomic import whole_folder, whole_or_nothing
from isotrope.io.checksums import SUMS, changed_since, write_sums
from isotrope.io.errors import IsotropeError
from isotrope.io.seeds import check_seed
from isotrope.text import read_sentences
from isotrope.text.vocabulary import train_wordpiece
from isotrope.training.bar import RunBar
from isotrope.training.checkpoints import last_checkpoint, writing
from isotrope.training.loop import Loop, LoopSettings
from isotrope.training.masked_lm import MaskedBatches, MaskedLM, TokenizedText, masked_loss
from isotrope.training.optimisers import decayed_and_exempt
from isotrope.training.ppmi import ppmi_vectors
from isotrope.training.pretrain_text import tokenized
from isotrope.training.processes import is_main_process, made_by_main_process, main_process_first, rank_and_world
from isotrope.training.run_folder import check_run, locked, read_json

SETTINGS = "settings.json"


@dataclass(frozen=True)
class Pretraining:
    """What is trained, on what, for how long. The defaults are those of the bundled encoder."""

    files: dict[str, float] = field(default_factory=dict)  # path -> weight
    start: str | None = None  # a masked-LM folder to go on from, with its vocabulary and sizes; None begins anew
    tokenizer: str | None = None  # a folder whose vocabulary is used; None learns one
    vocabulary: int = 8192
    layers: int = 4
    dim: int = 256
    heads: int = 4
    positions: int = 128
    masked: float = 0.2
    batch_tokens: int = 2048
    steps: int = 16_000
    learning_rate: float = 1e-3
    warmup: int = 300
    weight_decay: float = 0.01
    precision: str = "float32"  # or bfloat16, float16
    save_steps: int = 500
    seed: int = 1


def pretrain(
    config: Pretraining,
    output: Path,
    *,
    device: str | None = None,
    resume: bool = False,
    other_processes: bool = False,
) -> dict[str, float]:
    """Trains, saves a transformers folder in `output/encoder`, returns held-out loss and accuracy.

    `output` also holds the settings, the tokenised text and `checkpoint-N/`. Killed at any time, it goes on with
    `resume` from its last checkpoint as if nothing had happened. `device` is by default the fastest there is. Several
    processes, as `torchrun` starts them, share every batch; `other_processes` resumes with another number of them.
    """
    _check(config)
    with on_device(device), _open_run(config, output, resume):
        with main_process_first():
            tokenizer = _tokenizer(config, output)
            text, held_out = _text(config, tokenizer, output)
        set_seed(config.seed)
        rank, world = rank_and_world()
        model = _model(config, tokenizer)
        batches = MaskedBatches(
            text,
            tokenizer,
            batches=config.steps,
            batch_tokens=config.batch_tokens,
            seed=config.seed,
            masked=config.masked,
            rank=rank,
            world=world,
            coarse=config.precision == "bfloat16",
        )
        if config.start is None and last_checkpoint(output) is None:
            _start_from_counts(model, text, config.seed)
        _loop(config, model, batches, output).run(resume=resume, other_processes=other_processes)
        return made_by_main_process(lambda: _finish(config, model, held_out, output))


def _finish(config: Pretraining, model: MaskedLM, held_out: MaskedBatches, output: Path) -> dict[str, float]:
    """Measures what was trained, and saves it."""
    loss, accuracy = masked_loss(model, held_out)
    _check_result(model, loss)
    figures = {"loss": loss, "accuracy": accuracy, "tokens": config.steps * config.batch_tokens}
    with writing(output / "encoder"):
        _save(model, output)
    with whole_or_nothing(output / "figures.json") as path:
        path.write_text(json.dumps(figures, indent=2) + "\n")
    return figures


def held_out_figures(encoder: str | Path, files: dict[str, float], scratch: Path) -> tuple[float, float]:
    """Held-out loss and accuracy of a masked-LM folder on the sentences that `pretrain` holds out of `files`."""
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = MaskedLM.from_pretrained(encoder, dtype=torch.float32)
    _, held_out = _text(Pretraining(files=files), tokenizer, scratch)
    return masked_loss(model, held_out)


def _check(config: Pretraining) -> None:
    if not config.files:
        raise IsotropeError("pretrain needs at least one file of sentences")
    check_seed(config.seed)
    for name in ("learning_rate", "weight_decay"):
        value = getattr(config, name)
        if not 0 <= value < math.inf:
            raise IsotropeError(f"{name} is {value}; it should be a number from 0 upwards")
    if config.dim % config.heads:
        raise IsotropeError(f"dim {config.dim} is not a multiple of heads {config.heads}")
    if config.batch_tokens < config.positions:
        raise IsotropeError(
            f"batch_tokens {config.batch_tokens} is less than positions {config.positions}: "
            "a step must have room for the longest sentence"
        )


def _check_result(model: MaskedLM, loss: float) -> None:
    """The last step moves weights that no further loss tells of; and they are kept in half precision."""
    if not math.isfinite(loss) or not all(torch.isfinite(weight.half()).all() for weight in model.parameters()):
        raise IsotropeError(
            f"the weights have become too large to be saved (held-out loss {loss:.3g}); "
            "lower the learning rate or the weight decay"
        )


@contextmanager
def _open_run(config: Pretraining, output: Path, resume: bool) -> Iterator[None]:
    """Makes the run folder, or checks that the settings of the one there are the same; it is locked meanwhile.

    That of a new run that fails before its first checkpoint is removed: the corrected call finds the place free. Of
    several processes the first does all this.
    """
    if not is_main_process():
        yield
        return
    check_run(output, resume=resume, settings=SETTINGS)
    with locked(output):
        if resume:
            before, now = read_json(output / SETTINGS), asdict(config)
            differing = [f"{key} {before.get(key)!r} -> {now[key]!r}" for key in now if before.get(key) != now[key]]
            if differing:
                raise IsotropeError(f"{output}: settings differ from the original run: {'; '.join(differing)}")
        else:
            with whole_or_nothing(output / SETTINGS) as path:
                path.write_text(json.dumps(asdict(config), indent=2) + "\n")
        try:
            yield
        except Exception:
            if not resume and last_checkpoint(output) is None:
                shutil.rmtree(output)
            raise


def _tokenizer(config: Pretraining, output: Path) -> Any:
    """The run's own copy, learnt or taken from a folder; always as it is on disk, whether the run is resumed or not."""
    folder = output / "tokenizer"
    if not folder.is_dir():
        if config.tokenizer or config.start:
            tokenizer = AutoTokenizer.from_pretrained(config.tokenizer or config.start)
        else:
            tokenizer = train_wordpiece(
                lambda: (text for path in config.files for text in read_sentences(path)),
                config.vocabulary,
                max_length=config.positions,
            )
        with whole_folder(folder) as partial:
            tokenizer.save_pretrained(partial)
            write_sums(partial)
    if changed := changed_since(folder):  # one that was learnt would be numbered otherwise the next time
        raise IsotropeError(f"{folder}: {changed}; the run can't be resumed, start it in a new folder")
    return AutoTokenizer.from_pretrained(folder)


def _text(config: Pretraining, tokenizer: Any, output: Path) -> tuple[TokenizedText, MaskedBatches]:
    return tokenized(config.files, tokenizer, output, positions=config.positions, batch_tokens=config.batch_tokens)


def _model(config: Pretraining, tokenizer: Any) -> MaskedLM:
    """No dropout while pre-training (one pass over the text can't be overfitted); `_save` puts BERT's 0.1 back."""
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    if config.start:
        started: MaskedLM = MaskedLM.from_pretrained(config.start, dtype=torch.float32, **dropout)
        return started
    sizes = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.dim,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=4 * config.dim,
        max_position_embeddings=config.positions,
        pad_token_id=tokenizer.pad_token_id,
        **dropout,
    )
    return MaskedLM(sizes)


@torch.no_grad()
def _start_from_counts(model: MaskedLM, text: TokenizedText, seed: int) -> None:
    """Word embeddings from the PPMI matrix, output bias at the log unigram frequency: the plateau of the first
    thousands of steps, in which an MLM learns just these two, is skipped.
    """
    sentence = np.repeat(np.arange(len(text.lengths), dtype=np.int32), text.lengths)
    seen = text.source[sentence] >= 0  # held-out sentences are not even counted
    tokens, sentence = np.asarray(text.tokens)[seen], sentence[seen]
    words = model.get_input_embeddings().weight
    words.copy_(ppmi_vectors(tokens, sentence, words.shape[0], words.shape[1], seed=seed))
    weight = np.asarray(text.weights)[text.source[sentence]]
    counts = np.bincount(tokens, weights=weight, minlength=words.shape[0])
    frequency = torch.from_numpy(counts + 1.0).float()
    model.cls.predictions.bias.copy_((frequency / frequency.sum()).log())


def _loop(config: Pretraining, model: MaskedLM, batches: MaskedBatches, output: Path) -> Loop:
    groups = decayed_and_exempt(model, config.weight_decay)
    return Loop(
        model,
        AdamW(groups, lr=config.learning_rate, betas=(0.9, 0.98), fused=True),
        batches,
        output,
        LoopSettings(
            steps=config.steps,
            schedule="cosine",
            warmup=config.warmup,
            clip=1.0,
            log_steps=50,
            save_steps=config.save_steps,
            precision=config.precision,
            seed=config.seed,
        ),
        RunBar("Pre-training"),
    )


def _save(model: MaskedLM, output: Path) -> None:
    """A plain BertForMaskedLM folder in half precision, `output/encoder`."""
    plain = BertForMaskedLM(model.config)
    plain.load_state_dict(model.state_dict())
    plain.config.hidden_dropout_prob = plain.config.attention_probs_dropout_prob = 0.1
    with whole_folder(output / "encoder", force=True) as folder, quiet_transformers():
        shutil.copytree(output / "tokenizer", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(SUMS))
        plain.half().save_pretrained(folder)
        write_sums(folder)
