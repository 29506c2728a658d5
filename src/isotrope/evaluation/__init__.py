"""How good the vectors are: similarity tasks, layers, geometry."""

from isotrope.evaluation.sts import TASKS, Pairs, Result, evaluate, load_task

__all__ = ["TASKS", "Pairs", "Result", "evaluate", "load_task"]
