"""A table as one HTML page that needs nothing else."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isotrope.papers.result import Reproduction

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse } td, th { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid #ddd }
td:nth-child(-n+2), th:nth-child(-n+2) { text-align: left } tr.measured { font-weight: 600 }
tr.published, tr.difference { color: #666 } svg { max-width: 100%; height: auto }
"""


def page(found: Reproduction, picture: str = "") -> str:
    """Head, table, notes, and the picture as SVG."""
    heads = "".join(f"<th>{escape(column.name)}</th>" for column in found.table.columns)
    rows, last = [], ""
    for name, what, cells in found.lines():
        shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr class="{what}"><td>{escape(name if name != last else "")}</td><td>{what}</td>{shown}</tr>')
        last = name
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes())
    drawing = picture[picture.index("<svg") :] if "<svg" in picture else ""
    title = escape(f"{found.table.label}, {found.table.paper}")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1><p>{escape(found.title)}</p>\n"
        f"<table><tr><th></th><th></th>{heads}</tr>\n{chr(10).join(rows)}\n</table>\n<ul>{notes}</ul>\n{drawing}</body></html>\n"
    )
