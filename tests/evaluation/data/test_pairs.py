from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import datasets
import pytest

from isotrope.evaluation import Pairs, load_pairs
from isotrope.evaluation.data.pairs import PairSource
from isotrope.evaluation.data.places import MissingDataError, data_folder
from isotrope.evaluation.tasks import TASKS
from isotrope.io.errors import IsotropeError


def source_of(task: str) -> PairSource:
    source = TASKS.resolve(task).source
    assert isinstance(source, PairSource)
    return source


def write(folder: Path, name: str, *rows: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(row.replace("|", "\t") + "\n" for row in rows)
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())


def test_bundled_pairs_need_no_folder_and_no_network() -> None:
    dev, test = load_pairs("bundled", split="dev"), load_pairs("bundled")
    assert len(test.scores) >= 200
    assert len(test.scores) == pytest.approx(2 * len(dev.scores), abs=3)
    assert min(test.scores) == 0
    assert max(test.scores) == 5
    assert set(test.subtask) == {"bundled"}
    assert not set(zip(dev.sentences1, dev.sentences2, strict=True)) & set(
        zip(test.sentences1, test.sentences2, strict=True)
    )


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_file_with_splits_plain_or_zipped(tmp_path: Path, ending: str) -> None:
    rows = ("split|score|sentence1|sentence2", 'test|4.5|a "b|c', "dev|1|x|y", "test|0|d|e")
    write(tmp_path, f"sick/sick.tsv{ending}", *rows)
    assert load_pairs("sickr", data=tmp_path) == Pairs(['a "b', "d"], ["c", "e"], [4.5, 0], ["sickr", "sickr"])
    assert load_pairs("sickr", data=tmp_path, split="dev") == Pairs(["x"], ["y"], [1], ["sickr"])


def test_the_folder_may_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "sts/sts15.tsv", "subtask|score|sentence1|sentence2", "images|3|a|b", "belief|1|c|d")
    monkeypatch.setenv("ISOTROPE_DATA", str(tmp_path))
    assert load_pairs("sts15") == Pairs(["a", "c"], ["b", "d"], [3, 1], ["images", "belief"])
    assert load_pairs("sts15:belief").scores == [1]
    assert data_folder() == tmp_path


def test_one_language_or_all_that_are_there(tmp_path: Path) -> None:
    for language, ending in (("de", ".gz"), ("fr", "")):
        name = f"stsb_multi/stsb_{language}.tsv{ending}"
        write(tmp_path, name, "split|score|sentence1|sentence2", f"test|2|{language}1|{language}2")
    assert load_pairs("stsb-multi", data=tmp_path).subtask == ["fr", "de"]
    assert load_pairs("stsb-multi:de", data=tmp_path) == Pairs(["de1"], ["de2"], [2], ["de"])
    with pytest.raises(IsotropeError, match="no subtask 'xx'; it has: de, en, es, fr, it"):
        load_pairs("stsb-multi:xx", data=tmp_path)


@pytest.mark.parametrize(
    ("name", "split", "message"),
    [
        (
            "stbs",
            None,
            r"unknown task 'stbs' \(did you mean 'stsb'\?\); choose from stsb, sts12, .*stsb-multi, .*or package",
        ),
        ("sts17:track5.en-enn", None, r"no subtask 'track5.en-enn' \(did you mean 'track5.en-en'\?\); it has: track1"),
        ("sts17:track5.en-en", "dev", "task 'sts17' has no split 'dev'; it has: test"),
        ("bundled", "tset", r"task 'bundled' has no split 'tset' \(did you mean 'test'\?\); it has: dev, test"),
    ],
)
def test_unknown_names_are_answered_with_the_known_ones(
    tmp_path: Path, name: str, split: str | None, message: str
) -> None:
    write(tmp_path, "sts17/sts17.tsv", "track|score|sentence1|sentence2", "track1.ar-ar|1|a|b", "track5.en-en|1|a|b")
    with pytest.raises(IsotropeError, match=message):
        load_pairs(name, data=tmp_path, split=split)


@pytest.mark.parametrize("score", ["four", "", "nan", "inf"])
def test_a_score_that_is_no_number_is_named_with_its_line(tmp_path: Path, score: str) -> None:
    write(tmp_path, "sts/sts12.tsv.gz", "subtask|score|sentence1|sentence2", "a|1|b|c", "", "", f"a|{score}|b|c")
    with pytest.raises(IsotropeError, match=rf"sts12\.tsv\.gz: line 5: the score '{score}' is not a number"):
        load_pairs("sts12", data=tmp_path)


def test_broken_files_and_folders(tmp_path: Path) -> None:
    write(tmp_path, "stsb/stsb.tsv", "split|grade|sentence1|sentence2", "test|1|a|b")
    write(tmp_path, "sts/sts13.tsv", "subtask|score|sentence1|sentence2")
    with pytest.raises(IsotropeError, match=r"stsb\.tsv: no column 'score'; it has: split, grade"):
        load_pairs("stsb", data=tmp_path)
    with pytest.raises(IsotropeError, match=r"sts13\.tsv: no pairs in it"):
        load_pairs("sts13", data=tmp_path)
    with pytest.raises(IsotropeError, match="nowhere: no such folder of data sets"):
        load_pairs("stsb", data=tmp_path / "nowhere")


# -- the Hub: `load_dataset` takes a folder of that name for the data set itself --------------------------------------


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return tmp_path


def publish(hub: Path, task: str, name: str, *rows: tuple[float | None, str, str], score: str = "score") -> None:
    file = hub / source_of(task).hub / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({score: value, "sentence1": one, "sentence2": two}) for value, one, two in rows)
    file.write_text("\n".join(lines) + "\n")


def card(hub: Path, task: str, configs: dict[str, str]) -> None:
    entries = "".join(
        f"- config_name: {name}\n  data_files:\n  - split: test\n    path: {path}\n" for name, path in configs.items()
    )
    (hub / source_of(task).hub / "README.md").write_text(f"---\nconfigs:\n{entries}---\n")


def test_hub_set_with_splits_calls_validation_dev(hub: Path) -> None:
    publish(hub, "stsb", "test.jsonl", (1.5, "a", "b"), (2.0, "c", "d"))
    publish(hub, "stsb", "validation.jsonl", (3.0, "e", "f"))
    assert load_pairs("stsb") == Pairs(["a", "c"], ["b", "d"], [1.5, 2], ["stsb", "stsb"])
    assert load_pairs("stsb", split="dev") == Pairs(["e"], ["f"], [3], ["stsb"])
    with pytest.raises(IsotropeError, match=r"no split 'train'; it has: (test, dev|dev, test)"):
        load_pairs("stsb", split="train")


def test_hub_set_without_subtasks_is_one_and_its_training_pairs_are_left_out(hub: Path) -> None:
    publish(hub, "sts12", "test.jsonl", (1.5, "a", "b"))
    publish(hub, "sts12", "train.jsonl", (3.0, "e", "f"))
    assert load_pairs("sts12") == Pairs(["a"], ["b"], [1.5], ["sts12"])
    with pytest.raises(IsotropeError, match="no split 'train'; it has: test"):
        load_pairs("sts12", split="train")
    with pytest.raises(IsotropeError, match=r"no subtask 'MSRpar'; it has: none on the Hub \(mteb/sts12-sts\)"):
        load_pairs("sts12:MSRpar")


def test_hub_configurations_are_the_tracks(hub: Path) -> None:
    configs = sorted(set(source_of("sts17").configs.values()))
    for number, config in enumerate(configs):
        publish(hub, "sts17", f"{config}.jsonl", (number, config, config))
    card(hub, "sts17", {config: f"{config}.jsonl" for config in configs})
    pairs = load_pairs("sts17")
    assert dict(zip(pairs.subtask, pairs.sentences1, strict=True)) == source_of("sts17").configs
    assert load_pairs("sts17:track6.tr-en").sentences1 == ["en-tr"]
    with pytest.raises(IsotropeError, match=r"no subtask 'track4b.es-en' \(did you mean 'track4a.es-en'\?\)"):
        load_pairs("sts17:track4b.es-en")


def test_hub_set_of_languages_with_its_own_name_for_the_score(hub: Path) -> None:
    publish(hub, "stsb-multi", "ru.jsonl", (2.5, "раз", "два"), score="similarity_score")
    card(hub, "stsb-multi", {"ru": "ru.jsonl"})
    write(hub, "data/stsb_multi/stsb_de.tsv", "split|score|sentence1|sentence2", "test|2|a|b")
    assert load_pairs("stsb-multi:ru", data=hub / "data") == Pairs(["раз"], ["два"], [2.5], ["ru"])


def test_hub_score_that_is_missing(hub: Path) -> None:
    publish(hub, "stsb", "test.jsonl", (1, "a", "b"), (None, "c", "d"))
    with pytest.raises(IsotropeError, match="mteb/stsbenchmark-sts: test: row 2: the score 'None' is not a number"):
        load_pairs("stsb")


@pytest.mark.parametrize(("pairs", "accepted"), [(4927, True), (9927, False)])
def test_sick_of_the_hub_is_the_4_927_pairs_that_figures_are_published_for_or_none(
    hub: Path, pairs: int, accepted: bool
) -> None:
    publish(hub, "sickr", "test.jsonl", *((k % 5, f"a {k}", f"b {k}") for k in range(pairs)))
    if accepted:
        assert len(load_pairs("sickr").scores) == 4927
    else:
        with pytest.raises(MissingDataError, match=r"has 9,927 pairs as its test set, where .* published for 4,927"):
            load_pairs("sickr")


def test_the_spanish_of_2014_and_the_translated_tracks_of_2017_are_read_from_files(tmp_path: Path, hub: Path) -> None:
    write(tmp_path, "sts/sts14_es.tsv", "subtask|score|sentence1|sentence2", "news|3|uno|dos", "wikipedia|1|a|b")
    assert load_pairs("sts14-es", data=tmp_path).subtask == ["news", "wikipedia"]
    write(tmp_path, "sts17/sts17_en-de.tsv", "score|sentence1|sentence2", "3|one|eins")
    assert load_pairs("sts17-translated:en-de", data=tmp_path) == Pairs(["one"], ["eins"], [3], ["en-de"])
    for config in ("en-de", "fr-en"):
        publish(hub, "sts17-translated", f"{config}.jsonl", (2, config, config))
    card(hub, "sts17-translated", {config: f"{config}.jsonl" for config in ("en-de", "fr-en")})
    assert load_pairs("sts17-translated:en-fr").sentences1 == ["fr-en"]


def test_no_network_and_no_file_says_what_to_give(tmp_path: Path, hub: Path) -> None:
    for data in (None, tmp_path):
        with pytest.raises(IsotropeError, match=r"^[^\n]*no sts/sts16\.tsv.*or set ISOTROPE_DATA$"):
            load_pairs("sts16", data=data)


def test_the_real_sets_have_their_published_sizes(shared_data: Path) -> None:
    def sizes(task: str, split: str | None = None) -> Counter[str]:
        return Counter(load_pairs(task, data=shared_data, split=split).subtask)

    assert sizes("stsb") == {"stsb": 1379}
    assert sizes("stsb", "dev") == {"stsb": 1500}
    assert sizes("sts12") == {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "OnWN": 750, "SMTnews": 399}
    assert sizes("sts13") == {"FNWN": 189, "headlines": 750, "OnWN": 561}
    assert sum(sizes("sts14").values()) == 3750
    assert set(sizes("sts17").values()) == {250}
    assert sizes("stsb-multi") == dict.fromkeys(("de", "es", "fr", "pt", "zh"), 1379)
