"""TSDAE (Wang et al. 2021): a damaged sentence is encoded to one vector, from which a decoder restores the whole."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from isotrope.objectives.base import Weighted

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.packing import Batch

log = logging.getLogger(__name__)


class Tsdae(Weighted):
    """The student encodes `views.first`, whose `draw` is the damage; what is restored is `views.second`.

        loss = - mean over all tokens of log p(x_t | x_1 ... x_t-1, v)      v: the student's vector (equation 1)

    `decoder` "tied": the encoder's own layers, under a causal mask; a number: so many layers of torch's decoder.
    """

    kind: Literal["tsdae"] = "tsdae"
    decoder: Literal["tied"] | Annotated[int, Field(ge=1)] = "tied"
    label: ClassVar[str] = "restored"
    compares: ClassVar[bool] = False

    def state(self, student: Encoder) -> nn.Module:
        """The decoder."""
        if self.decoder != "tied":
            return OwnDecoder(student, self.decoder)
        if student.backbone.takes_causal_mask():
            return TiedDecoder(student)
        log.warning("this encoder's layers take no causal mask: the decoder has one layer of its own")
        return OwnDecoder(student, 1)

    def learn(self, learner: Any, item: dict[str, Any]) -> Tensor:
        """Cross-entropy of the next token, over all tokens but the first of each sentence."""
        vectors = learner.student(item["first"])
        logits, wanted = learner.objective_state(learner.student, vectors, item["second"])
        return functional.cross_entropy(logits.float(), wanted)


class Decoder(nn.Module):
    """Next tokens from those before and the sentence's vector. It reads and writes by the encoder's word embeddings."""

    def __init__(self, student: Encoder, width: int) -> None:
        """`width` is that of the vectors which it turns into words."""
        super().__init__()
        words: nn.Embedding = student.backbone.model.get_input_embeddings()
        self.bridge = nn.Linear(student.dim, words.embedding_dim)
        self.head = nn.Sequential(nn.Linear(width, words.embedding_dim), nn.GELU(), nn.LayerNorm(words.embedding_dim))
        self.bias = nn.Parameter(torch.zeros(words.num_embeddings))

    def forward(self, student: Encoder, vectors: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """Logits (tokens, vocabulary) and the tokens that are wanted (tokens,), sentence behind sentence."""
        hidden = self.hidden(student, self.bridge(vectors), batch)  # (all tokens, width)
        first = batch.lengths.cumsum(0) - batch.lengths
        asks = torch.ones(len(hidden), dtype=torch.bool, device=hidden.device)
        asks[first + batch.lengths - 1] = False  # behind the last token comes nothing
        wanted = batch.input_ids.flatten()[batch.token_index].roll(-1)[asks]
        weight = student.backbone.model.get_input_embeddings().weight
        return functional.linear(self.head(hidden[asks]), weight, self.bias), wanted

    def hidden(self, student: Encoder, vectors: Tensor, batch: Batch) -> Tensor:
        """(tokens, width): each has seen the tokens up to itself, and the vector of its sentence."""
        raise NotImplementedError


class TiedDecoder(Decoder):
    """The encoder's own layers, weights and all, under a causal mask.

    Attention to a single vector has one key, whose weight is always 1: whatever asks, cross-attention adds the same
    linear function of the vector to every token. So it is added once, to the word embeddings, and no layer has to be
    altered: any encoder that takes a causal mask will do.
    """

    def __init__(self, student: Encoder) -> None:
        super().__init__(student, student.backbone.dim)

    def hidden(self, student: Encoder, vectors: Tensor, batch: Batch) -> Tensor:
        """By the student's layers."""
        return batch.flatten(student.backbone.causal(batch, vectors))


class OwnDecoder(Decoder):
    """Layers of torch's transformer decoder, for encoders that take no causal mask, or where a weak decoder is wanted:
    the less it can guess by itself, the more the vector has to say.
    """

    def __init__(self, student: Encoder, layers: int) -> None:
        words: nn.Embedding = student.backbone.model.get_input_embeddings()
        width, config = words.embedding_dim, student.backbone.config
        super().__init__(student, width)
        heads = getattr(config, "num_attention_heads", 1)
        layer = nn.TransformerDecoderLayer(
            width,
            heads if width % heads == 0 else 1,
            4 * width,
            dropout=getattr(config, "hidden_dropout_prob", 0.1),
            activation="gelu",
            batch_first=True,
        )
        self.layers = nn.TransformerDecoder(layer, layers)
        self.scale = words.weight.std().item()

    def hidden(self, student: Encoder, vectors: Tensor, batch: Batch) -> Tensor:
        """By its own layers, sentence by sentence."""
        embeddings = student.backbone.model.get_input_embeddings()(batch.input_ids)
        positions = self.scale * sinusoids(batch.position_ids, embeddings.shape[-1])
        tokens, mask = batch.unpack(embeddings + positions.to(embeddings.dtype))
        length = tokens.shape[1]
        later = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        hidden = self.layers(tokens, vectors[:, None], tgt_mask=later, tgt_is_causal=True)
        found: Tensor = hidden[mask.bool()]
        return found


def sinusoids(positions: Tensor, width: int) -> Tensor:
    """Positions (...) as waves of `width` lengths, (..., width): of any number, and none has to be learnt."""
    rates = torch.exp(torch.arange(0, width, 2, device=positions.device) * (-math.log(10_000) / width))
    angles = positions[..., None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[..., :width]
