from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from isotrope.io.checksums import SUMS, changed_since, write_sums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("README.md", "a.bin", "inner/b c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"content of {name}")
    write_sums(tmp_path, but=("README.md",))
    return tmp_path


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_others_can_check_them(folder: Path) -> None:
    check = ["sha256sum", "--check", "--quiet", SUMS]
    assert subprocess.run(check, cwd=folder).returncode == 0
    (folder / "a.bin").write_text("other")
    assert subprocess.run(check, cwd=folder, capture_output=True).returncode == 1


def test_what_people_edit_and_add_is_not_looked_at(folder: Path) -> None:
    assert len((folder / SUMS).read_text().splitlines()) == 2
    (folder / "README.md").write_text("other")
    (folder / "further.onnx").write_text("more")
    assert changed_since(folder) is None
    (folder / "a.bin").unlink()
    (folder / SUMS).unlink()
    assert changed_since(folder) is None


CHANGES: dict[str, Callable[[Path], object]] = {
    "a.bin is not the file that was saved": lambda folder: (folder / "a.bin").write_text("Content of a.bin"),
    "inner/b c.json is missing": lambda folder: (folder / "inner" / "b c.json").unlink(),
}


@pytest.mark.parametrize("message", CHANGES)
def test_a_change_is_told(folder: Path, message: str) -> None:
    CHANGES[message](folder)
    assert changed_since(folder) == message


@pytest.mark.parametrize(
    "damage",
    [
        lambda sums: sums[:30],
        lambda sums: b"g" + sums[1:],
        lambda sums: sums.replace(b"\n", b"\xff"),
        lambda sums: b"\n",
    ],
)
def test_sums_that_are_damaged_themselves_are_told_as_such(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    (folder / SUMS).write_bytes(damage((folder / SUMS).read_bytes()))
    assert changed_since(folder) == "SHA256SUMS is damaged"


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "a\x07.bin", "a\ufffd.bin", "a" * 300])
def test_it_looks_nowhere_else(folder: Path, name: str) -> None:
    (folder / SUMS).write_text(f"{'0' * 64}  {name}\n")
    assert changed_since(folder) == "SHA256SUMS is damaged"
