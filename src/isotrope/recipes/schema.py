"""What a recipe may say: views x guide x objective, and numbers. TOML in, checked objects out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

POOLINGS = ("cls", "cls-mlp", "mean", "max", "last2", "first-last")
RATED = ("token-cutoff", "feature-cutoff", "span-cutoff", "dropout")  # the views that take a share of something away


def _pooling(name: str) -> str:
    mode, at, layer = name.partition("@")
    if mode not in POOLINGS or (at and not layer.isdecimal()):
        raise ValueError(f"one of {', '.join(POOLINGS)}, each also at a layer, as in mean@2")
    return name


PoolingName = Annotated[str, AfterValidator(_pooling)]


class Section(BaseModel):
    """A part of a recipe. Keys that it does not have are errors; nothing changes after it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _back_to_default(cls, values: Any) -> Any:
        """TOML has no null: a key is unset again, by a variant or a setting, with the word "default"."""
        if not isinstance(values, dict):
            return values
        unset = {key for key, value in values.items() if key in cls.model_fields and value in (None, "default")}
        return {key: value for key, value in values.items() if key not in unset}


class View(Section):
    """How one of the two sees a sentence: which text, and what is done to its embeddings."""

    column: str | tuple[str, ...] = "text"  # several columns: their sentences stand side by side in the batch
    kind: Literal["none", "shuffle", "token-cutoff", "feature-cutoff", "span-cutoff", "dropout", "adversarial"] = "none"
    rate: float | None = Field(default=None, ge=0, lt=1)  # None: the kind's own
    fields: dict[str, Any] = Field(default_factory=dict)  # further fields of the view (at, specials, rescale ...)
    variant: Literal["paper", "official"] = "paper"

    @model_validator(mode="after")
    def _has_a_rate(self) -> View:
        if self.rate is not None and self.kind not in RATED:
            raise ValueError(f"kind '{self.kind}' has no rate; leave it out, or write rate = \"default\"")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The column or columns as a tuple."""
        return (self.column,) if isinstance(self.column, str) else self.column


class Wording(Section):
    """A column made of `text`, as `isotrope views` makes it. None: the kind's own."""

    kind: Literal["back-translation", "synonyms", "mlm"]
    rate: float | None = Field(default=None, gt=0, lt=1)  # share of words or tokens, for `synonyms` and `mlm`
    model: str | None = None  # name or folder, for `mlm` and for the engine `transformers`
    wordnet: str | None = None  # folder, for `synonyms`
    seed: int = 1
    # back-translation
    pivot: str | None = None
    engine: Literal["auto", "bergamot", "apertium", "transformers"] | None = None
    source: str | None = None
    beam: int | None = Field(default=None, ge=1)
    sampling: bool | None = None
    temperature: float | None = Field(default=None, gt=0)
    max_length: int | None = Field(default=None, ge=4)

    @property
    def fields(self) -> dict[str, Any]:
        """Those that were chosen."""
        return self.model_dump(exclude={"kind"}, exclude_none=True)


class Views(Section):
    """`first` is what the student sees, `second` what the guide sees."""

    first: View = View()
    second: View = View()
    negative: str | None = None  # column of hard negatives
    symmetric: bool = False  # also the other way round, and the mean of both
    contrast: Literal["together", "by-column"] = "together"  # of several columns: each by itself, and their mean
    texts: dict[str, Wording] = Field(default_factory=dict)  # columns that are made of `text` where they are not there
    also: tuple[tuple[str, str], ...] = ()  # columns of further pairs, read where the text has them and they differ


class Guide(Section):
    """Who the student learns from."""

    kind: Literal["self", "frozen-layers", "momentum", "teacher", "dual"] = "self"
    # frozen-layers
    pooling: Literal["max", "mean", "cls"] = "max"
    layers: tuple[int, ...] | None = None  # None: all, the embeddings included
    sampler: Literal["all", "uniform", "weighted", "last-k"] = "all"  # all: one vector a layer
    weights: tuple[float, ...] | None = None  # of the layers, for `weighted`
    k: int | None = Field(default=None, ge=1)  # for `last-k`
    # momentum
    momentum: float = Field(default=0.999, ge=0, le=1)
    schedule: Literal["constant", "cosine"] = "constant"  # cosine: rises to 1 (BYOL)
    buffers: bool = True  # averaged too, or left as they were
    # teacher, dual
    model: str | None = None  # name or folder, or `previous`: the stage before made it; may also come with the call
    model_pooling: PoolingName | None = None  # None: as the model was saved; a bare transformer needs to be told
    queue: int = Field(default=0, ge=0)
    cache: bool = False  # vectors of a frozen teacher are kept on disk
    # frozen-layers, momentum, teacher
    dropout: bool = False  # the published codes leave it on


class Objective(Section):
    """What pulls and pushes."""

    kind: Literal["none", "nt-xent", "self-guided", "bootstrap", "info-nce", "mlm"] = "nt-xent"
    variant: Literal["opt1", "opt2", "opt2-official", "opt3"] = "opt3"  # of self-guided
    temperature: float = Field(default=0.05, gt=0)
    learnable_temperature: bool = False
    weight: float = 1.0
    anchor: float = Field(default=0.0, ge=0)  # lambda of paper 1
    masked: float = Field(default=0.15, gt=0, lt=1)  # of mlm


class PoolingChoice(Section):
    """`training` is pooled while learning, `evaluation` is what is saved and measured."""

    training: PoolingName = "cls"
    evaluation: PoolingName = "cls"


class Projection(Section):
    """f of paper 1, on both sides: `layers` linear layers, each followed by GELU; `ratio` x the encoder's width."""

    ratio: float = Field(default=16 / 3, gt=0)
    layers: int = Field(default=2, ge=1)


class Predictor(Section):
    """p of paper 3, on the student's side: `blocks` MLPs of 3 linear layers, `ratio` x the encoder's width inside."""

    ratio: float = Field(default=8, gt=0)
    blocks: int = Field(default=1, ge=1)
    norm: Literal["inner", "first"] = "inner"  # batch norm behind both inner layers, or behind the first only


class Heads(Section):
    """Networks behind the pooling that are dropped after training."""

    projection: Projection | None = None
    predictor: Predictor | None = None


class Supervision(Section):
    """Labelled pairs beside, before or instead of the raw text: cross-entropy of the NLI label (paper 2, SBERT)."""

    kind: Literal["none", "nli"] = "none"
    weight: float = 1.0
    maximum: bool = False  # max(u, v)^2 as a further feature, as the published scripts have it


class Training(Section):
    """Numbers of the optimiser, the schedule, and how the run is watched."""

    batch_size: int = Field(default=64, ge=2)
    optimiser: Literal["adamw", "adam", "adamw-uncorrected"] = "adamw"  # adam: weight decay is part of the gradient
    learning_rate: float = Field(default=3e-5, gt=0)
    epochs: float = Field(default=1, gt=0)
    steps: int | None = Field(default=None, ge=1)  # overrides epochs
    warmup: float = Field(default=0.1, ge=0, le=1)  # share of the steps
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: float = Field(default=0.01, ge=0)
    betas: tuple[float, float] = (0.9, 0.999)
    epsilon: float = Field(default=1e-8, gt=0)
    clip: float = Field(default=1.0, ge=0)
    dropout: float | None = Field(default=None, ge=0, lt=1)  # None: the encoder's own; 0 takes it out
    max_length: int | None = Field(default=None, ge=4)
    freeze_embeddings: bool = False
    drop_last: bool = True
    eval_steps: int = Field(default=50, ge=1)
    save_steps: int = Field(default=50, ge=1)
    patience: int | None = Field(default=None, ge=1)  # evaluations without a new best after which the run stops
    patience_counts: Literal["no-new-best", "drops"] = "no-new-best"  # drops: falls below the score before, of all time
    selection: Literal["cosine", "best-of-four"] = "cosine"  # the similarity by which a development score is taken
    keep: Literal["best", "last"] = "best"
    gradient_accumulation: int = Field(default=1, ge=1)
    gradient_checkpointing: bool = False
    precision: Literal["float32", "bfloat16", "float16"] = "float32"
    report_to: tuple[str, ...] = ()
    seed: int = 1


class Stage(Section):
    """One run of the engine."""

    start: str = "previous"  # the encoder of the stage before (or of the call); `model`: of the call; or name or folder
    views: Views = Views()
    guide: Guide = Guide()
    objective: Objective = Objective()
    pooling: PoolingChoice = PoolingChoice()
    heads: Heads = Heads()
    supervision: Supervision = Supervision()
    training: Training = Training()

    @model_validator(mode="after")
    def _fit_together(self) -> Stage:
        """Combinations that mean nothing are refused here, in words."""
        layers = self.guide.kind == "frozen-layers" and self.guide.sampler == "all"
        opt3 = self.objective.kind == "self-guided" and self.objective.variant == "opt3"
        if layers != opt3:
            raise ValueError(
                "objective.variant opt3 and guide.sampler 'all' of frozen layers belong together: "
                "the one compares with a vector per layer, the other gives them"
            )
        if self.guide.queue and self.objective.kind != "info-nce":
            raise ValueError("guide.queue is read by objective.kind 'info-nce' only")
        if self.views.negative and self.objective.kind != "info-nce":
            raise ValueError("views.negative is read by objective.kind 'info-nce' only")
        if len(self.views.first.columns) != len(self.views.second.columns):
            raise ValueError("views.first.column and views.second.column must name equally many columns")
        if self.views.contrast == "by-column" and len(self.views.first.columns) == 1:
            raise ValueError("views.contrast 'by-column' tells several columns apart; views.first.column names one")
        if self.views.also and len(self.columns) != 2:
            raise ValueError(f"views.also adds pairs to pairs; this recipe reads {', '.join(self.columns)}")
        if self.objective.kind == "none" and self.supervision.kind == "none":
            raise ValueError("nothing to learn: objective.kind and supervision.kind are both 'none'")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a corpus must have."""
        wanted: list[str] = []
        if self.objective.kind != "none":
            wanted += [*self.views.first.columns, *self.views.second.columns]
            wanted += [self.views.negative] if self.views.negative else []
        if self.supervision.kind == "nli":
            wanted += ["sentence1", "sentence2", "label"]
        return tuple(dict.fromkeys(wanted))


class Recipe(Section):
    """A published setting: its stages, one after the other, each from the encoder that the one before made."""

    name: str
    variant: str = "paper"
    paper: str = ""
    section: str = ""
    table: str = ""
    about: str = ""
    stages: tuple[Stage, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _teachers_come_first(self) -> Recipe:
        if self.stages[0].guide.model == "previous":
            raise ValueError("guide.model 'previous' in the first stage: no stage before it made a model")
        return self
