from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

from isotrope.io.errors import IsotropeError
from isotrope.objectives import anchor


def module() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2)).double()


def test_a_fresh_copy_is_at_distance_zero() -> None:
    student = module()
    assert anchor(student, deepcopy(student)).item() == 0


def test_every_parameter_counts_once_and_buffers_do_not() -> None:
    student = module()
    frozen = deepcopy(student)
    student[1].running_mean += 7
    with torch.no_grad():
        for parameter in student.parameters():
            parameter += 3
    assert anchor(student, frozen).item() == pytest.approx(9 * sum(p.numel() for p in student.parameters()))


def test_only_the_student_is_pulled() -> None:
    student, frozen = module(), module()
    with torch.no_grad():
        student[2].weight += 0.5
    anchor(student, frozen).backward()
    assert all(p.grad is None for p in frozen.parameters())
    for (name, p), q in zip(student.named_parameters(), frozen.parameters(), strict=True):
        torch.testing.assert_close(p.grad, 2 * (p - q).detach(), msg=name)
    assert student[2].weight.grad.eq(1).all()


def test_parameters_are_matched_by_name_not_by_order() -> None:
    one, two = nn.ParameterDict(), nn.ParameterDict()
    for name in ("a", "b"):
        one[name] = torch.full((2,), float(ord(name)))
    for name in ("b", "a"):
        two[name] = torch.full((2,), float(ord(name)))
    assert [name for name, _ in one.named_parameters()] != [name for name, _ in two.named_parameters()]
    assert anchor(one, two).item() == 0


def test_half_precision_is_summed_in_single() -> None:
    student, frozen = nn.Linear(300, 300).half(), nn.Linear(300, 300).half()
    with torch.no_grad():
        for p in student.parameters():
            p.fill_(1)
        for p in frozen.parameters():
            p.fill_(0)
    assert anchor(student, frozen).item() == 300 * 300 + 300  # beyond the largest float16


def test_another_architecture_is_refused() -> None:
    with pytest.raises(IsotropeError, match=r"only one of the two modules has the parameter '2\.bias'"):
        anchor(module(), module()[:2])
