"""MTEB on a running server, `isotrope serve MODEL`: pip install mteb openai.

    python examples/integrations/mteb_server.py [http://127.0.0.1:8000/v1]

The task is that of mteb_task.py beside it; any of MTEB's own will do.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mteb
import numpy as np
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from openai import OpenAI

sys.path.insert(0, str(Path(__file__).parent))
from mteb_task import BundledPairs

AT_ONCE = 256  # texts of a request


class Served(AbsEncoder):
    """An encoder behind OpenAI's API; MTEB takes it like any other."""

    def __init__(self, address: str) -> None:
        self.client = OpenAI(base_url=address, api_key="none")
        self.name = next(iter(self.client.models.list())).id
        self.mteb_model_meta = ModelMeta.create_empty({"name": f"served/{self.name}", "revision": "1"})

    def encode(self, inputs: Iterable[dict[str, list[str]]], **options: Any) -> Any:
        """The vectors of all texts, (texts, dim)."""
        texts = [text for batch in inputs for text in batch["text"]]
        lots = [texts[start : start + AT_ONCE] for start in range(0, len(texts), AT_ONCE)]
        answers = [self.client.embeddings.create(model=self.name, input=lot).data for lot in lots]
        return np.array([one.embedding for answer in answers for one in answer], np.float32)


def main(address: str = "http://127.0.0.1:8000/v1") -> None:
    """Prints MTEB's main score, Spearman's correlation of the cosine."""
    found = mteb.evaluate(Served(address), [BundledPairs()], cache=None)
    print(f"{100 * found.task_results[0].get_score():.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
