# Everything a developer or a newcomer runs. Needs Python >= 3.11 and make, nothing else:
#   make demo       record, verify, score and query the tasks
#   make test       format, lint, types, import contracts, tests
#   make test-slow  the long suites
#   make tasks      validate every task by running it
#   make bench      measurements against peers
#   make gallery    draw every scene into docs/gallery
#   make samples    record the sample episodes in episodes/samples anew
#   make proofs     ask of every changed scene whether it can be used

# The first interpreter that is new enough; override with `make PYTHON=/path/to/python3.12 ...`.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if $$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)

VENV := .venv
BIN := $(VENV)/bin
IW := $(BIN)/iwreplay
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
DEMO_STORE ?= demo-store
# one task of each family
DEMO_TASKS ?= G05 P04 A04 D03 V06 F03
JOBS ?= 2

.PHONY: help demo test test-slow tasks lint bench docs gallery samples proofs lock clean
.DEFAULT_GOAL := help

help:
	@sed -n "s/^#   make/make/p" Makefile

# Every command is shown before its answer.
demo: $(VENV)/.run
	@rm -rf $(DEMO_STORE)
	$(IW) tasks list
	$(IW) run $(DEMO_TASKS) --assistant oracle --human literal --jobs $(JOBS) --store $(DEMO_STORE)
	$(IW) run $(DEMO_TASKS) --assistant silent --human literal --jobs $(JOBS) --store $(DEMO_STORE)
	$(IW) replay --jobs $(JOBS) --store $(DEMO_STORE)
	$(IW) score --store $(DEMO_STORE)
	$(IW) query --named pass --store $(DEMO_STORE)
	$(IW) report --out $(DEMO_STORE)/report --resamples 1000 --store $(DEMO_STORE)
	$(IW) frames G05-oracle --every 8 --store $(DEMO_STORE)
	@echo "Twelve episodes are in $(DEMO_STORE), a report in $(DEMO_STORE)/report/report.html; frames of one, as PNG files, in"
	@echo "$(DEMO_STORE)/episodes/G05-oracle-literal-s0/frames. Look at it with: $(IW) show G05-oracle --store $(DEMO_STORE)"

test: $(VENV)/.dev lint
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not slow"

test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m slow

tasks: $(VENV)/.run
	$(IW) tasks check --jobs $(JOBS)

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python -m mypy
	$(BIN)/lint-imports

# PEER_PYTHON: Python of an environment of its own with inspect-ai, for the comparison with it.
PEER_PYTHON ?=
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks.log_bench
	$(BIN)/python -m benchmarks.rescore_bench $(if $(PEER_PYTHON),--peer-python $(PEER_PYTHON))
	$(BIN)/python -m benchmarks.reexec_bench
	$(BIN)/python -m benchmarks.render_bench
	$(BIN)/python -m benchmarks.frames_bench
	$(BIN)/python -m benchmarks.record_bench

# Writes docs/benchmark.md, docs/cli.md, docs/catalogue.md and docs/events.md anew; tests hold them equal to the code.
docs: $(VENV)/.dev
	$(BIN)/python docs/write.py

# Draws docs/gallery.md and its contact sheets anew: every scene, a few minutes.
gallery: $(VENV)/.dev
	$(IW) scene render --gallery docs/gallery

# Records episodes/samples anew, after a change of behaviour or looks that is meant.
samples: $(VENV)/.dev
	$(BIN)/python -m tests.tasks.make_samples

# Writes taskpacks/usable.toml: the scenes that can be used, so that loading them need not ask. A minute or two.
proofs: $(VENV)/.dev
	$(BIN)/python -m tests.scene.make_proofs

# The locks carry hashes and no address. Needs uv.
# moto, which the tests use, takes no python-dateutil 3 yet
lock:
	printf 'setuptools>=77\npython-dateutil<3\n' | uv pip compile pyproject.toml - --extra record --extra report --universal --python-version 3.11 \
		--generate-hashes --no-header --no-annotate -q -o requirements.lock
	printf 'setuptools>=77\n' | uv pip compile pyproject.toml - --extra record --extra report --extra video --extra dev -c requirements.lock \
		--universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q -o requirements-dev.lock

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with venv is needed: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# Run-time environment. The project is installed in place, without asking any index for anything.
$(VENV)/.run: $(VENV)/.made requirements.lock pyproject.toml
	@echo "Installing what iwreplay needs into $(VENV) (once) ..."
	@$(PIP) install --require-hashes --only-binary :all: -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.lock
	@echo "Installing the test tools into $(VENV) (once) ..."
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@touch $@

clean:
	rm -rf $(VENV) $(DEMO_STORE) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
