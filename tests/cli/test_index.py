from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import isotrope
from isotrope.text import bundled_sentences

Run = Callable[..., Any]


def test_python_and_the_command_line_agree(run: Run) -> None:
    lines = [f"{i};{text};{'ab'[i % 2]}\n" for i, text in enumerate(bundled_sentences()[:30])]
    Path("x.csv").write_text("id;said;queue\n" + "".join(lines) + "30;;a\n")
    done = run("index", "x.csv", "--column", "said", "--model", "bundled", "--output", "index")
    assert (done.code, done.err) == (0, "")
    first, following = done.out.splitlines()
    assert first == "index: 31 rows (1 without text), search is exact"
    assert following == 'Next: isotrope search index "what you are looking for"'
    again = run("index", "x.csv", "--column", "said", "--model", "bundled", "--output", "index")
    assert again.out.startswith("index: 31 rows; 0 added, 31 already there, search is exact\n")
    isotrope.index("x.csv", "bundled", "other", column="said")
    found = isotrope.search("other", "Some people", 3, where="queue=a")
    assert run("search", "index", "Some people", "-k", "3", "--where", "queue=a", "--json").out == found.json()
    shown = run("search", "index", "Some people", "-k", "3", "--where", "queue=a").out
    assert [line.rstrip() for line in shown.splitlines()] == str(found).splitlines()
    assert found[0].row["said"][:20] in shown
    assert run("search", "nix", "x").err == "Error: nix: there is no index; make one with isotrope index\n"
    other = run("index", "x.csv", "--column", "said", "--model", "small", "--output", "index")
    assert "made with another model (bundled -> small); --force makes a new one" in other.err


def test_paraphrases_duplicates_and_clusters(run: Run) -> None:
    texts = [*bundled_sentences()[:30], bundled_sentences()[0] + "!"]
    Path("x.jsonl").write_text("".join(json.dumps({"id": i, "said": text}) + "\n" for i, text in enumerate(texts)))
    named = ("x.jsonl", "--column", "said", "--model", "bundled")
    found = isotrope.paraphrases("x.jsonl", "bundled", column="said", most=20)
    assert run("paraphrases", *named, "--json").out == found.json()
    same = isotrope.duplicates("x.jsonl", "bundled", column="said", output="python.parquet")
    assert run("duplicates", *named, "--json", "--output", "shell.parquet").out == same.json()
    assert Path("python.parquet").read_bytes() == Path("shell.parquet").read_bytes()
    assert "the same as another row" in run("duplicates", *named).out
    groups = isotrope.cluster("x.jsonl", "bundled", column="said", clusters=3)
    assert run("cluster", *named, "--clusters", "3", "--json").out == groups.json()
    shown = run("cluster", *named, "--clusters", "3").out
    assert [line.rstrip() for line in shown.splitlines()] == str(groups).splitlines()
