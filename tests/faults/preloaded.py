"""What the server of processes imports before the first command, so that each begins at once; in the long run all.

Nothing is computed here that would start a thread: a process that is forked has the threads of none. Tables that a
command makes once and keeps are made, which halves the time of most.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import pkgutil

import isotrope
from isotrope.cli import _command
from isotrope.text.languages import shared_identifier

SOON = (  # what the handful of the suite imports
    "isotrope.cli",
    "isotrope.training.run",
    "isotrope.training.pretrain",
    "isotrope.training.tuning",
    "isotrope.views.text.making",
    "isotrope.baselines.fitting",
    "isotrope.evaluation.geometry.inspections",
    "rich._emoji_codes",
    "rich.status",
    "sklearn.model_selection",
    "tomli_w",
    "typer._adapters",
)
LATE = (  # what isotrope imports when it needs it
    "matplotlib.backends.backend_agg",
    "matplotlib.pyplot",
    "py3langid.langid",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "sklearn.cluster",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.manifold",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "usearch.index",
    "uvicorn",
)


def everything() -> list[str]:
    packages = pkgutil.walk_packages(isotrope.__path__, "isotrope.")
    return [found.name for found in packages if found.name != "isotrope.__main__"]  # that runs a command


for module in (*SOON, *((*everything(), *LATE) if os.environ.get("ISOTROPE_FAULTS") else ())):
    with contextlib.suppress(ImportError):  # an extra that is not installed
        importlib.import_module(module)
_command()
if os.environ.get("ISOTROPE_FAULTS"):
    shared_identifier()
    with contextlib.suppress(ImportError):  # transformers before 5
        importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("bert")
gc.collect()
gc.freeze()  # else every process would go through all of that, and copy it
