# Two commands on a fresh machine: `make demo` and `make test`. Each makes .venv on its first run and reuses it after.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_DISABLE_TELEMETRY := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: demo test sweep faults fuzz lint clean

demo: $(VENV)/ready
	@$(BIN)/python -m isotrope demo

test: $(VENV)/ready
	$(BIN)/python -m pytest

# the whole product of parts, tens of thousands of combinations: an hour
sweep: $(VENV)/ready
	ISOTROPE_SWEEP=whole $(BIN)/python -m pytest tests/combinations -s

# 200 kills of every verb, every file of runs and caches damaged, full and read-only disks, little memory: hours
FAULTS ?= 200
faults: $(VENV)/ready
	ISOTROPE_FAULTS=$(FAULTS) $(BIN)/python -m pytest tests/faults -s -n 0

# files, recipes, settings and command lines that make no sense, so many of each
FUZZ ?= 20000
fuzz: $(VENV)/ready
	ISOTROPE_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# torch first and by itself: the constraint picks the CPU build, and what follows finds it installed
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[offline,views,baselines,plots,export,dev]'
	@touch $@

clean:
	rm -rf $(VENV)
