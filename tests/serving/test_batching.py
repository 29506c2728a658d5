"""Many requests at once, against encoding each input alone."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from isotrope.serving.batching import Batcher, OverloadedError

Encode = Callable[[list[Any]], Any]


def make(encode: Encode, **options: Any) -> Batcher:
    return Batcher(encode, **{"budget": 20, "wait": 0.001, "most_waiting": 10**6, **options})


def alone(inputs: list[str]) -> Any:
    """A vector that says which input it is of."""
    return np.array([[len(one), sum(map(ord, one))] for one in inputs], np.float32)


def test_every_request_gets_its_own_vectors_in_order() -> None:
    draw = random.Random(0)
    sizes: list[tuple[int, int]] = []
    batcher = make(alone, observe=lambda inputs, tokens, seconds: sizes.append((inputs, tokens)))
    requests = [["ab"[draw.randrange(2)] * draw.randint(1, 30) for _ in range(draw.randint(1, 12))] for _ in range(300)]
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda one: batcher.submit(one, [len(text) for text in one]).result(), requests))
    for inputs, vectors in zip(requests, found, strict=True):
        assert vectors.tolist() == alone(inputs).tolist()
    batcher.close()
    assert batcher.waiting == 0
    assert sum(inputs for inputs, _ in sizes) == sum(map(len, requests))
    assert all(tokens <= 20 or inputs == 1 for inputs, tokens in sizes)  # one input alone may be beyond the budget
    assert max(inputs for inputs, _ in sizes) > 1


def test_padded_models_get_no_batch_that_is_mostly_padding() -> None:
    seen: list[list[int]] = []

    def encode(inputs: list[str]) -> Any:
        seen.append([len(one) for one in inputs])
        return alone(inputs)

    batcher = make(encode, packed=False)
    texts = ["x" * 15, *["y"] * 40]
    assert batcher.submit(texts, [len(text) for text in texts]).result().tolist() == alone(texts).tolist()
    batcher.close()
    assert all(max(one) * len(one) <= 20 for one in seen)
    assert len(seen) == 3


class Held:
    """Encodes nothing until it is released, and takes note of the order."""

    def __init__(self) -> None:
        self.released, self.order = threading.Event(), list[str]()

    def __call__(self, inputs: list[str]) -> Any:
        self.released.wait(10)
        self.order.extend(inputs)
        return alone(inputs)


def test_a_short_request_does_not_wait_for_a_long_one() -> None:
    held = Held()
    batcher = make(held)
    long = batcher.submit(["long"] * 500, [4] * 500)
    time.sleep(0.02)  # its first batch is taken
    short = batcher.submit(["short"], [5])
    held.released.set()
    short.result(10)
    assert held.order.index("short") < 12
    assert len(long.result(10)) == 500
    batcher.close()


def test_a_long_request_does_not_wait_for_all_short_ones() -> None:
    """It has half of every pass once it is the oldest; short ones have the other half."""
    held = Held()
    batcher = make(held)
    first = batcher.submit(["first"], [5])
    time.sleep(0.02)  # it is taken, and everything else waits
    long = batcher.submit(["long"] * 40, [4] * 40)
    short = [batcher.submit(["short"], [4]) for _ in range(200)]
    held.released.set()
    assert len(long.result(10)) == 40
    assert all(len(one.result(10)) == 1 for one in (first, *short))
    batcher.close()
    end = len(held.order) - held.order[::-1].index("long")
    assert end < 80  # of 241: two short ones for three of its own
    assert 10 < held.order[:end].count("short") < 40


def test_too_much_is_refused_and_then_taken_again() -> None:
    release = threading.Event()

    def encode(inputs: list[str]) -> Any:
        release.wait(10)
        return alone(inputs)

    batcher = make(encode, most_waiting=50)
    first = batcher.submit(["x" * 30] * 3, [30] * 3)  # more than may wait, but nothing waits
    with pytest.raises(OverloadedError) as refused:
        batcher.submit(["y"], [1])
    assert refused.value.seconds > 0
    release.set()
    assert len(first.result(10)) == 3
    assert batcher.submit(["y"], [1]).result(10).tolist() == alone(["y"]).tolist()
    batcher.close()
    with pytest.raises(OverloadedError):
        batcher.submit(["z"], [1])


def test_only_the_request_fails_that_must() -> None:
    def encode(inputs: list[str]) -> Any:
        if "bad" in inputs:
            raise RuntimeError("no")
        return alone(inputs) if "nan" not in inputs else alone(inputs) * float("nan")

    batcher = make(encode, wait=0.05)
    asked = [batcher.submit(one, [len(text) for text in one]) for one in (["a"], ["b", "bad"], ["nan"], ["c"])]
    assert asked[0].result(10).tolist() == alone(["a"]).tolist()
    assert asked[3].result(10).tolist() == alone(["c"]).tolist()
    assert isinstance(asked[1].exception(10), RuntimeError)
    assert isinstance(asked[2].exception(10), ValueError)
    assert batcher.alive
    batcher.close()
    assert batcher.waiting == 0


def test_what_nobody_waits_for_is_not_encoded() -> None:
    release, seen = threading.Event(), []

    def encode(inputs: list[str]) -> Any:
        release.wait(10)
        seen.extend(inputs)
        return alone(inputs)

    batcher = make(encode)
    first = batcher.submit(["a"], [1])
    time.sleep(0.02)
    gone: Future[Any] = batcher.submit(["b"] * 30, [1] * 30)
    assert gone.cancel()
    release.set()
    first.result(10)
    batcher.close()
    assert seen == ["a"]
    assert batcher.waiting == 0


def test_closing_answers_what_was_taken() -> None:
    batcher = make(lambda inputs: (time.sleep(0.002), alone(inputs))[1], wait=5)
    asked = [batcher.submit([text], [len(text)]) for text in ("a", "bb", "ccc" * 9)]
    batcher.close()
    assert [one.result(0).tolist() for one in asked] == [alone([text]).tolist() for text in ("a", "bb", "ccc" * 9)]
