"""The graded pairs that come with isotrope."""

from __future__ import annotations

from isotrope.evaluation.data.pairs import PairSource
from isotrope.evaluation.tasks.graded import GradedSpec
from isotrope.text import bundled_pairs_path


class Bundled(GradedSpec):
    """330 pairs of everyday sentences, for a first look without any data folder."""

    kind: str = "bundled"

    heading = "Bundled"
    source = PairSource("bundled", str(bundled_pairs_path()))  # absolute: found whatever the data folder is
