"""The embedding-level views by name, as ConSERT's text (`paper`) and its published code (`official`) have them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeAlias, get_args

from isotrope.io.errors import IsotropeError, nearest
from isotrope.views.adversarial import Adversarial, Norm
from isotrope.views.draws import Rounding
from isotrope.views.embedding import Dropout, FeatureCutoff, Identity, Layer, Shuffle, SpanCutoff, TokenCutoff

View: TypeAlias = Identity | Shuffle | TokenCutoff | FeatureCutoff | SpanCutoff | Dropout | Adversarial

# rates of the paper's section 4.1; it doesn't use span cutoff, which has the rate of token cutoff here
PAPER: dict[str, View] = {
    "none": Identity(),
    "shuffle": Shuffle(),
    "token-cutoff": TokenCutoff(0.15),
    "feature-cutoff": FeatureCutoff(0.2),
    "span-cutoff": SpanCutoff(0.15),
    "dropout": Dropout(0.2),
    "adversarial": Adversarial(),
}
OFFICIAL: dict[str, View] = {
    "none": Identity(),
    "shuffle": Shuffle(specials=True, offset=False),
    "token-cutoff": TokenCutoff(0.15, at="embeddings", specials=True, rounding="down"),
    "feature-cutoff": FeatureCutoff(0.2, at="embeddings", rounding="down"),
    "span-cutoff": SpanCutoff(0.15, specials=True, rounding="down", keep=True),
    "dropout": Dropout(0.2, at="embeddings", exact=True, rescale=False),
    "adversarial": Adversarial(norm="token", at="embeddings"),
}
VARIANTS = {"paper": PAPER, "official": OFFICIAL}
KINDS = tuple(PAPER)
CHOICES = {"at": get_args(Layer), "rounding": get_args(Rounding), "norm": get_args(Norm)}


def make(kind: str, rate: float | None = None, variant: str = "paper", **settings: Any) -> View:
    """The view of a name, as `variant` has it; `rate` and further fields of the view override that."""
    if variant not in VARIANTS:
        raise IsotropeError(f"unknown variant '{variant}'{nearest(variant, VARIANTS)}; choose paper or official")
    if kind not in KINDS:
        raise IsotropeError(f"unknown view '{kind}'{nearest(kind, KINDS)}; choose from {', '.join(KINDS)}")
    view = VARIANTS[variant][kind]
    if rate is not None:
        settings["rate"] = rate
    known = [field.name for field in fields(view) if field.init]
    for name, value in settings.items():
        if name not in known:
            has = ", ".join(known) or "no settings"
            raise IsotropeError(f"view '{kind}' has no '{name}'{nearest(name, known)}; it has {has}")
        if value not in CHOICES.get(name, (value,)):
            raise IsotropeError(f"view '{kind}': {name} is one of {', '.join(CHOICES[name])}, not '{value}'")
    return replace(view, **settings)
