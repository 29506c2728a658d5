"""WK pooling: SBERT-WK (Wang and Kuo, 2020). Nothing is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Literal

from pydantic import Field

from isotrope.baselines.base import OnEncoder
from isotrope.encoders import Encoder, ForeignEncoder
from isotrope.encoders.after_pooling import is_normalize
from isotrope.encoders.modules.wk import FIRST_LAYER, WKPooling
from isotrope.encoders.saving import modules_of
from isotrope.io.errors import IsotropeError


class WKSpec(OnEncoder):
    """WK pooling in place of the encoder's own."""

    title: ClassVar[str] = "WK pooling, SBERT-WK (Wang and Kuo, 2020)"
    text: ClassVar[Literal["needed", "optional", "unused"]] = "unused"
    kind: str = "wk"
    first_layer: int | None = Field(default=None, ge=0)  # None: 4, or a third of the layers of a shallower encoder

    def fit(self, text: Iterable[str] | None, *, show_progress: bool = False) -> ForeignEncoder:
        """Nothing is fitted."""
        return wk_pooled(self.encoder(), self.first_layer)


def wk_pooled(encoder: Encoder, first_layer: int | None = None) -> ForeignEncoder:
    """The encoder's backbone under WK pooling, from layer `first_layer` on. Nothing is fitted."""
    layers = encoder.backbone.layers
    first = min(FIRST_LAYER, layers // 3) if first_layer is None else first_layer
    if not 0 <= first <= layers - 2:
        raise IsotropeError(
            f"WK pooling from layer {first} on: this encoder has layers 0 to {layers}, and at least three are needed"
        )
    transformer = modules_of(encoder.with_pooling("mean"), all_layers=True)[0]
    normalize = [module for module in encoder.after_pooling if is_normalize(module)]
    return ForeignEncoder.of(encoder, [transformer, WKPooling(encoder.backbone.dim, first), *normalize])
