"""Substitutes by a masked language model (paper 3, section 4.4): some tokens masked, and guessed from what is around.

The paper doesn't say whether a guess is drawn or is the likeliest. The last example of its Table 11, in which every
token came back, speaks for the likeliest: that is what is taken here. A guess may well be the token that was there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal

import torch
from pydantic import Field
from torch import Tensor

from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import lay_out
from isotrope.encoders.precision import dtype_of
from isotrope.encoders.quiet import quiet_transformers
from isotrope.io.errors import IsotropeError
from isotrope.io.hashes import hasher
from isotrope.parts import PathText
from isotrope.views.text.base import TextViewSpec, draws

CLOSE = 1e-3  # two logits that the arithmetic of a batch might swap; the difference it makes is below 1e-4
CLOSE_IN_HALF = 0.5  # the same in half precision, where it is below 0.1
MARKERS = ("##", "Ġ", "▁")  # by which tokenizers tell what goes on within a word from what begins one


@dataclass(frozen=True)
class Masked:
    """A sentence some of whose tokens are masked."""

    text: str
    token_ids: list[int]  # specials included
    places: list[int]  # of the masked tokens among them
    originals: list[int]  # the ids that were there
    spans: list[tuple[int, int]]  # where these stand in the text


class MaskedSpec(TextViewSpec):
    """Some tokens replaced by what a masked language model finds likeliest there."""

    kind: str = "mlm"
    rate: float = Field(default=0.2, gt=0, le=1)  # share of the tokens
    model: PathText = "bundled"  # name or folder of a masked language model
    seed: int = 1
    batch_size: int = Field(default=64, ge=1)  # changes the speed only
    device: str | None = None
    precision: Literal["float32", "bfloat16", "float16"] | None = None

    def make(self) -> MaskedSubstitutes:
        """The model is loaded when it is first needed."""
        return MaskedSubstitutes(self)


class MaskedSubstitutes:
    """The likeliest tokens in place of a share of a sentence's tokens: `rate` of them, rounded, and at least one.

    What is not masked stays letter by letter, and capitals stay where the model knows none. A word is replaced by a
    word, a number by a number, a mark by a mark, and a piece within a word by such a piece: what is put in fits there.
    Specials are neither masked nor put in. Of a text longer than the model reads, the rest stays as it is.
    """

    def __init__(self, spec: MaskedSpec) -> None:
        self.spec, self.rate, self.seed, self.batch_size = spec, spec.rate, spec.seed, spec.batch_size

    @property
    def parameters(self) -> dict[str, Any]:
        """Rate, seed, model and its weights."""
        about = {"kind": "mlm", "rate": self.rate, "seed": self.seed, "model": self.spec.model}
        half = {"precision": self.spec.precision} if self.spec.precision not in (None, "float32") else {}
        return {**about, "weights": self.model.fingerprint, **half}

    @cached_property
    def model(self) -> MaskedModel:
        """Loaded when it is first asked for."""
        return MaskedModel(self.spec.model, device=self.spec.device, precision=self.spec.precision)

    def __call__(self, sentences: Sequence[str]) -> list[str]:
        """Each sentence with other tokens in it; the same sentence where none can be masked."""
        views = list(sentences)
        masked = {i: one for i, text in enumerate(sentences) if (one := self._mask(text)).places}
        numbers = list(masked)
        for start in range(0, len(numbers), self.batch_size):
            some = numbers[start : start + self.batch_size]
            for i, guesses in zip(some, self._guesses([masked[i] for i in some]), strict=True):
                views[i] = self._splice(masked[i], guesses)
        return views

    def _mask(self, text: str) -> Masked:
        token_ids, spans = self.model.tokenize(text)
        free = [i for i, span in enumerate(spans) if span]
        chosen = sorted(draws(text, self.seed).sample(free, max(1, round(self.rate * len(free))) if free else 0))
        originals = [token_ids[i] for i in chosen]
        for i in chosen:
            token_ids[i] = self.model.mask_id
        return Masked(text, token_ids, chosen, originals, [span for i in chosen if (span := spans[i])])

    def _guesses(self, batch: list[Masked]) -> list[list[int]]:
        """For each sentence the ids that are likeliest, whatever else is in the batch: what is close to call, and might
        be decided by the order of additions, is decided by the sentence alone.
        """
        close = CLOSE if self.model.dtype is torch.float32 else CLOSE_IN_HALF
        guesses, margins = self.model.best(batch)
        for i, one in enumerate(batch):
            if min(margins[i]) < close:
                ((guesses[i],), _) = self.model.best([one])
        return guesses

    def _splice(self, masked: Masked, guesses: list[int]) -> str:
        parts, done = [], 0
        for (start, end), original, guess in zip(masked.spans, masked.originals, guesses, strict=True):
            if guess != original and start >= done:
                piece = self.model.surfaces[guess]
                old = masked.text[start:end]
                parts += [masked.text[done:start], piece if self.model.cased else _capitals_of(old, piece, start == 0)]
                done = end
        return "".join([*parts, masked.text[done:]])


class MaskedModel:
    """A masked language model, its tokenizer, and what each token of the vocabulary may be replaced by."""

    def __init__(self, name: str, *, device: str | None = None, precision: str | None = None) -> None:
        from isotrope.encoders.devices import default_device

        self.model, self.tokenizer = _load(name)
        self.fingerprint = _digest(self.model)
        self.backbone = Backbone(self.model.base_model)
        self.device = torch.device(device or default_device())
        self.dtype = dtype_of(precision or "float32")
        self.model.to(self.device, self.dtype).eval()
        self.mask_id: int = self.tokenizer.mask_token_id
        positions = getattr(self.model.config, "max_position_embeddings", 512) - self.backbone.position_offset
        self.max_length = min(self.tokenizer.model_max_length, positions)
        tokens = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        self.surfaces = [self._surface(token) for token in tokens]
        kinds = list(map(_kind, tokens, self.surfaces))
        for special in self.tokenizer.all_special_ids:
            kinds[special] = None
        self.free = {token for token, kind in enumerate(kinds) if kind}  # may be masked, and put in
        self.cased = any(self.surfaces[token] != self.surfaces[token].lower() for token in self.free)
        number = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
        self.kinds = torch.tensor([number[kind] for kind in kinds], device=self.device)  # (vocabulary,)

    def tokenize(self, text: str) -> tuple[list[int], list[tuple[int, int] | None]]:
        """Ids, specials included, and where each token stands in the text: None for what is never masked."""
        encoded = self.tokenizer(text, truncation=True, max_length=self.max_length, return_offsets_mapping=True)
        ids: list[int] = encoded["input_ids"]
        spans: list[tuple[int, int] | None] = []
        for token, (start, end) in zip(ids, encoded["offset_mapping"], strict=True):
            start = end - len(text[start:end].lstrip())  # some tokenizers count the space before a word to it
            spans.append((start, end) if start < end and token in self.free else None)
        return ids, spans

    @torch.inference_mode()
    def best(self, sentences: Sequence[Masked]) -> tuple[list[list[int]], list[list[float]]]:
        """For each masked token of each sentence the likeliest of its kind, and how far its logit is ahead."""
        counts = [len(one.places) for one in sentences]
        originals = torch.tensor([token for one in sentences for token in one.originals], device=self.device)
        logits = self._logits(sentences)[:, : len(self.kinds)]  # (masked, vocabulary)
        logits.masked_fill_(self.kinds != self.kinds[originals][:, None], -torch.inf)
        first, second = logits.topk(2).values.T
        guesses, margins = iter(logits.argmax(1).tolist()), iter((first - second).tolist())
        return [list(islice(guesses, n)) for n in counts], [list(islice(margins, n)) for n in counts]

    def _logits(self, sentences: Sequence[Masked]) -> Tensor:
        """The output layer at the masked places alone: everywhere it would cost more than the rest of the model."""
        ids = [one.token_ids for one in sentences]
        batch = lay_out(ids, self.tokenizer.pad_token_id, pack=self.backbone.packs).to(self.device)
        begins = (batch.lengths.cumsum(0) - batch.lengths).tolist()
        tokens = [begin + place for begin, one in zip(begins, sentences, strict=True) for place in one.places]
        where = batch.token_index[torch.tensor(tokens, device=self.device)]
        hook = self.model.get_output_embeddings().register_forward_pre_hook(
            lambda module, inputs: (inputs[0].flatten(0, 1)[where],)
        )
        try:
            logits: Tensor = self.model(**self.backbone.inputs(batch)).logits.float()
        finally:
            hook.remove()
        return logits

    def _surface(self, token: str) -> str:
        """How a token is written in a text."""
        if token.startswith("##"):
            return token[2:]
        written: str = self.tokenizer.convert_tokens_to_string([token])
        return written.strip()


def _load(name: str) -> tuple[Any, Any]:
    from transformers import AutoModelForMaskedLM, AutoTokenizer  # slow to import

    from isotrope.encoders.loading import model_folder
    from isotrope.encoders.opening import check_sums, refuse_pickles

    path = model_folder(name)
    try:
        check_sums(path)
        refuse_pickles(path, "AutoModelForMaskedLM")
        with quiet_transformers():
            tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
            model, info = AutoModelForMaskedLM.from_pretrained(
                path, dtype=torch.float32, output_loading_info=True, use_safetensors=True, local_files_only=True
            )
    except IsotropeError as error:
        raise IsotropeError(f"'{name}' can't be used as a masked language model: {error}") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise IsotropeError(f"'{name}' could not be loaded as a masked language model: {reason}") from error
    if info["missing_keys"] or tokenizer.mask_token_id is None or not tokenizer.is_fast:
        raise IsotropeError(
            f"'{name}' is not a masked language model: its output layer or its mask token is missing; "
            "use one that was only pre-trained, such as bundled or FacebookAI/roberta-base"
        )
    return model, tokenizer


def _digest(model: Any) -> str:
    """Of the weights, as they were saved."""
    digest = hasher(8)
    for weight in model.parameters():
        digest.update(weight.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def _kind(token: str, surface: str) -> tuple[str, str] | None:
    """Tokens of one kind can stand in for each other; None is for what is no text by itself."""
    if not surface or "\N{REPLACEMENT CHARACTER}" in surface:
        return None
    marker = next((marker for marker in MARKERS if token.startswith(marker)), "")
    return marker, "word" if surface.isalpha() else "number" if surface.isdigit() else "mark"


def _capitals_of(old: str, new: str, first: bool) -> str:
    """The new piece with the old one's capitals. A single capital letter inside a text is the word I, not a name."""
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() and (first or len(old) > 1) else new
