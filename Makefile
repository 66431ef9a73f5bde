# Two commands on a fresh machine: `make demo` and `make test`. Only Python 3.11+, pip and make are needed.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: demo test check bench clean

demo: $(VENV)/.demo
	@$(BIN)/disassociate demo --output demo-output

test: $(VENV)/.test check
	@echo "== tests"
	@$(BIN)/python -m pytest -q -n auto

check: $(VENV)/.test
	@echo "== style";  $(BIN)/ruff check . && $(BIN)/ruff format --check .
	@echo "== types";  $(BIN)/mypy

bench: $(VENV)/.bench
	@$(BIN)/python -m benchmarks

$(VENV)/.python:
	@echo "== creating a virtual environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.python pyproject.toml
	@echo "== installing disassociation into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.python pyproject.toml
	@echo "== installing disassociation with its test tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@ $(VENV)/.demo

$(VENV)/.bench: $(VENV)/.test
	@echo "== installing what is measured beside it into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	@touch $@

clean:
	rm -rf $(VENV) build dist demo-output .mypy_cache .ruff_cache .pytest_cache .hypothesis
