"""Views by name. Each `test_table_...` is a row of what ConSERT's paper says and what its code does."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from transformers import RobertaConfig, RobertaModel

from isotrope.encoders import Encoder
from isotrope.encoders.backbone import Backbone
from isotrope.encoders.packing import Batch, lay_out
from isotrope.io.errors import IsotropeError
from isotrope.views.embedding import VIEWS
from isotrope.views.embedding.adversarial import fast_gradient_view
from isotrope.views.embedding.dropout import Dropout
from isotrope.views.embedding.shuffle import Shuffle
from isotrope.views.embedding.token_cutoff import TokenCutoff
from isotrope.views.embedding.unchanged import Unchanged

LENGTHS = [2, 3, 6, 7, 13, 14, 20, 40]


@pytest.fixture
def batch() -> Batch:
    batch = lay_out([[1] * n for n in LENGTHS])
    assert batch.packed
    return batch


def zeroed(view, batch: Batch, dim: int = 4) -> list[Tensor]:
    """What is zeroed in each sentence, (length, dim) of bool."""
    seen = view(torch.ones(*batch.input_ids.shape, dim), batch)
    return list((batch.flatten(seen) == 0).split(batch.lengths.tolist()))


def positions(view, batch: Batch, offset: int = 0) -> list[list[int]]:
    flat = view.positions(batch, offset).flatten()[batch.token_index]
    return [part.tolist() for part in flat.split(batch.lengths.tolist())]


# -- the table ---------------------------------------------------------------------------------------------------------


def test_table_cutoff_rates() -> None:
    for variant in ("paper", "official"):
        assert VIEWS.make("token-cutoff", variant=variant).rate == 0.15
        assert VIEWS.make("feature-cutoff", variant=variant).rate == 0.2
    assert VIEWS.make("token-cutoff", rate=0.1, variant="official").rate == 0.1  # joint
    assert VIEWS.make("feature-cutoff", rate=0.1, variant="official").rate == 0.1  # sup-unsup


@pytest.mark.parametrize("kind", ["token-cutoff", "feature-cutoff", "dropout"])
def test_table_where(encoder: Encoder, sentences: list[str], kind: str) -> None:
    """Paper: at the token embeddings. Code: behind LayerNorm, so that zeros enter the first layer as they are."""
    entered: list[Tensor] = []
    hook = encoder.backbone.model.encoder.register_forward_pre_hook(
        lambda module, inputs, named: entered.append((*inputs, *named.values())[0]), with_kwargs=True
    )
    batch = encoder.batch(sentences)
    for variant in ("paper", "official"):
        encoder(batch, VIEWS.make(kind, variant=variant))
    hook.remove()
    assert all((batch.flatten(hidden) == 0).double().mean() > 0.05 for hidden in entered)


def test_table_shuffle_specials(batch: Batch) -> None:
    """Paper: position ids. Code: permutes all real tokens, [CLS] and [SEP] among them."""
    torch.manual_seed(0)
    paper = positions(VIEWS.make("shuffle"), batch)
    official = positions(VIEWS.make("shuffle", variant="official"), batch)
    for n, kept, mixed in zip(LENGTHS, paper, official, strict=True):
        assert sorted(kept) == sorted(mixed) == list(range(n))
        assert (kept[0], kept[-1]) == (0, n - 1)
    assert sum((mixed[0], mixed[-1]) != (0, len(mixed) - 1) for mixed in official) >= 4
    assert [len(set(kept)) for kept in paper] == LENGTHS


def test_table_shuffle_offset_of_roberta() -> None:
    """Code: ignores RoBERTa's offset of 2."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    roberta = Backbone(RobertaModel(RobertaConfig(vocab_size=80, max_position_embeddings=70, **sizes)).eval())
    batch = lay_out([[5] * n for n in LENGTHS], 1)
    for variant, begin in (("paper", 2), ("official", 0)):
        found = positions(VIEWS.make("shuffle", variant=variant), batch, roberta.position_offset)
        assert [sorted(part) for part in found] == [list(range(begin, begin + n)) for n in LENGTHS]


def test_table_token_cutoff_count(batch: Batch) -> None:
    """Paper: 15%. Code: int(n x 0.15), specials included, so that under 7 tokens nothing is cut."""
    counts = [int(cut.any(1).sum()) for cut in zeroed(VIEWS.make("token-cutoff", variant="official"), batch)]
    assert counts == [int(n * 0.15) for n in LENGTHS] == [0, 0, 0, 1, 1, 2, 3, 6]
    counts = [int(cut.any(1).sum()) for cut in zeroed(VIEWS.make("token-cutoff"), batch)]
    assert counts == [round((n - 2) * 0.15) for n in LENGTHS] == [0, 0, 1, 1, 2, 2, 3, 6]


def test_table_token_cutoff_specials() -> None:
    many = lay_out([[1] * 10] * 300)
    torch.manual_seed(0)
    cut = torch.stack(zeroed(VIEWS.make("token-cutoff"), many)).any(-1).sum(0)
    assert (cut > 0).tolist() == [False] + [True] * 8 + [False]
    cut = torch.stack(zeroed(VIEWS.make("token-cutoff", variant="official"), many)).any(-1).sum(0)
    assert (cut > 0).all()


@pytest.mark.parametrize("variant", ["paper", "official"])
@pytest.mark.parametrize("kind", ["token-cutoff", "span-cutoff"])
def test_table_cut_rows_are_still_attended_and_pooled(
    encoder: Encoder, sentences: list[str], kind: str, variant: str
) -> None:
    """As many rows in attention and in the mean as without a view; for span cutoff, the mask is changed too late."""
    batch = encoder.batch(sentences)
    masks: list[Tensor] = []
    hook = encoder.backbone.model.register_forward_pre_hook(
        lambda module, inputs, named: masks.append(named["attention_mask"]), with_kwargs=True
    )
    view = VIEWS.make(kind, rate=0.4, variant=variant)
    torch.manual_seed(0)
    hidden = encoder.token_vectors(batch, view)
    torch.manual_seed(0)
    vectors = encoder(batch, view)
    encoder(batch)
    hook.remove()
    assert torch.equal(masks[0], masks[2])
    means = torch.stack([part.mean(0) for part in batch.flatten(hidden).split(batch.lengths.tolist())])
    assert torch.allclose(vectors, means, atol=1e-6)


def test_table_feature_cutoff_columns_per_sentence(batch: Batch) -> None:
    """Paper: 20%. Code: 153 of 768 columns, other ones in each sentence."""
    for variant, columns in (("paper", 154), ("official", 153)):
        found = zeroed(VIEWS.make("feature-cutoff", variant=variant), batch, dim=768)
        assert [int(cut.all(0).sum()) for cut in found] == [columns] * len(LENGTHS)
        assert [int(cut.any(0).sum()) for cut in found] == [columns] * len(LENGTHS)
        assert len({cut[0].numpy().tobytes() for cut in found}) == len(LENGTHS)


def test_table_dropout_view_count_and_rescale(batch: Batch) -> None:
    """Paper: p 0.2, "and set their values to zero". Code: an exact count; no 1 / (1 - p) for the rest in either."""
    torch.manual_seed(0)
    embeddings = torch.ones(*batch.input_ids.shape, 32)
    official = batch.flatten(VIEWS.make("dropout", variant="official")(embeddings, batch))
    assert [int((part == 0).sum()) for part in official.split(LENGTHS)] == [int(n * 32 * 0.2) for n in LENGTHS]
    assert set(official.unique().tolist()) == {0, 1}
    paper = batch.flatten(VIEWS.make("dropout")(embeddings, batch))
    assert [int((part == 0).sum()) for part in paper.split(LENGTHS)] != [int(n * 32 * 0.2) for n in LENGTHS]
    assert set(paper.unique().tolist()) == {0, 1}


def test_table_span_cutoff(batch: Batch) -> None:
    """Paper: a span is erased. Code: a span of max(int(n x 0.85), 1) tokens is what stays; specials included."""
    torch.manual_seed(0)
    for n, cut in zip(LENGTHS, zeroed(VIEWS.make("span-cutoff"), batch), strict=True):
        assert int(cut.any(1).sum()) == round((n - 2) * 0.15)
    for n, cut in zip(LENGTHS, zeroed(VIEWS.make("span-cutoff", variant="official"), batch), strict=True):
        kept = (~cut.any(1)).nonzero().flatten().tolist()
        assert len(kept) == max(int(n * 0.85), 1) == kept[-1] - kept[0] + 1


@pytest.mark.parametrize(("variant", "at"), [("paper", "embeddings"), ("official", "embeddings")])
def test_table_adversarial_norm(encoder: Encoder, sentences: list[str], variant: str, at: str) -> None:
    """Paper: fast gradient value, no norm given. Code: every token by epsilon."""
    attack, batch = VIEWS.make("adversarial", variant=variant, epsilon=0.5), encoder.batch(sentences)
    assert attack.at == at
    view = fast_gradient_view(
        encoder, batch, lambda v: v.square().sum(), attack.epsilon, norm=attack.norm, at=attack.at
    )
    parts = batch.flatten(view.values).split(batch.lengths.tolist())
    norms = torch.stack([part.norm() for part in parts])
    assert torch.allclose(norms, 0.5 * (batch.lengths.sqrt() if variant == "official" else torch.ones(6)))


# -- names and settings ------------------------------------------------------------------------------------------------


def test_the_kinds_are_those_of_the_papers() -> None:
    papers = ("none", "shuffle", "token-cutoff", "feature-cutoff", "span-cutoff", "dropout", "adversarial")
    assert sorted(VIEWS.kinds) == sorted(papers)
    assert VIEWS.make("none") == Unchanged()


def test_settings_override_those_of_the_variant() -> None:
    assert VIEWS.make("shuffle", variant="official", offset=True) == Shuffle(
        variant="official", specials=True, offset=True
    )
    assert VIEWS.make("token-cutoff", rate=0.3, at="word", rounding="down") == TokenCutoff(
        rate=0.3, at="word", rounding="down"
    )
    assert VIEWS.make("dropout", rate=0.5, rescale=True) == Dropout(rate=0.5, rescale=True)
    assert VIEWS.make("dropout") == Dropout(rate=0.2)  # what was overridden before is not remembered


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "shufle"}, "views 'shufle': unknown kind 'shufle' (did you mean 'shuffle'?); one of "),
        ({"kind": "token_cutoff"}, "(did you mean 'token-cutoff'?)"),
        ({"kind": "shuffle", "variant": "oficial"}, "views 'shuffle': variant: Input should be 'paper' or 'official'"),
        (
            {"kind": "shuffle", "rate": 0.1},
            "views 'shuffle': rate: kind 'shuffle' has no such key; dropout, feature-cutoff, span-cutoff, "
            "token-cutoff have it",
        ),
        ({"kind": "none", "zzz": 0.1}, "views 'none': zzz: no such key; kind 'none' has column"),
        ({"kind": "dropout", "rescal": True}, "views 'dropout': rescal: no such key (did you mean 'rescale'?)"),
        ({"kind": "dropout", "at": "output"}, "views 'dropout': at: Input should be 'word' or 'embeddings'"),
        ({"kind": "token-cutoff", "rounding": "up"}, "rounding: Input should be 'down' or 'nearest'"),
        ({"kind": "dropout", "rate": 1.0}, "views 'dropout': rate: Input should be less than 1"),
        ({"kind": "dropout", "rate": -0.1}, "views 'dropout': rate: Input should be greater than or equal to 0"),
    ],
)
def test_a_mistake_is_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(IsotropeError) as error:
        VIEWS.make(**arguments)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
