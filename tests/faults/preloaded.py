"""What the server of processes imports before the first command: all that any of them would, so that it begins at once.

Nothing is computed here: a process that is forked has the threads of none.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil

import isotrope

LEFT = ("isotrope.__main__",)  # runs a command
OTHERS = (  # what isotrope imports late
    "matplotlib.backends.backend_agg",
    "matplotlib.pyplot",
    "py3langid.langid",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich._emoji_codes",
    "rich.status",
    "sklearn.cluster",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.manifold",
    "sklearn.model_selection",
    "tomli_w",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "typer._adapters",
    "usearch.index",
    "uvicorn",
)

for module in (*(found.name for found in pkgutil.walk_packages(isotrope.__path__, "isotrope.")), *OTHERS):
    if module not in LEFT:
        with contextlib.suppress(ImportError):  # an extra that is not installed
            importlib.import_module(module)
gc.collect()
gc.freeze()  # else every process would go through all of that, and copy it
