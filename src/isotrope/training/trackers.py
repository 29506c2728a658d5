"""Experiment trackers (TensorBoard, Weights & Biases ...), by accelerate."""

from __future__ import annotations

from collections.abc import Iterable

from isotrope.io.errors import IsotropeError, nearest

PACKAGES = {  # tracker -> what to install
    "aim": "aim",
    "clearml": "clearml",
    "comet_ml": "comet-ml",
    "dvclive": "dvclive",
    "mlflow": "mlflow",
    "swanlab": "swanlab",
    "tensorboard": "tensorboard",
    "trackio": "trackio",
    "wandb": "wandb",
}


def check_trackers(names: Iterable[str]) -> None:
    """Refuses trackers that accelerate does not know, or that are not installed."""
    from accelerate.tracking import LOGGER_TYPE_TO_CLASS, get_available_trackers

    available = {str(tracker) for tracker in get_available_trackers()}
    known = {*PACKAGES, *LOGGER_TYPE_TO_CLASS}  # with those that a user has registered
    for name in names:
        if name not in known:
            raise IsotropeError(
                f"training.report_to: unknown tracker '{name}'{nearest(name, known)}; choose from "
                f"{', '.join(sorted(known))}"
            )
        if name in PACKAGES and name not in available:
            raise IsotropeError(
                f"training.report_to: '{name}' is not installed; run pip install {PACKAGES[name]}, or leave it out"
            )
