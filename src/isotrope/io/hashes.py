"""The one hash: BLAKE2b for keys and fingerprints. SHA-256 only where others publish it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

BLOCK = 2**20  # bytes of a file that are in memory together


def hasher(size: int = 16) -> hashlib.blake2b:
    """A hash of `size` bytes, to be fed piece by piece with `update`."""
    return hashlib.blake2b(digest_size=size)


def digest(content: str | bytes, size: int = 16, *, salt: bytes = b"") -> bytes:
    """The hash of a text or of bytes, `size` bytes long."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=size, salt=salt).digest()


def file_digest(file: Path, size: int = 16) -> str:
    """The hash of a file's bytes, in hexadecimal."""
    return _of_file(file, hasher(size))


def sha256(file: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal, as model hubs publish it."""
    return _of_file(file, hashlib.sha256())


def _of_file(file: Path, found: Any) -> str:
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            found.update(block)
    return str(found.hexdigest())
