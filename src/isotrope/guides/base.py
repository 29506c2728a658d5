"""What every guide has in common."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor, nn

from isotrope.parts import Called, Spec
from isotrope.views.embedding.beside import Seen, in_one_pass

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import Backbone, EmbeddingView
    from isotrope.encoders.packing import Batch

LoadTeacher = Callable[[str | None, str | None], "Encoder"]  # of a model's name and pooling


class GuideSpec(Spec):
    """What a recipe says about who the student learns from."""

    is_student: ClassVar[bool] = False  # both views are encoded by the same weights
    own_tokenizer: ClassVar[bool] = False  # it reads its text in its own way
    follows: ClassVar[bool] = False  # it moves towards the student after each step
    needs_queue: ClassVar[bool] = False  # without a queue it would be another guide

    @property
    def layered(self) -> bool:
        """Whether it gives a vector of every layer, (sentences, layers, dim)."""
        return False

    @property
    def takes_view(self) -> bool:
        """Whether it shows its text through `views.second`."""
        return True

    @property
    def constant(self) -> bool:
        """Whether its vectors are looked up instead of computed: the second text must then be the same each time."""
        return False

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """The guide of a student that has not been trained yet."""
        raise NotImplementedError


class Guide(nn.Module, ABC):
    """Encodes what the student is compared with. All that it remembers is in buffers, so a checkpoint holds it.

    `frozen` are the modules that must not learn; `keep_frozen` puts them back into eval mode whenever somebody has
    called `train()`, unless `dropout` is wanted, as the published codes of papers 1 and 3 have it by accident.
    """

    def __init__(self, dim: int, *, dropout: bool = False) -> None:
        super().__init__()
        self.dim = dim  # of its vectors
        self.dropout = dropout

    @abstractmethod
    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim), or (sentences, layers, dim) from a guide that shows every layer."""

    @property
    def reader(self) -> Encoder | None:
        """The encoder whose tokenizer reads the guide's text; None where it is the student's."""
        return None

    @property
    def origin(self) -> Backbone | None:
        """The student's backbone as it was before training, where the guide keeps it."""
        return None

    @property
    def frozen(self) -> tuple[nn.Module, ...]:
        """Parts that never learn."""
        return ()

    def keep_frozen(self) -> None:
        """Frozen parts take no gradient and, unless told otherwise, draw no dropout."""
        for part in self.frozen:
            part.requires_grad_(False)
            part.train(self.dropout and self.training)

    def encode(self, student: Encoder, mine: Sequence[Seen], theirs: Sequence[Seen]) -> tuple[list[Tensor], ...]:
        """The student's vectors of `mine`, and the guide's of `theirs`: one pass through either."""
        own = in_one_pass(student, mine)
        return own, in_one_pass(lambda batch, view: self(batch, student, view), theirs) if theirs else []

    def queued(self, first: Batch) -> Tensor | None:
        """What the queue takes of the first view's text, (sentences, dim); None: it takes the keys of the second."""
        return None

    def follow(self, copied: nn.Module, original: nn.Module, progress: float) -> None:
        """Moves a copy towards what it was copied from, as the guide itself moves towards the student."""
        raise NotImplementedError

    def after_step(self, student: Encoder, progress: float) -> None:
        """Called after each step of the optimiser; `progress` is the share of the run that is done."""


class CalledGuide(Called, GuideSpec):
    """A guide of one's own: a `Guide` class, called with the student, or a function of batch and student.

    A function that is to encode through `views.second` has a keyword-only argument `view`.
    """

    given: ClassVar[tuple[str, ...]] = ("view",)

    @property
    def takes_view(self) -> bool:
        """A class always does."""
        thing = type(self).thing
        return isinstance(thing, type) or "view" in inspect.signature(thing).parameters

    def build(self, student: Encoder, load: LoadTeacher) -> Guide:
        """An object of the class, or the function behind the face of a guide."""
        thing = type(self).thing
        if isinstance(thing, type):
            made: Guide = thing(student, **self.chosen)
            return made
        return _Function(student.dim, thing, self.chosen, takes_view=self.takes_view)


class _Function(Guide):
    """`def guide(batch, student, *, ...) -> Tensor`."""

    def __init__(self, dim: int, function: Callable[..., Tensor], chosen: dict[str, Any], *, takes_view: bool) -> None:
        super().__init__(dim)
        self.function, self.chosen, self.takes_view = function, chosen, takes_view

    def forward(self, batch: Batch, student: Encoder, view: EmbeddingView | None = None) -> Tensor:
        seen = {"view": view} if self.takes_view else {}
        return self.function(batch, student, **seen, **self.chosen)
