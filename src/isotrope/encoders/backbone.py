"""The pre-trained transformer: token ids in, every layer's token vectors out, packed where that is exact."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol

import torch
from torch import Tensor, nn

from isotrope.encoders.half import faster_half
from isotrope.encoders.packing import Batch, lay_out
from isotrope.encoders.pieces import take
from isotrope.io.errors import IsotropeError

log = logging.getLogger(__name__)

MARGINS = (0, 1)  # of padding: MobileBERT sees one place beyond the last token
PROBE_TOLERANCE = 1e-4  # relative to the largest vector component; a leak between sentences is orders above it


Layer = Literal["word", "embeddings"]  # the word embeddings, or what is behind position, LayerNorm and dropout


class EmbeddingView(Protocol):
    """How a sentence is seen differently at the embedding layer; `isotrope.views.embedding` has those of the papers.

    One with an attribute `whole` that is true must see the whole batch at once.
    """

    @property
    def places(self) -> tuple[Layer, ...]:
        """The layers whose output it alters."""

    def positions(self, batch: Batch, offset: int) -> Tensor:
        """Position ids (rows, width) as the model counts them: the first token of a sentence is at `offset`."""

    def alter(self, embeddings: Tensor, batch: Batch, at: Layer) -> Tensor:
        """What the layer `at` gives, (rows, width, dim) -> the same shape."""


class Backbone(nn.Module):
    """Any Hugging Face encoder. Knows whether it may be packed, and where its position ids begin."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model: Any = model
        self.config: Any = model.config
        self.layers: int = self.config.num_hidden_layers
        self.dim: int = self.config.hidden_size
        self.precision = torch.float32  # of the computation; the weights and what comes out are as they are
        self.position_offset, self.packs = 0, False
        self.margin: int | None = None  # of padding that a row keeps if it is cut; None: rows stay as wide as they are
        self._probe()

    @property
    def dtype(self) -> torch.dtype:
        """Floating-point type of the weights."""
        return next(self.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def compute_in(self, precision: torch.dtype) -> None:
        """From now on; the weights stay as they are."""
        self.precision = precision

    def forward(self, batch: Batch, view: EmbeddingView | None = None) -> Tensor:
        """The last layer, (rows, width, dim)."""
        with self._seen_through(view, batch), self._narrowed(), self.computing():
            hidden: Tensor = self.model(**self.inputs(batch, view)).last_hidden_state
        return self._computed(hidden)

    def hidden_states(self, batch: Batch, view: EmbeddingView | None = None) -> tuple[Tensor, ...]:
        """Layer 0 (the embeddings), 1, ... `layers`, each (rows, width, dim)."""
        with self._seen_through(view, batch), self._narrowed(), self.computing():
            inputs = self.inputs(batch, view)
            states: tuple[Tensor, ...] = self.model(**inputs, output_hidden_states=True).hidden_states
        return tuple(map(self._computed, states))

    def causal(self, batch: Batch, vectors: Tensor) -> Tensor:
        """The last layer, (rows, width, dim), where a token sees those of its sentence up to itself.

        `vectors` (sentences, width of the word embeddings) are added to the embeddings of each sentence's words.
        """
        words = self.model.get_input_embeddings()(batch.input_ids)
        added = vectors[batch.sentence.clamp(min=0)] * (batch.sentence >= 0)[..., None]
        column = torch.arange(batch.input_ids.shape[1], device=words.device)
        hidden_from = batch.sentence[:, None, :, None] != batch.sentence[:, None, None, :]
        hidden_from = hidden_from | (column[:, None] < column)
        mask = torch.zeros(hidden_from.shape, dtype=self.dtype, device=words.device)
        mask.masked_fill_(hidden_from, torch.finfo(self.dtype).min)
        positions = batch.position_ids + self.position_offset
        with self.computing():
            found = self.model(inputs_embeds=words + added, attention_mask=mask, position_ids=positions)
        return self._computed(found.last_hidden_state)

    @torch.no_grad()
    def takes_causal_mask(self) -> bool:
        """Whether `causal` works: what comes later in a sentence must change nothing that comes before."""
        was_training = self.model.training
        self.model.eval()
        batch = self._made_up(pack=self.packs)
        ends = batch.token_index[batch.lengths.cumsum(0) - 1]
        other = batch.input_ids.flatten().clone()
        other[ends] = other[ends - 1]
        vectors = torch.zeros(len(batch.lengths), self.model.get_input_embeddings().embedding_dim, device=other.device)
        try:
            one = self.causal(batch, vectors)
            moved = self.causal(replace(batch, input_ids=other.view_as(batch.input_ids)), vectors) - one
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            log.debug("%s takes no causal mask: %s", type(self.model).__name__, error)
            return False
        finally:
            self.model.train(was_training)
        distance = moved.abs().amax(-1).flatten()[batch.token_index]
        last = torch.isin(batch.token_index, ends)
        return bool(distance[last].min() > 0) and bool(distance[~last].max() <= PROBE_TOLERANCE * one.abs().max())

    def below(self, layer: int) -> list[nn.Parameter]:
        """The parameters that hidden state `layer` depends on: embeddings and the layers up to it.

        Gradients decide, not names: so it holds for every architecture, and for weights that several layers share.
        """
        model, was_training = self.model, self.model.training
        learning = {parameter: parameter.requires_grad for parameter in model.parameters()}
        model.eval().requires_grad_(True)
        with torch.enable_grad():
            state = self.hidden_states(self._made_up(pack=False))[layer]
            gradients = torch.autograd.grad(state.sum(), list(learning), allow_unused=True)
        model.train(was_training)
        for parameter, learns in learning.items():
            parameter.requires_grad_(learns)
        return [one for one, gradient in zip(learning, gradients, strict=True) if gradient is not None]

    def inputs(self, batch: Batch, view: EmbeddingView | None = None) -> dict[str, Tensor]:
        """What the transformer is called with."""
        inputs = {"input_ids": batch.input_ids, "attention_mask": batch.attention_mask(self.dtype)}
        if view is not None:
            inputs["position_ids"] = view.positions(batch, self.position_offset)
        elif batch.packed:
            inputs["position_ids"] = batch.position_ids + self.position_offset
        return inputs

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Autocast to `precision`; nothing where that is float32, so that a training loop's autocast holds."""
        if self.precision == torch.float32:
            yield
            return
        with torch.autocast(self.device.type, dtype=self.precision), faster_half(self.precision, self.device):
            yield

    @contextmanager
    def _narrowed(self) -> Iterator[None]:
        """In bfloat16, embeddings too: autocast leaves them as they are, and so all sums and norms that follow."""
        embeddings = getattr(self.model, "embeddings", None)
        if self.precision != torch.bfloat16 or embeddings is None:
            yield
            return
        hook = embeddings.register_forward_hook(_in_bfloat16)
        try:
            yield
        finally:
            hook.remove()

    def _computed(self, hidden: Tensor) -> Tensor:
        """Back in the type of the weights: what follows is little work, and keeps its digits."""
        return hidden if self.precision == torch.float32 else hidden.to(self.dtype)

    @contextmanager
    def _seen_through(self, view: EmbeddingView | None, batch: Batch) -> Iterator[None]:
        if view is None:
            yield
            return
        layers = {"word": self.model.get_input_embeddings(), "embeddings": getattr(self.model, "embeddings", None)}
        hooks = []
        try:
            for at in view.places:
                if layers[at] is None:
                    raise IsotropeError(f"{type(self.model).__name__} has no embedding layer that a view could act on")
                hooks.append(layers[at].register_forward_hook(partial(_alter, view, batch, at)))
            yield
        finally:
            for hook in hooks:
                hook.remove()

    @torch.no_grad()
    def _probe(self) -> None:
        """Packs three short made-up sentences and compares with padding: numbers decide, not the model's name.

        RoBERTa and its kin count positions from behind a padding id; each beginning is tried. What sees beyond its
        own sentence (MobileBERT's trigrams) or takes no position ids or 4-D mask is padded from then on; where its
        positions begin is found out all the same, since a view gives them, and how much padding a row must keep where
        short rows go through it by themselves.
        """
        was_training = self.model.training
        self.model.eval()
        padded, packed = self._made_up(pack=False), self._made_up(pack=True)
        wanted = padded.flatten(self(padded))
        padding_ids = {getattr(module, "padding_idx", None) for module in self.model.modules()}
        offsets = (0, *(found + 1 for found in padding_ids if isinstance(found, int)))
        fitting = next((offset for offset in offsets if self._gives(wanted, packed, offset)), None)
        self.packs = fitting is not None
        if fitting is None:
            log.debug("%s can't be packed exactly; its batches are padded", type(self.model).__name__)
            fitting = next((offset for offset in offsets if self._gives(wanted, padded, offset)), 0)
            self.margin = next((margin for margin in MARGINS if self._cuts(wanted, padded, margin)), None)
        self.position_offset = fitting
        self.model.train(was_training)

    def _made_up(self, *, pack: bool) -> Batch:
        """Three short sentences of no meaning."""
        pad = self.config.pad_token_id or 0
        ids = torch.arange(3, 3 + 60) % (self.config.vocab_size - pad - 1) + pad + 1
        sentences = [piece.tolist() for piece in ids.split([27, 14, 19])]
        return lay_out(sentences, pad, pack=pack).to(next(self.model.parameters()).device)

    def _gives(self, wanted: Tensor, batch: Batch, offset: int) -> bool:
        """Whether the batch comes out as wanted, (tokens, dim), with positions that are counted from `offset`."""
        positions = {"position_ids": batch.position_ids + offset}
        try:
            found = batch.flatten(self.model(**self.inputs(batch) | positions).last_hidden_state)
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            log.debug("probe with position offset %d: %s", offset, error)
            return False
        return bool((found - wanted).abs().max() <= PROBE_TOLERANCE * wanted.abs().max())

    def _cuts(self, wanted: Tensor, batch: Batch, margin: int) -> bool:
        """Whether rows come out as wanted, (tokens, dim), if each is cut behind its last token and so much padding."""
        rows = torch.split(torch.arange(len(batch.input_ids), device=batch.input_ids.device), 1)
        pieces = [take(batch, row, margin).batch for row in rows]
        try:
            found = torch.cat([piece.flatten(self.model(**self.inputs(piece)).last_hidden_state) for piece in pieces])
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            log.debug("probe with rows cut behind %d: %s", margin, error)
            return False
        return bool((found - wanted).abs().max() <= PROBE_TOLERANCE * wanted.abs().max())


def _in_bfloat16(module: nn.Module, inputs: Any, output: Any) -> Any:
    return output.bfloat16() if isinstance(output, Tensor) else output


def _alter(view: EmbeddingView, batch: Batch, at: Layer, module: nn.Module, inputs: Any, output: Tensor) -> Tensor:
    width = batch.input_ids.shape[1]
    if output.shape[1] == width:
        return view.alter(output, batch, at)
    # the model widened the batch by itself: Longformer does, to whole windows
    return torch.cat([view.alter(output[:, :width], batch, at), output[:, width:]], dim=1)
