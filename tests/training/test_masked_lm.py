from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy, linear
from transformers import BertForMaskedLM

import isotrope
from isotrope.encoders.loading import BUNDLED
from isotrope.encoders.packing import lay_out
from isotrope.encoders.precision import computing_in
from isotrope.training.masked_lm import IGNORED, MaskedBatches, MaskedLM, Masker, OutputLoss, TokenizedText


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return isotrope.load().tokenizer


def test_of_the_share_that_is_masked_most_is_hidden_some_changed_some_left(tokenizer: Any) -> None:
    ids = torch.randint(len(tokenizer), (400, 500), generator=torch.Generator().manual_seed(0))
    ids[:, 0], ids[:, -1], ids[:, -3:-1] = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    shown, targets = Masker(tokenizer, 0.2)(ids, torch.Generator().manual_seed(1))
    special = torch.isin(ids, torch.tensor(tokenizer.all_special_ids))
    asked = targets != IGNORED
    assert not (asked & special).any()
    assert torch.equal(targets[asked], ids[asked])
    assert torch.equal(shown[~asked], ids[~asked])
    assert float(asked.sum() / (~special).sum()) == pytest.approx(0.2, abs=0.005)
    hidden, left = shown[asked] == tokenizer.mask_token_id, shown[asked] == ids[asked]
    assert float(hidden.float().mean()) == pytest.approx(0.8, abs=0.01)
    assert float(left.float().mean()) == pytest.approx(0.1, abs=0.01)
    changed = shown[asked][~hidden & ~left]
    assert changed.unique().numel() > 0.3 * len(tokenizer)  # by any token at all


def test_one_token_is_always_asked_for(tokenizer: Any) -> None:
    masker = Masker(tokenizer, 0.01)
    ids = torch.tensor([[tokenizer.cls_token_id, 1000, 1001, tokenizer.sep_token_id]])
    for seed in range(50):
        _, targets = masker(ids, torch.Generator().manual_seed(seed))
        asked = targets != IGNORED
        assert asked.any()
        assert not asked[0, [0, 3]].any()


def tokenized(weights: tuple[float, ...] = (1.0,), sentences: int = 90) -> TokenizedText:
    generator = np.random.default_rng(0)
    lengths = generator.integers(3, 20, sentences)
    source = np.arange(sentences) % len(weights)
    return TokenizedText(generator.integers(1000, 2000, lengths.sum()), lengths, source, weights)


def test_a_batch_is_a_function_of_seed_and_number(tokenizer: Any) -> None:
    def batches(seed: int) -> MaskedBatches:
        return MaskedBatches(tokenized(), tokenizer, batches=30, batch_tokens=128, seed=seed)

    one, other = batches(1), batches(1)
    for k in (29, 3, 17, 3):
        found, wanted = one[k], other[k]
        assert torch.equal(found["targets"], wanted["targets"])
        assert torch.equal(found["batch"].input_ids, wanted["batch"].input_ids)
    assert not torch.equal(one[3]["batch"].input_ids, batches(2)[3]["batch"].input_ids)


@settings(max_examples=25, deadline=None)
@given(budget=st.integers(22, 300), count=st.integers(1, 40), seed=st.integers(0, 5))
def test_batches_fill_their_budget_and_leave_no_sentence_out(budget: int, count: int, seed: int) -> None:
    text = tokenized()
    batches = MaskedBatches(text, plain_tokenizer(), batches=count, batch_tokens=budget, seed=seed)
    assert len(batches) == count
    sizes = [
        int(sum(text.lengths[i] + 2 for i in batches.order[a:b]))
        for a, b in zip(batches.bounds, batches.bounds[1:], strict=False)
    ]
    assert min(sizes) > 0
    seen = np.cumsum(sizes)
    assert all(0 <= (k + 1) * budget - total < 22 for k, total in enumerate(seen))  # the longest has 19 + 2 tokens
    epoch = batches.order[:90]
    assert sorted(epoch.tolist()) == list(range(90))


def plain_tokenizer() -> Any:
    class Specials:
        pad_token_id, cls_token_id, sep_token_id, mask_token_id = range(4)
        all_special_ids = tuple(range(4))

        def __len__(self) -> int:
            return 2000

    return Specials()


@pytest.mark.parametrize(
    ("weights", "times"),
    [((1.0, 1.0), (30, 30)), ((2.0, 0.5), (60, 15)), ((1.5, 1.0), (45, 30)), ((1.0, 0.001), (30, 1))],
)
def test_weights_say_how_often_a_file_comes(weights: tuple[float, float], times: tuple[int, int]) -> None:
    text = tokenized(weights, 60)
    for seed in range(3):
        order = text.epoch(np.random.default_rng(seed))
        assert tuple(np.bincount(text.source[order], minlength=2)) == times
        assert max(Counter(order[text.source[order] == 0].tolist()).values()) == math.ceil(weights[0])


def test_the_output_layer_at_the_masked_places_is_the_models_own(tokenizer: Any) -> None:
    model, plain = (kind.from_pretrained(BUNDLED, dtype=torch.float32).eval() for kind in (MaskedLM, BertForMaskedLM))
    item = MaskedBatches(tokenized(sentences=20), tokenizer, batches=1, batch_tokens=200, seed=0)[0]
    losses, right = [], []
    with torch.no_grad():
        found = model(**item)
        for k in range(len(item["batch"].lengths)):
            place = item["batch"].sentence == k
            logits = plain(item["batch"].input_ids[place][None]).logits[0]
            for row, target in zip(logits, item["targets"][place].tolist(), strict=True):
                if target != IGNORED:
                    losses.append(-row.log_softmax(0)[target].item())
                    right.append(float(row.argmax() == target))
    assert float(found["loss"]) == pytest.approx(sum(losses) / len(losses), abs=1e-4)
    assert float(found["accuracy"]) == pytest.approx(sum(right) / len(right))


@pytest.mark.parametrize("sentences", [1, 20], ids=["one sentence, not packed", "packed"])
def test_gradients_are_those_of_the_whole_model(tokenizer: Any, sentences: int) -> None:
    model, plain = (kind.from_pretrained(BUNDLED, dtype=torch.float64).eval() for kind in (MaskedLM, BertForMaskedLM))
    text = tokenized(sentences=sentences)
    tokens = int(text.lengths.sum()) + 2 * sentences
    item = MaskedBatches(text, tokenizer, batches=1, batch_tokens=tokens, seed=0)[0]
    batch, targets = item["batch"], item["targets"]
    assert batch.packed == (sentences > 1)
    model(**item)["loss"].backward()
    inputs = {"attention_mask": batch.attention_mask(torch.float64), "position_ids": batch.position_ids}
    logits = plain(batch.input_ids, **inputs).logits
    cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORED).backward()
    learnt = {name: weight.grad for name, weight in model.named_parameters()}
    for name, weight in plain.named_parameters():
        assert torch.allclose(learnt[name], weight.grad, rtol=1e-6, atol=1e-12), name


@given(masked=st.integers(1, 9), spare=st.integers(0, 3), rows=st.integers(1, 4), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_output_layer_and_loss_in_one_are_torchs(masked: int, spare: int, rows: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    sizes = (masked + spare, 6), (13, 6), (13,)  # vectors, words, bias
    ours = [torch.randn(size, generator=generator, dtype=torch.float64, requires_grad=True) for size in sizes]
    targets = torch.randint(13, (masked,), generator=generator)
    theirs = [one.detach().clone().requires_grad_() for one in ours]
    logits = linear(*theirs)[:masked]
    loss, right = OutputLoss.apply(*ours, targets, rows)
    wanted = cross_entropy(logits, targets, reduction="sum")
    assert loss.item() == pytest.approx(wanted.item(), rel=1e-12)
    assert int(right) == int((logits.argmax(-1) == targets).sum())
    (loss / 7).backward()
    (wanted / 7).backward()
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one.grad, other.grad, rtol=1e-12, atol=1e-14)


def test_in_bfloat16_batches_of_few_shapes_give_what_float32_gives(tokenizer: Any) -> None:
    model = MaskedLM.from_pretrained(BUNDLED, dtype=torch.float32).eval()
    text, losses = tokenized(), []
    for precision, coarse in ((torch.float32, False), (torch.bfloat16, True)):
        batch = lay_out([text[i] for i in range(40)], tokenizer.pad_token_id, coarse=coarse)
        targets = batch.input_ids.where(batch.position_ids % 3 == 1, IGNORED)
        with computing_in(precision, torch.device("cpu")), torch.no_grad():
            losses.append(float(model(batch, targets, (targets != IGNORED).sum())["loss"]))
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
