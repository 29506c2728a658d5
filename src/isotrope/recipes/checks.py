"""Combinations of parts that mean nothing, or of which a part would have no effect: refused, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isotrope.recipes.schema import Stage


def check_stage(stage: Stage) -> None:
    """Raises a ValueError that says what does not fit together."""
    for rule in RULES:
        for problem in rule(stage):
            raise ValueError(problem)


def _reads(stage: Stage) -> Iterator[str]:
    """What the objective does not read must not be set."""
    kind, reads = stage.objective.kind, stage.objective.reads
    if not stage.learns and stage.fit is None:
        yield f"nothing to learn: objective.kind is '{kind}' and supervision.kind '{stage.supervision.kind}'"
    if not stage.learns:
        untouched = type(stage.training)(seed=stage.training.seed, precision=stage.training.precision)
        for key, value in stage.training.model_dump().items():
            if value != getattr(untouched, key):
                yield f"training.{key} has no effect: nothing is learnt by gradient, only fitted; leave it out"
    if stage.objective.compares:
        return
    unread: dict[str, Any] = {
        "views.negative": stage.views.negative,
        "views.symmetric": stage.views.symmetric,
        "views.contrast": stage.views.contrast,
        "guide": stage.guide,
        "queue": stage.queue,
        "negatives": stage.negatives,
        "matryoshka": stage.matryoshka,
        "heads": stage.heads,
    }
    unread |= {f"views.{name}": getattr(stage.views, name) for name in ("first", "second") if name not in stage.reads}
    defaults = type(stage).model_construct()
    for path, value in unread.items():
        default: Any = defaults
        for key in path.split("."):
            default = getattr(default, key)
        if value != default:
            yield f"{path} has no effect: objective.kind '{kind}' compares no two views; leave it out"
    for name in reads:
        if getattr(stage.views, name).kind != "none":
            yield f"views.{name}.kind has no effect: objective.kind '{kind}' reads the text unchanged; leave it out"


def _columns(stage: Stage) -> Iterator[str]:
    views = stage.views
    if len(views.first.columns) != len(views.second.columns):
        yield "views.first.column and views.second.column must name the same number of columns"
    if views.contrast == "by-column" and len(views.first.columns) == 1:
        yield "views.contrast 'by-column' tells several columns apart; views.first.column names one"
    if views.also and len(stage.columns) != 2:
        yield f"views.also adds pairs to pairs; this recipe reads {', '.join(stage.columns)}"


def _guide(stage: Stage) -> Iterator[str]:
    if stage.views.second.kind != "none" and not stage.guide.takes_view:
        yield (
            f"views.second.kind has no effect: guide.kind '{stage.guide.kind}' takes no view; give the function a "
            "keyword-only argument named view"
        )

    if stage.guide.needs_queue and not stage.queue.size:
        yield f"guide.kind '{stage.guide.kind}' is for the queue: set queue.size, or guide.kind = \"self\""


def _layers(stage: Stage) -> Iterator[str]:
    if stage.objective.layered != stage.guide.layered:
        yield (
            "objective.variant opt3 and guide.sampler 'all' of frozen layers belong together: "
            "the one compares with a vector per layer, the other gives them"
        )


def _negatives(stage: Stage) -> Iterator[str]:
    given = {"queue.size": stage.queue.size, "views.negative": stage.views.negative}
    for path, value in given.items():
        if value and not stage.objective.takes_negatives:
            yield f"{path} has no effect: objective.kind '{stage.objective.kind}' has no negatives; leave it out"


def _guided_negatives(stage: Stage) -> Iterator[str]:
    spec = stage.negatives
    for key in ("margin", "threshold"):
        if getattr(spec, key) is not None and spec.guided_by is None:
            yield f'negatives.{key} has no effect without negatives.guided_by: set that too, to "start" for example'
    if spec.guided_by is None:
        return
    if not stage.objective.can_leave_out:
        yield (
            f"negatives.guided_by has no effect: objective.kind '{stage.objective.kind}' can't leave out negatives; "
            "leave it out"
        )
    if spec.margin is None and spec.threshold is None:
        yield "negatives.guided_by needs to know what is too near: set negatives.margin, negatives.threshold, or both"
    others = stage.views.first.draw.other_rows or stage.views.second.draw.other_rows
    alike = stage.columns_of("first") == stage.columns_of("second") and not others
    if alike and spec.threshold is None and spec.margin is not None and spec.margin <= 0:
        yield (
            "negatives.margin leaves nothing out: both views read the same text, whose similarity to itself is 1; "
            "set negatives.threshold or a margin above 0"
        )


def _distillation(stage: Stage) -> Iterator[str]:
    if stage.distillation.needs_two_views and not stage.student_sees_both:
        yield (
            "distillation.consistency compares the student's vectors of two views, and here it encodes one: leave it "
            'out, or set guide.kind = "self" and an objective that compares two views'
        )


def _symmetry(stage: Stage) -> Iterator[str]:
    if not stage.views.symmetric:
        return
    if stage.guide.own_tokenizer:
        yield (
            f"views.symmetric also lets the guide read the student's text, and guide.kind '{stage.guide.kind}' has a "
            "tokenizer and a language of its own; leave it out"
        )
    heads = stage.heads
    alike = heads.predictor is None and (heads.projection is None or heads.guide == "student")
    if stage.guide.is_student and stage.objective.symmetric and alike:
        yield f"views.symmetric has no effect: objective.kind '{stage.objective.kind}' counts both directions already"


def _heads(stage: Stage) -> Iterator[str]:
    heads = stage.heads
    if heads.guide != "student" and heads.projection is None:
        yield f"heads.guide '{heads.guide}' is about the guide's projection; there is no heads.projection"
    if heads.guide == "momentum" and not stage.guide.follows:
        yield (
            "heads.guide 'momentum' follows the student's projection as a momentum guide follows the student; "
            f"guide.kind is '{stage.guide.kind}'"
        )
    if heads.projection is not None and heads.guide != "none" and stage.guide.own_tokenizer:
        yield (
            f"guide.kind '{stage.guide.kind}' is another encoder, whose vectors may have another width than the "
            "student's: set heads.guide = \"none\", so that heads.projection is on the student's side alone"
        )
    if not stage.training.drop_last and any(head.over_the_batch for head in heads.both):
        yield "a head with batch norm needs more than one sentence, and the last batch may have one: set drop_last"


def _labels(stage: Stage) -> Iterator[str]:
    """An adversarial view follows the gradient of the supervised loss of the very texts that it alters."""
    wanted = tuple(stage.supervision.texts.values())
    for name in stage.reads:
        view = getattr(stage.views, name)
        if not view.needs_labels:
            continue
        if not wanted:
            yield f"views.{name}.kind '{view.kind}' follows the gradient of a supervised loss: set supervision.kind"
        elif view.columns != wanted:
            yield f"views.{name}.kind '{view.kind}' needs views.{name}.column = {list(wanted)}, the labelled texts"
        elif name == "second" and stage.guide.own_tokenizer:
            yield (
                f"views.second.kind '{view.kind}' alters the student's own embeddings; "
                f"guide.kind '{stage.guide.kind}' has others"
            )


def _drawn(stage: Stage) -> Iterator[str]:
    """Text that is drawn anew must go with what the other view, the labels and the guide need."""
    views = {name: getattr(stage.views, name) for name in stage.reads}
    for name, view in views.items():
        if view.draw.fixed:
            continue
        other = getattr(stage.views, "second" if name == "first" else "first")
        if reason := view.draw.misfit(other.draw, other.columns == view.columns):
            yield f"views.{name}.{reason}"
        if view.needs_labels:
            yield f"views.{name}.kind '{view.kind}' needs the labelled texts unchanged: leave out views.{name}.draw"
    if stage.guide.constant and "second" in views and views["second"].draw.alters:
        yield "guide.cache keeps one vector of each text; views.second.draw would alter it each time: leave out one"


def _constant(stage: Stage) -> Iterator[str]:
    """Vectors that are looked up must be the same each time."""
    if not stage.guide.constant:
        return
    if stage.views.second.kind != "none":
        yield "guide.cache keeps one vector of each text; views.second.kind would alter it each time: leave out one"
    if len(stage.views.second.columns) > 1:
        yield "guide.cache keeps the vectors of one column; views.second.column names several"
    if getattr(stage.guide, "dropout", False):
        yield "guide.cache keeps one vector of each text; guide.dropout would draw a new one each time: leave out one"


def _gradient_cache(stage: Stage) -> Iterator[str]:
    if stage.training.gradient_cache is None:
        return
    by_vectors = stage.objective.reads and stage.objective.of_vectors
    if not (by_vectors or stage.distillation.models or stage.supervision.texts):
        yield (
            "training.gradient_cache has no effect: it is for sentence vectors, and objective.kind "
            f"'{stage.objective.kind}' makes none; leave it out"
        )
    if stage.training.gradient_checkpointing:
        yield "training.gradient_cache has every activation computed again already; leave out gradient_checkpointing"


def _matryoshka(stage: Stage) -> Iterator[str]:
    """What is cut must be the vectors that are saved, on both sides of the comparison."""
    dims, weights = stage.matryoshka.dims, stage.matryoshka.weights
    if weights and len(weights) != len(dims):
        yield f"matryoshka.weights must be as many as matryoshka.dims, {len(dims)}"
    if not dims:
        return
    if stage.heads.both:
        yield "matryoshka cuts the encoder's own vectors, and heads would stand between it and the loss: leave out one"
    if stage.guide.own_tokenizer:
        yield f"matryoshka cuts both sides' vectors, and guide.kind '{stage.guide.kind}' is an encoder not made for it"
    if stage.pooling.training != stage.pooling.evaluation:
        yield "matryoshka is for the vectors that are saved: set pooling.training and pooling.evaluation alike"
    if stage.fit is not None:
        yield "matryoshka orders the numbers of a vector, and a fit would mix them again: leave out one"


RULES = (
    _reads,
    _columns,
    _guide,
    _layers,
    _negatives,
    _guided_negatives,
    _distillation,
    _symmetry,
    _heads,
    _labels,
    _drawn,
    _constant,
    _gradient_cache,
    _matryoshka,
)
