"""The encoder: sentences in, vectors out."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import Pooling as TokenPooling
from sentence_transformers.util import quantize_embeddings
from torch import Tensor, nn

from isotrope.encoders.backbone import Backbone, EmbeddingView
from isotrope.encoders.long_texts import beginning
from isotrope.encoders.packing import Batch, lay_out
from isotrope.encoders.pieces import in_pieces
from isotrope.encoders.pooling import OWN, Pooling, mix
from isotrope.encoders.precision import dtype_of
from isotrope.encoders.similarity import Similarities
from isotrope.encoders.streaming import packs, stream, token_budget
from isotrope.io.errors import IsotropeError
from isotrope.io.progress import progress


class Encoder(Similarities, nn.Module):
    """A backbone, its tokenizer, a pooling, and what comes behind it (dense layers, normalisation).

    `transformer` is the sentence-transformers module that holds model and tokenizer; `after_pooling` are the modules
    that follow the pooling. Both are saved as they are, which is what makes a saved encoder load without isotrope.
    """

    def __init__(
        self,
        transformer: nn.Module,
        pooling: Pooling | None = None,
        after_pooling: Iterable[nn.Module] = (),
        *,
        name: str = "",
        prompts: dict[str, str] | None = None,
        default_prompt_name: str | None = None,
        backbone: Backbone | None = None,
    ) -> None:
        """`backbone` is the transformer's own unless one is given that computes in another way."""
        super().__init__()
        self._held: tuple[Any, ...] = (transformer,)  # not as a submodule: its weights are the backbone's
        self.backbone = backbone or Backbone(self.transformer.model)
        self.after_pooling = nn.ModuleList(after_pooling)
        self.name = name
        self.prompts = dict(prompts or {})
        self.default_prompt_name = default_prompt_name
        self.packing = self.backbone.packs
        self.truncated = 0  # sentences cut at `max_seq_length` so far
        self.pooling = (pooling or Pooling()).resolve(self.backbone.layers)
        self._reduce = TokenPooling(self.backbone.dim, self.pooling.reduction)

    @property
    def transformer(self) -> Any:
        """The sentence-transformers module with model and tokenizer."""
        return self._held[0]

    @property
    def tokenizer(self) -> Any:
        """The Hugging Face tokenizer."""
        return self.transformer.tokenizer

    @property
    def max_seq_length(self) -> int:
        """Tokens of a sentence that are read, specials included; the rest is cut off."""
        return min(int(self.tokenizer.model_max_length), 2**31 - 1)

    @max_seq_length.setter
    def max_seq_length(self, tokens: int) -> None:
        self.tokenizer.model_max_length = tokens

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.backbone.device

    @property
    def matryoshka_dimensions(self) -> tuple[int, ...]:
        """Lengths that its vectors were trained to be cut to, the longest first; none where that was not done."""
        return tuple(getattr(self.backbone.config, "matryoshka_dimensions", None) or ())

    @matryoshka_dimensions.setter
    def matryoshka_dimensions(self, lengths: tuple[int, ...]) -> None:
        if lengths or self.matryoshka_dimensions:
            self.backbone.config.matryoshka_dimensions = list(lengths)  # which is saved with the weights

    @property
    def precision(self) -> str:
        """What the backbone computes in: `float32`, `bfloat16` or `float16`. Weights and vectors are float32."""
        return str(self.backbone.precision).removeprefix("torch.")

    @precision.setter
    def precision(self, name: str) -> None:
        self.backbone.compute_in(dtype_of(name))

    @property
    def dim(self) -> int:
        """Length of a sentence vector."""
        for module in reversed(self.after_pooling):
            if hasattr(module, "get_embedding_dimension"):
                return int(cast(Any, module).get_embedding_dimension())
        return int(self._reduce.get_embedding_dimension())

    @property
    def default_prompt(self) -> str:
        """What is put before each sentence unless `encode` is told otherwise."""
        return self.prompts.get(self.default_prompt_name or "", "")

    def with_pooling(self, pooling: Pooling | str) -> Encoder:
        """The same weights (shared, not copied) under a pooling. What stands behind another one is left out, except
        normalisation, which does not depend on it. `own` changes nothing.
        """
        from isotrope.encoders.after_pooling import cls_mlp, is_normalize

        if pooling == OWN:
            return self.with_after_pooling(self.after_pooling)
        pooling = Pooling.parse(pooling) if isinstance(pooling, str) else pooling
        if pooling.resolve(self.backbone.layers) == self.pooling:
            return self.with_after_pooling(self.after_pooling)
        head = [cls_mlp(self.backbone)] if pooling.mode == "cls-mlp" else []
        other = self.with_after_pooling([*head, *(module for module in self.after_pooling if is_normalize(module))])
        other.pooling = pooling.resolve(self.backbone.layers)
        other._reduce = TokenPooling(self.backbone.dim, pooling.reduction)
        return other

    def with_after_pooling(self, modules: Iterable[nn.Module]) -> Encoder:
        """The same weights (shared, not copied) with other modules behind the pooling."""
        other = copy.copy(self)
        other._modules = dict(self._modules)
        other.after_pooling = nn.ModuleList(modules)
        return other

    def copied(self) -> Encoder:
        """With weights of its own; the tokenizer, which is slow to copy, is shared."""
        return copy.deepcopy(self, {id(self.tokenizer): self.tokenizer})

    # -- sentences to vectors, one batch ------------------------------------------------------------------------------

    def tokenize(self, sentences: Sequence[str], max_length: int | None = None) -> list[list[int]]:
        """Token ids of each sentence, specials included, cut at `max_length` or else `max_seq_length`."""
        longest = min(max_length or self.max_seq_length, self.max_seq_length)
        texts = [beginning(self.tokenizer, text, longest) for text in sentences]
        encoded = self.tokenizer(texts, truncation=True, max_length=longest, return_attention_mask=False)
        self.truncated += sum(bool(one.overflowing) for one in encoded.encodings or ())
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def too_long(self, sentences: Sequence[str], max_length: int | None = None) -> list[bool]:
        """Of each sentence, whether `tokenize` would cut it."""
        longest = min(max_length or self.max_seq_length, self.max_seq_length)
        texts = [beginning(self.tokenizer, text, longest) for text in sentences]
        encoded = self.tokenizer(texts, truncation=False, return_attention_mask=False, verbose=False)
        return [len(ids) > longest for ids in encoded["input_ids"]]

    def batch(self, sentences: Sequence[str]) -> Batch:
        """Sentences -> one batch, packed if this encoder packs, on its device."""
        return self.lay_out(self.tokenize(sentences)).to(self.device)

    def batches(self, sentences: Sequence[str], batch_size: int) -> Iterator[tuple[list[int], Batch]]:
        """Batches of sentences of like length, the longest first, and which of the sentences are in each.

        As many tokens as `batch_size` sentences of moderate length have: fewer long ones, more short ones.
        """
        ids = self.tokenize(sentences)
        for some in packs([len(one) for one in ids], token_budget(batch_size, self.device, self.precision)):
            yield some, self.lay_out([ids[i] for i in some]).to(self.device)

    def lay_out(self, token_ids: Sequence[Sequence[int]], *, coarse: bool = False) -> Batch:
        """Token ids -> one batch, packed if this encoder packs; see `packing.lay_out`."""
        return lay_out(token_ids, self.tokenizer.pad_token_id or 0, pack=self.packing, coarse=coarse)

    def forward(self, batch: Batch, view: EmbeddingView | None = None) -> Tensor:
        """(sentences, dim); `view` alters the embeddings on the way."""
        return in_pieces(lambda some, seen: self.pool(some, self.token_vectors(some, seen)), batch, view, self.backbone)

    def token_vectors(self, batch: Batch, view: EmbeddingView | None = None) -> Tensor:
        """What is pooled: the last layer, or the mean of those that the pooling names. (rows, width, dim)."""
        layers = self.pooling.mixed_layers(self.backbone.layers)
        if layers == (self.backbone.layers,):
            hidden: Tensor = self.backbone(batch, view)
            return hidden
        return mix(self.backbone.hidden_states(batch, view), layers)

    def pool(self, batch: Batch, hidden: Tensor) -> Tensor:
        """Token vectors (rows, width, dim) -> sentence vectors (sentences, dim), tail included."""
        tokens, mask = batch.unpack(hidden)
        return self.finish_pooled(self._reduce({"token_embeddings": tokens, "attention_mask": mask}))

    def finish_pooled(self, features: dict[str, Tensor]) -> Tensor:
        """Pooled vectors, `sentence_embedding` (sentences, width) -> (sentences, dim), through the tail."""
        for module in self.after_pooling:
            features = module(features)
        return features["sentence_embedding"]

    # -- any number of sentences to vectors ---------------------------------------------------------------------------

    def encode(
        self,
        sentences: str | Iterable[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool = False,
        output_value: Literal["sentence_embedding", "token_embeddings"] = "sentence_embedding",
        precision: Literal["float32", "int8", "uint8", "binary", "ubinary"] = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | torch.device | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
    ) -> Any:
        """Vectors of the sentences, in their order; names and meaning of the arguments as in sentence-transformers.

        Returns a float32 array (sentences, dim); a tensor with `convert_to_tensor`; a list of tensors with neither;
        one vector for one string. With `output_value="token_embeddings"`: a list of (tokens, dim).
        """
        if device is not None:
            self.to(device)
        if precision != "float32" and output_value != "sentence_embedding":
            raise IsotropeError(f"precision '{precision}' is for sentence vectors; token vectors are float32")
        single = isinstance(sentences, str)
        texts: Iterable[str] = [sentences] if isinstance(sentences, str) else sentences
        options: dict[str, Any] = {
            "batch_size": batch_size,
            "prompt": self._prompt(prompt_name, prompt),
            "normalize_embeddings": normalize_embeddings,
            "truncate_dim": truncate_dim,
        }
        texts = progress(texts, "Encoding", shown=show_progress_bar)
        if output_value == "token_embeddings":
            found = [vectors for chunk in stream(self, texts, tokens=True, **options) for vectors in chunk]
            return found[0] if single else found
        chunks = [torch.stack(chunk) for chunk in stream(self, texts, **options)]
        vectors = torch.cat(chunks) if chunks else torch.empty(0, truncate_dim or self.dim)
        if precision != "float32":
            vectors = torch.from_numpy(quantize_embeddings(vectors.numpy(), precision))
        if convert_to_tensor:
            vectors = vectors.to(self.device)
            return vectors[0] if single else vectors
        if convert_to_numpy:
            return vectors[0].numpy() if single else vectors.numpy()
        return vectors[0] if single else list(vectors)

    def encode_stream(
        self,
        sentences: Iterable[str],
        *,
        batch_size: int = 32,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
    ) -> Iterator[np.ndarray[Any, np.dtype[np.float32]]]:
        """Vectors in order, in arrays of some thousand rows: constant memory, however many sentences come."""
        chosen = self._prompt(prompt_name, prompt)
        for chunk in stream(self, sentences, batch_size, chosen, normalize_embeddings, truncate_dim):
            yield torch.stack(chunk).numpy()

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        if prompt is not None:
            return prompt
        name = name or self.default_prompt_name
        if name is None:
            return ""
        if name not in self.prompts:
            known = ", ".join(self.prompts) or "none"
            raise IsotropeError(f"this encoder has no prompt named '{name}'; it has: {known}")
        return self.prompts[name]

    def save(self, folder: str | Path, *, card: str | None = None, force: bool = False) -> Path:
        """Writes a plain sentence-transformers folder with a model card; see `encoders/saving.py`."""
        from isotrope.encoders.saving import save

        return save(self, folder, card=card, force=force)
