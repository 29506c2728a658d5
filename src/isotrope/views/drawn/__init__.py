"""How the text of a view is drawn anew at each batch: `draw` in the section of a view."""

from isotrope.parts import Registry
from isotrope.views.drawn.base import CalledDrawnText, Chance, Draw, DrawnText, Ground

DRAWN: Registry[DrawnText] = Registry(
    "drawn", "isotrope.views.drawn", DrawnText, called=CalledDrawnText, default="none"
)

__all__ = ["DRAWN", "Chance", "Draw", "DrawnText", "Ground"]
