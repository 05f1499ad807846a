# What the targets do stands in tools/targets.py; without `make`, say: python3 -m tools.start lab
PYTHON ?= python3
START = @$(PYTHON) -m tools.start

.DEFAULT_GOAL := help
.PHONY: help setup lab demo site class test test-site test-delivery test-torch bench notebooks coverage wheel sizes clean

## help: list the targets
help:
	@grep -h '^## ' $(MAKEFILE_LIST) | sed 's/^## /make /'

## lab: set up everything, and open your copies of the lessons in JupyterLab
lab:
	$(START) lab $(ARGS)

## demo: set up everything, and serve the lessons with Voilà, for a classroom
demo:
	$(START) demo $(ARGS)

## site: build the lessons as a site without a server, with Python in the page; ARGS=--serve serves it here
site:
	$(START) site $(ARGS)

## class: serve the lessons to the room, with a board for the teacher that shows what all predict
class:
	$(START) class $(ARGS)

## test: set up everything, then run all checks and tests
test:
	$(START) test $(ARGS)

## test-site: walk through all lessons, there and in JupyterLab, and test what else takes long in a browser
test-site:
	$(START) test-site $(ARGS)

## test-delivery: lead a class through a lesson, and attack it
test-delivery:
	$(START) test-delivery $(ARGS)

## test-torch: test with PyTorch itself what works on its loaders
test-torch:
	$(START) test-torch $(ARGS)

## notebooks: run the notebooks again, and write them back
notebooks:
	$(START) notebooks $(ARGS)

## bench: measure the speed, against peers
bench:
	$(START) bench $(ARGS)

## coverage: run all tests and measure which lines they reach
coverage:
	$(START) coverage $(ARGS)

## wheel: build the wheel, and try it in an empty environment
wheel:
	$(START) wheel $(ARGS)

## sizes: print how large each room is, and how long its functions are
sizes:
	@$(PYTHON) -m tools.sizes

## setup: set up everything, and run nothing
setup:
	$(START) setup

## clean: remove what was set up
clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist .coverage *.egg-info
