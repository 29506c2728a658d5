# Two commands on a fresh machine: `make demo` and `make test`. Each makes .venv on its first run and reuses it after.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export HF_HUB_DISABLE_TELEMETRY := 1
export TOKENIZERS_PARALLELISM := false

.PHONY: demo test bench sweep figures faults pictures fuzz lowest lint docs ecosystem lock sbom clean

demo: $(VENV)/ready
	@$(BIN)/python -m isotrope demo

test: $(VENV)/ready
	$(BIN)/python -m pytest

# speed and memory beside a peer in the same run, on the sentences of STS-B in DATA: an hour
DATA ?= ../shared/data
bench: $(VENV)/ready
	$(BIN)/python bench/training.py --data $(DATA)
	OMP_NUM_THREADS=1 $(BIN)/python bench/encoding.py --data $(DATA)
	$(BIN)/python bench/growth.py --plot docs/growth.png

# the whole product of parts: 192,080 combinations, of which 46,735 are not refused. 17 minutes on two cores
sweep: $(VENV)/ready
	ISOTROPE_SWEEP=whole $(BIN)/python -m pytest tests/combinations -s

# known figures on whole data sets, of which the tests take samples: minutes
figures: $(VENV)/ready
	ISOTROPE_FIGURES=whole $(BIN)/python -m pytest tests/evaluation -k known_figures

# 200 kills of every verb, every file of runs and caches damaged, full and read-only disks, little memory: hours
FAULTS ?= 200
faults: $(VENV)/ready
	ISOTROPE_FAULTS=$(FAULTS) $(BIN)/python -m pytest tests/faults -s -n 0

# the report and the server's page as people see them; needs chromium
pictures: $(VENV)/ready
	$(BIN)/python tests/surfaces.py pictures

# files, recipes, settings and command lines that make no sense, so many of each
FUZZ ?= 20000
fuzz: $(VENV)/ready
	ISOTROPE_FUZZ=$(FUZZ) $(BIN)/python -m pytest tests/fuzz

# the tests on the lowest versions that pyproject.toml allows, in an environment of their own. Of torch there is no lowest
# CPU build everywhere: it stays the one of constraints.txt. LOWEST=tests/io for a part of them
LOWEST ?= tests
lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch uv
	$(VENV)-lowest/bin/uv pip install --python $(VENV)-lowest/bin/python --quiet --resolution lowest-direct \
	  --editable '.[offline,views,baselines,plots,serve,export,dev]'
	$(VENV)-lowest/bin/python -m pytest $(LOWEST)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# the documentation as a site, in site/: a link that leads nowhere is an error; its code runs in the tests
docs: $(VENV)/ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	@echo "site/index.html"

# a saved encoder in other libraries, which `make test` skips where they are not installed: hundreds of megabytes more
ecosystem: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[ecosystem]'
	$(BIN)/python -m pytest tests/integrations

# requirements.lock, anew: the hashes of all files of each version. torch is overridden away, see there
lock: $(VENV)/ready
	@grep '^#' requirements.lock > $(VENV)/lock
	@echo "torch; sys_platform == 'never'" > $(VENV)/without-torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile pyproject.toml --constraint constraints.txt --override $(VENV)/without-torch --generate-hashes \
	  --no-emit-index-url --no-header --no-annotate --universal --python-version 3.11 --quiet >> $(VENV)/lock
	@mv $(VENV)/lock requirements.lock

# what is in the environment, with versions and licences, as CycloneDX: dist/sbom.json
sbom: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom
	@mkdir -p dist
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON -o dist/sbom.json $(BIN)/python

# torch first and by itself: the constraint picks the CPU build, and what follows finds it installed
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[offline,views,baselines,plots,serve,export,docs,dev]'
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-lowest
