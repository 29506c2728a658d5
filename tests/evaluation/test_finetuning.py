from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

import isotrope
from isotrope.evaluation import finetuning
from isotrope.evaluation.data.glue import load_glue
from isotrope.evaluation.data.places import MissingDataError
from isotrope.evaluation.finetuning import FineTuned, fine_tune
from isotrope.io.errors import IsotropeError

GOOD, BAD = ("fine", "lovely", "bright", "happy"), ("awful", "dull", "broken", "sad")


@pytest.fixture(scope="module")
def encoder() -> isotrope.Encoder:
    return isotrope.load("bundled", device="cpu")


def write(folder: Path, name: str, *rows: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(row.replace("|", "\t") + "\n" for row in rows))
    return folder


def numbered(split: str, rows: int) -> list[str]:
    return [f"{split}|{i % 2}|{split} {i}" for i in range(rows)]


@pytest.fixture
def opinions(tmp_path: Path) -> Path:
    """Sentences whose class is plain from one word."""
    generator = np.random.default_rng(0)
    rows = []
    for split, size in (("train", 160), ("dev", 60)):
        for i in range(size):
            word = generator.choice((BAD, GOOD)[i % 2])
            rows.append(f"{split}|{i % 2}|The {generator.choice(('day', 'film', 'house'))} was {word}.")
    return write(tmp_path, "transfer/sst2_sentences.tsv", "split|label|text", *rows)


def test_it_learns_what_can_be_learnt_and_leaves_the_encoder_alone(encoder: isotrope.Encoder, opinions: Path) -> None:
    before = {name: weights.clone() for name, weights in encoder.state_dict().items()}
    steps: list[tuple[int, int]] = []
    result = fine_tune(
        encoder,
        "sst2",
        data=opinions,
        epochs=3,
        learning_rate=1e-3,
        batch_size=16,
        stepped=lambda done, of: steps.append((done, of)),
    )
    assert result.score == result.test["accuracy"] > 95
    assert result.rows == {"train": 160, "dev": 6, "test": 54}
    assert steps == [(step, 30) for step in range(1, 31)]
    assert all(torch.equal(weights, before[name]) for name, weights in encoder.state_dict().items())


def test_a_seed_is_a_result(encoder: isotrope.Encoder, opinions: Path) -> None:
    options = {"epochs": 1, "learning_rate": 3e-4, "batch_size": 16, "limit": 40}
    one, again, other = (fine_tune(encoder, "sst2", data=opinions, seed=seed, **options) for seed in (1, 1, 2))
    assert one == again
    assert one.rows == {"train": 40, "dev": 6, "test": 40}
    assert other.seed == 2


def test_half_precision_is_about_the_same(encoder: isotrope.Encoder, opinions: Path) -> None:
    options = {"epochs": 1, "learning_rate": 1e-3, "batch_size": 16, "limit": 48}
    result = fine_tune(encoder, "sst2", data=opinions, precision="bfloat16", **options)
    assert result.score == pytest.approx(fine_tune(encoder, "sst2", data=opinions, **options).score, abs=15)
    assert all(weights.dtype != torch.bfloat16 for weights in encoder.state_dict().values())


def test_the_classifier_stands_on_the_encoders_own_weights(encoder: isotrope.Encoder) -> None:
    model = finetuning._classifier(encoder, 3).eval()
    assert isinstance(model, type(AutoModelForSequenceClassification.from_config(model.config)))
    ids = torch.tensor([encoder.tokenize(["A pair of words."])[0]])
    with torch.no_grad():
        wanted = encoder.backbone.model(input_ids=ids).last_hidden_state
        assert torch.equal(model.base_model(input_ids=ids).last_hidden_state, wanted)
        assert model(input_ids=ids).logits.shape == (1, 3)


def test_pairs_are_read_as_pairs(encoder: isotrope.Encoder) -> None:
    rows = [finetuning.Example("train", "1", ("One side.", "The other."))]
    (tokens,) = finetuning._tokens(encoder, rows, ["0", "1"])
    assert encoder.tokenizer.decode(tokens["input_ids"]).count(encoder.tokenizer.sep_token) == 2
    assert set(tokens["token_type_ids"]) == {0, 1}
    assert tokens["labels"] == 1


def test_the_first_tenth_of_the_validation_set_chooses_and_the_rest_tests(tmp_path: Path) -> None:
    rows = [*numbered("train", 30), *numbered("in_domain_dev", 25), *numbered("out_of_domain_dev", 14)]
    glue = load_glue("cola", data=write(tmp_path, "glue/cola.tsv", "split|label|text", *rows))
    assert len(glue.train) == 30
    validation = [example.texts[0] for example in glue.dev + glue.test]
    assert validation == [row.rpartition("|")[2] for row in rows[30:]]
    assert (len(glue.dev), len(glue.test), glue.note) == (3, 36, "")


def test_qnli_without_training_rows_trains_on_every_second_one(tmp_path: Path) -> None:
    rows = [f"{'not_' * (i % 3 == 0)}entailment|Why {i}?|Because {i}." for i in range(40)]
    data = write(tmp_path, "glue/qnli_dev.tsv", "label|question|sentence", *rows)
    glue = load_glue("qnli", data=data)
    assert [example.texts[0] for example in glue.train] == [f"Why {i}?" for i in range(0, 40, 2)]
    assert [example.texts[0] for example in glue.dev + glue.test] == [f"Why {i}?" for i in range(1, 40, 2)]
    assert (len(glue.dev), glue.classes) == (2, ["entailment", "not_entailment"])
    assert "qnli_dev.tsv has no training rows: every second row is trained on" in glue.note
    with_splits = [f"{'train' if i < 20 else 'dev'}|{row}" for i, row in enumerate(rows)]
    write(tmp_path, "glue/qnli.tsv", "split|label|question|sentence", *with_splits)
    whole = load_glue("qnli", data=data)
    assert (len(whole.train), len(whole.dev), len(whole.test), whole.note) == (20, 2, 18, "")


def test_mrpc_says_what_stands_for_the_validation_set(tmp_path: Path) -> None:
    rows = [f"{split}|{i % 2}|a {i}|b {i}" for split in ("train", "test") for i in range(20)]
    glue = load_glue("mrpc", data=write(tmp_path, "transfer/mrpc.tsv", "split|label|sentence1|sentence2", *rows))
    assert glue.note == "the file does not have GLUE's validation set; its split 'test' is used instead"
    assert glue.test[-1].texts == ("a 19", "b 19")


def test_the_figures_are_glue_s() -> None:
    gold = np.array([1, 1, 1, 1, 1, 0, 0, 0])
    logits = np.eye(2)[[1, 1, 1, 0, 0, 0, 0, 1]]
    right, wrong = {"1": 3, "0": 2}, {"1": 1, "0": 2}  # of those called so
    cola = finetuning._figures(finetuning.METRICS["cola"], gold, logits)
    assert cola["accuracy"] == 62.5
    product = (right["1"] * right["0"] - wrong["1"] * wrong["0"]) / math.sqrt(4 * 5 * 4 * 3)
    assert cola["matthews"] == pytest.approx(100 * product)
    assert list(cola) == ["matthews", "accuracy"]
    mrpc = finetuning._figures(finetuning.METRICS["mrpc"], gold, logits)
    assert mrpc == pytest.approx({"f1": 100 * 2 * 3 / (2 * 3 + 1 + 2), "accuracy": 62.5})
    result = FineTuned("cola", 1, cola, 50.129, {"train": 1, "dev": 1, "test": 8})
    assert result.score == cola["matthews"]
    assert result.as_json()["dev"] == 50.13


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (numbered("train", 9), r"sst2_sentences\.tsv: no split 'dev'; it has: train"),
        (["train|1|a", *numbered("dev", 20)], r"sst2_sentences\.tsv: every row of 'train' has the label '1'"),
        (
            [*numbered("train", 9), *numbered("dev", 9)],
            r"sst2_sentences\.tsv: 9 validation rows; a tenth of them needs 10",
        ),
    ],
)
def test_what_can_not_be_used_is_named(tmp_path: Path, rows: list[str], message: str) -> None:
    write(tmp_path, "transfer/sst2_sentences.tsv", "split|label|text", *rows)
    with pytest.raises(IsotropeError, match=message):
        load_glue("sst2", data=tmp_path)


def test_unknown_and_absent_tasks(tmp_path: Path) -> None:
    with pytest.raises(
        IsotropeError, match=r"unknown GLUE task 'rtee' \(did you mean 'rte'\?\); choose from qnli, sst2"
    ):
        load_glue("rtee")
    with pytest.raises(MissingDataError, match=r"no glue/rte\.tsv\[\.gz\] in a data folder.*name a folder"):
        load_glue("rte", data=tmp_path)


def test_a_model_that_transformers_has_no_classifier_for(
    encoder: isotrope.Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import CLIPTextConfig

    monkeypatch.setattr(encoder.backbone, "config", CLIPTextConfig())
    with pytest.raises(IsotropeError, match="'bundled': transformers has no classifier on top of a BertModel"):
        finetuning._classifier(encoder, 2)


def test_the_real_sets_have_their_published_sizes(shared_data: Path) -> None:
    sizes = {}
    for task in ("qnli", "sst2", "cola", "mrpc", "rte"):
        glue = load_glue(task, data=shared_data)
        sizes[task] = (len(glue.train), len(glue.dev) + len(glue.test))
    assert sizes == {
        "qnli": (2732, 2731),
        "sst2": (6920, 872),
        "cola": (8551, 1043),
        "mrpc": (4076, 1725),
        "rte": (2490, 277),
    }


def test_whole_sentences_in_place_of_glues_phrases_are_said(opinions: Path) -> None:
    glue = load_glue("sst2", data=opinions)
    assert f"has {len(glue.train):,} training rows, whole sentences; GLUE trains on 67,349 phrases" in glue.note
