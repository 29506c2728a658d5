from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import torch
from datasets import Dataset
from pyarrow import parquet
from sentence_transformers import SentenceTransformer

import isotrope
from isotrope.encoders import encode
from isotrope.encoders.encoding import encode_table
from isotrope.io.errors import IsotropeError
from isotrope.text.record_batches import record_batches
from isotrope.text.shaping import Shape

SENTENCES = ["A dog barks.", "A cat sleeps.", "Rain fell all night."]


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load(device="cpu")


def test_text_without_end_is_taken_lot_by_lot(encoder: isotrope.Encoder) -> None:
    taken = count()

    def endless() -> Iterator[str]:
        for number in taken:
            yield f"Sentence {number}."

    first = next(encode_table(record_batches(endless(), 128), encoder, Shape(), batch_size=2))
    assert len(first.texts) == len(first.vectors) == next(taken) == 128  # and not one sentence more


def test_vectors_of_whatever_text_comes_in(
    encoder: isotrope.Encoder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = encoder.encode(SENTENCES)
    file = tmp_path / "x.txt"
    file.write_text("\n".join(SENTENCES))
    frame = pd.DataFrame({"id": [1, 2, 3], "said": SENTENCES})
    for source, column in (
        (SENTENCES, None),
        ((text for text in SENTENCES), None),
        (file, None),
        (str(file), None),
        (frame, "said"),
        (frame["said"], None),
        (Dataset.from_pandas(frame), "said"),
    ):
        found = encode(source, encoder, column=column)
        assert found.dtype == np.float32
        assert np.abs(found - wanted).max() < 1e-5
    assert not caplog.messages
    found = encode([SENTENCES[0], None, " ", *SENTENCES[1:]], encoder)
    assert np.abs(found[[0, 3, 4]] - wanted).max() < 1e-5
    assert not found[1:3].any()
    assert caplog.messages == ["2 of 5 rows are blank or missing; their vectors are zeros"]


def test_models_of_all_kinds(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    encoder.save(tmp_path / "model")
    wanted = encoder.encode(SENTENCES)
    for model in (encoder, "bundled", tmp_path / "model", SentenceTransformer(str(tmp_path / "model"), device="cpu")):
        assert np.abs(encode(SENTENCES, model) - wanted).max() < 1e-5
    cls = encode(SENTENCES, encoder, pooling="cls", normalize=True)
    assert np.abs(cls - isotrope.load(pooling="cls").encode(SENTENCES, normalize_embeddings=True)).max() < 1e-5


def test_a_file_is_replaced_with_force_only(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    output = tmp_path / "x.parquet"
    done = encode(pd.Series([*SENTENCES, None]), encoder, output=str(output))
    assert (done.path, done.rows, done.blank, done.dim, done.truncated) == (output, 4, 1, 256, 0)
    assert parquet.read_table(output)["text"].to_pylist() == [*SENTENCES, None]
    with pytest.raises(IsotropeError, match=r"x\.parquet: exists already; give force=True to overwrite it"):
        encode(SENTENCES, encoder, output=output)
    assert encode(SENTENCES[:1], encoder, output=output, force=True).rows == 1


def test_what_was_truncated_before_is_not_counted_again(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    for number in range(2):
        done = encode(["very " * 300 + "long", "A dog."], encoder, output=tmp_path / f"{number}.npy")
        assert (done.truncated, done.max_seq_length) == (1, 128)


def test_vectors_that_are_no_numbers_are_an_error(tmp_path: Path) -> None:
    broken = isotrope.load(device="cpu")
    with torch.no_grad():
        next(broken.backbone.parameters()).fill_(float("nan"))
    with pytest.raises(IsotropeError, match="'bundled' gives vectors that are not numbers, such as the one for: A dog"):
        encode(SENTENCES, broken, output=tmp_path / "x.npy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta"])
def test_a_device_that_there_is_not(device: str) -> None:
    with pytest.raises(IsotropeError, match=f"there is no device '{device}' on this machine; leave out device="):
        encode(SENTENCES, device=device)


def rows() -> list[dict[str, Any]]:
    """A table as people have it: blanks, markup, types of all kinds."""
    texts = ["<p>A dog<br>barks &amp; runs.</p>", "", None, "A cat sleeps."]
    subjects = ["Dog", None, "Cat", " "]
    return [
        {"id": i, "Subject": subject, "Body": text, "tags": ["a", "b"][:i], "when": date(2024, 1, i + 1)}
        for i, (text, subject) in enumerate(zip(texts, subjects, strict=True))
    ]


@pytest.mark.parametrize("library", ["rows", "pandas", "polars", "arrow", "datasets", "parquet", "csv", "jsonl"])
def test_a_table_comes_back_with_a_column_more(encoder: isotrope.Encoder, tmp_path: Path, library: str) -> None:
    table = pyarrow.Table.from_pylist(rows())
    if library in ("csv", "jsonl"):
        table = table.drop_columns(["tags", "when"]).set_column(0, "id", pyarrow.array(["01", "02", "03", "04"]))
    parquet.write_table(table, tmp_path / "x.parquet")
    lines = [";".join(f'"{cell or ""}"' for cell in row.values()) for row in table.to_pylist()]
    (tmp_path / "x.csv").write_text("\n".join(["id;Subject;Body", *lines]), encoding="utf-8-sig")
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    given = {
        "rows": rows,
        "pandas": table.to_pandas,
        "polars": lambda: polars.from_arrow(table),
        "arrow": lambda: table,
        "datasets": lambda: Dataset(table),
    }
    source = given[library]() if library in given else tmp_path / f"x.{library}"
    options: dict[str, Any] = {"columns": ["Subject", "Body"], "join": ". ", "strip_html": True, "batch_size": 1}
    done = encode(source, encoder, output=tmp_path / "y.parquet", vector_column="v", **options)
    assert (done.rows, done.blank) == (4, 1)
    found = parquet.read_table(tmp_path / "y.parquet")
    kept = found.drop_columns("v")
    if library == "csv":  # which has no null
        assert kept.to_pylist() == [{key: cell or "" for key, cell in row.items()} for row in table.to_pylist()]
    else:
        assert kept.to_pylist() == table.to_pylist()
    vectors = found["v"].to_pylist()
    assert vectors[1] is None
    wanted = encoder.encode(["Dog. A dog barks & runs.", "Cat", "A cat sleeps."])
    assert np.abs(np.array([vectors[i] for i in (0, 2, 3)]) - wanted).max() < 1e-5
    assert np.array_equal(encode(source, encoder, **options), np.array([v or [0] * 256 for v in vectors], np.float32))


def test_columns_of_mixed_types_are_kept_as_json(encoder: isotrope.Encoder, tmp_path: Path) -> None:
    """Types that go together are joined, whatever the lot they come in."""
    given = [{"text": f"Row {i}.", "x": 1 if i < 100 else 2.5, "y": {"a": 1} if i < 100 else "b"} for i in range(200)]
    for number, source in enumerate((given, pd.DataFrame(given))):
        encode(source, encoder, output=tmp_path / f"{number}.parquet", batch_size=1)
        found = parquet.read_table(tmp_path / f"{number}.parquet")
        assert found["x"].to_pylist() == [row["x"] for row in given]
        assert found["y"].to_pylist() == [json.dumps({"a": 1})] * 100 + ["b"] * 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": "a,b"}, "a row has one text here; say what joins its columns with join="),
        ({"columns": "a,nix", "join": " "}, "the given text: no column 'nix'; it has: a, b"),
        ({"columns": "a,b", "column": "a"}, "give column= or columns=, not both"),
        ({"column": "a", "join": " "}, "join= joins several columns"),
        ({"column": "a", "output": "x.parquet", "vector_column": "b"}, "there is already a column 'b'"),
        ({"column": "a", "batch_size": 0}, "batch_size must be at least 1, not 0"),
    ],
)
def test_what_cant_be_encoded_is_said(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    options = {**options, **({"output": tmp_path / "x.parquet"} if "output" in options else {})}
    with pytest.raises(IsotropeError, match=message):
        encode([{"a": "x", "b": "y"}], **options)
