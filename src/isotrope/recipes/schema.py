"""What a recipe may say: views x guide x objective, and numbers. TOML in, checked objects out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from isotrope.encoders.frozen import FrozenModel
from isotrope.encoders.pooling import PoolingName
from isotrope.fits import FITS, FitSpec
from isotrope.guides import GUIDES, GuideSpec
from isotrope.guides.itself import ItselfSpec
from isotrope.heads.queue import Queue
from isotrope.heads.tower import Heads
from isotrope.objectives import OBJECTIVES, Objective
from isotrope.objectives.distillation import DISTILLATION, Distillation
from isotrope.objectives.distillation.nothing import NoDistillation
from isotrope.objectives.matryoshka import Matryoshka
from isotrope.objectives.negatives import Negatives
from isotrope.objectives.nt_xent import NTXent
from isotrope.objectives.supervision import SUPERVISION, Supervision
from isotrope.objectives.supervision.nothing import Unsupervised
from isotrope.parts import Section, Seed
from isotrope.recipes.checks import check_stage
from isotrope.views.embedding import VIEWS, View
from isotrope.views.embedding.unchanged import Unchanged
from isotrope.views.text import TEXT_VIEWS, TextViewSpec

Words = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]

Beta = Annotated[float, Field(ge=0, lt=1)]


class Views(Section):
    """`first` is what the student sees, `second` what the guide sees."""

    first: Annotated[View, VIEWS] = Unchanged()
    second: Annotated[View, VIEWS] = Unchanged()
    negative: str | None = None  # column of hard negatives
    symmetric: bool = False  # also the other way round, and the mean of both
    contrast: Literal["together", "by-column"] = "together"  # of several columns: each by itself, and their mean
    texts: dict[str, Annotated[TextViewSpec, TEXT_VIEWS]] = Field(default_factory=dict)  # columns made of `text`
    also: tuple[tuple[str, str], ...] = ()  # columns of further pairs, read where the text has them and they differ


class PoolingChoice(Section):
    """`training` is pooled while learning, `evaluation` is what is saved and measured; `own`: as the encoder has it.

    `keep_mlp`: the MLP of `cls-mlp`, which `evaluation` does without, is where that of the next stage begins.
    """

    training: PoolingName = "cls"
    evaluation: PoolingName = "cls"
    keep_mlp: bool = False

    @model_validator(mode="after")
    def _something_to_keep(self) -> PoolingChoice:
        if self.keep_mlp and (self.training != "cls-mlp" or self.evaluation == "cls-mlp"):
            raise ValueError("keep_mlp has no effect: it is for training 'cls-mlp' with an evaluation without the MLP")
        return self


class Training(Section):
    """Numbers of the optimiser, the schedule, and how the run is watched."""

    batch_size: int = Field(default=64, ge=2)
    batch_per_device: bool = False  # batch_size is that of each process, not of all together
    optimiser: Literal["adamw", "adam", "adamw-uncorrected"] = "adamw"  # adam: weight decay is part of the gradient
    learning_rate: float = Field(default=3e-5, gt=0)
    epochs: float = Field(default=1, gt=0)
    steps: int | None = Field(default=None, ge=1)  # overrides epochs
    warmup: float = Field(default=0.1, ge=0, le=1)  # share of the steps
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: float = Field(default=0.01, ge=0)
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    epsilon: float = Field(default=1e-8, gt=0)
    clip: float = Field(default=1.0, ge=0)
    dropout: float | None = Field(default=None, ge=0, lt=1)  # None: the encoder's own; 0 takes it out
    max_length: int | None = Field(default=None, ge=4)
    freeze_embeddings: bool = False
    layers: int | None = Field(default=None, ge=1)  # only the last so many learn, and what is behind; None: all
    keep_start: float = Field(default=0.0, ge=0, lt=1)  # share of the starting weights in what is measured and saved
    drop_last: bool = True
    few_shot: int | None = Field(default=None, ge=1)  # only so many rows, repeated to the size of the whole text
    eval_steps: int = Field(default=50, ge=1)
    eval_epochs: bool = False  # at the end of each epoch too
    save_steps: int = Field(default=50, ge=1)
    patience: int | None = Field(default=None, ge=1)  # evaluations without a new best after which the run stops
    patience_counts: Literal["no-new-best", "drops"] = "no-new-best"  # drops: falls below the score before, of all time
    selection: Literal["cosine", "best-of-four"] = "cosine"  # the similarity by which a development score is taken
    keep: Literal["best", "last"] = "best"
    keep_checkpoints: bool = False  # and what else only a resumed run needs, when the run is done and its encoder saved
    gradient_accumulation: int = Field(default=1, ge=1)
    gradient_checkpointing: bool = False
    gradient_cache: int | None = Field(default=None, ge=1)  # sentences whose activations are kept at a time; None: all
    precision: Literal["float32", "bfloat16", "float16", "auto"] = "float32"  # auto: bfloat16 where that changes little
    report_to: Words = ()  # trackers, such as tensorboard
    seed: Seed = 1


class Stage(Section):
    """One run of the loop, and what is fitted on the same text behind it; either may be missing."""

    start: str = "previous"  # the encoder of the stage before (or of the call); `model`: of the call; or name or folder
    views: Views = Views()
    guide: Annotated[GuideSpec, GUIDES] = ItselfSpec()
    queue: Queue = Queue()
    negatives: Negatives = Negatives()
    objective: Annotated[Objective, OBJECTIVES] = NTXent()
    matryoshka: Matryoshka = Matryoshka()
    pooling: PoolingChoice = PoolingChoice()
    heads: Heads = Heads()
    supervision: Annotated[Supervision, SUPERVISION] = Unsupervised()
    distillation: Annotated[Distillation, DISTILLATION] = NoDistillation()
    training: Training = Training()
    fit: Annotated[FitSpec, FITS] | None = None

    @model_validator(mode="after")
    def _fit_together(self) -> Stage:
        check_stage(self)
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a corpus must have."""
        labels = [self.supervision.labels] if self.supervision.labels else []
        return tuple(dict.fromkeys([*self._texts(self.reads), *labels])) or ("text",)

    @property
    def made_columns(self) -> tuple[str, ...]:
        """Those that are made of the column `text` where a corpus lacks them."""
        return tuple(column for column in self.columns if column in self.views.texts)

    @property
    def student_columns(self) -> tuple[str, ...]:
        """Those whose text the student's tokenizer reads: a guide with one of its own reads the second view."""
        sides = [side for side in self.reads if not (side == "second" and self.guide.own_tokenizer)]
        return tuple(dict.fromkeys(self._texts(sides))) or ("text",)

    def _texts(self, sides: Iterable[str]) -> list[str]:
        """The columns of these views, of hard negatives and of labelled texts."""
        views = [column for side in (*sides, "negative") for column in self.columns_of(side)]
        return [*views, *self.supervision.texts.values()]

    @property
    def learns(self) -> bool:
        """Whether anything is learnt by gradient."""
        return bool(self.reads or self.supervision.texts)

    def columns_of(self, side: str) -> tuple[str, ...]:
        """Where the texts of `first`, `second` or `negative` stand."""
        negative = (self.views.negative,) if self.views.negative else ()
        return {"first": self.views.first.columns, "second": self.views.second.columns, "negative": negative}[side]

    @property
    def takes_documents(self) -> bool:
        """Whether a view draws its text from parts of whole documents."""
        views = {"first": self.views.first, "second": self.views.second}
        return any(views[side].draw.of_documents for side in self.objective.reads)

    @property
    def reads(self) -> tuple[str, ...]:
        """The views whose text is read: those of the objective, and the first for teachers."""
        return tuple(dict.fromkeys([*self.objective.reads, *(("first",) if self.distillation.models else ())]))

    @property
    def compares(self) -> bool:
        """Whether two views are encoded and compared."""
        return self.objective.compares

    @property
    def student_sees_both(self) -> bool:
        """Whether the student itself encodes both views."""
        return self.compares and self.guide.is_student

    @property
    def frozen(self) -> tuple[tuple[FrozenModel, str], ...]:
        """Frozen encoders, and the sides (`first`, `second`, `negative`) of which their vectors are read."""
        guides = (FrozenModel(self.negatives.guided_by),) if self.negatives.guided_by else ()
        sides = ("first", "second", "negative") if self.views.negative else ("first", "second")
        both = self.distillation.reads_second and self.student_sees_both
        found = [(guide, side) for guide in guides for side in sides]
        found += [(one, side) for one in self.distillation.models for side in (sides[:2] if both else sides[:1])]
        return tuple(dict.fromkeys(found))


class Recipe(Section):
    """A published setting: its stages, one after the other, each from the encoder that the one before made."""

    name: str
    variant: str = "paper"
    paper: str = ""
    section: str = ""
    table: str = ""
    about: str = ""
    stages: tuple[Stage, ...] = Field(min_length=1)

    @property
    def full_name(self) -> str:
        """`name:variant`."""
        return f"{self.name}:{self.variant}"

    @model_validator(mode="after")
    def _hands_on_what_is_read(self) -> Recipe:
        for number, stage in enumerate(self.stages):
            after = self.stages[number + 1 : number + 2]
            if stage.pooling.keep_mlp and not (after and after[0].pooling.training == "cls-mlp"):
                raise ValueError("pooling.keep_mlp has no effect: no stage with pooling.training 'cls-mlp' follows")
        return self

    @model_validator(mode="after")
    def _teachers_come_first(self) -> Recipe:
        if getattr(self.stages[0].guide, "model", None) == "previous":
            raise ValueError("guide.model 'previous' in the first stage: no stage before it made a model")
        return self
