"""What a baseline is, and how it is named."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, TypeAlias

from isotrope.encoders import Encoder, ForeignEncoder, load
from isotrope.encoders.pooling import Pooling
from isotrope.io.errors import IsotropeError
from isotrope.parts import Called, Registry, Spec

Made: TypeAlias = Encoder | ForeignEncoder


class BaselineSpec(Spec):
    """What may be said about a baseline. `title` is for its card; `text` says whether it is fitted on sentences."""

    title: ClassVar[str] = ""
    text: ClassVar[Literal["needed", "optional", "unused"]] = "needed"

    @abstractmethod
    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Made:
        """The encoder, fitted on the sentences; None where none were given."""


class OnEncoder(BaselineSpec):
    """A baseline on top of an encoder: a name, a folder, an `Encoder` or a `SentenceTransformer`."""

    model: Any = "bundled"
    device: str | None = None
    precision: Literal["float32", "bfloat16", "float16"] | None = None

    def encoder(self, pooling: str | Pooling | None = None) -> Encoder:
        """The encoder that it stands on."""
        return load(self.model, pooling=pooling, device=self.device, precision=self.precision)


class ImportedBaseline(OnEncoder, Called):
    """A user's function `(encoder, text, *, settings) -> encoder`; `text` is a list of sentences, empty if none are."""

    text: ClassVar[Literal["needed", "optional", "unused"]] = "optional"
    pooling: str | None = None  # None: the encoder's own

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> Made:
        """What the function returns, which must be an encoder."""
        made = self.thing(self.encoder(self.pooling), list(text or ()), **self.chosen)
        if not isinstance(made, Encoder | ForeignEncoder):
            raise IsotropeError(f"baseline '{self.kind}' must return an encoder, not a {type(made).__name__}")
        return made


BASELINES = Registry("baselines", "isotrope.baselines", BaselineSpec, called=ImportedBaseline)  # type: ignore[type-abstract]
