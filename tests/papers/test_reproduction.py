"""Tables that are run: small ones, on the bundled text and a tiny encoder, made for the purpose."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import isotrope
from isotrope.io.errors import IsotropeError
from isotrope.io.leases import leased
from isotrope.papers import reproduction, workshop
from isotrope.papers.jobs import Job, jobs_of
from isotrope.papers.published import Making, Published
from isotrope.papers.reproduction import reproduce
from isotrope.papers.workshop import Workshop
from isotrope.text import bundled_sentences

SHORT = {"training.steps": 2, "training.batch_size": 4, "training.eval_steps": 1, "training.save_steps": 1}
ROWS: list[dict[str, Any]] = [
    {"name": "no tuning", "values": "20.00 10.00 15.00", "run": {"pooling": "mean"}},
    {"name": "tuned", "values": "30.00±1.00 - 30.00", "run": {"recipe": "simcse", "set": SHORT}},
    {"name": "another encoder", "run": {"recipe": "simcse", "model": "bert-large-uncased"}},
    {"name": "nobody's", "values": "1 2 1.50"},
]
COLUMNS = [
    {"name": "test", "task": "bundled"},
    {"name": "dev", "task": "bundled", "split": "dev"},
    {"name": "Avg.", "average": True},
]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    file = tmp_path / "text.txt"
    file.write_text("\n".join(bundled_sentences()[:40]) + "\n")
    return file


def table(text: Path, **changes: Any) -> Published:
    words = {"name": "mine/table1", "label": "Table 1", "paper": "Mine 2021", "caption": "A table.", "metric": "x 100"}
    given = {**words, "columns": COLUMNS, "rows": ROWS, "dev": "bundled", **changes}
    return Published(**given).model_copy(update={"text": str(text)})


def test_published_stands_beside_measured(text: Path, tiny: str, tmp_path: Path) -> None:
    found = reproduce(table(text), model=tiny, seeds=2, output=tmp_path / "out")
    untuned, tuned, other, nobodys = found.rows
    assert (len(untuned.seeds), len(tuned.seeds), other.seeds, nobodys.seeds) == (1, 2, (), ())
    measured = isotrope.evaluate(tiny, ["bundled"], pooling="mean", cache=False).columns[0].cells[0].value
    assert untuned.seeds[0]["test"] == pytest.approx(measured)
    assert len({one["test"] for one in (*untuned.seeds, *tuned.seeds)}) == 3
    for seed, one in enumerate(tuned.seeds, 1):
        (run,) = (tmp_path / "out" / "runs").glob(f"*-{seed}")
        again = isotrope.evaluate(str(run), ["bundled"], cache=False).columns[0].cells[0].value
        assert one["test"] == pytest.approx(again)
        assert one["Avg."] == pytest.approx((one["test"] + one["dev"]) / 2)
    lines = {(name, what): cells for name, what, cells in found.lines()}
    mean, spread = tuned.value("test")  # type: ignore[misc]
    assert lines["tuned", "measured"][0] == f"{mean:.2f} ± {spread:.2f}"
    assert lines["tuned", "difference"][:2] == [f"{mean - 30:+.2f}", ""]
    assert ("nobody's", "published") in lines
    assert ("nobody's", "measured") not in lines
    assert [one.row.name for one in found.untuned] == ["untuned, cls"]
    notes = "\n".join(found.notes())
    assert f"Run with model {tiny}, 2 seeds, budget full" in notes
    assert "another encoder: for another encoder than the one that is replaced" in notes
    saved = json.loads((tmp_path / "out" / "mine-table1.json").read_text())
    assert [row["row"] for row in saved["rows"]] == ["untuned, cls", *(row["name"] for row in ROWS)]
    page = (tmp_path / "out" / "mine-table1.html").read_text()
    assert "<td>published</td><td>30.00 ± 1.00</td>" in page
    assert "<svg" in page
    assert (tmp_path / "out" / "mine-table1.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "mine-table1.md").read_text() == found.markdown()


def test_what_is_done_is_not_done_again_and_what_was_cut_off_goes_on(
    text: Path, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, out = table(text, columns=COLUMNS[:1], rows=[{"name": "tuned", "run": ROWS[1]["run"]}]), tmp_path / "out"
    first = reproduce(mine, model=tiny, seeds=1, output=out)
    trained: list[Any] = []
    monkeypatch.setattr(workshop, "train", lambda *given, **named: trained.append(named))
    assert reproduce(mine, model=tiny, seeds=1, output=out).markdown() == first.markdown()
    assert not trained
    monkeypatch.undo()
    (run,) = (out / "runs").iterdir()
    (figures,) = (out / "figures").glob("simcse*")
    before = figures.read_text()
    figures.unlink()
    for left in (run / "encoder").iterdir():
        left.rename(out / left.name) if left.name == "modules.json" else None
    (run / "encoder").rename(out / "encoder")  # as if it had been killed before the encoder was saved
    again = reproduce(mine, model=tiny, seeds=1, output=out)
    assert figures.read_text() == before
    assert again.markdown() == first.markdown()
    figures.unlink()
    (run / "result.json").unlink()
    (run / "checkpoint-2").mkdir()  # as if it had been killed while it removed what only a run that goes on needs
    assert reproduce(mine, model=tiny, seeds=1, output=out).markdown() == first.markdown()
    assert not (run / "checkpoint-2").exists()


def test_a_run_that_another_process_makes_is_left_to_it(text: Path, tiny: str, tmp_path: Path) -> None:
    making = Making(recipe="simcse", set=SHORT)
    (job,) = jobs_of(making, [1], model=tiny, text=str(text), dev="bundled")
    with leased(tmp_path / "out" / "leases" / job.name) as mine:
        assert mine
        rows = [{"name": "tuned", "run": making.model_dump()}]
        found = reproduce(table(text, rows=rows), model=tiny, seeds=1, output=tmp_path / "out")
    assert found.rows[0].problem == reproduction.ELSEWHERE
    assert not list((tmp_path / "out" / "leases").iterdir())


def test_a_row_that_fails_leaves_the_others(text: Path, tiny: str, tmp_path: Path) -> None:
    rows = [{"name": name, "run": {"pooling": name}} for name in ("mean@9", "cls@9", "mean")]
    found = reproduce(table(text, rows=rows, columns=COLUMNS[:1]), model=tiny, output=tmp_path / "out")
    assert [len(one.seeds) for one in found.rows] == [0, 0, 1]
    assert "9" in found.rows[0].problem
    (note,) = (note for note in found.notes() if note.startswith("Not measured"))  # each reason once
    assert note.startswith("Not measured: mean@9, cls@9: this encoder's layers are 0 to")


def test_what_cannot_be_run_is_said_before_it_is_tried(text: Path, tiny: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"model": tiny, "seeds": 1, "output": tmp_path / "out", "dry_run": True}
    found = reproduce(table(text, rows=ROWS[:2]), **given, text=tmp_path / "nowhere.txt")
    notes = "\n".join(found.notes())
    assert "Not measured: tuned: " in notes
    assert "nowhere.txt" in notes
    assert "Everything is trained" not in notes


def test_a_quick_budget_takes_a_few_steps_and_says_so(text: Path, tiny: str, tmp_path: Path) -> None:
    rows = [{"name": "tuned", "run": {"recipe": "simcse", "set": {"training.batch_size": 2, "training.epochs": 50}}}]
    found = reproduce(
        table(text, rows=rows), model=tiny, seeds=1, budget="quick", output=tmp_path / "out", dry_run=True
    )
    assert found.seconds is not None
    assert 0 < found.seconds < 3600
    assert "A quick budget only shows that everything runs" in found.markdown()
    assert not list((tmp_path / "out").glob("runs/*"))


def test_averages_are_those_of_the_columns_that_are_there(text: Path, tiny: str, tmp_path: Path) -> None:
    rows = [{"name": "mean", "values": "20 10 15", "run": {"pooling": "mean"}}]
    columns = [COLUMNS[0], {"name": "absent", "task": "sickr"}, COLUMNS[2]]
    found = reproduce(table(text, rows=rows, columns=columns), model=tiny, output=tmp_path / "out", data=tmp_path)
    assert found.absent == ("absent",)
    lines = {what: cells for _, what, cells in found.lines()}
    assert lines["published"] == ["20.00", "10.00", "20.00"]
    assert lines["measured"][0] == lines["measured"][2]


def test_two_jobs_that_differ_have_different_names() -> None:
    one = Job("bundled", "simcse", {"training.steps": 2}, "a.txt", seed=1)
    others = [
        Job("bundled", "simcse", {"training.steps": 3}, "a.txt", seed=1),
        Job("bundled", "simcse", {"training.steps": 2}, "b.txt", seed=1),
        Job("bundled", "simcse", {"training.steps": 2}, "a.txt", seed=2),
        Job("minilm", "simcse", {"training.steps": 2}, "a.txt", seed=1),
        Job("bundled", "simcse", {"training.steps": 2}, "a.txt", pooling="mean", seed=1),
    ]
    assert len({job.name for job in (one, *others)}) == 6
    assert others[-1].training == one  # the same training, measured otherwise


def test_rows_of_one_table_have_the_numbers_for_the_main_model_and_a_teacher_where_they_have_one() -> None:
    given: dict[str, Any] = {"model": "bundled", "text": "t.tsv", "teacher": "minilm", "dev": "stsb"}
    (frozen,) = jobs_of(Making(recipe="parallel"), [1], **given)
    (one,) = jobs_of(Making(recipe="parallel-multilingual", model="elsewhere/bilingual"), [1], **given)
    assert (frozen.recipe, frozen.teacher, frozen.model) == ("parallel:bundled", "minilm", "bundled")
    assert (one.recipe, one.teacher, one.model) == ("parallel-multilingual:bundled", None, "elsewhere/bilingual")


def test_the_papers_encoder_by_its_name_on_the_hub(
    text: Path, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder shaped as the Hub's bert-base-uncased is, found by that name: a bare transformer without poolings."""
    monkeypatch.chdir(tmp_path)
    encoder = isotrope.load(tiny)
    encoder.backbone.model.save_pretrained("bert-base-uncased")
    encoder.tokenizer.save_pretrained("bert-base-uncased")
    short = {**SHORT, "heads.projection.width": 16}
    rows = [{"name": "sg", "run": {"recipe": "sg", "set": short}}, {"name": "cls", "run": {"pooling": "cls"}}]
    found = reproduce(table(text, rows=rows, columns=COLUMNS[:1]), seeds=1, output="out")
    assert [len(one.seeds) for one in found.rows] == [1, 1]
    settings = json.loads(next(Path("out/runs").glob("*/run.json")).read_text())
    assert (settings["model"], settings["recipe"]) == ("bert-base-uncased", "sg:paper")


def test_only_so_many_texts_and_a_model_in_place_of_another_encoder(text: Path, tiny: str, tmp_path: Path) -> None:
    rows = [
        {"name": "main", "run": {"recipe": "simcse", "set": SHORT}},
        {"name": "other", "run": {"recipe": "simcse", "set": SHORT, "model": "xlm-roberta-base", "texts": 8}},
    ]
    options = {"model": tiny, "seeds": 1, "texts": 12, "output": tmp_path / "out"}
    given = table(text, rows=rows, columns=COLUMNS[:1])
    assert [len(one.seeds) for one in reproduce(given, **options).rows] == [1, 0]
    found = reproduce(given, **options, stand_ins={"xlm-roberta-base": tiny})
    assert [len(one.seeds) for one in found.rows] == [1, 1]
    assert [one.row.name for one in found.untuned] == ["untuned, cls"]  # the same encoder stands in for both
    other = shutil.copytree(tiny, tmp_path / "other")
    apart = reproduce(given, **options, stand_ins={"xlm-roberta-base": str(other)})
    assert [one.row.name for one in apart.untuned] == ["untuned, cls", "untuned, cls (in place of xlm-roberta-base)"]
    assert [one.untuned for one in apart.rows] == [one.row.name for one in apart.untuned]
    drawn = sorted((tmp_path / "out" / "texts").glob("text-*.txt"), key=lambda file: len(file.read_text()))
    assert [len(file.read_text().splitlines()) for file in drawn] == [8, 12]
    assert set(drawn[1].read_text().splitlines()) < set(text.read_text().splitlines())
    assert f"12 of them, {tiny} in place of xlm-roberta-base's" in "\n".join(found.notes())


def test_the_masked_lm_of_a_view_can_be_stood_in_for(text: Path, tiny: str, tmp_path: Path) -> None:
    views = {"views.second.column": "view1", "views.texts": {"view1": {"kind": "mlm", "model": "roberta-base"}}}
    given = table(text, rows=[{"name": "mlm", "run": {"recipe": "simcse", "set": SHORT | views}}], columns=COLUMNS[:1])
    assert given.other_models == ["roberta-base"]
    options = {"model": tiny, "seeds": 1, "texts": 12, "output": tmp_path / "out"}
    found = reproduce(given, **options, stand_ins={"roberta-base": "bundled"})
    assert [len(one.seeds) for one in found.rows] == [1]
    (recipe,) = (tmp_path / "out").rglob("recipe.toml")
    assert 'model = "bundled"' in recipe.read_text()


def test_the_time_left_counts_recipes_whose_views_are_made_of_the_text(
    text: Path, tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISOTROPE_CACHE", str(tmp_path / "cache"))
    rows = [{"name": "made", "run": {"recipe": "bsl:mlm", "set": {**SHORT, "views.texts.view1.model": "bundled"}}}]
    found = reproduce(table(text, rows=rows), model=tiny, seeds=1, output=tmp_path / "out", dry_run=True)
    assert found.rows[0].problem == ""
    assert found.seconds is not None
    assert found.seconds > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": ["nothing like it"]}, "no row is called nothing like it; it has: no tuning, tuned"),
        ({"columns": ["STS"]}, "has no column 'STS'; it has test, dev, Avg."),
        ({"seeds": 0}, "0 seeds; at least one is needed"),
        ({"texts": 0}, "0 texts; at least one is needed"),
        ({"stand_ins": {"xlm": "bundled"}}, "has no 'xlm'; its other encoders are bert-large-uncased"),
    ],
)
def test_mistakes_are_said(text: Path, tiny: str, tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError, match=message):
        reproduce(table(text), model=tiny, output=tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_a_baseline_is_fitted_on_so_many_texts(text: Path, tiny: str, tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "out")
    (job,) = jobs_of(Making(baseline="tfidf"), [1], model=tiny, text=str(text), texts=9)
    found = shop.do(job, {"bundled": reproduction.open_task("bundled")})
    (drawn,) = shop.texts.files(str(text), 9)
    assert len(drawn.read_text().splitlines()) == 9
    again = (
        isotrope.evaluate([isotrope.fit_baseline("tfidf", drawn)], ["bundled"], cache=False).columns[0].cells[0].value
    )
    assert found["bundled"]["spearman"] == pytest.approx(again)


def test_a_baseline_stands_on_what_the_recipe_made(text: Path, tiny: str, tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "out")
    making = Making(recipe="consert", set=SHORT, baseline="frequent", options={"top": 2, "pooling": "mean"})
    (job,) = jobs_of(making, [1], model=tiny, text=str(text), dev=None)
    task = reproduction.open_task("bundled")
    found = shop.do(job, {"bundled": task})
    run = shop.run_of(job)
    made = isotrope.fit_baseline("frequent", [text], model=run / "encoder", top=2, pooling="mean")
    again = isotrope.evaluate([made], ["bundled"], cache=False).columns[0].cells[0].value
    assert found == shop.figures(job)
    assert found["bundled"]["spearman"] == pytest.approx(again)
