"""The benches speak of the package as it is; that of the domains, whose runs take days, is run in small."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path

import pytest

from isotrope.text import bundled_sentences

BENCH = Path(__file__).parents[1] / "bench"


@pytest.mark.parametrize("name", sorted(file.stem for file in BENCH.glob("*.py")))
def test_it_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCH)
    assert importlib.import_module(name).__doc__


def test_what_the_domain_bench_has_done_is_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, sentences = tmp_path / "domains" / "banking77", bundled_sentences()[:300]
    folder.mkdir(parents=True)
    rows = "".join(f"test\t{i % 4}\t{sentence}\n" for i, sentence in enumerate(sentences[:60]))
    (folder / "eval.tsv").write_text("split\tlabel\ttext\n" + rows)
    (folder / "corpus.txt.gz").write_bytes(gzip.compress("\n".join(sentences).encode()))
    monkeypatch.syspath_prepend(BENCH)
    domains = importlib.import_module("domains")
    monkeypatch.setattr(domains, "JUDGED", 100)
    chosen = f"--data {tmp_path} --output {tmp_path / 'out'} --domains banking77 --models bundled"
    arguments = ["domains.py", *f"{chosen} --recipes simcse:bundled --steps 1 --seeds 1,2".split()]
    monkeypatch.setattr("sys.argv", arguments)
    domains.main()
    table, results = capsys.readouterr().out, (tmp_path / "out" / "results.jsonl").read_text()
    assert results.count("\n") == 1 + 4 + 1 + 2
    assert "| bundled | simcse:bundled, 1 steps |" in table
    assert all(
        text in table for text in ("| - | TF-IDF |", "| bundled | untuned, cls |", "| bundled | whitening |", "±")
    )
    monkeypatch.setattr(domains.isotrope, "train", None)
    domains.main()
    assert capsys.readouterr().out == table
    assert (tmp_path / "out" / "results.jsonl").read_text() == results


@pytest.mark.parametrize("labels", ["pairs", "classes"])
def test_a_set_beside_the_domains_is_scored_before_and_after(
    labels: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = bundled_sentences()[:200]
    classified = [{"text": one, "label": str(k % 3)} for k, one in enumerate(sentences[:30])]
    paired = [{"sentence1": sentences[k], "sentence2": sentences[k + 1], "score": k // 2 % 2} for k in range(0, 60, 2)]
    rows = paired if labels == "pairs" else classified
    monkeypatch.syspath_prepend(BENCH)
    unseen = importlib.import_module("unseen")
    monkeypatch.setitem(unseen.SETS, "some", lambda data: (sentences, labels, rows))
    arguments = f"unseen.py --data {tmp_path} --output {tmp_path / 'out'} --models small --sets some"
    monkeypatch.setattr("sys.argv", arguments.split())
    unseen.main()
    table = capsys.readouterr().out
    assert f"| small | some | 200 | {labels} |" in table
    monkeypatch.setattr(unseen.isotrope, "train", None)  # what is done is not done again
    unseen.main()
    assert capsys.readouterr().out == table


def test_maps_are_scored_on_sets_of_each_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = bundled_sentences()[:200]
    classified = [{"text": one, "label": str(k % 3)} for k, one in enumerate(sentences[:30])]
    paired = [{"sentence1": sentences[k], "sentence2": sentences[k + 1], "score": k // 2 % 2} for k in range(0, 60, 2)]
    monkeypatch.syspath_prepend(BENCH)
    smoothing = importlib.import_module("smoothing")
    assert not any("," in name for name in smoothing.SETS)  # names are given with commas between them
    sets = {"classes": classified, "graded": paired, "pairs": paired}
    kinds = {name: lambda options, name=name: (sentences, name, sets[name]) for name in sets}
    monkeypatch.setattr(smoothing, "SETS", kinds)
    chosen = f"--data {tmp_path} --installed {tmp_path} --output {tmp_path} --model bundled --maps"
    maps = ";strength=9,threshold=0,trust=0;strength=1e-9,whitening=0,centring=0"
    monkeypatch.setattr("sys.argv", ["smoothing.py", *chosen.split(), maps])
    smoothing.main()
    _, _, own, strong, nothing = capsys.readouterr().out.splitlines()
    assert own.startswith("| smooth | ")
    assert own.split(" | ")[1:] != strong.split(" | ")[1:]
    assert nothing.split(" | ")[1:] == ["+0.00"] * 3 + ["0"] + ["+0.00"] * 2 + ["+0.00 |"]
