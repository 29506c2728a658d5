"""Whatever file of a run or a cache is damaged, the next command makes the same bytes or says in one line why not."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import LONG, Fresh
from .verbs import VERBS, same_or_said

pytestmark = pytest.mark.xdist_group("faults")

Damage = Callable[[Path, random.Random], object]


def flip(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def garble(file: Path, chance: random.Random) -> None:
    data = bytearray(file.read_bytes())
    start = chance.randrange(max(1, len(data)))
    data[start : start + 64] = chance.randbytes(len(data[start : start + 64]))
    file.write_bytes(data)


DAMAGES: dict[str, Damage] = {
    "truncated": lambda file, chance: file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size + 1)]),
    "flipped": flip,
    "garbled": garble,
    "emptied": lambda file, chance: file.write_bytes(b""),
    "removed": lambda file, chance: file.unlink(),
}
CACHED = ("views", "evaluate")
RUNS = ("train", "pretrain")
HANDFUL = 3


def begun(name: str, fresh: Fresh, ended: bool) -> Path:
    """A folder in which a verb has run; a run without its result, as if killed just before that was written."""
    folder, verb = fresh(), VERBS[name]
    done = verb.command(folder).run()
    assert done.code == 0, done.err
    if verb.run and not ended:
        shutil.rmtree(folder / "work" / verb.made / "encoder")
    if not verb.run:
        (folder / "work" / verb.made).unlink()
    return folder


def files_of(name: str, folder: Path) -> list[str]:
    """The files of the run, or of the cache."""
    where = folder / "work" / VERBS[name].made if VERBS[name].run else folder / "cache"
    return sorted(str(path.relative_to(folder)) for path in where.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", (*RUNS, *CACHED) if LONG else ("train", "evaluate"))
def test_damaged_and_given_again(
    name: str,
    fresh: Fresh,
    wanted: Callable[[str], tuple[dict[str, str], float]],
    chance: random.Random,
    tmp_path: Path,
) -> None:
    verb, (result, _) = VERBS[name], wanted(name)
    pristine, counts = begun(name, fresh, ended=False), Counter[str]()
    files = files_of(name, pristine)
    assert files
    cases = [(file, how) for file in files for how in DAMAGES]
    for file, how in cases if LONG else chance.sample(cases, HANDFUL):
        print(f"{name}: {file} {how}")  # shown where the test fails
        folder = tmp_path / "damaged"
        shutil.copytree(pristine, folder)
        DAMAGES[how](folder / file, chance)
        found = same_or_said(verb.command(folder).run(), verb, folder, result)
        counts[found] += 1
        if LONG and found == "said":
            print(f"  said: {(folder / 'cache.err').read_text().splitlines()[-1]}")
        shutil.rmtree(folder)
    if LONG:
        print(f"FIGURES damage {name}: {len(files)} files, {dict(counts)}")


def test_a_damaged_model_is_used_by_nobody(
    fresh: Fresh, wanted: Callable[[str], tuple[dict[str, str], float]], chance: random.Random, tmp_path: Path
) -> None:
    """Vectors of a model with one flipped bit look like any others."""
    verb, (result, _) = VERBS["encode"], wanted("encode")
    pristine, counts = fresh(), Counter[str]()
    files = sorted(
        str(path.relative_to(pristine)) for path in (pristine / "work" / "model").rglob("*") if path.is_file()
    )
    cases = [(file, how) for file in files for how in DAMAGES]
    for file, how in cases if LONG else chance.sample(cases, HANDFUL):
        print(f"model: {file} {how}")  # shown where the test fails
        folder = tmp_path / "damaged"
        shutil.copytree(pristine, folder)
        DAMAGES[how](folder / file, chance)
        counts[same_or_said(verb.command(folder).run(), verb, folder, result)] += 1
        shutil.rmtree(folder)
    if LONG:
        print(f"FIGURES damage model: {len(files)} files, {dict(counts)}")
