"""Attention and dropout in bfloat16 on a processor: torch's own take longer than the products they stand between.

Where products are twice to four times as fast, what torch's dropout draws, 6.5 ns a number, is a tenth of a step.
Within `FasterHalf` a mask takes 16 bits a number from SFC64, under a seed that torch's generator gives: so a
checkpoint's random state holds all there is to hold. Masks are not those of torch: hence not for float32, whose figures
are known.

torch's attention without dropout never writes its weights down. That saves memory; in rows as short as ours it takes
four to seven times as long, there and back (docs/benchmarks.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

BITS = 16  # of a random number: rates are right to 1 in 65,536
WIDEST = 256  # row whose attention is written down where nothing is dropped: beyond it, torch's is as fast and smaller


def faster_half(precision: torch.dtype, device: torch.device) -> AbstractContextManager[Any]:
    """Around the way forward; nothing unless it computes in bfloat16 on a processor.

    Not where activations are computed again on the way back: torch has modes off there, and would draw other masks.
    """
    return FasterHalf() if precision == torch.bfloat16 and device.type == "cpu" else nullcontext()


class FasterHalf(TorchFunctionMode):
    """Within, attention and the dropout of vectors in bfloat16 on a processor are ours; all else is torch's."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Ours, unless it says that this is not for it."""
        ours = OURS.get(function)
        found = NotImplemented if ours is None else ours(*args, **kwargs or {})
        return function(*args, **kwargs or {}) if found is NotImplemented else found


def dropout(vectors: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """`functional.dropout`."""
    if not (training and 0 < p < 1 and _is_ours(vectors)) or inplace:
        return NotImplemented
    return vectors * kept(vectors.shape, p, vectors.dtype)


def attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0, **further: Any
) -> Any:
    """`functional.scaled_dot_product_attention`; (rows, heads, width, dim) each.

    torch does all of it in float32 where attention is dropped out; here only what stands between the two products.
    """
    scale = further.pop("scale", None) or query.shape[-1] ** -0.5
    short = key.shape[-2] <= WIDEST or dropout_p > 0
    if not (0 <= dropout_p < 1 and short and _is_ours(query)) or any(further.values()):
        return NotImplemented
    mask = _added(attn_mask)
    with torch.autocast("cpu", enabled=False):
        logits = query @ key.mT  # (rows, heads, width, width)
        weights = torch.add(mask, logits, alpha=scale).softmax(-1).to(query.dtype)
        return (weights * kept(weights.shape, dropout_p, weights.dtype) if dropout_p else weights) @ value


def _added(mask: Tensor | None) -> Tensor:
    """What is added to the logits: 0 where a mask is true, next to nothing elsewhere; an additive one as it is."""
    if mask is None:
        return torch.zeros(())
    return torch.where(mask, 0.0, torch.finfo(torch.float32).min) if mask.dtype == torch.bool else mask.float()


def kept(shape: Sequence[int], p: float, dtype: torch.dtype) -> Tensor:
    """0 with probability p, else 1 / (1 - p); of a type of two bytes."""
    count = math.prod(shape)
    seed = int(torch.randint(2**63 - 1, ()))
    drawn = np.random.SFC64(seed).random_raw(-(-count * BITS // 64)).view(np.int16)[:count]
    left = torch.tensor(1 / (1 - p), dtype=dtype)
    mask = (drawn >= round(p * 2**BITS) - 2 ** (BITS - 1)) * left.view(torch.int16).numpy()  # which has no bfloat16
    return torch.from_numpy(mask).view(dtype).view(*shape)


def _is_ours(tensor: Tensor) -> bool:
    return tensor.dtype == torch.bfloat16 and tensor.device.type == "cpu"


OURS: dict[Any, Callable[..., Any]] = {
    functional.dropout: dropout,
    functional.scaled_dot_product_attention: attention,
}
