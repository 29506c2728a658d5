"""Corpora of any size to a folder of files of equally many rows: resumable, by one process, several, or Ray.

Every way of running reads the table in the same order and gives shard k the same rows, so the files are the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import torch

from isotrope.encoders.encoding import EncodedFile, check_batch_size, encode_rows
from isotrope.encoders.loading import load_any
from isotrope.io.errors import IsotropeError, reason
from isotrope.io.progress import Display
from isotrope.io.vector_files import WRITERS
from isotrope.text.record_batches import Batches, batch_texts, record_batches
from isotrope.text.shaping import Shape
from isotrope.text.sources import Source

ABOUT = "shards.json"  # in the folder: how its files were made
PARTIAL = ".partial"  # behind the name of a file until it is whole
NOTED = 10.0  # seconds after which a killed process would have to do a shard again that was written
AHEAD = 4  # shards for each worker that are in memory together


@dataclass(frozen=True)
class Work:
    """What decides the files, and where they go. It travels to other processes and machines."""

    model: str
    output: str  # a folder, or any address that fsspec knows
    shard_size: int
    shape: Shape
    vector_column: str = "embedding"
    pooling: str | None = None
    normalize: bool = False
    precision: str | None = None
    batch_size: int = 32

    @property
    def ending(self) -> str:
        """Of its files: as the name of the folder ends; .parquet if it ends in neither."""
        suffix = PurePosixPath(self.output.rstrip("/")).suffix.lower()
        return suffix if suffix in WRITERS else ".parquet"

    def file(self, shard: int) -> str:
        """Where shard k goes."""
        return f"{self.output.rstrip('/')}/part-{shard:06d}{self.ending}"

    def settings(self) -> dict[str, Any]:
        """What must be the same for a folder to be continued."""
        kept = asdict(self)
        for name in ("output", "batch_size"):
            kept.pop(name)
        plain: dict[str, Any] = json.loads(json.dumps(kept))
        return plain


class Shard(NamedTuple):
    """Some rows of a table, and the number of the file that they go into."""

    number: int
    table: Batches
    batch: Any  # an Arrow record batch
    before: int  # rows of the table that came before


class Written(NamedTuple):
    """What a worker tells about a shard."""

    number: int
    rows: int
    blank: int
    truncated: int
    dim: int
    max_seq_length: int


class Worker:
    """An encoder in some process, which turns shards into files."""

    def __init__(self, work: Work, device: str | None = None, threads: int | None = None) -> None:
        if threads:
            torch.set_num_threads(threads)
        self.work = work
        self.encoder = load_any(work.model, pooling=work.pooling, device=device, precision=work.precision)

    def __call__(self, shard: Shard) -> Written:
        """Encodes and writes one shard; its file is whole or not there."""
        work, encoder, before = self.work, self.encoder, self.encoder.truncated
        texts = batch_texts(shard.table, shard.batch, work.shape, shard.before)
        rows = encode_rows(shard.batch, texts, encoder, batch_size=work.batch_size, normalize=work.normalize)
        with TemporaryDirectory() as scratch:
            local = Path(scratch, f"shard{work.ending}")
            with WRITERS[work.ending](local, shard.batch.schema, encoder.dim, work.vector_column) as write:
                write(rows.batch, rows.vectors, rows.blank)
            put(local, work.file(shard.number))
        truncated = encoder.truncated - before
        return Written(shard.number, len(texts), int(rows.blank.sum()), truncated, encoder.dim, encoder.max_seq_length)


Runner = Callable[[Work, Iterator[Shard]], Iterator[Written]]


def encode_shards(
    work: Work, source: Source, run: Runner, *, column: str | None, force: bool, show_progress: bool
) -> EncodedFile:
    """Writes the shards that are not there yet. `run` decides where: here, in other processes, through Ray."""
    check_batch_size(work.batch_size)
    if work.shard_size < 1:
        raise IsotropeError(f"shard_size must be at least 1, not {work.shard_size}", argument="shard_size")
    began = time.monotonic()
    done = prepare(work, force=force)
    table = record_batches(source, work.shard_size, column, work.shape)
    if work.vector_column in table.schema.names:
        raise IsotropeError(
            f"{table.name}: there is already a column '{work.vector_column}'; give the vectors another name "
            "with vector_column=",
            argument="vector_column=",
        )
    found = {int(key): Written(*value) for key, value in done.items()}
    with ExitStack() as stack:
        advance = stack.enter_context(Display("Encoding", unit="rows", shown=show_progress))
        missing = (shard for shard in shards(table, work.shard_size) if shard.number not in found)
        stack.callback(note, work, found)  # however it ends
        noted = time.monotonic()
        for written in run(work, missing):
            found[written.number] = written
            advance(written.rows)
            if time.monotonic() - noted > NOTED:
                note(work, found)
                noted = time.monotonic()
    if not found or not sum(one.rows - one.blank for one in found.values()):
        raise IsotropeError(f"{table.name}: no sentences in it (blank lines only)")
    first = next(iter(found.values()))
    return EncodedFile(
        path=Path(work.output) if "://" not in work.output else PurePosixPath(work.output),
        rows=sum(one.rows for one in found.values()),
        dim=first.dim,
        blank=sum(one.blank for one in found.values()),
        truncated=sum(one.truncated for one in found.values()),
        max_seq_length=first.max_seq_length,
        seconds=time.monotonic() - began,
        shards=len(found),
    )


def here(device: str | None = None) -> Runner:
    """In this process."""

    def run(work: Work, missing: Iterator[Shard]) -> Iterator[Written]:
        worker: Worker | None = None
        for shard in missing:
            worker = worker or Worker(work, device)
            yield worker(shard)

    return run


def shards(table: Batches, size: int) -> Iterator[Shard]:
    """The rows of a table, exactly `size` at a time but for the last, whatever lots they come in."""
    import pyarrow  # slow to import

    number, waiting, rows = 0, [], 0
    about = table._replace(batches=iter(()))
    for batch in table.batches:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= size:
            whole = pyarrow.Table.from_batches(waiting)
            yield Shard(number, about, _one(whole.slice(0, size)), number * size)
            waiting, rows, number = whole.slice(size).to_batches(), rows - size, number + 1
    if rows:
        yield Shard(number, about, _one(pyarrow.Table.from_batches(waiting)), number * size)


def _one(table: Any) -> Any:
    return table.combine_chunks().to_batches()[0]


# -- the folder, here or anywhere -------------------------------------------------------------------------------------


def prepare(work: Work, *, force: bool) -> dict[str, Any]:
    """Makes the folder, or finds the shards in it that are there. One made with other settings is refused."""
    files, folder = _filesystem(work.output)
    try:
        if force and files.exists(folder):
            files.rm(folder, recursive=True)
        files.makedirs(folder, exist_ok=True)
        about = f"{folder}/{ABOUT}"
        if not files.exists(about):
            if not all(name.endswith(PARTIAL) for name in files.ls(folder, detail=False)):
                raise IsotropeError(
                    f"{work.output}: a folder with other files in it; choose another, or replace it with force=True",
                    argument="force=True",
                )
            note(work, {})
            return {}
        told = json.loads(files.cat_file(about))
        for key, value in work.settings().items():
            if told["settings"].get(key) != value:
                raise IsotropeError(
                    f"{work.output}: made with other settings ({key} {told['settings'].get(key)} -> {value}); choose "
                    "another folder, or replace it with force=True",
                    argument="force=True",
                )
        return {key: value for key, value in told["shards"].items() if files.exists(f"{folder}/{_name(work, key)}")}
    except (OSError, ValueError, KeyError) as error:
        raise IsotropeError(f"{work.output}: can't be written ({reason(error)})") from error


def note(work: Work, found: dict[int, Written]) -> None:
    """Keeps account of the shards that are there."""
    told = {"settings": work.settings(), "shards": {str(key): list(found[key]) for key in sorted(found)}}
    with TemporaryDirectory() as scratch:
        local = Path(scratch, ABOUT)
        local.write_text(json.dumps(told), encoding="utf-8")
        put(local, f"{work.output.rstrip('/')}/{ABOUT}")


def put(local: Path, address: str) -> None:
    """A file to its address, whole: it is written under another name and then renamed."""
    files, path = _filesystem(address)
    try:
        files.put_file(str(local), path + PARTIAL)
        files.mv(path + PARTIAL, path)
    except OSError as error:
        raise IsotropeError(f"{address}: can't be written ({reason(error)})") from error


def _name(work: Work, key: str) -> str:
    return work.file(int(key)).rpartition("/")[2]


def _filesystem(address: str) -> tuple[Any, str]:
    """fsspec's file system of an address, and the path in it."""
    import fsspec

    try:
        files, path = fsspec.core.url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise IsotropeError(f"{address}: {reason(error)}") from error
    return files, path
