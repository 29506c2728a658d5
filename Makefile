# Two commands on a fresh machine: `make demo` and `make test`. Each makes .venv on its first run and reuses it after.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_DISABLE_TELEMETRY := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: demo test sweep lint clean

demo: $(VENV)/ready
	@$(BIN)/python -m isotrope demo

test: $(VENV)/ready
	$(BIN)/python -m pytest

# the whole product of parts, tens of thousands of combinations: an hour
sweep: $(VENV)/ready
	ISOTROPE_SWEEP=whole $(BIN)/python -m pytest tests/combinations -s

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# torch first and by itself: the constraint picks the CPU build, and what follows finds it installed
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[offline,views,baselines,plots,dev]'
	@touch $@

clean:
	rm -rf $(VENV)
