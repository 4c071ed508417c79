# Everything a person or CI does here starts with make. `make` alone lists the targets.

# Any Python that is there; tests/bootstrap.py finds one that fits if this one does not.
PYTHON ?= python3
# For test-core: the ansible-core to run the default scenario on.
CORE ?= 2.16
# Name of the cluster that demo, cluster-up and cluster-down work on.
CLUSTER ?= demo

# Images of containers often set it, and each of thousands of programs here would compile all that it imports.
export PYTHONDONTWRITEBYTECODE :=

VENV_PYTHON := .venv/bin/python
GATES := $(VENV_PYTHON) -m tests.gates
LINT_STEPS := mypy ruff complexity layers yamllint changelog
TEST_STEPS := units bed-units ansible-units sanity-shipped sanity-others antsibull-nox docs-lint ansible-lint galaxy-importer execution-environment docs-site integration molecule

.DEFAULT_GOAL := help
.PHONY: help venv venv-upgrade api-types operator-fields demo lint test ci cluster-up cluster-down test-core molecule-kind e2e-faults e2e-recipes e2e-numa e2e-kubelet e2e-kernel e2e-builds e2e-rmd e2e-bed test-scale bench mutations coverage reference build release release-assets clean \
	$(LINT_STEPS) $(TEST_STEPS)

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo
	@echo "  One gate at a time, with all its output: make NAME, where NAME is one of"
	@echo "  $(LINT_STEPS) $(TEST_STEPS)"

demo: venv ## a local control plane with simulated GPU nodes, enabled end to end
	@CLUSTER=$(CLUSTER) tests/demo.sh

test: venv ## all tests but the slow levels below (e2e-*); ends with a line "N passed, N failed"
	@$(GATES) test

ci: venv ## lint, test and of all levels e2e-* what has changed since it passed (CI_ALL=1: all); what .ci/run does
	@$(GATES) ci

lint: venv ## style, types, layers; quick
	@$(GATES) lint

$(LINT_STEPS) $(TEST_STEPS): venv
	@$(GATES) $@

cluster-up: venv ## the local cluster alone, without nodes (CLUSTER=name)
	@$(VENV_PYTHON) -m tests.cluster up --name $(CLUSTER)

cluster-down: venv ## stop it and remove its folder (CLUSTER=name)
	@$(VENV_PYTHON) -m tests.cluster down --name $(CLUSTER)

build: venv ## pack the collection and install it into .build/installed
	@$(GATES) build

release: venv ## all that is handed out, in .build/release; a commit and a tag
	@$(GATES) release

release-assets: venv ## all that is handed out of the tag that is checked out, in .build/release
	@$(GATES) release-assets

test-core: ## the default scenario on an older ansible-core, in its own venv (CORE=2.16)
	@$(PYTHON) tests/bootstrap.py core-$(CORE)
	@.venv-core-$(CORE)/bin/python -m tests.gates molecule

molecule-kind: venv ## scenario kind, from the tarball (needs a container engine, or root)
	@$(GATES) molecule-kind

e2e-faults: venv ## what goes wrong on the way: crashes, lies, silence, killed runs, two runs at once
	@$(GATES) e2e-faults

e2e-numa: venv ## pods placed by NUMA node: exporters, the real scheduler, what is wrong with either
	@$(GATES) e2e-numa

e2e-recipes: venv ## recipes of other shapes: graphs without DaemonSets, groups of nodes, pools, other vendors, OpenShift, many clusters
	@$(GATES) e2e-recipes

e2e-kubelet: venv ## real nodes: kubelet, containerd, pods from images made here (needs root)
	@$(GATES) e2e-kubelet

e2e-kernel: venv ## real kernels in virtual machines: modules built, loaded, exchanged, refused (needs root)
	@$(GATES) e2e-kernel

e2e-builds: venv ## driver images: registries, builds by Jobs and BuildConfigs
	@$(GATES) e2e-builds

e2e-bed: venv ## what tests stand on: the simulation, the local cluster's commands, plays that are forked
	@$(GATES) e2e-bed

e2e-rmd: venv ## cache allocation: RMD deployed, its workloads, objects and pods
	@$(GATES) e2e-rmd

test-scale: venv ## 1000 simulated nodes
	@$(GATES) scale

mutations: venv ## what is promised, broken on purpose rule by rule: a unit test has to notice
	@$(GATES) mutations

coverage: venv ## what unit tests run of the code, and what all levels do that ran with HE_COVERAGE=1
	@$(GATES) coverage

bench: venv ## how fast, against kubernetes.core and kubectl
	@$(VENV_PYTHON) -m tests.benchmarks

venv: ## .venv with the pinned packages and collections; does nothing while they fit
	@$(PYTHON) tests/bootstrap.py

venv-upgrade: ## newest versions of what the pinned packages pull in, written to requirements/constraints.txt
	@$(PYTHON) tests/bootstrap.py --renew-constraints
	@$(PYTHON) tests/bootstrap.py publish --renew-constraints
	@$(PYTHON) tests/bootstrap.py rulebook --renew-constraints

reference: venv ## tables and the JSON Schema in docs, made from the code
	@PYTHONPATH=.venv/collections $(VENV_PYTHON) -m docs.reference

api-types: venv ## what recipe_check knows of the Kubernetes API, asked anew of the pinned version
	@PYTHONPATH=.venv/collections $(VENV_PYTHON) -m tests.openapi

operator-fields: venv ## which fields the custom resources of other operators have, read anew from their repositories
	@$(VENV_PYTHON) -m tests.operator_fields

clean: ## remove what was built here (caches in the home folder stay)
	rm -rf .build .venv .venv-* .ansible
