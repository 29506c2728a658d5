"""Dropout and attention in bfloat16: the right share of zeros, the same attention, masks that can be drawn again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional

from isotrope.encoders import half
from isotrope.encoders.half import WIDEST, FasterHalf, faster_half, kept

from .loops import Make, same, student

HALF = torch.bfloat16


def test_share_and_scale() -> None:
    mask = kept((1000, 1001), 0.1, HALF).float()
    assert set(mask.unique().tolist()) == {0.0, float(torch.tensor(1 / 0.9).to(HALF))}
    assert float((mask == 0).float().mean()) == pytest.approx(0.1, abs=0.0015)  # five standard deviations
    columns = (mask == 0).float().mean(0)  # of neighbours, each comes from another part of a drawn number
    assert float(columns[:1000].view(-1, 4).mean(0).std()) < 0.002


def test_masks_follow_torchs_generator() -> None:
    torch.manual_seed(3)
    first, second = (kept((7, 9), 0.5, HALF) for _ in range(2))
    torch.manual_seed(3)
    assert torch.equal(kept((7, 9), 0.5, HALF), first)
    assert not torch.equal(second, first)


def test_nothing_but_bfloat16_in_training_is_changed() -> None:
    full = torch.randn(50, 60)
    for given, training in ((full, True), (full.to(HALF), False)):
        torch.manual_seed(1)
        plain = functional.dropout(given, 0.3, training)
        torch.manual_seed(1)
        with FasterHalf():
            assert torch.equal(functional.dropout(given, 0.3, training), plain)
    assert not isinstance(faster_half(torch.float32, torch.device("cpu")), FasterHalf)


@pytest.mark.parametrize("rate", [0.0, 0.1])
@pytest.mark.parametrize("masked", [True, False])
def test_attention_is_that_of_torch_where_nothing_is_dropped(
    rate: float, masked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(half, "kept", lambda shape, p, dtype: torch.ones(tuple(shape), dtype=dtype))
    torch.manual_seed(0)
    given = [torch.randn(3, 4, 11, 8).to(HALF).requires_grad_() for _ in range(3)]
    mask = torch.zeros(3, 1, 11, 11).masked_fill_(torch.arange(11) > 6, torch.finfo(torch.float32).min)
    chosen = {"attn_mask": mask if masked else None}
    with FasterHalf():
        found = functional.scaled_dot_product_attention(*given, **chosen, dropout_p=rate)
    doubles = [one.detach().double().requires_grad_() for one in given]
    exact = {"attn_mask": mask.double() if masked else None}
    wanted = functional.scaled_dot_product_attention(*doubles, **exact)
    assert found.dtype == HALF
    for loss in (found.float().square().sum(), wanted.square().sum()):
        loss.backward()
    pairs = [(found, wanted), *((mine.grad, theirs.grad) for mine, theirs in zip(given, doubles, strict=True))]
    for mine, theirs in pairs:
        assert mine is not None
        assert theirs is not None
        assert float(((mine.double() - theirs).norm() / theirs.norm()).detach()) < 0.01


def test_attention_of_wide_rows_is_torchs_own() -> None:
    torch.manual_seed(0)
    for width, same_bits in ((WIDEST, False), (WIDEST + 1, True)):
        given = [torch.randn(1, 2, width, 16).to(HALF) for _ in range(3)]
        plain = functional.scaled_dot_product_attention(*given)
        with FasterHalf():
            found = functional.scaled_dot_product_attention(*given)
        assert torch.equal(found, plain) == same_bits
        torch.testing.assert_close(found, plain, atol=0.02, rtol=0.05)


def test_a_resumed_run_ends_as_the_whole_one(make: Make) -> None:
    settings = {"precision": "bfloat16", "save_steps": 2, "eval_steps": 4}
    whole = make("simcse", folder="whole", **settings)
    whole.run()
    half = make("simcse", folder="half", **settings)
    half.should_stop = lambda evaluations: half.step == 2
    half.run()
    rest = make("simcse", folder="half", **settings)
    rest.run(resume=True)
    assert same(student(rest), student(whole))


@pytest.mark.parametrize(
    ("settings", "ours"),
    [
        ({"precision": "bfloat16"}, True),
        ({"precision": "float32"}, False),
        ({"precision": "bfloat16", "gradient_cache": 2}, False),  # computed again on the way back
        ({"precision": "bfloat16", "gradient_checkpointing": True}, False),
    ],
)
def test_where_it_is_used(settings: dict[str, Any], ours: bool, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(half, "kept", lambda *given: drawn.append(1) or kept(*given))
    make("simcse", steps=1, **settings).run()
    assert bool(drawn) == ours
