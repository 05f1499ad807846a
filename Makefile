PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help test notebooks bench clean

## help: list the targets
help:
	@grep -h '^## ' $(MAKEFILE_LIST) | sed 's/^## /make /'

# Made anew when the requirements change; a venv that was only half made has no stamp.
.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "lessonkit needs Python 3.11 or newer: say make PYTHON=python3.12, for instance"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

## test: set up everything, then run all checks and tests
test: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

## notebooks: run the notebooks again, and write them back
notebooks: .venv/ready
	$(BIN)/python -m tools.notebooks

## bench: measure the speed, against peers
bench: .venv/ready
	$(BIN)/python -m benchmarks

## clean: remove what was set up
clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist *.egg-info
