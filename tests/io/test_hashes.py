from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

from isotrope.io.hashes import digest, file_digest, hasher, sha256


def test_sha256_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_text_is_hashed_as_utf8_and_pieces_are_hashed_as_the_whole() -> None:
    assert (
        digest("Hündchen", 8) == digest("Hündchen".encode(), 8) == blake2b("Hündchen".encode(), digest_size=8).digest()
    )
    pieces = hasher()
    pieces.update(b"Hund")
    pieces.update(b"chen")
    assert pieces.digest() == digest("Hundchen")
    assert len({digest("a", salt=salt) for salt in (b"", b"1", b"2")}) == 3


def test_a_file_is_hashed_as_its_bytes_are(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"abc" * 1_000_000)
    assert file_digest(tmp_path / "x") == digest(b"abc" * 1_000_000).hex()
