"""A report on real runs: what is on the page, what can't break it, and what it says where something is missing."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.text import bundled_sentences
from isotrope.training.record import RECORD, VERDICT

from .conftest import HOSTILE

VOID = {"meta", "br", "input", "img", "line", "circle", "polyline", "polygon"}


class Balance(HTMLParser):
    """Fails where a tag is closed that is not the last one open; keeps what is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.fetched += [str(value) for name, value in attrs if name in ("src", "srcset", "data", "action")]
        self.fetched += [str(value) for name, value in attrs if name == "href" and not str(value).startswith("#")]
        if tag not in VOID or tag == "circle":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    reader = Balance()
    reader.feed(text)
    assert reader.open == []
    assert reader.fetched == []
    assert "url(" not in text
    assert "@import" not in text
    assert text.count("<h1>") == 1
    ids = re.findall(' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    for svg in re.findall("<svg[^>]*>", text):
        assert 'role="img"' in svg
        assert len(re.findall('aria-label="([^"]+)"', svg)[0]) > 30
    for name in ("Verdict", "Before and after", "Map", "Similarities", "Training", "Use it", "How it was made"):
        assert f">{name}</h2>" in text
    assert "prefers-color-scheme: dark" in text


def test_what_people_wrote_is_shown_and_does_nothing(page: Path, found: isotrope.Report) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(HOSTILE) <= set(found.sample.texts)
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "onerror=alert(2)>" not in text.replace("onerror=alert(2)&gt;", "")
    assert "\x07" not in text
    titles = [unescape(one) for one in re.findall("<title>(.*?)</title></circle>", text)]
    assert titles == [" ".join(one.split()).replace("\x07", " ") for one in found.sample.texts]
    data = json.loads(re.findall('id="map-data">(.*?)</script>', text, re.DOTALL)[0])
    assert data["colours"]["queue <b>"]["names"] == ["<i>loans</i>", "cards"]
    assert len(data["points"]) == 2
    assert {len(points) for points in data["points"].values()} == {144}


def test_figures_verdict_and_text_are_those_of_the_run(found: isotrope.Report, runs: dict[str, isotrope.Run]) -> None:
    run, page = runs["automatic"], found.html()
    (figures,) = found.figures["runs"]
    assert run.outcome is not None
    assert figures["kept"] == run.outcome.kept
    for line in run.outcome.because.splitlines():
        assert line in unescape(page)
    assert figures["steps"] == run.steps == 4
    start = isotrope.load(run.model).with_pooling(found.runs[0].facts.pooling)
    for when, encoder in (("before", start), ("after", isotrope.load(found.runs[0].facts.tuned))):
        vectors = encoder.encode(found.sample.texts)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        mean = (unit @ unit.T)[np.triu_indices(len(unit), 1)].mean()
        assert figures[when]["mean_cosine"] == pytest.approx(float(mean), abs=1e-3)
    about = json.loads((run.folder / "corpus" / "corpus.json").read_text())
    assert about["fingerprint"] in page
    assert "seed" in page
    assert f"isotrope {isotrope.__version__}" in page
    assert f"--column title --model {run.folder / 'encoder'}" in unescape(re.sub("<.*?>", "", page))


def test_the_table_of_the_map_has_places_columns_and_vectors(found: isotrope.Report, tmp_path: Path) -> None:
    table = parquet.read_table(found.parquet(tmp_path / "map.parquet")).to_pydict()
    assert table["text"] == found.sample.texts
    assert set(table["queue <b>"]) == {"cards", "<i>loans</i>", ""}
    kept = found.runs[0].kept
    assert np.array(table["vector"], np.float32).tolist() == kept.vectors.tolist()
    assert np.array([table["x"], table["y"]]).T.tolist() == found.map.points[kept.name].tolist()
    assert table["neighbors"][0]["ids"] == kept.neighbours(15)[0].tolist()
    with pytest.raises(IsotropeError, match="exists already"):
        found.parquet(tmp_path / "map.parquet")


def test_several_runs_are_set_side_by_side(runs: dict[str, isotrope.Run], tmp_path: Path) -> None:
    both = isotrope.report(list(runs.values()), texts=40)
    page = both.html()
    assert len(both.figures["runs"]) == 2
    for run in runs.values():
        assert f"<h3>{run.folder}</h3>" in page
    heads = re.search(r"<thead>.*?</thead>", page, re.DOTALL)
    assert heads is not None
    assert '<th scope="col"></th>' not in heads[0]
    assert len({one.label for one in both.spaces()}) == len(both.spaces()) >= 3
    with pytest.raises(IsotropeError, match="say where to write it"):
        both.write()
    assert both.write(tmp_path / "both.html").stat().st_size > 50_000


def test_an_older_folder_is_read_and_the_page_says_what_it_lacks(runs: dict[str, isotrope.Run], tmp_path: Path) -> None:
    old = tmp_path / "old"
    shutil.copytree(runs["automatic"].folder, old)
    for name in (RECORD, VERDICT):
        (old / name).unlink()
    about = json.loads((old / "corpus" / "corpus.json").read_text())
    del about["survey"]
    (old / "corpus" / "corpus.json").write_text(json.dumps(about))
    settings = json.loads((old / "run.json").read_text())
    (old / "run.json").write_text(json.dumps(settings | {"model": str(tmp_path / "gone")}))
    found = isotrope.report(old, texts=30)
    said = " ".join(found.figures["runs"][0]["lacks"])
    for lacking in ("how long the run took", "verdict's figures", "counts of the text", "can't be loaded here"):
        assert lacking in said
    assert found.sample.columns == {}
    assert "What is missing" in found.html()
    assert found.write() == old / "report.html"
    assert found.write() == old / "report.html"  # in the place of the one before


def unfinished(run: Path) -> Path:
    shutil.rmtree(run / "encoder")
    return run


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda run: run / "nowhere", "no such folder"),
        (lambda run: run / "encoder", "not the folder of a run .*; the run is"),
        (lambda run: run.parent, "not the folder of a run"),
        (unfinished, "resume it until it is finished"),
        (lambda run: [], "no run was given"),
        (lambda run: 3, "a int is not a run"),
    ],
)
def test_what_is_no_finished_run_is_refused_in_a_line(
    runs: dict[str, isotrope.Run], tmp_path: Path, change: Callable[[Path], object], said: str
) -> None:
    copy = tmp_path / "runs" / "copy"
    shutil.copytree(runs["simcse"].folder, copy)
    with pytest.raises(IsotropeError, match=said):
        isotrope.report(change(copy))
    assert not (copy / "report.html").exists()


def test_wrong_arguments_are_refused_before_anything_is_loaded(runs: dict[str, isotrope.Run]) -> None:
    with pytest.raises(IsotropeError, match="texts=3: a report needs at least 10"):
        isotrope.report(runs["simcse"], texts=3)
    with pytest.raises(IsotropeError, match="give it with text="):
        isotrope.report(runs["simcse"], column="title")
    with pytest.raises(IsotropeError, match="at least 10 different texts"):
        isotrope.report(runs["simcse"], text=["one", "two", "two"])


def test_another_text_may_be_looked_at_with_its_columns(runs: dict[str, isotrope.Run]) -> None:
    rows = [{"words": text, "half": "ab"[k % 2]} for k, text in enumerate(bundled_sentences()[300:360])]
    found = isotrope.report(runs["simcse"], text=[*rows, rows[0]], column="words", texts=50)
    assert len(found.sample.texts) == len(set(found.sample.texts)) == 50
    by_text = {row["words"]: row["half"] for row in rows}
    assert found.sample.columns == {"half": [by_text[text] for text in found.sample.texts]}
    assert list(found.sample.colours()) == ["half"]
