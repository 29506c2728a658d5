"""Sentences in, vectors out: backbone, packing, pooling, heads, saving and loading."""

from isotrope.encoders.encoder import Encoder
from isotrope.encoders.encoding import EncodedFile, encode
from isotrope.encoders.loading import load, load_any
from isotrope.encoders.plain import PlainEncoder
from isotrope.encoders.pooling import Pooling
from isotrope.encoders.together import encode_together

__all__ = ["EncodedFile", "Encoder", "PlainEncoder", "Pooling", "encode", "encode_together", "load", "load_any"]
