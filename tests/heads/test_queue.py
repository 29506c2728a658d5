"""The queue of keys: the newest stay, in a checkpoint too."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.heads.queue import MemoryQueue


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
