from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from isotrope.evaluation.senteval import classifiers
from isotrope.evaluation.senteval.classifiers import PAPER, PROTOTYPING, Job, SentEval, fit

from . import naive_senteval as naive

QUICK = replace(PAPER, batch_size=16, tenacity=1, epoch_size=2, max_epoch=30)


def problem(rows: int, classes: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Overlapping classes, so that no accuracy is 1 and the best epoch is not the first."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (rows,), generator=generator)
    centres = torch.randn(classes, 6, generator=generator, dtype=torch.float64)
    return centres[y] + 1.5 * torch.randn(rows, 6, generator=generator, dtype=torch.float64), y


def jobs_of(rows: int, sizes: list[int], l2: tuple[float, ...], *, dev: bool) -> list[Job]:
    generator = np.random.default_rng(1)
    orders = [generator.permutation(rows) for _ in sizes]
    return [Job(o[:n], o[n : n + 20] if dev else None, l2) for o, n in zip(orders, sizes, strict=True)]


@pytest.mark.parametrize("dev", [True, False])
@pytest.mark.parametrize(("hidden", "classes"), [(0, 2), (0, 4), (7, 2), (7, 3)])
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop"])
def test_side_by_side_is_one_by_one(dev: bool, hidden: int, classes: int, optimizer: str) -> None:
    settings = replace(QUICK, optimizer=optimizer)
    x, y = problem(130, classes)
    jobs = jobs_of(130, [100, 90, 100, 90, 100], (1e-5, 1e-2, 1.0), dev=dev)
    fitted = fit(x, y, jobs, settings, hidden)
    epochs = set()
    for job, found in zip(jobs, fitted, strict=True):
        for i, l2 in enumerate(job.l2):
            accuracy, model, passes = naive.classifier(x, y, job.train, job.dev, l2, settings, hidden)
            epochs.add(passes)
            assert float(found.accuracy[i]) == accuracy
            layers = [layer for layer in model if isinstance(layer, nn.Linear)]
            for k, layer in enumerate(layers):
                torch.testing.assert_close(found.weights[2 * k][i], layer.weight.detach(), rtol=0, atol=1e-9)
                torch.testing.assert_close(found.weights[2 * k + 1][i, :, 0], layer.bias.detach(), rtol=0, atol=1e-9)
            assert (found.predict(x)[i] == model(x).argmax(1)).all()
    assert len(epochs) > 1 or hidden or not dev  # some were done before others


@pytest.mark.parametrize("together", [1, 60, 10**9])
def test_how_many_are_trained_at_once_changes_nothing(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    x, y = problem(130, 2)
    jobs = jobs_of(130, [100] * 6, (1e-5, 1e-2), dev=True)
    expected = fit(x, y, jobs, QUICK)
    monkeypatch.setattr(classifiers, "SIDE_BY_SIDE", together)
    for found, wanted in zip(fit(x, y, jobs, QUICK), expected, strict=True):
        assert (found.accuracy == wanted.accuracy).all()
        torch.testing.assert_close(found.weights, wanted.weights, rtol=0, atol=1e-9)


def test_training_goes_on_until_tenacity_or_the_last_epoch_ends_it() -> None:
    x, y = problem(130, 2)
    (job,) = jobs_of(130, [100], (1e-5,), dev=True)
    reached = [
        float(fit(x, y, [job], replace(QUICK, tenacity=tenacity, max_epoch=epochs))[0].accuracy)
        for tenacity, epochs in ((0, 0), (0, 200), (30, 200))
    ]
    assert reached == sorted(reached)
    assert reached[0] < reached[2]


def test_the_callers_random_numbers_are_left_alone() -> None:
    x, y = problem(60, 2)
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    fit(x, y, jobs_of(60, [40], (1e-3,), dev=True), QUICK)
    assert torch.equal(torch.rand(3), wanted)


def test_the_presets_are_senteval_s() -> None:
    assert SentEval(10, 64, 5, 4, "adam", 200, 50, (1e-5, 1e-4, 1e-3, 1e-2), 1111) == PAPER
    assert replace(PAPER, folds=5, optimizer="rmsprop", batch_size=128, tenacity=3, epoch_size=2) == PROTOTYPING
