# `make` alone prints what there is. Every target that needs .venv sets it up first, from requirements.lock.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run site test test-thorough lint format lock clean bench peers bench-learn bench-ope bench-audit bench-large bench-hour published reproduce reproduce-quick publish docs

VENV   := .venv
STAMP  := $(VENV)/.installed
READY  := $(VENV)/.ready
PY     := $(VENV)/bin/python
OFFNAC := $(VENV)/bin/offnac
PEERS  := .cache/peers
QUIET  := --quiet --quiet --disable-pip-version-check --no-input

# Bytecode is written at first use, whatever the shell says: without it each start compiles thousands of modules anew.
export PYTHONDONTWRITEBYTECODE :=

# Test processes: one a core, at most 8. Each keeps to one thread (NPROC is what XLA's thread pool reads),
# so that they do not fight.
WORKERS    ?= logical
ONE_THREAD := NPROC=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# The first of these that is Python 3.11 or newer makes the virtual environments; PYTHON=... names another.
PYTHON ?= python3.11 python3.12 python3.13 python3

# $(call make_venv,FOLDER): shell lines that make FOLDER, unless it is there, or say plainly why not.
define make_venv
test -x $(1)/bin/python || { \
    found=; \
    for python in $(PYTHON); do \
        "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
        found=$$python; \
        "$$python" -m venv $(1) >/dev/null 2>&1 && exit 0; \
        rm -rf $(1); \
    done; \
    if test -n "$$found"; then \
        echo "$$found could not make a virtual environment (on Debian and Ubuntu: install python3-venv)." >&2; \
    else \
        echo "offnac needs Python 3.11 or newer; none found as: $(PYTHON). Name one: make PYTHON=/path/to/python" >&2; \
    fi; \
    exit 1; \
}
endef

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(READY)  ## the whole story in about a minute: a log, a policy learned from it, its worth, a film (out/run)
	@rm -rf out/run
	@mkdir -p out/run
	$(OFFNAC) collect CartPole-v1 --steps 22000 --out out/run/cartpole.parquet
	$(OFFNAC) learn out/run/cartpole.parquet --out out/run/learned
	$(OFFNAC) evaluate out/run/learned CartPole-v1 --episodes 1000
	$(OFFNAC) audit out/run/cartpole.parquet out/run/learned --html out/run/audit.html --quiet > /dev/null
	$(OFFNAC) watch out/run/learned CartPole-v1 --out out/run/policy.gif
	@echo "The policy at work: out/run/policy.gif. What the log can tell of it: out/run/audit.html."

PYTEST := $(ONE_THREAD) $(PY) -m pytest -n $(WORKERS) --maxprocesses 8 --dist worksteal

test: lint  ## lint, then run the tests (ARGS="-k name" passes arguments on to pytest)
	@$(PYTEST) -m "not thorough" $(ARGS)

test-thorough: lint  ## the same with every variant of every test (a minute longer)
	@$(PYTEST) $(ARGS)

lint: $(STAMP)  ## ruff's rules, ruff's formatting, mypy
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m mypy

format: $(STAMP)  ## put the code into ruff's format, with the fixes that are safe
	@$(PY) -m ruff check --fix --exit-zero --quiet
	@$(PY) -m ruff format

# $(call compile,WHAT,OPTIONS,FILE): the packages of WHAT with their hashes, into FILE; with hatchling and editables, which
# an editable install without a build environment of its own needs.
define compile
	@printf 'hatchling\neditables\n' | .cache/lock/bin/uv --quiet --no-config pip compile pyproject.toml - $(2) \
	    --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	    --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file .cache/lock/lock
	@{ \
	    echo "# Every package that $(1), at one exact version each."; \
	    echo "# Written by 'make lock' from pyproject.toml; not to be edited by hand."; \
	    cat .cache/lock/lock; \
	} > $(3)
	@rm .cache/lock/lock
	@echo "$(3): $$(grep -c '==' $(3)) packages"
endef

lock:  ## look up the newest versions that pyproject.toml admits and write requirements.lock and requirements-run.lock
	@$(call make_venv,.cache/lock)
	@.cache/lock/bin/python -m pip $(QUIET) install --upgrade uv
	$(call compile,offnac and its development tools need,--extra dev --extra docs --upgrade,requirements.lock)
	$(call compile,offnac needs to run,--constraint requirements.lock,requirements-run.lock)

# Stopped or killed, the same command goes on. ARGS="online --only CartPole" is one part, some of its rows.
bench: $(STAMP) peers  ## speed side by side with other libraries, in tables and into results/bench (an hour)
	@$(PY) benchmarks/bench.py $(ARGS)

# torch first, and exactly this one: another would bring CUDA along. Not fatal: a missing peer is said to be missing.
peers:  ## the libraries that the benchmark compares with, in .cache/peers
	@test -e $(PEERS)/.installed || { \
	    echo "Setting up $(PEERS) with torch, stable-baselines3 and d3rlpy (some minutes the first time) ..."; \
	    ( $(call make_venv,$(PEERS)) ) && \
	    $(PEERS)/bin/python -m pip $(QUIET) install torch==2.13.0 && \
	    $(PEERS)/bin/python -m pip $(QUIET) install stable-baselines3 d3rlpy box2d pygame pyarrow && \
	    touch $(PEERS)/.installed; \
	} || echo "The peers could not be installed; the benchmark goes on without them." >&2

# Stopped or killed, the same command goes on. ARGS="cartpole --seeds 4" passes arguments on.
bench-learn: $(STAMP)  ## what learn makes of 16 fresh logs of each task, into results/learn (hours)
	@$(PY) benchmarks/learn.py $(ARGS)

bench-ope: $(STAMP)  ## off-policy evaluation against the truth, into results/ope (a quarter of an hour)
	@$(PY) benchmarks/ope.py

bench-audit: $(STAMP)  ## what the audit sees against what a policy does, into results/ope (minutes)
	@$(PY) benchmarks/audit.py

bench-large: $(STAMP)  ## ten million rows read and learned from: time and memory, into results
	@$(PY) benchmarks/large_log.py

bench-hour: $(STAMP)  ## how long robust takes on the JAX-native tasks with 16 seeds, from two of them, into results (ARGS=--whole: all)
	@$(PY) benchmarks/hour.py $(ARGS)

published: $(STAMP)  ## preset published against the reference distributions, into results/published
	@$(PY) benchmarks/published.py

# Stopped or killed, the same command goes on. ARGS="--cells cartpole,acrobot" passes arguments on.
reproduce: $(STAMP)  ## every cell of the paper's tables, seeds 1000 to 1015, into out/reproduce (many hours)
	$(OFFNAC) reproduce --seeds 16 --first-seed 1000 --out out/reproduce --resume $(ARGS)

reproduce-quick: $(STAMP)  ## the same in small, a few minutes: 2 seeds, few episodes, into out/reproduce-quick
	@rm -rf out/reproduce-quick
	$(OFFNAC) reproduce --cells cartpole,acrobot --seeds 2 --episodes 50 --test-episodes 100 \
	    --out out/reproduce-quick $(ARGS)

publish: $(STAMP)  ## what out/reproduce found, made small, into results/paper
	@$(PY) -m offnac.experiments.publish out/reproduce results/paper

site: $(STAMP)  ## the documentation as a web site that opens from disk, into out/site
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs --quiet build --clean
	@echo "out/site/index.html"

docs: $(STAMP)  ## write the pages of docs/ that show results
	@$(PY) docs/generate.py

clean:  ## remove caches, builds and out/run (.venv stays: rm -rf .venv removes it)
	@rm -rf .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist out/run
	@find benchmarks docs src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# What offnac needs to run; its tools come on top where a target needs them. The locks
# name every package, so nothing is left to resolve: a release newer than a lock can change nothing.
$(READY): pyproject.toml requirements-run.lock
	@echo "Setting up $(VENV) from requirements-run.lock (a minute or two the first time) ..."
	@$(call make_venv,$(VENV))
	@$(PY) -m pip $(QUIET) install --no-compile --no-deps --require-hashes --requirement requirements-run.lock
	@$(PY) -m pip $(QUIET) install --no-deps --no-build-isolation --editable .
	@touch $@

$(STAMP): $(READY) requirements.lock
	@echo "Adding the tools of requirements.lock ..."
	@$(PY) -m pip $(QUIET) install --no-compile --no-deps --require-hashes --requirement requirements.lock
	@touch $@
