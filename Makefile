# Every target needs only make and Python 3.11 or newer. The first run makes .venv and fills it
# from locks/; later runs call pip only when a lock file, pyproject.toml or Python has changed.

PYTHON  ?= python3.13 python3.12 python3.11 python3

BIN     := .venv/bin
PIP     := $(BIN)/python -m pip --quiet --disable-pip-version-check
CODE    := src tests bench proofs docs tools
PYTEST   = $(BIN)/python -m pytest --numprocesses $(or $(WORKERS),2)

# dynalite and the JavaScript SDK, where someone has installed them (.ci/run does).
NODE    := $(wildcard $(CURDIR)/build/node/node_modules)
ifneq ($(NODE),)
export BIGTIME_NODE_MODULES ?= $(NODE)
endif

# Tests start hundreds of processes, and each would compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help serve test walks terraform check bench proofs docs screenshots service-model compat lock clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST) | expand -t 22

serve: .venv/runtime.stamp ## start the site; DATA=data/bigtime.db and PORT=8080 unless told otherwise
	@$(BIN)/bigtime serve $(if $(DATA),--store file:$(DATA)) $(if $(PORT),--port $(PORT))

# Many tests wait for a process or a clock, so there may be more workers than cores.
test: .venv/dev.stamp ## run the tests on WORKERS=3 processes; ARGS="-k name" goes to pytest
	@$(BIN)/python -m pytest --numprocesses $(or $(WORKERS),3) $(ARGS)

walks: .venv/dev.stamp ## walk through the site in Chromium, and look at it with axe
	@$(PYTEST) -m walk $(ARGS)

terraform: .venv/dev.stamp ## apply tables and the portal's infrastructure with Terraform, on an engine
	@$(PYTEST) -m terraform $(ARGS)

check: .venv/dev.stamp ## lint, formatting, types and import contracts
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy $(CODE)
	@$(BIN)/lint-imports --no-logo

bench: .venv/dev.stamp ## measure speed, size and growth beside moto and dynalite; QUICK=1 in minutes
	@$(if $(QUICK),$(BIN)/python -m pytest -m bench --capture no,$(BIN)/python -m bench) $(ARGS)

proofs: .venv/dev.stamp ## crash, tear, race and fuzz engine and site; SHORT=1 or RELEASE=1 for other lengths
	@$(if $(SHORT),$(PYTEST) -m proof,$(BIN)/python -m proofs $(if $(RELEASE),--release)) $(ARGS)
	@$(if $(SHORT),$(PYTEST) -m "hypothesis and not proof" --hypothesis-profile=laws $(ARGS))

docs: .venv/dev.stamp ## write the examples, the measured figures and the layout into the guides
	@$(BIN)/python docs/generate.py

screenshots: .venv/dev.stamp ## take the pictures of the site in docs/screenshots/ anew
	@$(BIN)/python docs/screenshots.py

compat: build/compat/stamp ## test on the lowest versions, with aioboto3 and the AWS CLI
	@build/compat/bin/python -m pytest --numprocesses $(or $(WORKERS),2) tests/engine tests/store tests/testing tests/compat $(ARGS)

service-model: .venv/dev.stamp ## take the shapes of requests from botocore anew
	@$(BIN)/python -m tools.service_model

lock: .venv/dev.stamp ## renew locks/ from pyproject.toml; UPGRADE=1 takes the newest versions
	@$(LOCK) --output-file locks/runtime.txt
	@$(LOCK) --output-file locks/dev.txt --group dev --constraints locks/runtime.txt

clean: ## remove .venv, caches and build/; the data stays
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The lock files carry hashes and no address: where packages come from is the machine's own choice.
LOCK = $(BIN)/uv pip compile pyproject.toml --extra all --group build --quiet --universal \
	--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-annotate --no-header $(if $(UPGRADE),--upgrade)

.venv/runtime.stamp: locks/runtime.txt pyproject.toml $(BIN)/python
	@echo "Installing what Bigtime runs on (once) ..."
	@$(PIP) install --require-hashes --requirement locks/runtime.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

.venv/dev.stamp: locks/dev.txt pyproject.toml $(BIN)/python
	@echo "Installing what Bigtime runs on, and its tests (once) ..."
	@$(PIP) install --require-hashes --requirement locks/dev.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch .venv/runtime.stamp $@

# The lowest versions that pyproject.toml allows, on the lowest Python.
build/compat/stamp: pyproject.toml .venv/dev.stamp
	@echo "Installing the lowest versions that Bigtime takes (once) ..."
	@$(BIN)/uv venv --quiet --clear --python 3.11 build/compat
	@$(BIN)/uv pip compile pyproject.toml --extra all --group compat --group build --quiet \
		--resolution lowest-direct --python-version 3.11 --output-file build/compat/lowest.txt
	@$(BIN)/uv pip install --quiet --python build/compat/bin/python --requirements build/compat/lowest.txt
	@$(BIN)/uv pip install --quiet --python build/compat/bin/python --no-build-isolation --no-deps --editable .
	@touch $@

# The first interpreter that runs, is new enough and can make a virtual environment: a name on
# PATH may be a shim with nothing behind it.
$(BIN)/python:
	@for python in $(PYTHON); do \
		if $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
		then exec $$python -m venv --clear .venv; fi; \
	done; \
	echo "Bigtime needs Python 3.11 or newer with venv; none of these is: $(PYTHON)." >&2; \
	echo "Install one (on Debian also python3-venv), or name it: make PYTHON=/path/to/python" >&2; \
	exit 1
