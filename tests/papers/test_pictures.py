"""Pictures of tables, by what is drawn in them."""

from __future__ import annotations

import numpy as np
import pytest

from isotrope.papers.pictures import DRAWN
from isotrope.papers.published import published
from isotrope.papers.result import MeasuredRow, Reproduction, Setting

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(("name", "even"), [("bsl/table6", True), ("bsl/table7", False), ("consert/figure7", True)])
def test_labels_of_an_axis_do_not_lie_on_each_other(name: str, even: bool) -> None:
    """Momentum 0.99, 0.999 and 1 would, temperature 0.1 and 0.12 too; they stand one after another, in their order."""
    table = published(name)
    column = table.columns[-1].name
    rows = tuple(MeasuredRow(row, ({column: 50.0 + k},), 1) for k, row in enumerate(table.rows))
    (axes,) = DRAWN["lines"](Reproduction(table, Setting(), rows, ())).axes
    ticks, labels = axes.get_xticks(), [label.get_text() for label in axes.get_xticklabels()]
    assert [float(label) for label in labels] == sorted({float(row.x) for row in table.rows if row.x is not None})
    places = np.log(ticks) if axes.get_xscale() == "log" else np.asarray(ticks)
    assert np.diff(places).min() >= 0.06 * np.ptp(places)
    assert bool(np.allclose(np.diff(ticks), 1)) is even
    if even:
        (points,) = [line for line in axes.lines if len(line.get_xdata()) == len(rows)][:1]
        assert list(points.get_xdata()) == list(range(len(rows)))
