"""Whatever file of a run, a cache, an encoder or an index is damaged: the same bytes, or one line that says why not."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from isotrope.io.hashes import digest

from .conftest import LONG, Fresh, Wanted
from .processes import Command
from .verbs import VERBS, same_or_said

pytestmark = pytest.mark.xdist_group("faults")

Damage = Callable[[Path, random.Random], object]
Use = Callable[[Path], str]  # what comes of a folder with a damaged file: `same` or `said`


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
RUNS = {"train": 2, "pretrain": 2, "tune": 1}  # and how many checkpoints there are when they are killed
HANDFUL = 3
MOST = 100  # files of one kind that are damaged in the long run; of more, so many by chance


def each_damaged(what: str, pristine: Path, where: str, use: Use, chance: random.Random) -> None:
    """Damages each file under `where` in each way, in a copy of the folder; a few of them in the suite."""
    files = sorted(str(path.relative_to(pristine)) for path in (pristine / where).rglob("*") if path.is_file())
    assert files
    taken = files if len(files) <= MOST else sorted(chance.sample(files, MOST))
    cases, counts = [(file, how) for file in taken for how in DAMAGES], Counter[str]()
    for file, how in cases if LONG else chance.sample(cases, HANDFUL):
        print(f"{what}: {file} {how}")  # shown where the test fails
        folder = pristine.with_name("damaged")
        shutil.copytree(pristine, folder)
        DAMAGES[how](folder / file, chance)
        found = use(folder)
        counts[found] += 1
        if LONG and found == "said":
            print(f"  said: {(folder / 'cache.err').read_text().splitlines()[-1]}")
        shutil.rmtree(folder)
    if LONG:
        print(f"FIGURES damage {what}: {len(taken)} of {len(files)} files, {dict(counts)}", flush=True)


def checkpoints(made: Path) -> int:
    """How many a run has; `os.walk` does not mind folders that the run removes meanwhile."""
    return sum(name.startswith("checkpoint-") for _, folders, _ in os.walk(made) for name in folders)


def begun(name: str, folder: Path) -> None:
    """Runs a verb, and takes away what it made; a run is killed when it has its checkpoints."""
    verb = VERBS[name]
    if verb.run:
        made = folder / "work" / verb.made
        verb.command(folder).run(when=lambda: checkpoints(made) == RUNS[name])
        assert not (made / "encoder").exists()
        return
    done = verb.command(folder).run()
    assert done.code == 0, done.err
    (folder / "work" / verb.made).unlink()


@pytest.mark.parametrize("name", (*RUNS, *CACHED) if LONG else ("train", "evaluate"))
def test_damaged_and_given_again(name: str, fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    verb, whole = VERBS[name], wanted(name)
    pristine = fresh(name)
    begun(name, pristine)

    def again(folder: Path) -> str:
        return same_or_said(verb.command(folder).run(), verb, folder, whole.result)

    each_damaged(name, pristine, f"work/{verb.made}" if verb.run else "cache", again, chance)


def test_a_damaged_model_is_used_by_nobody(fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    """Vectors of a model with one flipped bit look like any others."""
    verb, whole = VERBS["encode"], wanted("encode")

    def encoded(folder: Path) -> str:
        return same_or_said(verb.command(folder).run(), verb, folder, whole.result)

    each_damaged("model", fresh("encode"), "work/model", encoded, chance)


@pytest.mark.skipif(not LONG, reason="only in the long run: make faults")
def test_a_damaged_sweep_gives_the_same_table_or_says_so(fresh: Fresh, wanted: Wanted, chance: random.Random) -> None:
    """Of what is done only its figures are read again, so a damaged file beside them does no harm."""
    verb, whole = VERBS["sweep"], wanted("sweep")
    pristine = fresh("sweep")
    shutil.copytree(whole.folder / "work" / verb.made, pristine / "work" / verb.made)
    paths = [whole.folder / "work" / verb.made / name for name in ("sweep.json", "sweep.md")]
    tables = {str(path.relative_to(whole.folder)): digest(path.read_bytes()).hex() for path in paths}

    def again(folder: Path) -> str:
        ended = verb.command(folder).run()
        assert ended.code == 0 or ended.has_one_clear_line, ended.err
        assert ended.code or tables == {name: digest((folder / name).read_bytes()).hex() for name in tables}
        return "said" if ended.code else "same"

    each_damaged("sweep", pristine, f"work/{verb.made}", again, chance)


@pytest.mark.skipif(not LONG, reason="only in the long run: make faults")
@pytest.mark.parametrize("name", ["index", "export", "export onnx", "export openvino", "export torch"])
def test_what_was_made_and_damaged_gives_the_same_or_says_so(
    name: str, fresh: Fresh, wanted: Wanted, chance: random.Random
) -> None:
    """An index is searched, an exported encoder encodes."""
    pristine = fresh(name)
    shutil.copytree(wanted(name).folder / "work" / VERBS[name].made, pristine / "work" / VERBS[name].made)

    def said(folder: Path) -> tuple[str, bool]:
        ended = Command(USES[name], folder / "work", folder / "cache").run()
        assert ended.code == 0 or ended.has_one_clear_line, ended.err
        made = folder / "work" / "y.npy"
        return made.read_bytes().hex() if made.exists() else ended.out, ended.code == 0

    right, _ = said(shutil.copytree(pristine, pristine.with_name("whole")))

    def used(folder: Path) -> str:
        found, done = said(folder)
        assert not done or found == right, "used as if nothing were wrong"
        return "same" if done else "said"

    each_damaged(name, pristine, f"work/{VERBS[name].made}", used, chance)


USES = {
    "index": ("search", "found.index", "A man plays music.", "-k", "80", "--json"),
    **{
        name: ("encode", "text.txt", "-o", "y.npy", "-m", VERBS[name].made)
        for name in VERBS
        if name.startswith("export")
    },
}
