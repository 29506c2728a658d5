"""OpenVINO, Intel's runtime, which is fast on AMD's processors too; int8 by post-training quantisation with NNCF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from isotrope.encoders import Encoder
from isotrope.encoders.graphs import needs_extra
from isotrope.exporting.base import ExportSpec
from isotrope.exporting.tracing import INPUTS, OUTPUT, calibration, example, quiet_tracing, traced, write_around
from isotrope.training.interruption import stop_requests

GRAPH = "openvino/openvino_model.xml"  # where sentence-transformers looks for it


class OpenVino(ExportSpec):
    """Weights and activations in int8, calibrated on the text, where that is asked for."""

    kind: Literal["openvino"] = "openvino"
    takes_int8: ClassVar[bool] = True

    def write(self, encoder: Encoder, folder: Path, text: Sequence[str]) -> dict[str, Any]:
        """`openvino/openvino_model.xml` and `.bin`."""
        with needs_extra():
            import openvino

        with quiet_tracing():
            with stop_requests():  # openvino makes a failed conversion of an exception that passes through it
                graph = openvino.convert_model(traced(encoder), example_input=example(encoder.backbone.packs))
            for name, given in zip(INPUTS, graph.inputs, strict=True):
                given.get_tensor().set_names({name})
            graph.outputs[0].get_tensor().set_names({OUTPUT})
            if self.int8:
                graph = quantised(graph, encoder, text)
        write_around(encoder, folder)
        (folder / GRAPH).parent.mkdir()
        openvino.save_model(graph, folder / GRAPH, compress_to_fp16=False)
        return {"runtime": "openvino", "graph": GRAPH, "packs": encoder.backbone.packs}


def quantised(graph: Any, encoder: Encoder, text: Sequence[str]) -> Any:
    """SmoothQuant, then ranges of all activations on the text, then a correction of biases."""
    with needs_extra():
        import nncf

    batches = list(calibration(encoder, text))
    return nncf.quantize(graph, nncf.Dataset(batches), subset_size=len(batches), model_type=nncf.ModelType.TRANSFORMER)
