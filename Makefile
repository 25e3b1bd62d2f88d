# Everything runs inside .venv, which is made from pyproject.toml when needed.
# A bare machine needs Python 3.11 to 3.13, gcc and make.
#
# A stamp file for each set of dependencies makes the second call instant.

VENV   := .venv
RUN    := $(VENV)/bin/python
STAMPS := $(VENV)/stamps

# The first interpreter that starts and is of a supported version.
FIND_PYTHON = for name in $(PYTHON) python3 python3.13 python3.12 python3.11 python; do \
	  "$$name" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	    2>/dev/null && { echo "$$name"; break; }; done

# Linear algebra inside a test is small: threads would only get in the way.
QUIET_BLAS := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1
PYTEST     := $(QUIET_BLAS) $(RUN) -m pytest --numprocesses=auto --maxprocesses=4

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help test test-slow test-thorough demo lint style types contracts format \
	bench reproduce docs clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

$(RUN):
	@python=$$($(FIND_PYTHON)); \
	if [ -z "$$python" ]; then \
	  echo "Tercet needs Python 3.11, 3.12 or 3.13; say where: make PYTHON=/path/to/python3" >&2; \
	  exit 1; \
	fi; \
	"$$python" -m venv $(VENV)

# `pip install -e .[extra]`, again only after pyproject.toml has changed.
$(STAMPS)/%: pyproject.toml | $(RUN)
	$(RUN) -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@mkdir -p $(STAMPS) && touch $@

test: $(STAMPS)/test ## run the tests (slow ones left out)
	$(PYTEST)

test-slow: $(STAMPS)/test ## run the slow tests
	$(PYTEST) -m slow

test-thorough: $(STAMPS)/test ## run all tests with many more random examples
	HYPOTHESIS_PROFILE=thorough $(PYTEST) -m "slow or not slow"

demo: $(STAMPS)/demo ## learn topics from the State of the Union addresses
	@$(RUN) demo/state_of_the_union.py

lint: style types contracts ## style, types and import contracts

style: $(STAMPS)/lint
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(STAMPS)/lint $(STAMPS)/test
	$(RUN) -m mypy

contracts: $(STAMPS)/lint
	$(VENV)/bin/lint-imports

format: $(STAMPS)/lint ## format the code and mend what can be mended
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

bench: $(STAMPS)/bench $(STAMPS)/peers ## run every benchmark
	@for script in $(sort $(wildcard benchmarks/[a-z]*.py)); do \
	  echo "== $$script"; $(QUIET_BLAS) $(RUN) "$$script" || exit 1; \
	done

reproduce: $(STAMPS)/demo $(STAMPS)/plots $(STAMPS)/peers ## run every experiment
	@for script in $(sort $(wildcard experiments/*/run.py)); do \
	  echo "== $$script"; $(RUN) "$$script" || exit 1; \
	done

docs: $(STAMPS)/docs ## build the documentation site in docs/_build
	$(RUN) -m sphinx --fail-on-warning --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

clean: ## remove the environment, caches and builds
	rm -rf $(VENV) build dist docs/_build reports .mypy_cache .ruff_cache .pytest_cache \
	  .hypothesis .import_linter_cache
	find src tests demo -name __pycache__ -type d -prune -exec rm -rf {} +
