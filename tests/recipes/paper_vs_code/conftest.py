from __future__ import annotations

import gc

import pytest
import torch
from transformers import BertConfig, BertModel

import isotrope


@pytest.fixture(scope="session", autouse=True)
def little_to_collect() -> None:
    """Every run begins with a garbage collection, which is most of a small one unless what is imported is set aside."""
    gc.freeze()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A BERT of two layers and 32 dimensions, with a pooler as the published ones have it; nothing learnt."""
    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = isotrope.load().tokenizer
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=160, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(isotrope.load(folder, pooling="cls").save(folder / "encoder"))
