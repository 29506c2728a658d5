"""How good the vectors are: tasks side by side, a verdict without labels, geometry, layers."""

from isotrope.evaluation.correlation import PairScores, score_pairs
from isotrope.evaluation.data.own import read_own_pairs
from isotrope.evaluation.data.pairs import Pairs
from isotrope.evaluation.geometry.inspections import Inspections, inspect
from isotrope.evaluation.geometry.layers import LayerMap, layers
from isotrope.evaluation.label_free.comparing import compare
from isotrope.evaluation.label_free.comparison import Comparison
from isotrope.evaluation.label_free.several import Comparisons, compare_all
from isotrope.evaluation.results.results import Results
from isotrope.evaluation.runner import evaluate
from isotrope.evaluation.tasks import Figure, Outcome, Task, TaskSpec, load_pairs

__all__ = [
    "Comparison",
    "Comparisons",
    "Figure",
    "Inspections",
    "LayerMap",
    "Outcome",
    "PairScores",
    "Pairs",
    "Results",
    "Task",
    "TaskSpec",
    "compare",
    "compare_all",
    "evaluate",
    "inspect",
    "layers",
    "load_pairs",
    "read_own_pairs",
    "score_pairs",
]
