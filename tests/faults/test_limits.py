"""Disks that are full or read-only and too little memory: one clear line, and the same bytes once there is enough."""

from __future__ import annotations

import os
import random
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .conftest import LONG, Fresh, Wanted
from .verbs import VERBS, prepare, same_or_said

pytestmark = pytest.mark.xdist_group("faults")

HANDFUL = ("encode", "baseline whitening", "pretrain")
MEGABYTE = 2**20
Mount = Callable[[str], None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Mount]:
    """A disk of its own under `work/`: `disk("size=9m")` makes it so large, `disk("ro")` has it take nothing more."""
    work = tmp_path / "work"
    work.mkdir()

    def mount(options: str) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(work)]
        return subprocess.run(command, capture_output=True).returncode == 0

    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not mount("size=256m"):
        pytest.skip("needs to mount a small disk, which root may")
    yield lambda options: None if mount(f"remount,{options}") else pytest.fail(f"remount {options}")
    subprocess.run(["umount", "-l", str(work)], check=True)


def used(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*"))


@pytest.mark.parametrize("name", VERBS if LONG else HANDFUL)
def test_a_disk_that_is_full_or_read_only(
    name: str, model: Path, disk: Mount, wanted: Wanted, chance: random.Random, tmp_path: Path
) -> None:
    verb, whole = VERBS[name], wanted(name)
    prepare(tmp_path, model, wanted("train").folder / "work" / "run" if verb.reads_run else None)
    counts: Counter[str] = Counter()
    for _ in range(max(1, LONG // 20)):
        room = used(tmp_path / "work") + chance.randrange(1, 64) * 4096 * (64 if verb.run else 1)
        disk(f"size={room}")
        counts["full: " + same_or_said(verb.command(tmp_path).run(), verb, tmp_path, whole.result)] += 1
        if not verb.results(tmp_path):
            disk("size=256m,ro")
            ended = verb.command(tmp_path).run()
            assert ended.has_one_clear_line, ended.err
            counts["read-only: said"] += 1
        disk("size=256m,rw")
        ended = verb.command(tmp_path).run() if verb.results(tmp_path) != whole.result else None
        assert ended is None or ended.code == 0, ended.err
        assert verb.results(tmp_path) == whole.result
        subprocess.run(["rm", "-rf", str(tmp_path / "work" / verb.made), str(tmp_path / "cache")], check=True)
    if LONG:
        print(f"FIGURES disks {name}: {dict(counts)}")


@pytest.mark.skipif(not LONG, reason="only in the long run: make faults")
@pytest.mark.parametrize("name", ["train", "encode", "views", "baseline whitening", "evaluate"])
def test_too_little_memory(name: str, fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    verb, whole = VERBS[name], wanted(name)
    counts: Counter[str] = Counter()
    for _ in range(max(1, LONG // 20)):
        folder = fresh(name)
        memory = chance.randrange(1, 200) * MEGABYTE
        print(f"{name}: {memory // MEGABYTE} MB")  # shown where the test fails
        counts[same_or_said(verb.command(folder, memory).run(), verb, folder, whole.result)] += 1
        ended = verb.command(folder).run() if verb.results(folder) != whole.result else None
        assert ended is None or ended.code == 0, ended.err
        assert verb.results(folder) == whole.result
    print(f"FIGURES memory {name}: {dict(counts)}")
