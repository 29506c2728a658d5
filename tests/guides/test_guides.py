"""Who the student learns from: what each guide gives, keeps and forgets."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from pydantic import ValidationError

import isotrope
from isotrope.encoders import Encoder
from isotrope.encoders.packing import Batch
from isotrope.guides import GUIDES, Guide
from isotrope.guides.dual import Dual
from isotrope.guides.frozen_layers import FrozenLayers, FrozenLayersSpec
from isotrope.guides.itself import Itself
from isotrope.guides.momentum import Momentum, MomentumSpec
from isotrope.guides.teacher import Teacher
from isotrope.io.errors import IsotropeError
from isotrope.views.embedding import VIEWS
from isotrope.views.embedding.beside import Seen

TEXTS = ["A short one.", "Something a little longer about dogs in the rain.", "No.", "What is that over there?"]


@pytest.fixture
def student() -> isotrope.Encoder:
    return isotrope.load(pooling="cls")


def another(name: str | None, pooling: str | None) -> Encoder:
    raise AssertionError("a guide made of the student loads nothing")


def frozen(student: Encoder, **settings: Any) -> FrozenLayers:
    guide = FrozenLayersSpec(**settings).build(student, another)
    assert isinstance(guide, FrozenLayers)
    return guide


def momentum(student: Encoder, **settings: Any) -> Momentum:
    guide = MomentumSpec(**settings).build(student, another)
    assert isinstance(guide, Momentum)
    return guide


def by_hand(student: isotrope.Encoder, pooling: str, layer: int) -> torch.Tensor:
    return torch.from_numpy(student.with_pooling(f"{pooling}@{layer}").encode(TEXTS))


@pytest.mark.parametrize("pooling", ["max", "mean", "cls"])
def test_frozen_copy_shows_every_layer(student: isotrope.Encoder, pooling: str) -> None:
    h = frozen(student, pooling=pooling)(student.batch(TEXTS), student)
    assert h.shape == (4, 5, 256)
    assert not h.requires_grad
    for layer in range(5):
        assert (h[:, layer] - by_hand(student, pooling, layer)).abs().max() <= 1e-5


def test_a_subset_of_the_layers(student: isotrope.Encoder) -> None:
    batch = student.batch(TEXTS)
    some = frozen(student, layers=(2, 4))(batch, student)
    assert torch.equal(some, frozen(student)(batch, student)[:, [2, 4]])
    assert torch.equal(frozen(student, layers=(2, -1))(batch, student), some)
    assert torch.equal(frozen(student, first_layer=2)(batch, student)[:, [0, -1]], some)
    assert frozen(student, first_layer=-2).layers == (3, 4)
    with pytest.raises(IsotropeError, match=r"guide\.layers \[2, 5\]: this encoder's layers are 0 to 4"):
        frozen(student, layers=(2, 5))
    with pytest.raises(IsotropeError, match=r"guide\.first_layer -6: this encoder's layers are 0 to 4"):
        frozen(student, first_layer=-6)
    with pytest.raises(ValidationError, match="layers and first_layer are both given"):
        frozen(student, layers=(2,), first_layer=2)


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
    every = frozen(student)(batch, student)
    drawn = frozen(student, **options)(batch, student)
    same = (drawn[:, None] == every).all(-1)  # (sentences, layers)
    assert torch.equal(same.sum(1), torch.ones(160, dtype=torch.long))
    counts = same.sum(0)
    assert set(counts.nonzero().flatten().tolist()) == expected
    if "weights" in options:
        assert 0.6 < counts[3] / 160 < 0.9


def test_sampler_errors(student: isotrope.Encoder) -> None:
    with pytest.raises(IsotropeError, match=r"guide\.k"):
        frozen(student, sampler="last-k", k=9)
    with pytest.raises(IsotropeError, match=r"guide\.weights"):
        frozen(student, sampler="weighted", weights=(1, 2))


def test_train_never_switches_a_frozen_guides_dropout_on(student: isotrope.Encoder) -> None:
    """The published code of paper 1 puts the copy into eval once, and `train()` of the whole undoes it."""
    batch = student.batch(TEXTS)
    for dropout in (False, True):
        guide = frozen(student, dropout=dropout)
        guide.train()
        guide.keep_frozen()
        assert torch.equal(guide(batch, student), guide(batch, student)) != dropout
        assert not any(parameter.requires_grad for parameter in guide.parameters())


def test_the_frozen_copy_stays_behind(student: isotrope.Encoder) -> None:
    guide = frozen(student)
    before = guide(student.batch(TEXTS), student)
    with torch.no_grad():
        for parameter in student.parameters():
            parameter.add_(0.1)
    assert torch.equal(before, guide(student.batch(TEXTS), student))


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_momentum_is_the_moving_average(student: isotrope.Encoder, schedule: str) -> None:
    guide = momentum(student, momentum=0.9, schedule=schedule)
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
    still, close = momentum(student, momentum=1.0), momentum(student, momentum=0.0)
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
    assert Itself(student.dim)(batch, student).requires_grad
    assert not momentum(student)(batch, student).requires_grad
    other = isotrope.load(pooling="mean")
    assert not Teacher(other)(other.batch(TEXTS), student).requires_grad
    assert Dual(isotrope.load())(batch, student).requires_grad


def test_a_teacher_reads_with_its_own_tokenizer(student: isotrope.Encoder, minilm: isotrope.Encoder) -> None:
    teacher = Teacher(minilm)
    assert teacher.reader is minilm
    vectors = teacher(minilm.batch(TEXTS), student)
    assert (vectors - torch.from_numpy(minilm.encode(TEXTS))).abs().max() < 1e-5


# -- both sides in as few passes as there are networks -----------------------------------------------------------------


def counted(module: torch.nn.Module) -> list[int]:
    """Appended to at each pass: how many sentences' rows went through."""
    passes: list[int] = []
    module.register_forward_hook(lambda module, given, made: passes.append(len(made[0])))
    return passes


def seen(student: Encoder) -> tuple[Seen, Seen, Seen]:
    shuffle, cutoff = VIEWS.make("shuffle"), VIEWS.make("feature-cutoff", at="embeddings")
    return (
        Seen(student.batch(TEXTS), shuffle),
        Seen(student.batch(TEXTS[::-1]), cutoff),
        Seen(student.batch(TEXTS[:2])),
    )


def test_itself_encodes_each_view_once_where_both_ways_round_are_asked_for(student: Encoder) -> None:
    first, second, negative = seen(student)
    guide, passes = Itself(student.dim), counted(student.backbone.model)
    mine, theirs = guide.encode(student, [first, second], [second, first, negative])
    rows = [len(one.batch.input_ids) for one in (first, second, negative)]
    assert passes == [sum(rows)]
    assert mine[0] is theirs[1]
    assert mine[1] is theirs[0]
    assert [len(one) for one in (*mine, *theirs)] == [4, 4, 4, 4, 2]


def test_a_guide_of_another_network_has_its_own_pass(student: Encoder) -> None:
    first, second, negative = seen(student)
    guide = momentum(student)
    mine, theirs = counted(student.backbone.model), counted(guide.target.backbone.model)
    torch.manual_seed(0)
    c, h = guide.encode(student, [first, second], [second, first, negative])
    assert (len(mine), len(theirs)) == (1, 1)
    assert all(one.requires_grad for one in c)
    assert not any(one.requires_grad for one in h)
    assert (h[2] - torch.from_numpy(student.encode(TEXTS[:2]))).abs().max() < 1e-5
    assert guide.encode(student, [first], [])[1] == []  # its vectors are known: looked up, say


# -- guides of one's own -----------------------------------------------------------------------------------------------


class Scaled(Guide):
    """Half of what the student says."""

    def __init__(self, student: Encoder, *, factor: float = 0.5) -> None:
        super().__init__(student.dim)
        self.factor = factor

    def forward(self, batch: Batch, student: Encoder, view: Any = None) -> torch.Tensor:
        return self.factor * student(batch, view)


def scaled(batch: Batch, student: Encoder, *, factor: float = 0.5) -> torch.Tensor:
    return factor * student(batch)


@pytest.mark.parametrize("thing", [Scaled, scaled])
def test_a_guide_of_ones_own_is_a_class_or_a_function(thing: Any, student: Encoder) -> None:
    spec = GUIDES.make(thing, factor=0.25)
    assert spec.kind.endswith(f":{thing.__name__}")
    guide = spec.build(student, another)
    assert isinstance(guide, Guide)
    assert guide.dim == student.dim
    batch = student.batch(TEXTS)
    assert torch.equal(guide(batch, student), 0.25 * student(batch))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampler": "last-k"}, "sampler 'last-k' and k belong together; give both or neither"),
        ({"k": 2}, "sampler 'last-k' and k belong together; give both or neither"),
        ({"weights": (1, 2)}, "sampler 'weighted' and weights belong together; give both or neither"),
        ({"sampler": "weighted", "weights": (-1, 2)}, "weights are shares: none below 0, and not all of them 0"),
        ({"sampler": "weighted", "weights": (0, 0)}, "weights are shares: none below 0, and not all of them 0"),
    ],
)
def test_what_belongs_to_a_sampler_comes_with_it(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        GUIDES.make("frozen-layers", **settings)


def test_the_copy_of_a_momentum_queue_speaks_through_the_queue_alone(student: isotrope.Encoder) -> None:
    guide = GUIDES.make("momentum-queue", momentum=0.5).build(student, another)
    batch = student.batch(TEXTS)
    with torch.no_grad():
        start = student(batch)
        for parameter in student.parameters():
            parameter.mul_(1.2)
    one, other = Seen(batch), Seen(batch)
    (c,), (h,) = guide.encode(student, [one], [other])
    assert h.requires_grad  # ESimCSE's positives learn
    assert torch.equal(h, guide(batch, student))
    queued = guide.queued(batch)
    assert queued is not None
    assert torch.allclose(queued, start, atol=1e-6)
    assert not queued.requires_grad
    guide.after_step(student, 0.5)
    assert not torch.allclose(guide.queued(batch), start, atol=1e-6)
    assert not torch.allclose(guide.queued(batch), c, atol=1e-6)  # half way
