# Two commands: `make smoke` runs the whole pipeline on the embedded collection, `make test` runs lint and tests.
# Both set up .venv first, once: it follows pyproject.toml and the lock in requirements/. TORCH=cpu or TORCH=cuda chooses the build.

ifndef PYTHON
PYTHON := $(shell command -v python3.11 || command -v python3.12 || command -v python3)
endif
VENV := .venv
READY := $(VENV)/.ready
LOCK := $(addprefix requirements/,common.txt cpu.txt cuda.txt)
CORES ?= all
BENCH ?= full
FUZZ ?= 5000
# Not the scripts of .venv/bin: they name the folder they were installed in, and this one may have been moved or copied.
HERE := PYTHONPATH=. python -P -m
PYTEST := python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export LC_ALL := C.UTF-8
export VERBOSE  # 1 shows Snakemake's own lines

.PHONY: help setup smoke mini mini-seeds quick test test-paper lint unit paper paper-plan paper-check plan bench fuzz faults test-slurm rulegraph lock another-build clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z.-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' Makefile

setup: $(READY)  ## make .venv with the pinned packages

$(READY): pyproject.toml $(LOCK)
	@requirements/install.sh "$(PYTHON)" $(VENV) $(TORCH)
ifneq ($(TORCH),)
ifneq ($(TORCH),$(shell cat $(READY) 2>/dev/null))
$(READY): another-build
endif
endif

smoke: $(READY)  ## run the whole pipeline on the embedded collection (minutes, offline, no GPU)
mini: $(READY)  ## a real experiment on a CPU: BoolQ, six models (2.2 hours on 2 cores, by plan)
smoke mini:
	@workflow/run.sh $@ --cores $(CORES)
	@echo; $(HERE) epic show results/$@

SEEDS := results/mini/evaluate/epic-bm25-full/test.tsv $(foreach seed,43 44,results/mini-seeds/evaluate/seed-$(seed)-full/test.tsv)
mini-seeds: $(READY)  ## mini's model with two more seeds: how much is chance (unpruned rows only)
	@workflow/run.sh $(SEEDS) results/mini-seeds/significance/test.json --cores $(CORES)
	@echo; $(HERE) epic spread $(SEEDS)

# Both first stages where docTTTTTquery's predictions are there, else BM25 alone; QUICK=quick fetches them, 7.9 GB.
QUICK ?= $(shell test -e "$${EPIC_DOWNLOADS:-downloads}/predicted_queries_topk_sampling.zip" && echo quick || echo quick-bm25)
quick: $(READY)  ## a first answer on MS MARCO: the authors' weights and one model, dev-small and TREC DL (a GPU, the network and tens of GB)
	@workflow/run.sh results/$(QUICK)/report.html results/$(QUICK)/table.md --cores $(CORES) --resources gpu=1
	@echo; $(HERE) epic show results/$(QUICK)

paper: $(READY)  ## reproduce the paper (a GPU, the network and hundreds of GB)
	@workflow/run.sh --cores $(CORES) --resources gpu=1
	@echo; $(HERE) epic show results/$@

paper-plan: TARGET = all
paper-plan: plan  ## what the paper's run would take, and what this machine lacks (runs nothing; CARD=A100: on that card)

plan: $(READY)  ## the same for any file: make plan TARGET=results/smoke/table.md
	@EPIC_PLAN=1 $(if $(CARD),EPIC_CARD="$(CARD)") $(HERE) snakemake $(or $(TARGET),all) --cores $(CORES) --resources gpu=1 --nolock --quiet progress rules host reason

paper-check: $(READY)  ## minutes on a card: device tests, its vectors beside the CPU's, its rates, and the plan with them
	@$(HERE) epic check-card --look
	python -m pytest -q tests/device tests/unit/vectors/test_encode.py
	@$(HERE) epic check-card
	@$(MAKE) --no-print-directory paper-plan

lint: $(READY)  ## ruff, snakefmt, snakemake's own linter and hadolint
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint
	hadolint Dockerfile

test: lint  ## lint and all tests, but for test-paper
	$(PYTEST) -m "not paper"

test-paper: $(READY)  ## the paper's whole experiment on tiny files of the published formats
	python -m pytest -m paper

unit: $(READY)  ## the fast tests only
	$(PYTEST) tests/unit tests/docs tests/parity

bench: $(READY)  ## our way against the authors', measured (BENCH=small: 5 minutes; full by default)
	@python -m tests.bench $(BENCH)

fuzz: $(READY)  ## mutated inputs of every format that is read, 5,000 of each, and what became of them (FUZZ=500: fewer)
	@python -m tests.fuzz --count $(FUZZ)

faults: $(READY)  ## kills, full disks, power cuts, damaged files, hostile archives, odd places: 20 minutes on 2 cores (root for all of it)
	@python -m tests.faults $(FAULTS)

test-slurm: $(READY)  ## the smoke run on a Slurm cluster of two nodes on this machine (root; LOCAL=results/smoke saves a local run)
	@python -m tests.slurm $(if $(LOCAL),--local "$(LOCAL)")

rulegraph: $(READY)  ## draw the rule graph of the README (needs graphviz)
	snakemake smoke --rulegraph --cores 1 2>/dev/null | dot -Tsvg -o workflow/report/rulegraph.svg

lock:  ## resolve pyproject.toml anew into requirements/ and environment.yml (needs uv; LOCKING=--upgrade for newer versions)
	"$(PYTHON)" requirements/lock.py lock $(LOCKING)

environment.yml: $(LOCK)  ## the locked versions for conda
	"$(PYTHON)" requirements/lock.py conda

clean:  ## remove all results and Snakemake's records (keeps .venv)
	@PYTHONPATH=. "$(PYTHON)" -m epic.core.run_lock check results
	rm -rf .snakemake
	find results -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
