"""Masked language modelling, BERT's own objective, on the text at hand: the baseline BERT-mlm of paper 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional

from isotrope.objectives.base import Weighted

if TYPE_CHECKING:
    from isotrope.encoders import Encoder
    from isotrope.encoders.backbone import Backbone
    from isotrope.encoders.packing import Batch

IGNORED = -100


class MaskedLanguageModel(Weighted):
    """`masked` is the share of tokens that are asked for."""

    kind: Literal["mlm"] = "mlm"
    masked: float = Field(default=0.15, gt=0, lt=1)
    reads: ClassVar[tuple[str, ...]] = ("first",)
    compares: ClassVar[bool] = False
    of_vectors: ClassVar[bool] = False
    label: ClassVar[str] = "mlm"

    def state(self, student: Encoder) -> nn.Module:
        """The student's checkpoint as a masked LM."""
        return masked_lm_head(student)

    def prepare(self, item: dict[str, Any], tokenizer: Any, generator: torch.Generator) -> dict[str, Any]:
        """Masks the text, and adds what is asked for as `targets`."""
        batch = item["first"]
        shown, targets = Masker(tokenizer, self.masked)(batch.input_ids, generator)
        batch.input_ids.copy_(shown)
        return {**item, "targets": targets}

    def learn(self, learner: Any, item: dict[str, Any]) -> Tensor:
        """Cross-entropy over the masked tokens."""
        return masked_lm_loss(learner.objective_state, learner.student.backbone, item["first"], item["targets"])


class Masker:
    """Selects a share of the tokens; of those 80% become [MASK], 10% another token, 10% stay (Devlin et al., 2019)."""

    def __init__(self, tokenizer: Any, share: float = 0.2) -> None:
        self.share, self.mask_id, self.vocabulary = share, tokenizer.mask_token_id, len(tokenizer)
        self.special = torch.tensor(sorted(tokenizer.all_special_ids))

    def __call__(self, input_ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Token ids (rows, width) -> ids to show, and targets with -100 wherever nothing is asked."""
        ordinary = ~torch.isin(input_ids, self.special)
        draw = torch.rand(input_ids.shape, generator=generator).where(ordinary, 1.0)
        selected = ordinary & (draw <= max(self.share, float(draw.min())))  # one at least: of none there is no mean
        kind = torch.rand(input_ids.shape, generator=generator)
        other = torch.randint(self.vocabulary, input_ids.shape, generator=generator)
        shown = input_ids.where(~(selected & (kind < 0.8)), self.mask_id)
        shown = shown.where(~(selected & (kind >= 0.9)), other)
        return shown, input_ids.where(selected, IGNORED)


def masked_lm_head(student: Encoder) -> nn.Module:
    """The student's checkpoint as a masked LM whose body is the student itself: its output layer goes on learning."""
    from transformers import AutoModelForMaskedLM

    from isotrope.encoders.loading import model_folder
    from isotrope.encoders.quiet import quiet_transformers

    with quiet_transformers():
        model: Any = AutoModelForMaskedLM.from_pretrained(
            model_folder(student.name), dtype=torch.float32, use_safetensors=True, local_files_only=True
        )
    setattr(model, model.base_model_prefix, student.backbone.model)
    model.tie_weights()
    head: nn.Module = model
    return head


def masked_lm_loss(model: Any, backbone: Backbone, batch: Batch, targets: Tensor) -> Tensor:
    """Cross-entropy over the masked tokens, for any architecture; of the others no output is computed."""
    asked = targets != IGNORED  # (rows, width)

    def only_asked(module: nn.Module, inputs: Any, output: Any) -> Any:
        output.last_hidden_state = output.last_hidden_state[asked][None]  # (1, masked, dim), as one row
        return output

    hook = model.base_model.register_forward_hook(only_asked)
    try:
        logits = model(**backbone.inputs(batch)).logits[0]  # (masked, vocabulary)
    finally:
        hook.remove()
    return functional.cross_entropy(logits.float(), targets[asked])
