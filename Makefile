# Everything a person or CI does here starts with make. `make` alone lists the targets.

# Any Python that is there; tests/bootstrap.py finds one that fits if this one does not.
PYTHON ?= python3

.DEFAULT_GOAL := help
.PHONY: help venv

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24

venv: ## .venv with the pinned packages and collections; does nothing while they fit
	@$(PYTHON) tests/bootstrap.py
