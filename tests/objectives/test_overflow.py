"""Half precision and low temperatures: losses and gradients stay numbers, whatever the vectors are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from isotrope.objectives.bootstrap import bootstrap
from isotrope.objectives.distillation.listmle import listmle
from isotrope.objectives.distillation.listnet import listnet
from isotrope.objectives.distillation.ranking import ranking_consistency
from isotrope.objectives.distillation.similarities import similarity_error
from isotrope.objectives.info_nce import info_nce
from isotrope.objectives.negatives import left_out
from isotrope.objectives.nt_xent import nt_xent
from isotrope.objectives.self_guided import VARIANTS, self_guided
from isotrope.objectives.similarity import cosine

Loss = Callable[[Tensor, Tensor, float, Tensor], Tensor]  # of two sides, a temperature and a queue


def guided(a: Tensor, b: Tensor, t: float, queue: Tensor) -> Tensor:
    out = left_out(a.detach(), b.detach(), [queue], margin=0.0)
    return nt_xent(a, b, t, queue, left_out=out)


def in_layers(variant: str, a: Tensor, b: Tensor, t: float, queue: Tensor) -> Tensor:
    return self_guided(a, torch.stack([b, a], dim=1) if variant == "opt3" else b, t, variant, queue)


LOSSES: dict[str, Loss] = {
    "nt-xent": nt_xent,
    "nt-xent, guided": guided,
    "info-nce": info_nce,
    "info-nce, hard negatives": lambda a, b, t, queue: info_nce(a, b, t, queue, hard_negatives=b.flip(0)),
    **{f"self-guided {variant}": partial(in_layers, variant) for variant in VARIANTS},
    "bootstrap": lambda a, b, t, queue: bootstrap(a, b),
    "listnet": lambda a, b, t, queue: listnet(cosine(a, b), cosine(b, b), t, t),
    "listmle": lambda a, b, t, queue: listmle(cosine(a, b), cosine(b, b), t),
    "consistency": lambda a, b, t, queue: ranking_consistency(cosine(a, b), cosine(b, a), t),
    "similarities": lambda a, b, t, queue: similarity_error(cosine(a, a), cosine(b, b)),
}
DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
SHAPES: dict[str, Callable[[Tensor], Tensor]] = {  # of what comes in, (n, d)
    "any": lambda x: x,
    "all alike": lambda x: x[:1].expand_as(x).clone(),
    "opposite": lambda x: torch.cat([x[:1], -x[:1]]).repeat(len(x), 1)[: len(x)],
    "some zero": lambda x: x * (torch.arange(len(x)) % 2)[:, None],
}


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**31),
    rows=st.integers(2, 6),
    temperature=st.sampled_from([0.001, 0.0037, 0.05, 1.0]),
    scale=st.sampled_from([1e-6, 1.0, 60.0, 2e4]),  # the squares of the last two are beyond float16
    kind=st.sampled_from(sorted(DTYPES)),
    shapes=st.tuples(*[st.sampled_from(sorted(SHAPES))] * 2),
    autocast=st.booleans(),
)
def test_it_is_a_number(
    name: str,
    seed: int,
    rows: int,
    temperature: float,
    scale: float,
    kind: str,
    shapes: tuple[str, str],
    autocast: bool,
) -> None:
    dtype, generator = DTYPES[kind], torch.Generator().manual_seed(seed)
    a, b, queue = ((torch.randn(rows, 8, generator=generator) * scale).clamp(-6e4, 6e4) for _ in range(3))
    a, b, queue = SHAPES[shapes[0]](a).to(dtype), SHAPES[shapes[1]](b).to(dtype), queue.to(dtype)
    a.requires_grad_()
    with torch.autocast("cpu", dtype, enabled=autocast):
        loss = LOSSES[name](a, b, temperature, queue)
    assert loss.dtype == torch.float32
    assert torch.isfinite(loss)
    assert abs(float(loss.detach())) < 2 * rows * rows / temperature + 20  # cosines differ by two at most
    if scale >= 1:  # that of a vector of a millionth is beyond float16 itself
        loss.backward()  # type: ignore[no-untyped-call]
        assert a.grad is not None
        assert torch.isfinite(a.grad).all()
