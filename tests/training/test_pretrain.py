"""Pre-training: the counts it starts from, what is masked, what is never seen, and that it can be interrupted."""

from __future__ import annotations

import math
import shutil
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from transformers import BertForMaskedLM

import isotrope
from isotrope.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.text.vocabulary import train_wordpiece
from isotrope.training.checkpoints import last_checkpoint
from isotrope.training.masked_lm import IGNORED, MaskedBatches, MaskedLM, Masker, TokenizedText, masked_loss
from isotrope.training.ppmi import cooccurrences, ppmi, ppmi_vectors
from isotrope.training.pretrain import HELD_OUT, Pretraining, _tokenized, held_out_figures, pretrain

pytestmark = pytest.mark.xdist_group("killed")

WORDS = sorted({word.lower() for text in bundled_sentences() for word in text.split() if word.isalpha()})[:64]
SENTENCES = [f"{k} {' '.join(WORDS[8 * (k % 8) : 8 * (k % 8) + 8])}" for k in range(1600)]  # quick to learn
TINY: dict[str, Any] = {
    "vocabulary": 400,
    "layers": 2,
    "dim": 32,
    "heads": 2,
    "positions": 48,
    "batch_tokens": 512,
    "steps": 20,
    "warmup": 2,
    "learning_rate": 5e-3,
    "save_steps": 5,
}


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("text") / "text.txt"
    file.write_text("\n".join(SENTENCES))
    return str(file)


@pytest.fixture(scope="module")
def config(text: str, tmp_path_factory: pytest.TempPathFactory) -> Pretraining:
    """With a vocabulary that is there already: the pieces that are learnt are numbered otherwise every time."""
    folder = tmp_path_factory.mktemp("vocabulary")
    train_wordpiece(SENTENCES, 400, max_length=48).save_pretrained(folder)
    return Pretraining(files={text: 1.0}, tokenizer=str(folder), **TINY)


@pytest.fixture(scope="module")
def whole(
    config: Pretraining, killed: Callable[..., bool], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, float]]:
    """A run that was left alone, with as many threads as those that are killed."""
    output = tmp_path_factory.mktemp("whole") / "run"
    return output, pretrain(config, output)


# -- runs --------------------------------------------------------------------------------------------------------------


def test_it_learns_and_leaves_what_others_load(
    whole: tuple[Path, dict[str, float]], config: Pretraining, tmp_path: Path
) -> None:
    run, figures = whole
    untrained = pretrain(replace(config, steps=1, learning_rate=1e-9), tmp_path / "untrained")
    assert figures["loss"] < untrained["loss"] - 0.3
    assert figures["tokens"] == 20 * 512
    encoder = isotrope.load(run / "encoder")
    assert encoder.encode(SENTENCES[:3]).shape == (3, 32)
    model = BertForMaskedLM.from_pretrained(run / "encoder")
    assert (model.config.num_hidden_layers, model.config.hidden_dropout_prob) == (2, 0.1)
    again = held_out_figures(run / "encoder", config.files, tmp_path)  # in half precision, and with the default sizes
    assert again[0] == pytest.approx(figures["loss"], abs=0.1)


@pytest.mark.parametrize("moment", ["between two checkpoints", "while one is written", "before the first"])
def test_killed_and_resumed_it_ends_the_same(
    moment: str,
    whole: tuple[Path, dict[str, float]],
    config: Pretraining,
    killed: Callable[..., bool],
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    when = {
        "between two checkpoints": lambda: last_checkpoint(run) is not None,
        "while one is written": lambda: (run / "checkpoint-10").is_dir(),
        "before the first": lambda: (run / "tokens.npy").is_file(),
    }[moment]
    while not killed(when, pretrain, config, run) or (run / "encoder").exists():
        shutil.rmtree(run)
    assert pretrain(config, run, resume=True) == whole[1]
    for file in ("encoder/model.safetensors", "checkpoint-20/model.safetensors"):
        found, wanted = (load_file(folder / file) for folder in (run, whole[0]))
        assert found.keys() == wanted.keys()
        assert all(torch.equal(value, wanted[key]) for key, value in found.items())


def test_other_settings_are_not_resumed(whole: tuple[Path, dict[str, float]], config: Pretraining) -> None:
    with pytest.raises(IsotropeError, match="begun with other settings, so not resumed: dim 32 -> 64; seed 1 -> 2"):
        pretrain(replace(config, dim=64, seed=2), whole[0], resume=True)
    with pytest.raises(IsotropeError, match="exists already; give --resume"):
        pretrain(config, whole[0])


def test_half_a_tokenised_text_is_not_taken_for_whole(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a kill leaves it: nothing that is there is half, so what is missing is made again."""
    config, run = Pretraining(files={text: 1.0}, **TINY | {"steps": 1}), tmp_path / "run"
    save, saved = np.save, []

    def stop_half_way(path: Path, array: Any) -> None:
        save(path, array)
        saved.append(path)
        if len(saved) == 2:
            path.write_bytes(path.read_bytes()[:-3])
            raise KeyboardInterrupt

    monkeypatch.setattr(np, "save", stop_half_way)
    with pytest.raises(KeyboardInterrupt):
        pretrain(config, run)
    monkeypatch.undo()
    assert [path.name for path in run.glob("*.npy")] == ["tokens.npy"]
    assert pretrain(config, run, resume=True)["loss"] > 0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dim": 30, "heads": 4}, "--dim 30 is not a multiple of --heads 4"),
        ({"batch_tokens": 40}, "--batch-tokens 40 is less than --positions 48"),
        ({"files": {}}, "at least one file"),
    ],
)
def test_what_can_not_be_trained_is_refused(text: str, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(IsotropeError, match=words):
        pretrain(Pretraining(**{"files": {text: 1.0}} | TINY | changes), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_held_out_sentences_are_never_trained_on(whole: tuple[Path, dict[str, float]], config: Pretraining) -> None:
    tokenizer = isotrope.load(whole[0] / "encoder").tokenizer
    trained, held_out = _tokenized(config, tokenizer, whole[0])
    apart = {k for k, sentence in enumerate(SENTENCES) if zlib.crc32(sentence.encode()) % HELD_OUT == 0}
    assert 0 < len(apart) < 20
    batches = MaskedBatches(trained, tokenizer, batches=50, batch_tokens=512, seed=1)
    assert set(batches.order.tolist()) == set(range(len(SENTENCES))) - apart
    assert set(held_out.order.tolist()) == apart


def test_a_single_held_out_sentence_is_enough(whole: tuple[Path, dict[str, float]], tmp_path: Path) -> None:
    one = next(sentence for sentence in SENTENCES if zlib.crc32(sentence.encode()) % HELD_OUT == 0)
    others = [sentence for sentence in SENTENCES[:50] if zlib.crc32(sentence.encode()) % HELD_OUT]
    file = tmp_path / "few.txt"
    file.write_text("\n".join([one, *others]))
    tokenizer = isotrope.load(whole[0] / "encoder").tokenizer
    _, held_out = _tokenized(Pretraining(files={str(file): 1.0}, **TINY), tokenizer, tmp_path)
    model = MaskedLM.from_pretrained(whole[0] / "encoder", dtype=torch.float32)
    assert math.isfinite(masked_loss(model, held_out)[0])


# -- counts ------------------------------------------------------------------------------------------------------------


def naive_counts(sentences: list[list[int]], window: int) -> Counter[tuple[int, int]]:
    counts: Counter[tuple[int, int]] = Counter()
    for ids in sentences:
        for i in range(len(ids)):
            for j in range(len(ids)):
                if i != j and abs(i - j) <= window:
                    counts[ids[i], ids[j]] += 1
    return counts


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=7), min_size=1, max_size=5), st.integers(1, 4))
def test_ppmi_is_that_of_a_naive_count(sentences: list[list[int]], window: int) -> None:
    tokens = np.array([token for ids in sentences for token in ids], dtype=np.uint16)
    sentence = np.repeat(np.arange(len(sentences)), [len(ids) for ids in sentences])
    counts = cooccurrences(tokens, sentence, 6, window)
    naive = naive_counts(sentences, window)
    assert all(counts[a, b] == naive[a, b] for a in range(6) for b in range(6))
    total = sum(naive.values())
    row = [sum(naive[a, b] for b in range(6)) for a in range(6)]
    found = ppmi(counts)
    for a in range(6):
        for b in range(6):
            wanted = max(0.0, math.log(naive[a, b] * total / (row[a] * row[b]))) if naive[a, b] else 0.0
            assert float(found[a, b]) == pytest.approx(wanted, abs=1e-5)


def test_counting_in_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    tokens, sentence = generator.integers(0, 9, 100), np.repeat(np.arange(20), 5)
    wanted = cooccurrences(tokens, sentence, 9, 3)
    monkeypatch.setattr("isotrope.training.ppmi.CHUNK", 7)
    assert torch.equal(cooccurrences(tokens, sentence, 9, 3), wanted)


def test_word_vectors_tell_what_occurs_together() -> None:
    """Words 0 to 3 meet one another, and 4 to 7 do; word 8 never comes."""
    generator = np.random.default_rng(0)
    groups = [generator.integers(0, 4, 6) + 4 * (k % 2) for k in range(200)]
    tokens, sentence = np.concatenate(groups), np.repeat(np.arange(200), 6)
    vectors = ppmi_vectors(tokens, sentence, 9, 4, std=0.04)
    assert vectors.shape == (9, 4)
    unit = torch.nn.functional.normalize(vectors[:8], dim=1)
    cosine = unit @ unit.T
    assert cosine[:4, :4].min() > 0.7
    assert cosine[:4, 4:].max() < 0.3
    assert float(vectors[8].norm()) > 0
    state = torch.get_rng_state()
    assert torch.equal(ppmi_vectors(tokens, sentence, 9, 4, std=0.04), vectors)
    assert torch.equal(torch.get_rng_state(), state)


# -- masks and batches -------------------------------------------------------------------------------------------------


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


def test_the_output_layer_at_the_masked_places_is_the_models_own(
    whole: tuple[Path, dict[str, float]], tokenizer: Any
) -> None:
    model = MaskedLM.from_pretrained(whole[0] / "encoder", dtype=torch.float32).eval()
    own = isotrope.load(whole[0] / "encoder").tokenizer
    text = tokenized(sentences=20)
    text.tokens = text.tokens % (len(own) - 10) + 10
    item = MaskedBatches(text, own, batches=1, batch_tokens=200, seed=0)[0]
    plain = BertForMaskedLM.from_pretrained(whole[0] / "encoder", dtype=torch.float32).eval()
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
