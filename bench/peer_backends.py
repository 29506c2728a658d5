"""One of sentence-transformers' own int8 backends, for `bench/encoding.py --peer-python`, which starts this file.

    PYTHON bench/peer_backends.py MODEL openvino|onnx CALIBRATION SCRATCH

Those backends need optimum, which needs an older transformers than isotrope: so they run in an environment of their
own (`pip install torch==2.13.0 sentence-transformers 'optimum-intel[openvino]' 'optimum-onnx[onnxruntime]' nncf
datasets`). The model is made as their documentation has it fastest on a processor: OpenVINO quantised statically on the
sentences in CALIBRATION, a folder with a file of JSON lines; ONNX dynamically for AVX512-VNNI. One thread. Each line on
standard input names a file of sentences as JSON and one to write vectors to; the answer is the processor time that
encoding took.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import (
    SentenceTransformer,
    export_dynamic_quantized_onnx_model,
    export_static_quantized_openvino_model,
)


def openvino(model: str, calibration: str, scratch: Path) -> SentenceTransformer:
    whole = SentenceTransformer(model, backend="openvino", device="cpu")
    whole.save_pretrained(str(scratch))
    told = {"dataset_config_name": "default", "dataset_split": "train", "column_name": "text"}
    export_static_quantized_openvino_model(whole, None, str(scratch), dataset_name=calibration, **told)
    options = {
        "file_name": "openvino/openvino_model_qint8_quantized.xml",
        "ov_config": {"INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY"},
    }
    return SentenceTransformer(str(scratch), backend="openvino", device="cpu", model_kwargs=options)


def onnx(model: str, calibration: str, scratch: Path) -> SentenceTransformer:
    import onnxruntime

    whole = SentenceTransformer(model, backend="onnx", device="cpu")
    whole.save_pretrained(str(scratch))
    export_dynamic_quantized_onnx_model(whole, "avx512_vnni", str(scratch))
    session = onnxruntime.SessionOptions()
    session.intra_op_num_threads = 1
    options: dict[str, Any] = {"file_name": "onnx/model_qint8_avx512_vnni.onnx", "session_options": session}
    return SentenceTransformer(str(scratch), backend="onnx", device="cpu", model_kwargs=options)


BACKENDS = {"openvino": openvino, "onnx": onnx}


def main() -> None:
    model, backend, calibration, scratch = sys.argv[1:]
    encoder = BACKENDS[backend](model, calibration, Path(scratch))
    print("ready", flush=True)
    for line in sys.stdin:
        texts, output = json.loads(line)
        sentences = json.loads(Path(texts).read_text(encoding="utf-8"))
        began = time.process_time()
        vectors = encoder.encode(sentences, batch_size=32)
        seconds = time.process_time() - began
        np.save(output, vectors)
        print(f"took {seconds}", flush=True)


if __name__ == "__main__":
    main()
