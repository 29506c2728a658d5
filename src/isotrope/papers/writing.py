"""The files of a reproduction: Markdown, JSON, HTML and a picture, beside its runs."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from isotrope.io.atomic import whole_or_nothing

if TYPE_CHECKING:
    from isotrope.papers.result import Reproduction


def write_files(found: Reproduction, folder: Path) -> list[Path]:
    """`sg-opt-table1.md`, `.json`, `.html` and, with matplotlib, `.png`."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = found.table.name.replace("/", "-")
    drawable = importlib.util.find_spec("matplotlib") is not None and any(one.seeds for one in found.rows)
    texts = {".md": found.markdown(), ".json": found.json(), ".html": found.html(_svg(found) if drawable else "")}
    files = [folder / f"{stem}{ending}" for ending in texts]
    for file, text in zip(files, texts.values(), strict=True):
        with whole_or_nothing(file) as path:
            path.write_text(text, encoding="utf-8")
    if drawable:
        files.append(folder / f"{stem}.png")
        with whole_or_nothing(files[-1]) as path:
            found.plot(path)
    return files


def _svg(found: Reproduction) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.svg"
        found.plot(file)
        return file.read_text(encoding="utf-8")
