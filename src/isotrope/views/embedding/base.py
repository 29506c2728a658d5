"""What the views at the embedding layer have in common (paper 2, section 3.2).

A view never touches the attention mask: what is zeroed is still attended to and still pooled. It acts on each sentence
by itself, packed or padded alike, and draws anew at every pass.

They act on what the first block gets, behind position, LayerNorm and dropout: e_i = T(x), of L x d, "will be encoded by
multi-layer transformer blocks" (section 3.1). At the word embeddings (`at`) what is zeroed would not stay zero. Where
the text of ConSERT and its published code differ, the difference is a field: `specials` (whether the first and last
token, [CLS] and [SEP], take part), `rounding` and so on. The defaults are the paper's; `variant = "official"` brings
those of the code. Where the text is silent, [CLS] and [SEP] are left alone, since they carry no word of the sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import torch
from pydantic import model_validator
from torch import Tensor

from isotrope.parts import Called, Spec
from isotrope.views.drawn import DRAWN, DrawnText
from isotrope.views.drawn.as_it_stands import AsItStands

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import EmbeddingView
    from isotrope.encoders.packing import Batch

Layer = Literal["word", "embeddings"]
LossOfVectors = Callable[[Tensor], Tensor]  # (sentences, dim) -> scalar


class View(Spec):
    """How a sentence is seen: which text, and what is done to its embeddings. The spec is the view itself."""

    column: str | tuple[str, ...] = "text"  # several columns: their sentences stand side by side in the batch
    draw: Annotated[DrawnText, DRAWN] = AsItStands()  # what of the text is read, anew at each batch
    needs_labels: ClassVar[bool] = False  # whether it follows the gradient of a supervised loss

    @property
    def columns(self) -> tuple[str, ...]:
        """The column or columns as a tuple."""
        return (self.column,) if isinstance(self.column, str) else self.column

    @property
    def places(self) -> tuple[Layer, ...]:
        """The layers whose output it alters."""
        return ("word",)

    def on(self, batch: Batch, student: Encoder, loss: LossOfVectors | None) -> EmbeddingView | None:
        """The view of one batch; None where the sentences are left as they are."""
        return self

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Position ids (rows, width), from `offset` on in each sentence."""
        return batch.position_ids + offset

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        """What the layer `at` gives, seen this way."""
        return self(embeddings, batch)

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """Embeddings (rows, width, dim) -> embeddings of the same shape."""
        raise NotImplementedError


class ConsertView(View):
    """One that both ConSERT's text and its published code have: `official` are the defaults of the latter."""

    variant: Literal["paper", "official"] = "paper"  # official: the defaults are those of the published code
    official: ClassVar[dict[str, Any]] = {}

    @model_validator(mode="before")
    @classmethod
    def _as_published(cls, values: Any) -> Any:
        if not isinstance(values, dict) or values.get("variant") != "official":
            return values
        return cls.official | {key: value for key, value in values.items() if value not in (None, "default")}


class AtLayer(View):
    """One that may act at the word embeddings, or behind position, LayerNorm and dropout."""

    at: Layer = "word"  # embeddings: behind position, LayerNorm and dropout

    @property
    def places(self) -> tuple[Layer, ...]:
        """The layer whose output it alters."""
        return (self.at,)


class ConsertLayerView(ConsertView, AtLayer):
    """One of those that act on the embedding matrix itself (Figure 3)."""

    at: Layer = "embeddings"  # word: before position, LayerNorm and dropout


class CalledView(Called, AtLayer):
    """A view of one's own: `def noise(embeddings, batch, *, std: float = 0.1)`."""

    def __call__(self, embeddings: Tensor, batch: Batch) -> Tensor:
        """What the function makes of the embeddings."""
        seen: Tensor = type(self).thing(embeddings, batch, **self.chosen)
        return seen


def zero(embeddings: Tensor, batch: Batch, cut: Tensor) -> Tensor:
    """Embeddings (rows, width, dim) with 0 where `cut`, (tokens, dim) or (tokens, 1), says so. Padding stays."""
    rows, width, _ = embeddings.shape
    laid_out = cut.new_zeros(rows * width, cut.shape[1])
    laid_out[batch.token_index] = cut
    return embeddings.masked_fill(laid_out.view(rows, width, -1), 0)


def zero_tokens(embeddings: Tensor, batch: Batch, tokens: Tensor) -> Tensor:
    """Embeddings with whole tokens at 0, given by their index among the tokens of the batch."""
    cut = torch.zeros(batch.token_index.numel(), 1, dtype=torch.bool, device=tokens.device)
    cut[tokens] = True
    return zero(embeddings, batch, cut)
