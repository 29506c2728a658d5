"""ONNX, which most runtimes and servers read; int8 weights, with activations that are quantised as they come."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal

import torch

from isotrope.encoders import Encoder
from isotrope.encoders.graphs import needs_extra
from isotrope.exporting.base import ExportSpec
from isotrope.exporting.tracing import INPUTS, OUTPUT, example, quiet_tracing, traced, write_around

GRAPH = "onnx/model.onnx"  # where sentence-transformers looks for it
OPSET = 18


class Onnx(ExportSpec):
    """Dynamic int8 needs no calibration, and is nearer to float32 than ranges that are fixed beforehand."""

    kind: Literal["onnx"] = "onnx"
    takes_int8: ClassVar[bool] = True

    def write(self, encoder: Encoder, folder: Path, text: Sequence[str]) -> dict[str, Any]:
        """`onnx/model.onnx`, one file."""
        with needs_extra():
            importlib.import_module("onnx")  # which torch and the quantiser want

        write_around(encoder, folder)
        target = folder / GRAPH
        target.parent.mkdir()
        with quiet_tracing(), TemporaryDirectory() as scratch:
            plain = Path(scratch, "model.onnx") if self.int8 else target
            given = example(encoder.backbone.packs)
            axes = {name: {0: "rows", 1: "width"} for name in (*INPUTS, OUTPUT)}
            torch.onnx.export(
                traced(encoder),
                tuple(given.values()),
                plain,
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                dynamic_axes=axes,
                opset_version=OPSET,
                dynamo=False,
            )
            if self.int8:
                _quantise(plain, target)
        return {"runtime": "onnx", "graph": GRAPH, "packs": encoder.backbone.packs}


def _quantise(plain: Path, target: Path) -> None:
    with needs_extra():
        from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(plain, target, weight_type=QuantType.QInt8, per_channel=True)
