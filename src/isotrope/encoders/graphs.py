"""Exported encoders: a backbone that OpenVINO or ONNX Runtime computes, behind the same `Encoder`.

A graph takes `input_ids` and `attention_mask`, (rows, width) each, and gives token vectors. Its mask is that of every
other exported model, 1 for a token and 0 for padding, and means more: tokens see those of the same number. So 1, 1, 2,
2, 2, 0 is a row of two sentences, and a packed batch runs in the same graph as a padded one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from isotrope.encoders.backbone import Backbone, EmbeddingView
from isotrope.encoders.encoder import Encoder
from isotrope.encoders.opening import check_sums
from isotrope.encoders.packing import Batch
from isotrope.encoders.pooling import Pooling
from isotrope.io.errors import IsotropeError, reason
from isotrope.io.hashes import file_digest
from isotrope.io.names import EXPORT

Infer = Callable[[Tensor, Tensor], Tensor]  # input_ids, attention_mask -> token vectors (rows, width, dim)


def is_export(folder: str | Path) -> bool:
    """Whether a folder holds a graph in place of weights."""
    file = Path(folder) / EXPORT
    try:
        return file.is_file() and "graph" in json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError) as error:
        raise IsotropeError(f"{file} is damaged ({reason(error)}); export the encoder again") from error


def open_export(folder: str | Path, name: str, tail: Callable[[dict[str, Any]], nn.Module]) -> Encoder:
    """The encoder of an exported folder; `tail` loads an entry of its modules.json."""
    from transformers import AutoConfig, AutoTokenizer  # slow to import

    folder = Path(folder)
    try:
        check_sums(folder)
        about = json.loads((folder / EXPORT).read_text(encoding="utf-8"))
        entries = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        told = json.loads((folder / "config_sentence_transformers.json").read_text(encoding="utf-8"))
        config, tokenizer = AutoConfig.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
        graph = Graph(RUNTIMES[about["runtime"]], folder / about["graph"], config, tokenizer)
        pooling, *behind = [tail(entry) for entry in entries[1:]]
        reduction: Any = pooling.pooling_mode
    except IsotropeError as error:
        raise IsotropeError(f"'{name}' can't be used as a model: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IsotropeError(f"'{name}' could not be loaded as an exported encoder: {reason(error)}") from error
    prompts = {key: text for key, text in (told.get("prompts") or {}).items() if text}
    return Encoder(
        graph,
        Pooling(reduction if isinstance(reduction, str) else "+".join(reduction)),
        behind,
        name=name,
        prompts=prompts,
        default_prompt_name=told.get("default_prompt_name"),
        backbone=GraphBackbone(graph, packs=about["packs"]),
    )


class Graph(nn.Module):
    """What stands where other encoders have a transformer and its tokenizer. It can't be tuned, so it is not copied."""

    def __init__(self, runtime: Callable[[Path], Infer], file: Path, config: Any, tokenizer: Any) -> None:
        super().__init__()
        self.config, self.tokenizer, self.infer = config, tokenizer, runtime(file)
        weights = file.with_suffix(".bin") if file.with_suffix(".bin").is_file() else file
        # its place in the state: what tells encoders apart looks there
        self.register_buffer("digest", torch.frombuffer(bytearray.fromhex(file_digest(weights)), dtype=torch.uint8))

    @property
    def model(self) -> Graph:
        """Itself."""
        return self

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise IsotropeError("an exported encoder can't be tuned, fitted or saved again; use the one it was made from")


class GraphBackbone(Backbone):
    """A backbone of which only the last layer is seen."""

    def __init__(self, graph: Graph, *, packs: bool) -> None:
        nn.Module.__init__(self)
        self.model, self.config = graph, graph.config
        self.layers, self.dim = int(self.config.num_hidden_layers), int(self.config.hidden_size)
        self.precision = torch.float32
        self.position_offset, self.packs = 0, packs

    @property
    def dtype(self) -> torch.dtype:
        """Of what comes out."""
        return torch.float32

    @property
    def device(self) -> torch.device:
        """The runtimes take and give memory of the CPU."""
        return torch.device("cpu")

    def compute_in(self, precision: torch.dtype) -> None:
        """Refuses what is not float32, of which the vectors are."""
        if precision != torch.float32:
            raise IsotropeError("an exported encoder keeps the precision it was exported with; leave out precision=")

    def forward(self, batch: Batch, view: EmbeddingView | None = None) -> Tensor:
        """The last layer, (rows, width, dim)."""
        if view is not None:
            self.hidden_states(batch, view)
        mask = batch.sentence + 1 if self.packs else (batch.sentence >= 0).long()
        hidden: Tensor = self.model.infer(batch.input_ids, mask)
        return hidden

    def hidden_states(self, batch: Batch, view: EmbeddingView | None = None) -> tuple[Tensor, ...]:
        """Refuses: a graph has one output."""
        raise IsotropeError("an exported encoder gives only its last layer; use the one it was made from")


def openvino_runtime(file: Path) -> Infer:
    """Runs an .xml on as many threads as torch has. Float32 stays that; int8 may do the rest in bfloat16."""
    with needs_extra():
        import openvino

    core = openvino.Core()
    model = core.read_model(file)
    quantised = any(one.get_type_name() == "FakeQuantize" for one in model.get_ops())
    fast = quantised and "BF16" in core.get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    options = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "INFERENCE_PRECISION_HINT": "bf16" if fast else "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = core.compile_model(model, "CPU", options)

    def infer(input_ids: Tensor, mask: Tensor) -> Tensor:
        found = compiled({"input_ids": input_ids.numpy(), "attention_mask": mask.numpy()})
        return torch.from_numpy(found[0])

    return infer


def onnx_runtime(file: Path) -> Infer:
    """Runs an .onnx on as many threads as torch has."""
    with needs_extra():
        import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

    def infer(input_ids: Tensor, mask: Tensor) -> Tensor:
        given = {"input_ids": input_ids.numpy(), "attention_mask": mask.numpy()}
        return torch.from_numpy(session.run(None, given)[0])

    return infer


@contextmanager
def needs_extra() -> Iterator[None]:
    """What is not installed is one line that says what to do."""
    try:
        yield
    except ImportError as error:
        raise IsotropeError(f"{error.name} is not installed: pip install 'isotrope[export]'") from error


RUNTIMES: dict[str, Callable[[Path], Infer]] = {"openvino": openvino_runtime, "onnx": onnx_runtime}
