"""How a sentence is seen at the embedding layer: the views of ConSERT (paper 2, section 3.2), and any of one's own."""

from isotrope.parts import Registry
from isotrope.views.embedding.base import CalledView, View

VIEWS: Registry[View] = Registry("views", "isotrope.views.embedding", View, called=CalledView, default="none")

__all__ = ["VIEWS", "View"]
