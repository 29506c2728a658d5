"""Who the student learns from: itself, its frozen layers, a momentum copy, a teacher with a queue."""

from isotrope.guides.base import Guide, Itself
from isotrope.guides.frozen_layers import FrozenLayers
from isotrope.guides.momentum import Momentum
from isotrope.guides.queue import MemoryQueue
from isotrope.guides.teacher import Dual, Teacher

__all__ = ["Dual", "FrozenLayers", "Guide", "Itself", "MemoryQueue", "Momentum", "Teacher"]
