from __future__ import annotations

from pathlib import Path

import pytest

from isotrope.evaluation.results.side_by_side import Section, sections_of_suite
from isotrope.evaluation.tasks import Task, known_tasks, open_suite, suites
from isotrope.evaluation.tasks.base import HEADINGS
from isotrope.io.errors import IsotropeError

PAIRS = "0\ta b\tc d\n3\te f\tg h\n5\ti j\tk l\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("sts", "sts17", "stsb_multi", "parallel", "transfer"):
        (tmp_path / name).mkdir()
    for year in (13, 12):
        lines = PAIRS.splitlines()
        text = "subtask\tscore\tsentence1\tsentence2\n" + "".join(f"x\t{line}\n" for line in lines)
        (tmp_path / "sts" / f"sts{year}.tsv").write_text(text)
    tracks = "".join(f"track{n}\t{line}\n" for n in ("1.ar-ar", "5.en-en") for line in PAIRS.splitlines())
    (tmp_path / "sts17" / "sts17.tsv").write_text("track\tscore\tsentence1\tsentence2\n" + tracks)
    german = "".join(f"test\t{line}\n" for line in PAIRS.splitlines())
    (tmp_path / "stsb_multi" / "stsb_de.tsv").write_text("split\tscore\tsentence1\tsentence2\n" + german)
    (tmp_path / "parallel" / "tatoeba_laser.tsv").write_text("lang\ten\ttext\ndeu\tRain.\tRegen.\n")
    (tmp_path / "transfer" / "mr.tsv").write_text("label\ttext\n" + "1\tgood\n0\tbad\n" * 12)
    return tmp_path


def test_a_suite_is_what_there_is_and_the_rest_is_named(data: Path) -> None:
    tasks, absent = open_suite("sts", data=data)
    assert [task.name for task in tasks] == ["sts12", "sts13"]
    assert absent == ["stsb", "sts14", "sts15", "sts16", "sickr"]
    tasks, absent = open_suite("all", data=data)
    assert [task.name for task in tasks] == [
        "sts12",
        "sts13",
        "mr",
        "sts17:track1.ar-ar",
        "sts17:track5.en-en",
        "stsb-multi:de",
        "tatoeba",
    ]
    assert [task.items for task in tasks] == ["3 pairs", "3 pairs", "24 rows", *["3 pairs"] * 3, "1 pairs"]
    assert {*absent, "sts12", "sts13", "mr", "sts17", "stsb-multi", "tatoeba"} == set(suites()["all"])


def test_bad_data_are_an_error_and_not_absent(data: Path) -> None:
    (data / "sts" / "sts14.tsv").write_text("subtask\tscore\tsentence1\tsentence2\nx\tfour\ta\tb\n")
    with pytest.raises(IsotropeError, match=r"sts14\.tsv: line 2: the score 'four' is not a number"):
        open_suite("sts", data=data)


def test_names_that_there_are_not(tmp_path: Path, data: Path) -> None:
    with pytest.raises(
        IsotropeError, match=r"unknown suite 'paper' \(did you mean 'papers'\?\); choose from papers, sts"
    ):
        open_suite("paper", data=data)
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        IsotropeError, match=r"suite 'arguments': neither .* has any of arguments; name a folder with data="
    ):
        open_suite("arguments", data=tmp_path / "empty")


def test_every_task_has_a_heading_and_the_order_is_that_of_the_papers() -> None:
    known = known_tasks()
    assert list(dict.fromkeys(spec.heading for spec in known.values())) == list(HEADINGS)
    assert set(suites()["all"]) == set(known) - {"bundled", "pairs", "classes", "retrieval"}
    assert list(suites()) == ["papers", "sts", "transfer", "multilingual", "arguments", "domains", "all"]
    assert suites()["papers"] == [
        *("stsb", "sts12", "sts13", "sts14", "sts15", "sts16", "sickr"),
        *("mr", "cr", "subj", "mpqa", "sst2", "trec", "mrpc"),
        *("sts14-es", "sts17", "sts17-translated", "cnsd-stsb", "arguments"),
    ]
    assert suites()["multilingual"] == ["sts14-es", "sts17", "sts17-translated", "stsb-multi", "cnsd-stsb", "tatoeba"]


class Placed(Task):
    """Nothing but where it belongs."""

    def __init__(self, name: str) -> None:
        spec = known_tasks()[name.partition(":")[0]]
        self.name, self.heading, self.metrics = name, spec.heading, spec.metrics
        self.with_interval = spec.with_interval

    def measure(self, vectors: object, batch_size: int = 64) -> None:  # type: ignore[override]
        raise AssertionError


def test_tasks_go_under_the_headings_of_the_papers() -> None:
    names = ["mr", "sts17:track1.ar-ar", "sts12", "stsb", "sts17:track5.en-en", "cnsd-stsb", "stsb-multi:de"]
    tracks = ("sts17:track1.ar-ar", "sts17:track5.en-en")
    assert sections_of_suite([Placed(name) for name in names], {}) == [
        Section("STS", "spearman", ("sts12", "stsb")),
        Section("Transfer", "accuracy", ("mr",)),
        Section("SemEval-2017", "spearman", tracks),
        Section("SemEval-2017", "pearson", tracks),
        Section("STS-B in other languages", "spearman", ("cnsd-stsb", "stsb-multi:de")),
    ]


def test_domains_are_one_table_whatever_each_is_measured_by() -> None:
    assert sections_of_suite([Placed(name) for name in suites()["domains"]], {}) == [
        Section("Domains", "score", tuple(suites()["domains"]), "x 100", True)
    ]


def test_what_is_at_hand_of_the_real_data(shared_data: Path) -> None:
    tasks, absent = open_suite("all", data=shared_data)
    assert absent == ["sts15", "sts16", "sickr", "cr", "trec", "sts14-es", "sts17-translated"]
    assert len(tasks) == 4 + 5 + 7 + 5 + 1 + 1 + 1 + 6
