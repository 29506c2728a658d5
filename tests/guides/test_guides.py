"""Who the student learns from: what each guide gives, keeps and forgets."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import isotrope
from isotrope.guides import Dual, FrozenLayers, Itself, MemoryQueue, Momentum, Teacher
from isotrope.io.errors import IsotropeError

TEXTS = ["A short one.", "Something a little longer about dogs in the rain.", "No.", "What is that over there?"]


@pytest.fixture
def student() -> isotrope.Encoder:
    return isotrope.load(pooling="cls")


def by_hand(student: isotrope.Encoder, pooling: str, layer: int) -> torch.Tensor:
    return torch.from_numpy(student.with_pooling(f"{pooling}@{layer}").encode(TEXTS))


@pytest.mark.parametrize("pooling", ["max", "mean", "cls"])
def test_frozen_copy_shows_every_layer(student: isotrope.Encoder, pooling: str) -> None:
    h = FrozenLayers(student, pooling=pooling)(student.batch(TEXTS), student)
    assert h.shape == (4, 5, 256)
    assert not h.requires_grad
    for layer in range(5):
        assert (h[:, layer] - by_hand(student, pooling, layer)).abs().max() <= 1e-5


def test_a_subset_of_the_layers(student: isotrope.Encoder) -> None:
    batch = student.batch(TEXTS)
    some = FrozenLayers(student, layers=(2, 4))(batch, student)
    assert torch.equal(some, FrozenLayers(student)(batch, student)[:, [2, 4]])
    with pytest.raises(IsotropeError, match="layers are 0 to 4"):
        FrozenLayers(student, layers=(2, 5))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sampler": "uniform"}, {0, 1, 2, 3, 4}),
        ({"sampler": "last-k", "k": 2}, {3, 4}),
        ({"sampler": "weighted", "weights": (0, 1, 0, 3, 0)}, {1, 3}),
        ({"sampler": "uniform", "layers": (2, 3)}, {2, 3}),  # the published code draws beyond a slice that starts late
    ],
)
def test_samplers_draw_from_their_layers(
    student: isotrope.Encoder, options: dict[str, object], expected: set[int]
) -> None:
    torch.manual_seed(0)
    batch = student.batch(TEXTS * 40)
    every = FrozenLayers(student)(batch, student)
    drawn = FrozenLayers(student, **options)(batch, student)
    same = (drawn[:, None] == every).all(-1)  # (sentences, layers)
    assert torch.equal(same.sum(1), torch.ones(160, dtype=torch.long))
    counts = same.sum(0)
    assert set(counts.nonzero().flatten().tolist()) == expected
    if "weights" in options:
        assert 0.6 < counts[3] / 160 < 0.9


def test_sampler_errors(student: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match=r"guide\.k"):
        FrozenLayers(student, sampler="last-k", k=9)
    with pytest.raises(IsotropeError, match=r"guide\.weights"):
        FrozenLayers(student, sampler="weighted", weights=(1, 2))


def test_train_never_switches_a_frozen_guides_dropout_on(student: isotrope.Encoder) -> None:
    """The published code of paper 1 puts the copy into eval once, and `train()` of the whole undoes it."""
    batch = student.batch(TEXTS)
    for dropout in (False, True):
        guide = FrozenLayers(student, dropout=dropout)
        guide.train()
        guide.keep_frozen()
        assert torch.equal(guide(batch, student), guide(batch, student)) != dropout
        assert not any(parameter.requires_grad for parameter in guide.parameters())


def test_the_frozen_copy_stays_behind(student: isotrope.Encoder) -> None:
    guide = FrozenLayers(student)
    before = guide(student.batch(TEXTS), student)
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(0.1)
    assert torch.equal(before, guide(student.batch(TEXTS), student))


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_momentum_is_the_moving_average(student: isotrope.Encoder, schedule: str) -> None:
    guide = Momentum(student, momentum=0.9, schedule=schedule)
    xi = [parameter.clone() for parameter in student.parameters()]
    torch.manual_seed(0)
    for step in range(1, 4):
        with torch.no_grad():
            for parameter in student.parameters():
                parameter.add_(torch.randn_like(parameter))
        guide.after_step(student, step / 4)
        delta = 0.9 if schedule == "constant" else 1 - 0.1 * (math.cos(math.pi * step / 4) + 1) / 2
        for i, theta in enumerate(student.parameters()):
            xi[i] = delta * xi[i] + (1 - delta) * theta  # paper 3, equation 4
    for mine, expected in zip(guide.target.parameters(), xi, strict=True):
        assert torch.allclose(mine, expected, atol=1e-6)


def test_momentum_of_one_and_zero(student: isotrope.Encoder) -> None:
    still, close = Momentum(student, momentum=1.0), Momentum(student, momentum=0.0)
    before = student.encode(TEXTS)
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.mul_(1.01)
    for guide in (still, close):
        guide.after_step(student, 0.5)
    assert (still.target.encode(TEXTS) == before).all()
    assert (close.target.encode(TEXTS) == student.encode(TEXTS)).all()


def test_gradient_goes_where_it_should(student: isotrope.Encoder) -> None:
    batch = student.batch(TEXTS)
    assert Itself()(batch, student).requires_grad
    assert not Momentum(student)(batch, student).requires_grad
    other = isotrope.load(pooling="mean")
    assert not Teacher(other)(other.batch(TEXTS), student).requires_grad
    assert Dual(isotrope.load())(batch, student).requires_grad


def test_a_teacher_reads_with_its_own_tokenizer(student: isotrope.Encoder, minilm: isotrope.Encoder) -> None:
    teacher = Teacher(minilm)
    assert teacher.reader is minilm
    vectors = teacher(minilm.batch(TEXTS), student)
    assert (vectors - torch.from_numpy(minilm.encode(TEXTS))).abs().max() < 1e-5


@given(size=st.integers(1, 12), pushes=st.lists(st.integers(1, 20), max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_queue_holds_the_newest(size: int, pushes: list[int]) -> None:
    queue, everything = MemoryQueue(size, 2), torch.empty(0, 2)
    for n in pushes:
        new = torch.arange(len(everything), len(everything) + n).float()[:, None].expand(n, 2)
        queue.push(new)
        everything = torch.cat([everything, new])
        assert sorted(queue()[:, 0].tolist()) == everything[-size:, 0].tolist()
    assert len(queue()) == min(size, sum(pushes))


def test_the_queue_is_in_the_checkpoint_and_begins_empty() -> None:
    queue = MemoryQueue(4, 3)
    assert queue().shape == (0, 3)
    queue.push(torch.ones(3, 3))
    queue.push(torch.full((3, 3), 2.0))
    again = MemoryQueue(4, 3)
    again.load_state_dict(queue.state_dict())
    for one in (queue, again):
        one.push(torch.full((1, 3), 3.0))
    assert torch.equal(queue.vectors, again.vectors)
    assert int(again.seen) == 7
