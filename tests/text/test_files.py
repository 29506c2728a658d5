from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from isotrope.io.errors import IsotropeError
from isotrope.text import Counts, read_sentences, read_table
from isotrope.text.files import file_kind, stream_rows


def as_txt(sentences: list[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode()


def as_csv(sentences: list[str]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(["id", "text"])
    writer.writerows(enumerate(sentences))
    return stream.getvalue().encode()


def as_tsv(sentences: list[str]) -> bytes:
    return "".join(f"{i}\t{text}\n" for i, text in [("id", "text"), *enumerate(sentences)]).encode()


def as_jsonl(sentences: list[str]) -> bytes:
    return "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(sentences)).encode()


def as_parquet(sentences: list[str], compression: str = "snappy") -> bytes:
    stream = io.BytesIO()
    table = pyarrow.table({"id": pyarrow.array(range(len(sentences)), pyarrow.int64()), "text": sentences})
    parquet.write_table(table, stream, compression=compression, use_dictionary=False)
    return stream.getvalue()


def twice_parquet() -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_arrays([pyarrow.array(["a"])] * 2, names=["text", "text"]), stream)
    return stream.getvalue()


def far_parquet(**columns: list[str]) -> bytes:
    """A date that no Python object can hold."""
    stream = io.BytesIO()
    when = pyarrow.array([2**62], pyarrow.int64()).cast(pyarrow.timestamp("us"))
    parquet.write_table(pyarrow.table({"when": when, **columns}), stream)
    return stream.getvalue()


def sentences(without: str) -> st.SearchStrategy[list[str]]:
    characters = st.characters(codec="utf-8", exclude_characters=without)
    return st.lists(st.text(characters).map(str.strip).filter(bool), min_size=1)


# what a format can't hold: a line end where lines are records, a tab where it separates, NUL in text, a leading
# U+FEFF where it would be the byte order mark
FORMATS = {
    "txt": (as_txt, sentences("\n\0\ufeff")),
    "csv": (as_csv, sentences("\0")),
    "tsv": (as_tsv, sentences("\n\t\0")),
    "jsonl": (as_jsonl, sentences("")),
    "parquet": (as_parquet, sentences("")),
}


@pytest.mark.parametrize("zipped", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("kind", FORMATS)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_sentences_read_back_the_same(kind: str, zipped: bool, data: st.DataObject) -> None:
    write, strategy = FORMATS[kind]
    given_sentences = data.draw(strategy)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"x.{kind}.gz" if zipped else f"x.{kind}")
        path.write_bytes(gzip.compress(write(given_sentences)) if zipped else write(given_sentences))
        counts = Counts()
        assert list(read_sentences(path, counts=counts)) == given_sentences
    assert counts == Counts(sentences=len(given_sentences), blank=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.txt", "a\n\n b \n \t \nc"),
        ("x.txt", "a\r\n\r\nb\r\n \r\nc\r\n"),
        ("x.csv", "id,text\n1,a\n\n2,b\n3,  \n4,c\n"),
        ("x.tsv", "id\ttext\n1\ta\n\n2\tb\n3\t \n4\tc\n"),
        ("x.jsonl", '{"text": "a"}\n\n{"text": "b"}\n{"text": null}\n{"text": "c"}\n'),
    ],
)
def test_blank_ones_are_skipped_and_counted(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    counts = Counts()
    assert list(read_sentences(path, counts=counts)) == ["a", "b", "c"]
    assert counts == Counts(sentences=3, blank=2)


def test_counts_add_up_over_files_and_each_file_needs_a_sentence(tmp_path: Path) -> None:
    full, blank = tmp_path / "full.txt", tmp_path / "blank.txt"
    full.write_text("a\n\nb\n")
    blank.write_text("\n\n")
    counts = Counts()
    list(read_sentences(full, counts=counts))
    list(read_sentences(full, counts=counts))
    assert counts == Counts(sentences=4, blank=2)
    with pytest.raises(IsotropeError, match="blank lines only"):
        list(read_sentences(blank, counts=counts))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    for name, content in (("x.txt", "a\nb\n"), ("x.csv", "text\na\nb\n")):
        path = tmp_path / name
        path.write_text(content, encoding="utf-8-sig")
        assert list(read_sentences(path)) == ["a", "b"]


def test_a_tab_separated_file_knows_no_quotes(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text('text\tscore\n"It is," he said.\t1\n"\t2\n')
    assert list(read_sentences(path)) == ['"It is," he said.', '"']


def test_sentences_come_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(b"good\nalso good\n\xff\n")
    stream = read_sentences(path)
    assert [next(stream), next(stream)] == ["good", "also good"]
    with pytest.raises(IsotropeError, match="line 3: byte 0xff at position 1 is not UTF-8"):
        next(stream)


def test_standard_input_is_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("a\n\nü\n".encode())))
    counts = Counts()
    assert list(read_sentences("-", counts=counts)) == ["a", "ü"]
    assert counts.blank == 1


@pytest.mark.parametrize(
    ("name", "content", "column", "found"),
    [
        ("x.csv", "sentence,text\nno,yes\n", None, "yes"),
        ("x.csv", "id,sentence\nno,yes\n", None, "yes"),
        ("x.csv", "id,title\nno,yes\n", "title", "yes"),
        ("x.jsonl", '{"id": 1, "title": "yes"}\n', None, "yes"),
        ("x.jsonl", '{"id": "7", "title": "yes"}\n', None, "yes"),
        ("x.csv", "id,text\nno,42\n", None, "42"),
    ],
)
def test_which_column_is_read(tmp_path: Path, name: str, content: str, column: str | None, found: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert list(read_sentences(path, column)) == [found]


def test_a_table_without_a_header_does_not_lose_its_first_sentence(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("A dog barks.\nA cat sleeps.\n")
    with pytest.raises(IsotropeError, match=r"which column\? Name one with column=: A dog barks\."):
        list(read_sentences(path))


BAD = {
    "missing.txt": (None, "no such file"),
    "empty.txt": (b"", "the file is empty"),
    "empty.txt.gz": (gzip.compress(b""), "no sentences in it"),
    "blank.txt": (b"\n  \n", r"no sentences in it \(blank lines only\)"),
    "latin.txt": ("a\nb\ncafé\n".encode("latin-1"), "line 3: byte 0xe9 at position 4 is not UTF-8"),
    "picture.txt": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "line 1: a binary file"),
    "nul.txt": (b"fine\na\0b\n", "line 2: a binary file"),
    "utf16.txt": ("hello\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
    "cut.txt.gz": (gzip.compress(b"a sentence\n" * 999)[:-12], "not a complete gzip file"),
    "not.txt.gz": (b"plain\n", "not a complete gzip file"),
    "x.docx": (b"hello", r"unknown kind of file; one of \.txt, \.csv"),
    "header.csv": (b"text\n", "no sentences in it"),
    "nameless.tsv": (b"\na\n", "line 1 is blank"),
    "twice.csv": (b"text,text\na,b\n", "two columns are named 'text'"),
    "numbers.csv": (b"id,score\n1,2.5\n", "no column with text; it has: id, score"),
    "numbers.jsonl": (b'{"id": 1}\n', "no column with text; it has: id"),
    "pairs.tsv": (b"sentence1\tsentence2\na\tb\n", "which column.*sentence1, sentence2"),
    "ragged.tsv": (b"id\ttext\n1\ta\n2\n", "line 3: 1 fields, but the header has 2"),
    "quote.csv": (b'text\n"a\n', "line 2: unexpected end of data"),
    "bad.jsonl": (b'{"text": "a"}\n{"text":\n', "line 2: not JSON"),
    "list.jsonl": (b'["a"]\n', "line 1: not an object"),
    "gap.jsonl": (b'{"text": "a"}\n{"txt": "b"}\n', r"row 2: no column 'text' \(did you mean 'txt'\?\); it has: txt"),
    "five.jsonl": (b'{"text": 5}\n', "row 1: column 'text' holds 5, not text"),
    "half.jsonl": (b'{"text": "a\\ud800"}\n', "row 1: .*half a character"),
    "deep.jsonl": (b'{"text": "a", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "line 1: not JSON .*recursion"),
    "repeated.jsonl": (b'{"text": "a", "text": "b"}\n', "line 1: not JSON .a name occurs twice"),
    "twice.parquet": (twice_parquet(), "two columns are named 'text'"),
    "far.parquet": (far_parquet(), "no column with text; it has: when"),
    "not.parquet": (b"hello, I am text", "a damaged Parquet file"),
    "cut.parquet": (as_parquet(["a", "b"])[:-20], "a damaged Parquet file"),
    "numbers.parquet": (as_parquet([]), "no sentences in it"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_named_with_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(IsotropeError, match=message) as error:
        list(read_sentences(path))
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("compression", ["snappy", "none"])
def test_damage_inside_a_parquet_file_is_found(tmp_path: Path, compression: str) -> None:
    whole = as_parquet([f"sentence {i}" for i in range(500)], compression)
    damaged = whole.replace(b"sentence 7", b"sentence \xff")
    if compression == "snappy":
        damaged = whole[:200] + bytes(60) + whole[260:]
    path = tmp_path / "x.parquet"
    path.write_bytes(damaged)
    with pytest.raises(IsotropeError, match="a damaged Parquet file"):
        list(read_sentences(path))


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_csv_is_separated_by_what_its_header_shows(tmp_path: Path, sign: str) -> None:
    """With a byte order mark, quotes, line ends and the other signs within cells, as spreadsheets write it."""
    rows = [["id", "a,b;c\td", "text"], ["1", "x;y;z,,,", 'said "no";\nor\tso, yes'], ["2", "", "end"]]
    with (tmp_path / "x.csv").open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file, delimiter=sign).writerows(rows)
    found = list(read_table(tmp_path / "x.csv"))
    assert [list(row) for row in found] == [rows[0]] * 2
    assert [list(row.values()) for row in found] == rows[1:]


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_missing_column_is_an_error_that_names_those_there_are(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    path.write_bytes(FORMATS[kind][0](["a"]))
    with pytest.raises(IsotropeError, match=r"no column 'texts' \(did you mean 'text'\?\); it has: id, text"):
        list(read_sentences(path, "texts"))


def test_plain_text_has_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("a\n")
    with pytest.raises(IsotropeError, match="plain text has no columns; leave out column="):
        list(read_sentences(path, "text"))
    with pytest.raises(IsotropeError, match="a table with score, sentence1 is needed"):
        list(read_table(path, ["score", "sentence1"]))


def test_a_far_date_matters_to_those_only_who_ask_for_it(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(far_parquet(title=["A dog."]))
    assert list(read_sentences(path)) == ["A dog."]
    with pytest.raises(IsotropeError, match=r"row 1: column 'when' holds a timestamp.* out of Python's range"):
        list(read_sentences(path, "when"))


def test_a_line_of_any_length_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"A dog.\n")
        for _ in range(70):
            file.write(b"a" * 2**20)
    with pytest.raises(IsotropeError, match=r"bomb.*: line 2: longer than 64 MiB; is it text"):
        list(read_sentences(path))


@pytest.mark.parametrize(("name", "content"), [("x.txt", b"a\rb\r\rc\r"), ("x.tsv", b"text\ra\rb\r\rc")])
def test_lines_may_end_with_carriage_returns(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    counts = Counts()
    assert list(read_sentences(path, counts=counts)) == ["a", "b", "c"]
    assert counts.blank == 1


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "x.txt"
    folder.mkdir()
    with pytest.raises(IsotropeError, match="a folder, but a file is needed"):
        list(read_sentences(folder))
    with pytest.raises(IsotropeError, match=r"a folder, .*; give the files in it, such as .*/\*\.txt$"):
        file_kind(tmp_path)
    with pytest.raises(IsotropeError, match="unknown kind of file"):  # what others sent says nothing about this disk
        list(stream_rows(io.BytesIO(b""), str(tmp_path)))


def test_rows_keep_all_their_columns_and_blank_lines_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_text("score\tsentence1\tsentence2\n1\ta\tb\n\n2\tc\td\n")
    assert list(read_table(path, ["score"])) == [
        {"score": "1", "sentence1": "a", "sentence2": "b"},
        {"score": "2", "sentence1": "c", "sentence2": "d"},
    ]
