"""Conditions on columns: `queue=hardware`, `score>=4`, `title~printer`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotrope.io.errors import IsotropeError, reason
from isotrope.text.files import check_columns

_CONDITION = re.compile(r"\s*(.+?)\s*(!=|>=|<=|=|<|>|~)\s*(.*?)\s*", re.DOTALL)
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Where = str | Sequence[str] | Mapping[str, Any]


def conditions(where: Where | None) -> list[tuple[str, str, Any]]:
    """Column, sign and value of each; a mapping means equal.

    >>> conditions("score>=4"), conditions({"queue": "hardware"})
    ([('score', '>=', '4')], [('queue', '=', 'hardware')])
    """
    if where is None:
        return []
    if isinstance(where, Mapping):
        return [(column, "=", value) for column, value in where.items()]
    found = []
    for text in [where] if isinstance(where, str) else where:
        match = _CONDITION.fullmatch(text)
        if not match:
            raise IsotropeError(f"'{text}' is not a condition; write COLUMN=VALUE, or one of != < <= > >= ~ (contains)")
        found.append((match[1], match[2], match[3]))
    return found


def matching(table: Any, given: Sequence[tuple[str, str, Any]], where: str) -> NDArray[np.int64]:
    """The numbers of the rows that meet all conditions. A missing cell meets none but `!=`."""
    import pyarrow  # slow to import
    from pyarrow import compute

    check_columns(table.column_names, [column for column, _, _ in given], where)
    kept = np.ones(table.num_rows, bool)
    for column, sign, value in given:
        cells = table[column]
        try:
            if sign == "~":
                met = compute.match_substring(cells.cast(pyarrow.string()), str(value), ignore_case=True)
            else:
                met = _compared(cells, sign, value)
        except (pyarrow.ArrowException, ValueError) as error:
            raise IsotropeError(
                f"{where}: column '{column}' can't be compared with '{value}' ({reason(error)})"
            ) from error
        kept &= np.asarray(compute.fill_null(met, sign == "!="))
    return np.flatnonzero(kept)


def _compared(cells: Any, sign: str, value: Any) -> Any:
    """As numbers where the value is one and the sign orders, else by the column's own type."""
    import pyarrow
    from pyarrow import compute

    names = {"=": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
    kind = cells.type
    if sign not in ("=", "!=") and pyarrow.types.is_string(kind) and _is_number(value):
        numbers = [float(cell) if cell is not None and _is_number(cell) else None for cell in cells.to_pylist()]
        cells, kind = pyarrow.array(numbers, pyarrow.float64()), pyarrow.float64()
    wanted = pyarrow.scalar(value) if not isinstance(value, str) else pyarrow.scalar(value).cast(kind)
    return getattr(compute, names[sign])(cells, wanted)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
