from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from isotrope.views.embedding.draws import choose, rank, share, shuffled

quick = settings(max_examples=40, deadline=None)
sizes = st.lists(st.integers(0, 9), min_size=1, max_size=12)


def groups(size: list[int]) -> torch.Tensor:
    return torch.arange(len(size)).repeat_interleave(torch.tensor(size))


@quick
@given(sizes)
def test_shuffled_moves_items_within_their_group_only(size: list[int]) -> None:
    group = groups(size)
    order = shuffled(group)
    assert sorted(order.tolist()) == list(range(len(group)))
    assert torch.equal(group[order], group)


def test_shuffled_gives_all_six_orders_of_three_alike() -> None:
    torch.manual_seed(0)
    order = shuffled(groups([3] * 12000)).view(-1, 3) % 3
    seen = (order * torch.tensor([9, 3, 1])).sum(1).bincount()
    seen = seen[seen > 0]
    assert len(seen) == 6
    assert float(((seen - 2000) ** 2 / 2000).sum()) < 20  # chi-squared with 5 degrees: 0.1% is beyond 20.5


@quick
@given(sizes, st.data())
def test_choose_draws_the_exact_number_of_each_group(size: list[int], data: st.DataObject) -> None:
    count = [data.draw(st.integers(0, n)) for n in size]
    drawn = choose(groups(size), torch.tensor(count))
    assert [int(part.sum()) for part in drawn.split(size)] == count


def test_choose_draws_every_item_alike() -> None:
    torch.manual_seed(0)
    drawn = choose(groups([5] * 10000), torch.full((10000,), 2)).view(-1, 5).sum(0)
    assert float(((drawn - 4000).abs()).max()) < 200  # four standard deviations


@quick
@given(sizes)
def test_rank_counts_within_each_group(size: list[int]) -> None:
    assert rank(groups(size)).tolist() == [i for n in size for i in range(n)]


@quick
@given(st.lists(st.integers(0, 600), min_size=1), st.floats(0, 1, exclude_max=True))
def test_share_is_what_python_makes_of_it(size: list[int], rate: float) -> None:
    assert share(torch.tensor(size), rate, "down").tolist() == [int(n * rate) for n in size]
    assert share(torch.tensor(size), rate, "nearest").tolist() == [round(n * rate) for n in size]


def test_share_is_not_fooled_by_the_nearest_float() -> None:
    assert share(torch.tensor([20]), 0.15, "down").item() == 3  # the float 0.15 is below 3/20
    assert share(torch.tensor([100]), 0.29, "down").item() == 28  # 28.999999999999996, which float32 makes 29
