"""Sentences in, vectors out: backbone, packing, pooling, heads, saving and loading."""

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.loading import load
from isotrope.encoders.pooling import Pooling

__all__ = ["Encoder", "Pooling", "load"]
