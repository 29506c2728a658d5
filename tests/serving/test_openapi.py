"""Requests made of the OpenAPI document: whatever they are, the answer is one that it foresees, and no 5xx."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis: pip install schemathesis")
EXAMPLES = int(os.environ.get("ISOTROPE_FUZZ_SERVER", "6"))  # of each operation


@pytest.fixture(scope="module")
def document(app: Any) -> Any:
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.filterwarnings("ignore")
def test_every_operation(document: Any) -> None:
    asked = []
    for found in document.get_all_operations():
        operation = found.ok()
        asked.append(operation.label)
        _ask(operation, schemathesis.GenerationMode.POSITIVE)
        if operation.method.upper() == "POST":  # what takes no input can't be asked wrongly
            _ask(operation, schemathesis.GenerationMode.NEGATIVE)
    assert {"POST /v1/embeddings", "POST /similarity", "POST /search", "POST /pairs", "POST /texts"} < set(asked)


def _ask(operation: Any, mode: Any) -> None:
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(excluded_checks=[positive_data_acceptance])  # blank texts and strange tokens are refused

    ask()
