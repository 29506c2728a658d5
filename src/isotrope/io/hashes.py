"""The one hash: BLAKE2b for keys and fingerprints. SHA-256 only where others publish it."""

from __future__ import annotations

import hashlib
from pathlib import Path

BLOCK = 2**20  # bytes of a file that are in memory together


def hasher(size: int = 16) -> hashlib.blake2b:
    """A hash of `size` bytes, to be fed piece by piece with `update`."""
    return hashlib.blake2b(digest_size=size)


def digest(content: str | bytes, size: int = 16, *, salt: bytes = b"") -> bytes:
    """The hash of a text or of bytes, `size` bytes long."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=size, salt=salt).digest()


def sha256(file: Path) -> str:
    """Hex digest of a file's bytes, as model hubs publish it."""
    found = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(BLOCK):
            found.update(block)
    return found.hexdigest()
