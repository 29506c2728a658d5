"""Which checkpoint a killed run goes on from."""

from __future__ import annotations

import json
import re
from pathlib import Path


def last_checkpoint(run: Path) -> Path | None:
    """The newest whole `checkpoint-N`. The trainer writes `trainer_state.json` last: a folder without it, or with half
    of it, is what a kill or a full disk left behind, and is passed over.
    """
    numbered = [
        (int(found[1]), path)
        for path in run.glob("checkpoint-*")
        if (found := re.fullmatch(r"checkpoint-(\d+)", path.name))
    ]
    for _, path in sorted(numbered, reverse=True):
        try:
            json.loads((path / "trainer_state.json").read_text())
        except (OSError, ValueError):
            continue
        return path
    return None
