from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from isotrope import recipes
from isotrope.io.errors import IsotropeError
from isotrope.text import readable
from isotrope.text.readable import check_readable
from isotrope.text.shaping import Shape

TEXT = ("text",)


def test_what_is_wrong_with_a_file_is_what_reading_it_says(tmp_path: Path) -> None:
    table, torn, lines = tmp_path / "table.tsv", tmp_path / "torn.jsonl", tmp_path / "lines.txt"
    table.write_text("a\tb\nx\ty\n")
    torn.write_text('{"text": "one"}\n{"text": \n')
    lines.write_text("One.\nTwo.\n")
    check_readable([lines], Shape(), None, TEXT)
    check_readable([table], Shape(), "a", TEXT)
    check_readable([table], Shape())  # what will be read of it is not known yet
    with pytest.raises(IsotropeError, match=r"table.tsv: which column\?"):
        check_readable([table], Shape(), None, TEXT)
    with pytest.raises(IsotropeError, match=r"torn\.jsonl: line 2"):
        check_readable([lines, torn], Shape())
    with pytest.raises(IsotropeError, match="no column 'c'"):
        check_readable([table], Shape.of("a,c"), None, TEXT)


def test_what_can_be_read_once_or_is_far_away_is_left_alone(tmp_path: Path) -> None:
    check_readable(["-", "hub:org/name"], Shape(), None, TEXT)


def test_of_a_long_file_the_beginning_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readable, "FIRST_ROWS", 3)
    file = tmp_path / "long.jsonl"
    file.write_text('{"text": "one"}\n' * 5 + "{\n")
    check_readable([file], Shape(), None, TEXT)


def test_which_recipes_read_text_alone() -> None:
    alone = {name for name in recipes.names() if recipes.reads_text_alone(name)}
    assert {"simcse", "sg-opt", "consert"} <= alone
    for name in alone:
        assert {stage.columns for stage in recipes.load(name).stages} == {TEXT}
    assert not recipes.reads_text_alone("simcse", ["views.first.column"])


def test_a_mistake_in_the_text_is_found_before_anything_slow_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "table.tsv").write_text("a\tb\nx\ty\n")
    command = f"train {tmp_path}/table.tsv --recipe simcse --model minilm --output {tmp_path}/run"
    code = (
        "import sys\nfrom isotrope.cli import main\n"
        f"try:\n    main({command.split()})\nexcept SystemExit as end:\n"
        "    print(end.code, {'torch', 'numpy', 'psutil', 'urllib.request'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "which column? Name one with --column: a, b" in done.stderr
    assert done.stdout == "2 set()\n"
    assert not (tmp_path / "run").exists()
