"""ConSERT's views as the recipes have them; tests/views holds each against a naive twin."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import isotrope
from isotrope.encoders.packing import lay_out
from isotrope.views.embedding import VIEWS, View

from .reading import BUNDLED, TEXTS, VARIANTS, learner_of, value


def seen(view: View, lengths: list[int], dim: int = 768) -> list[Tensor]:
    """What is left of ones, (length, dim) for each sentence."""
    batch = lay_out([[1] * n for n in lengths])
    return list(batch.flatten(view(torch.ones(*batch.input_ids.shape, dim), batch)).split(lengths))


def test_where_the_views_act() -> None:
    """The share of zeros in what the first block gets: nothing behind the view may fill them again."""
    encoder = isotrope.load("bundled").eval()
    entered: list[Tensor] = []
    block = encoder.backbone.model.encoder.layer[0]
    block.register_forward_pre_hook(lambda module, given: entered.append(given[0].detach()))
    batch = encoder.batch(BUNDLED[:40])
    words, tokens = int((batch.lengths - 2).sum()), int(batch.lengths.sum())
    torch.manual_seed(0)
    for variant, token in (("paper", 0.15 * words / tokens), ("official", 0.1)):
        for view, share, rounded in (
            (value("consert/0", "views.first", variant), 0.2, 0.01),
            (VIEWS.make("dropout", variant=variant), 0.2, 0.01),
            (value("consert-joint/0", "views.second", variant), token, 0.4),  # to whole tokens of short sentences
        ):
            encoder(batch, view)
            zeros = (batch.flatten(entered[-1]) == 0).double().mean()
            assert float(zeros) == pytest.approx(share, rel=rounded), view


def test_shuffle_moves_cls_and_sep_in_the_code_and_forgets_robertas_offset() -> None:
    torch.manual_seed(0)
    batch = lay_out([[1] * 9] * 200)
    for variant, moves in (("paper", False), ("official", True)):
        view = value("consert/0", "views.second", variant)
        found = view.positions(batch, 2).flatten()[batch.token_index].view(200, 9) - (0 if moves else 2)
        assert torch.equal(found.sort(1).values, torch.arange(9).expand(200, 9))
        assert bool((found[:, 0] != 0).any()) == bool((found[:, 8] != 8).any()) == moves


def test_token_cutoff_rounds_down_and_counts_specials_in_the_code() -> None:
    lengths = [6, 7, 12, 30]
    for variant, counts in (("paper", [1, 1, 2, 4]), ("official", [0, 1, 1, 4])):
        view = value("consert-joint/0", "views.second", variant).model_copy(update={"rate": 0.15})
        assert [int((part == 0).all(1).sum()) for part in seen(view, lengths)] == counts
        free = seen(view, [7] * 300)
        assert any(not part[0].any() for part in free) == (variant == "official")
    small = seen(value("consert-joint/0", "views.second", "official"), [9, 10, 29, 30])
    assert [int((part == 0).all(1).sum()) for part in small] == [0, 1, 2, 3]  # at the script's rate, 0.1


def test_feature_cutoff_takes_153_of_768_columns_in_the_code() -> None:
    for variant, columns in (("paper", 154), ("official", 153)):
        parts = seen(value("consert/0", "views.first", variant), [5, 9])
        cut = [(part == 0).all(0) for part in parts]
        assert [int(one.sum()) for one in cut] == [columns] * 2
        assert not torch.equal(*cut)


def test_dropout_view_has_an_exact_count_in_the_code_and_rescales_in_neither() -> None:
    torch.manual_seed(0)
    for variant, exact in (("paper", False), ("official", True)):
        (part,) = seen(VIEWS.make("dropout", variant=variant), [11])
        assert (int((part == 0).sum()) == int(11 * 768 * 0.2)) == exact
        assert set(part.unique().tolist()) == {0.0, 1.0}


@pytest.mark.parametrize("variant", VARIANTS)
def test_span_cutoff_is_not_seen_by_attention(variant: str, tiny: str) -> None:
    """The code changes its mask when attention has it already; here no view touches the mask."""
    learner = learner_of("consert", tiny, **{"views.second": {"kind": "span-cutoff", "variant": variant}})
    masks: list[Tensor] = []
    learner.student.backbone.model.register_forward_pre_hook(
        lambda module, given, named: masks.append(named["attention_mask"]), with_kwargs=True
    )
    batch = learner.student.batch(TEXTS)
    vectors = [learner.student(batch, view) for view in (None, learner.stage.views.second)]
    assert torch.equal(*masks)
    assert not torch.equal(*vectors)
    (part,) = seen(learner.stage.views.second, [20])
    assert int((part == 0).all(1).sum()) == 3  # of 18 words, 15%; of 20 tokens, all but int(20 x 0.85)
