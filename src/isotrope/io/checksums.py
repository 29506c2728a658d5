"""Checksums of a folder's files, in the format of `sha256sum`: `sha256sum --check SHA256SUMS` says the same."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from isotrope.io.hashes import sha256

SUMS = "SHA256SUMS"
LINE = re.compile("([0-9a-f]{64})  (.+)")
LONGEST = 250  # of the names here; of several lines that became one, more than a system knows


def write_sums(folder: Path, *, but: Collection[str] = ()) -> None:
    """Writes the checksums of all files in a folder, but of those that people are to edit."""
    files = sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    lines = [f"{sha256(folder / name)}  {name}\n" for name in files if name not in (SUMS, *but)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def changed_since(folder: Path) -> str | None:
    """What is not as it was when the checksums were written, in words; None if all is, or where there are none.

    Files that were added later are not looked at.
    """
    if not (folder / SUMS).is_file():
        return None
    for line in (folder / SUMS).read_text(encoding="utf-8", errors="replace").splitlines():
        found = LINE.fullmatch(line)
        wanted, name = found.groups() if found else ("", "")
        file = folder / name
        if (
            not name.isprintable()
            or "\ufffd" in name
            or not 0 < len(name) < LONGEST
            or {"..", "/"} & set(Path(name).parts)
        ):
            return f"{SUMS} is damaged"
        if not file.is_file():
            return f"{name} is missing"
        if sha256(file) != wanted:
            return f"{name} is not the file that was saved"
    return None
