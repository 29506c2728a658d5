"""The whole product of parts, and how one combination is put to work on a tiny encoder."""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

import isotrope
from isotrope.encoders.frozen import FrozenModel
from isotrope.io.hashes import digest
from isotrope.recipes.messages import in_words
from isotrope.recipes.schema import Recipe, Stage
from isotrope.text.corpus import build_corpus
from isotrope.training.assemble import trained_student
from isotrope.training.batches import laid_out
from isotrope.training.frozen import FrozenVectors
from isotrope.training.learner import Learner
from isotrope.training.reading import Reading, prepare_draws
from isotrope.training.stage_loop import groups_of

Table = dict[str, Any]
PAIR = ["sentence1", "sentence2"]
COLUMNS = ("text", "other", *PAIR, "negative", "hard")

VIEWS: dict[str, Table] = {
    "none": {},
    "shuffle": {"kind": "shuffle"},
    "token": {"kind": "token-cutoff", "rate": 0.4},
    "feature": {"kind": "feature-cutoff", "at": "word"},
    "span": {"kind": "span-cutoff", "rate": 0.4},
    "dropout": {"kind": "dropout"},
    "adversarial": {"kind": "adversarial", "column": PAIR},
}
DRAWN: dict[str, Table] = {
    "none": {},
    "crop": {"draw": {"kind": "crop", "size": 1}},
    "apart": {"draw": {"kind": "crop", "overlap": False}},
    "repetition": {"draw": "word-repetition"},
    "deletion": {"draw": "word-deletion"},
    "neighbours": {"draw": {"kind": "neighbours", "k": 2}},
}
GUIDES: dict[str, Table] = {
    "self": {},
    "layers": {"kind": "frozen-layers"},
    "one layer": {"kind": "frozen-layers", "sampler": "uniform"},
    "momentum": {"kind": "momentum", "momentum": 0.9},
    "teacher": {"kind": "teacher", "model": "TEACHER"},
    "cached teacher": {"kind": "teacher", "model": "TEACHER", "cache": True},
    "dual": {"kind": "dual", "model": "TEACHER"},
}
OBJECTIVES: dict[str, Table] = {
    "nt-xent": {},
    "info-nce": {"kind": "info-nce", "learnable_temperature": True},
    "opt1": {"kind": "self-guided", "variant": "opt1"},
    "opt2": {"kind": "self-guided", "variant": "opt2"},
    "opt2-official": {"kind": "self-guided", "variant": "opt2-official"},
    "opt3": {"kind": "self-guided", "variant": "opt3", "anchor": 0.1},
    "bootstrap": {"kind": "bootstrap"},
    "mlm": {"kind": "mlm"},
    "tsdae": {"kind": "tsdae"},
    "none": {"kind": "none"},
}
PROJECTION, PREDICTOR = {"ratio": 2}, {"ratio": 2}
HEADS: dict[str, Table] = {
    "bare": {},
    "projection": {"projection": PROJECTION},
    "predictor": {"predictor": PREDICTOR},
    "both": {"projection": PROJECTION, "predictor": PREDICTOR},
    "momentum": {"projection": PROJECTION, "predictor": PREDICTOR, "guide": "momentum"},
    "student only": {"projection": PROJECTION, "guide": "none"},
    "swapped": {"projection": {"kind": "predictor", "ratio": 2}, "predictor": {"kind": "projection", "ratio": 2}},
}
NEGATIVES: dict[str, Table] = {  # a start that learns nothing and is near itself, and another encoder
    "by start": {"guided_by": "start", "margin": 0.0, "threshold": 0.75},
    "by teacher": {"guided_by": "TEACHER", "margin": 0.1},
}
DISTILLATION: dict[str, Table] = {
    "vectors": {"kind": "vectors"},
    "similarities": {"kind": "similarities", "teachers": ["TEACHER"]},
    "listnet": {"kind": "listnet", "teachers": ["start", "TEACHER"], "alpha": 0.3},
    "listmle": {"kind": "listmle", "consistency": 0.5},
}
SWITCHES = tuple(itertools.product((0, 6), (False, True), (None, "negative")))  # queue, symmetric, hard negatives


def product() -> Iterator[Table]:
    """views x views x guides x objectives x heads x queue x symmetric x hard negatives, as stages of a recipe."""
    for guide, objective, heads in itertools.product(GUIDES, OBJECTIVES, HEADS):
        for first, second in itertools.product(VIEWS, VIEWS):
            for queue, symmetric, negative in SWITCHES:
                yield combination(first, second, guide, objective, heads, queue, symmetric, negative)


def combination(
    first: str,
    second: str,
    guide: str,
    objective: str,
    heads: str,
    queue: int = 0,
    symmetric: bool = False,
    negative: str | None = None,
) -> Table:
    """One stage. Where a view is adversarial both read labelled pairs; where nothing else is learnt, so does NLI."""
    labelled = "adversarial" in (first, second)
    column = {"column": PAIR} if labelled else {}
    supervised = labelled or objective == "none"
    return {
        "views": {
            "first": VIEWS[first] | column,
            "second": VIEWS[second] | column,
            "symmetric": symmetric,
            **({"negative": negative} if negative else {}),
        },
        "guide": GUIDES[guide],
        "objective": OBJECTIVES[objective],
        "heads": HEADS[heads],
        "queue": {"size": queue},
        "pooling": {"training": "mean", "evaluation": "mean"},
        "training": {"batch_size": 4, "dropout": 0.1},
        **({"supervision": {"kind": "nli"}} if supervised else {}),
    }


def accepted(stage: Table) -> tuple[Stage | None, str]:
    """The checked stage, or None and the one line that `recipes check` prints."""
    try:
        return Recipe.model_validate({"name": "mine", "stages": [stage]}).stages[0], ""
    except ValidationError as error:
        return None, in_words(error, 1)


def tiny_encoder(folder: Path, dim: int, words: int = 40) -> str:
    """A BERT of one layer that reads words w0, w1 ...; saved as a folder."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: k for k, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])}
    vocabulary |= {f"w{k}": len(vocabulary) + k for k in range(words)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = {name: f"[{name[:-6].upper()}]" for name in ("pad_token", "unk_token", "cls_token", "sep_token")}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="[MASK]", model_max_length=32, **names)
    torch.manual_seed(dim)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=dim,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=2 * dim,
        max_position_embeddings=32,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)


def made_up_rows(count: int) -> list[dict[str, Any]]:
    """Random words in every column: one sentence in even rows, three in odd ones."""
    draws = random.Random(0)

    def sentence() -> str:
        return " ".join(f"w{draws.randrange(30)}" for _ in range(draws.randrange(3, 8)))

    texts = [{name: " . ".join(sentence() for _ in range(1 + k % 2 * 2)) for name in COLUMNS} for k in range(count)]
    return [row | {"label": k % 3} for k, row in enumerate(texts)]


class Bench:
    """A student and a teacher of another width and vocabulary, on which combinations take steps."""

    def __init__(self, folder: Path) -> None:
        student = tiny_encoder(folder / "student", 8)
        self.teacher = isotrope.load(tiny_encoder(folder / "teacher", 12, 30), pooling="mean")
        self.encoder = isotrope.load(student, pooling="mean")
        self.frozen = {FrozenModel("start"): self.encoder, FrozenModel("TEACHER"): self.teacher}
        self.folder = folder
        self.ids: dict[Any, list[list[int]]] = {}  # of text as it stands, by tokenizer, batch and column
        self.corpus = build_corpus([made_up_rows(32)], (*COLUMNS, "label"), folder / "corpus")

    def learner(self, stage: Stage, seed: int = 0) -> Learner:
        """A fresh learner; the teacher stands in for whatever the recipe names."""
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also looks for other devices, each time
        student = trained_student(_copied(self.encoder), stage)
        guide = stage.guide.build(student, lambda name, pooling: _copied(self.teacher))
        dims = {name: self.frozen[name].dim for name, _ in stage.frozen}
        return Learner(student, guide, stage, dims).train()

    def item(self, stage: Stage, learner: Learner, seed: int) -> dict[str, Any]:
        """A batch of four rows."""
        generator = torch.Generator().manual_seed(seed)
        rows = [(4 * seed + k) % len(self.corpus) for k in range(4)]
        drawn = any(not getattr(stage.views, side).draw.fixed for side in stage.reads)
        folder = self.folder / (digest(stage.model_dump_json(), 8).hex() if drawn or stage.frozen else "unused")
        draws = prepare_draws(stage, self.corpus, (), learner.student, self.frozen, folder)
        for draw in draws.values():
            draw.at(seed)
        reading = Reading(self.corpus, rows, draws, generator)
        reader = learner.guide.reader or learner.student

        def ids(encoder: isotrope.Encoder, view: str, column: str) -> list[list[int]]:
            if drawn:
                return reading.ids(encoder, view, column, None)
            key = encoder.tokenizer, seed, column
            self.ids[key] = self.ids.get(key) or reading.ids(encoder, view, column, None)
            return self.ids[key]

        item = laid_out(stage, learner.student, reader, ids)
        if stage.supervision.labels:
            item["labels"] = torch.tensor(reading.texts["label"])
        if stage.guide.constant:
            item["taught"] = learner.guide(item["second"], learner.student)
        if stage.frozen:
            item["frozen"] = FrozenVectors(stage, self.corpus, self.frozen, folder).of(reading.rows)
        return stage.objective.prepare(item, learner.student.tokenizer, generator)

    def step(self, learner: Learner, optimiser: torch.optim.Optimizer, seed: int) -> float:
        """One step; the loss, and a gradient that is finite."""
        item = self.item(learner.stage, learner, seed)
        torch.default_generator.manual_seed(seed)
        loss = learner(**item)["loss"]
        optimiser.zero_grad()
        loss.backward()
        gradients = [p.grad for p in learner.parameters() if p.requires_grad and p.grad is not None]
        assert gradients, "nothing learns"
        assert bool(torch.cat([one.flatten() for one in gradients]).isfinite().all())
        optimiser.step()
        learner.after_step(seed / 4)
        assert bool(loss.isfinite())
        return float(loss.detach())


def _copied(encoder: isotrope.Encoder) -> isotrope.Encoder:
    """With modules and weights of its own, and the rest shared: a tenth of what `copy.deepcopy` takes."""
    made: dict[int, Any] = {}
    copied = _copied_module(encoder, made)
    copied._held = (_copied_module(encoder.transformer, made),)
    return copied


def _copied_module(module: Any, made: dict[int, Any]) -> Any:
    if module is not None and id(module) not in made:
        other = made[id(module)] = object.__new__(type(module))
        copied = {name: value.copy() if isinstance(value, dict) else value for name, value in vars(module).items()}
        vars(other).update(copied)  # a module's hooks are in dictionaries
        for mine in (other._parameters, other._buffers):
            mine |= {name: copy.deepcopy(value, made) for name, value in mine.items()}
        other._modules |= {name: _copied_module(child, made) for name, child in module._modules.items()}
    return made.get(id(module))


def optimiser_of(learner: Learner) -> torch.optim.Optimizer:
    return torch.optim.SGD(groups_of(learner, weight_decay=0.0), lr=0.05)
