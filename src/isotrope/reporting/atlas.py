"""The map as a table for embedding-atlas: of every text its place, columns, cluster, neighbours and vector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from isotrope.io.atomic import check_output, whole_or_nothing

if TYPE_CHECKING:
    from isotrope.reporting.report import Report

ENDINGS = (".parquet",)
NEIGHBOURS = 15


def write_atlas(found: Report, path: Path, *, force: bool = False) -> Path:
    """`id`, `text`, `x`, `y`, `cluster`, the table's columns, `neighbors` (places and distances) and `vector`; of the
    other encoders `x_before` and so on.
    """
    from pyarrow import parquet

    check_output(path, ENDINGS, force=force)
    table = atlas(found)
    with whole_or_nothing(path) as partial:
        parquet.write_table(table, partial)
    return path


def atlas(found: Report) -> Any:
    """The Arrow table."""
    import pyarrow

    kept, texts = found.runs[0].kept, found.sample.texts
    near = kept.neighbours(min(NEIGHBOURS, len(texts) - 1))
    distances = 1 - np.take_along_axis(kept.cosines, near, axis=1)
    main = found.map.points[kept.name]
    columns: dict[str, Any] = {"id": list(range(len(texts))), "text": texts, "x": main[:, 0], "y": main[:, 1]}
    columns["cluster"] = [found.map.names[number] for number in found.map.clusters.tolist()]
    others = [name for name in found.map.points if name != kept.name]
    for number, name in enumerate(others):
        ending = name.partition(":")[0] + (f"_{number + 1}" if len(others) > 1 else "")
        columns[f"x_{ending}"], columns[f"y_{ending}"] = found.map.points[name].T
    for name, values in found.sample.columns.items():
        columns[name if name not in columns else f"{name}_of_table"] = pyarrow.array(values, from_pandas=True)
    columns["neighbors"] = [
        {"ids": ids, "distances": far} for ids, far in zip(near.tolist(), distances.tolist(), strict=True)
    ]
    vectors = pyarrow.array(kept.vectors.ravel(), pyarrow.float32())
    columns["vector"] = pyarrow.FixedSizeListArray.from_arrays(vectors, kept.vectors.shape[1])
    return pyarrow.table(columns)
