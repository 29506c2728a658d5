"""Models of the Hub, from a folder that is laid out as its client's cache is: no network is needed for that."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import isotrope
from isotrope.encoders import load
from isotrope.encoders.availability import check_names
from isotrope.encoders.loading import model_commit, model_folder
from isotrope.io.errors import IsotropeError
from isotrope.io.hub import commit_of
from isotrope.text import bundled_sentences

OLD, NEW = "a" * 40, "b" * 40
Add = Callable[[str, str, Path], Path]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Puts a folder into the cache as a commit of `org/tiny`, and has a branch or tag point there."""
    cache = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("isotrope.io.hub.hub_answers", lambda: False)

    def put(commit: str, name: str, source: Path) -> Path:
        repository = cache / "models--org--tiny"
        (repository / "refs").mkdir(parents=True, exist_ok=True)
        (repository / "refs" / name).write_text(commit)
        snapshot = repository / "snapshots" / commit
        if not snapshot.exists():
            shutil.copytree(source, snapshot)
        return snapshot

    return put


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two that differ in one weight."""
    folder = tmp_path_factory.mktemp("versions")
    old = load(pooling="mean@1").save(folder / "old")
    new = shutil.copytree(old, folder / "new")
    (new / "SHA256SUMS").unlink()
    weights = load_file(new / "model.safetensors")
    weights["embeddings.LayerNorm.weight"][0] += 1
    save_file(weights, new / "model.safetensors", metadata={"format": "pt"})
    return old, new


def test_a_name_may_have_a_revision(add: Add, versions: tuple[Path, Path]) -> None:
    for commit, name, folder in ((OLD, "v1", versions[0]), (NEW, "main", versions[1])):
        add(commit, name, folder)
    old, new = (load(folder).encode("A dog.") for folder in versions)
    assert np.abs(old - new).max() > 1e-4
    for name, wanted in (
        ("org/tiny", new),
        ("org/tiny@main", new),
        ("org/tiny@v1", old),
        (f"org/tiny@{OLD}", old),
        (f"org/tiny@{NEW}", new),
    ):
        check_names([name])
        found = load(name)
        np.testing.assert_array_equal(found.encode("A dog."), wanted)
        assert found.name == name
        assert model_commit(name) == (NEW if wanted is new else OLD) == commit_of(model_folder(name))
    assert model_commit("bundled") is model_commit(versions[0]) is None


def test_the_commit_is_kept_in_the_run_and_another_one_is_not_resumed(
    add: Add, versions: tuple[Path, Path], tmp_path: Path
) -> None:
    add(OLD, "main", versions[0])
    texts, run = bundled_sentences()[:40], tmp_path / "run"
    settings = {"steps": 2, "set": {"training.batch_size": 4}}
    isotrope.train(texts, "simcse", model="org/tiny", output=run, **settings)
    assert json.loads((run / "run.json").read_text())["commit"] == OLD
    isotrope.train(texts, "simcse", model="org/tiny", output=run, resume=True, **settings)
    add(NEW, "main", versions[1])
    with pytest.raises(IsotropeError, match=f"settings differ from the original run: commit '{OLD}' -> '{NEW}'"):
        isotrope.train(texts, "simcse", model="org/tiny", output=run, resume=True, **settings)


def test_what_is_not_there_is_one_line(add: Add, versions: tuple[Path, Path], tmp_path: Path) -> None:
    add(OLD, "v1", versions[0])
    with pytest.raises(IsotropeError, match="no folder 'org/tiny@v9' here"):
        isotrope.train(bundled_sentences()[:40], "simcse", model="org/tiny@v9", output=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    for name, message in {
        "org/tiny@v9": r"no folder 'org/tiny@v9' here, and .* \(no network, or no such name or revision\)",
        "org/none": r"no folder 'org/none' here, and .* \(no network, or no such name\)",
        "org/tiny@": "no folder 'org/tiny@' here",
        "a@b@c": "no folder 'a@b@c' here",
    }.items():
        with pytest.raises(IsotropeError, match=message):
            load(name)


def test_a_pickle_of_the_hub_is_refused(add: Add, versions: tuple[Path, Path]) -> None:
    snapshot = add(OLD, "main", versions[0])
    (snapshot / "SHA256SUMS").unlink()
    torch.save(load_file(snapshot / "model.safetensors"), snapshot / "pytorch_model.bin")
    (snapshot / "model.safetensors").unlink()
    with pytest.raises(IsotropeError, match=r"'org/tiny' can't be used as a model: pytorch_model.bin is a pickle"):
        load("org/tiny")
    (snapshot / "pytorch_model.bin").unlink()  # as it is when it was fetched by isotrope
    with pytest.raises(
        IsotropeError, match=r"it has no safetensors, .*SentenceTransformer\('org/tiny'\).save_pretrained"
    ):
        load("org/tiny")
