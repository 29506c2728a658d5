"""Encoders for other runtimes: smaller, faster, and beside a report of how near they are to the original."""

from isotrope.exporting.base import EXPORTS, ExportSpec

__all__ = ["EXPORTS", "ExportSpec"]
