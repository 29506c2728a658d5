from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from isotrope import recipes
from isotrope.io.errors import IsotropeError

MESSAGES: list[tuple[str, dict[str, Any], str]] = [
    ("sg", {"training.batchsize": 1}, "training.batchsize: no such key (did you mean 'batch_size'?)"),
    ("sg", {"trainng.batch_size": 1}, "trainng: no such key (did you mean 'training'?)"),
    ("sg", {"views.first.colum": "a"}, "views.first.colum: no such key (did you mean 'column'?)"),
    ("bt", {"heads.projection.ratios": 2}, "heads.projection.ratios: no such key (did you mean 'ratio'?)"),
    (
        "bt",
        {"heads.projection.ratio": 2},
        'heads.projection: width and ratio are both given; leave out one of them, or set it to "default"',
    ),
    ("sg", {"supervision.zzz": 1}, "supervision.zzz: no such key; kind 'none' has none"),
    ("sg", {"training.batchsize": "default"}, "training.batchsize: no such key (did you mean 'batch_size'?)"),
    ("consert-joint-unsup", {"objective.wight": 1}, "objective.wight: no such key (did you mean 'weight'?)"),
    (
        "consert-joint-unsup",
        {"stages.1.objective.wight": 1},
        "stages.1.objective.wight: no such key (did you mean 'weight'?)",
    ),
    ("sg", {"training.batch_size": "many"}, 'training.batch_size: "many" given; it should be a valid integer'),
    ("sg", {"training.batch_size": 1}, "training.batch_size: 1 given; it should be greater than or equal to 2"),
    ("sg", {"training.batch_size.x": 1}, 'training.batch_size: {"x": 1} given; it should be a valid integer'),
    ("sg", {"training.betas": [0.9]}, "training.betas: [0.9] given; a value is missing"),
    ("sg", {"training.drop_last": "perhaps"}, 'training.drop_last: "perhaps" given; it should be a valid boolean'),
    ("sg", {"objective.temperature": "nan"}, "objective.temperature: NaN given; it should be a finite number"),
    ("sg", {"objective.temperature": 0}, "objective.temperature: 0 given; it should be greater than 0"),
    ("sg", {"guide.pooling": "meen"}, "guide.pooling: \"meen\" given; it should be 'max', 'mean' or 'cls'"),
    ("sg", {"views.first.column": 5}, "views.first.column: 5 given; it should be a valid string or be a valid tuple"),
    ("sg", {"training": 5}, "training: 5 given; it should be a section"),
    (
        "sg",
        {"pooling.training": "meen"},
        "pooling.training: unknown pooling 'meen' (did you mean 'mean'?); choose from cls, cls-mlp, mean, max, last2, "
        "first-last, each also at a layer, as in mean@2",
    ),
    (
        "sg",
        {"views.first.kind": "shuffle", "views.first.rate": 0.1},
        "views.first.rate: kind 'shuffle' has no such key; dropout, feature-cutoff, span-cutoff, token-cutoff have it",
    ),
    (
        "simcse",
        {"guide.momentum": 0.5},
        "guide.momentum: kind 'self' has no such key; momentum, momentum-queue have it",
    ),
    ("simcse", {"guide.layers": [1]}, "guide.layers: kind 'self' has no such key; frozen-layers has it"),
    ("simcse", {"objective.masked": 0.5}, "objective.masked: kind 'info-nce' has no such key; mlm has it"),
    ("simcse", {"objective.variant": "opt1"}, "objective.variant: kind 'info-nce' has no such key; self-guided has it"),
    ("simcse", {"guide.queue": 10}, "guide.queue: no such key; kind 'self' has none"),
    ("simcse", {"queue.sise": 10}, "queue.sise: no such key (did you mean 'size'?)"),
    ("bsl", {"views.texts.view1.pivt": "pt"}, "views.texts.view1.pivt: no such key (did you mean 'pivot'?)"),
    (
        "bsl",
        {"views.texts.view1.rate": 0.1},
        "views.texts.view1.rate: kind 'back-translation' has no such key; mlm, synonyms have it",
    ),
    (
        "bsl",
        {"views.texts.view1.kind": "synonym"},
        "views.texts.view1.kind: unknown kind 'synonym' (did you mean 'synonyms'?); one of back-translation, mlm, "
        "synonyms, or package.module:Name",
    ),
    (
        "bsl",
        {"views.texts.view1.engine": "bergamott"},
        "views.texts.view1.engine: unknown engine 'bergamott' (did you mean 'bergamot'?); choose auto, bergamot, "
        "apertium, transformers",
    ),
    ("bsl", {"views.texts.view1.pivot": "en"}, "views.texts.view1: the pivot 'en' is the language of the sentences"),
    ("sg", {"guide.layers": []}, "guide.layers: Tuple should have at least 1 item after validation, not 0"),
    ("sg", {"heads.projection": 5}, "heads.projection: 5 given; it should be a section"),
    ("sg", {"heads.projection.ratio": -1}, "heads.projection.ratio: -1 given; it should be greater than 0"),
    ("sg", {"guide.sampler": "last-k"}, "guide: sampler 'last-k' and k belong together; give both or neither"),
    (
        "parallel",
        {"guide.model": "previous"},
        "guide.model 'previous' in the first stage: no stage before it made a model",
    ),
]


@pytest.mark.parametrize(("name", "settings", "message"), MESSAGES)
def test_one_line_says_where_and_what(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(IsotropeError) as caught:
        recipes.load(name, set=settings)
    assert str(caught.value) == f"recipe {name}: {message}"


def test_the_variant_and_the_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(IsotropeError, match=r"^recipe sg:official: training\.seeed: no such key"):
        recipes.load("sg:official", set={"training.seeed": 1})
    mine = tmp_path / "mine.toml"
    mine.write_text("abuot = 'x'\n", encoding="utf-8")
    with pytest.raises(IsotropeError) as caught:
        recipes.load(mine)
    assert str(caught.value) == f"{mine}: abuot: no such key (did you mean 'about'?)"


def test_a_wrong_value_outside_the_stages(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text("about = 3\n", encoding="utf-8")
    with pytest.raises(IsotropeError, match=r"mine\.toml: about: 3 given; it should be a valid string$"):
        recipes.load(mine)


def test_a_long_value_is_cut_and_stays_on_its_line() -> None:
    with pytest.raises(IsotropeError) as caught:
        recipes.load("sg", set={"training.keep": "a\nb" * 1000})
    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)
