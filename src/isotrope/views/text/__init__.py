"""How a sentence is seen twice as text: in other words, made once by another program and kept."""

from isotrope.views.text.base import TEXT_VIEWS, TextView, TextViewSpec, draws, make_text_view
from isotrope.views.text.making import ViewTable, as_text_view, make_views
from isotrope.views.text.runner import Counts, ViewCounts, count_texts, read_metadata, write_views

__all__ = [
    "TEXT_VIEWS",
    "Counts",
    "TextView",
    "TextViewSpec",
    "ViewCounts",
    "ViewTable",
    "as_text_view",
    "count_texts",
    "draws",
    "make_text_view",
    "make_views",
    "read_metadata",
    "write_views",
]
