# The commands of this project. `make lab` and `make test` need only python3 (3.11 or later), make and
# a package registry: each of them makes the environment first.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
VALIDATORS := build/validators-env

# Whoever switched compiled files off pays for it in each of the hundred processes that tests start.
unexport PYTHONDONTWRITEBYTECODE

# Notebooks are compared output by output: nothing in them may depend on where and when they run.
tests nbval notebooks: export TZ := UTC
tests nbval notebooks: export PYTHONHASHSEED := 0

.PHONY: env lab test checks lint types imports tests nbval browser durability marks client-tests node-clients opens coverage oldest cluster-tests hub-env hub-tests scale s3-env peers bench docs docs-tests lite lite-tests lite-lock notebooks lock \
	wheel clean check-wheel check-binder badge

# Both halves of the environment: the one that JupyterLab and the notebooks need, and the rest that tests need.
env: $(BIN)/.all

MADE_FROM = pyproject.toml tools/environment.py tools/quiet_lab.py requirements/uv.txt binder/requirements.txt
ENVIRONMENT = @test -n "$(PYTHON)" || { echo "make env: no python3 of version 3.11 or later on the PATH; \
install one, or name it: make env PYTHON=/path/to/python3.12" >&2; exit 1; }; \
	$(PYTHON) tools/environment.py binder/requirements.txt

$(BIN)/.lab: $(MADE_FROM)
	$(ENVIRONMENT)
	@touch $@

$(BIN)/.all: $(MADE_FROM) requirements/dev.txt
	$(ENVIRONMENT) requirements/dev.txt
	@touch $(BIN)/.lab $@

# Copies of the notebooks without outputs. ARGS go to JupyterLab: make lab ARGS="--no-browser --port 8890"
lab: $(BIN)/.lab
	@$(BIN)/svc-notebooks lab svc-notebooks $(ARGS)

# The checks run beside the tests, which leave a part of each core idle. What they print is shown at the end.
test: lint
	@mkdir -p build; \
	$(MAKE) --no-print-directory checks >build/checks.log 2>&1 & checks=$$!; trap 'kill $$checks' INT TERM; \
	$(MAKE) --no-print-directory tests; tests=$$?; \
	wait $$checks; checks=$$?; cat build/checks.log; exit $$((tests | checks))

# .ci/run leaves nbval to `make check-wheel`, which compares the notebooks in the environment of the wheel.
CHECKS = types imports nbval
checks: $(CHECKS)

lint: env
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: env
	$(BIN)/mypy

imports: env
	$(BIN)/lint-imports

# One worker more than cores, because tests also wait. Each worker collects all tests, so there are at most four.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(4, (os.cpu_count() or 1) + 1))')

# In a new checkout pytest rewrites the assertions of all files and Python compiles the packages. Two processes do a half
# of it each; otherwise every worker would do all of it.
$(BIN)/.collected: | env
	@for half in "tests/contract tests/interop tests/project tests/properties tests/unit" \
		"tests/convert tests/course tests/fuzz tests/notebook"; do \
		$(BIN)/python -m pytest -p no:nbval -p no:cacheprovider --collect-only -qq $$half >/dev/null 2>&1 & \
	done; wait
	@touch $@

# ARGS go to pytest: make tests ARGS="-k resumable"; with ARGS="-n 0" in one process, for a debugger.
tests: env $(BIN)/.collected
	$(BIN)/python -m pytest -p no:nbval --numprocesses $(WORKERS) --dist worksteal $(ARGS)

nbval: env
	$(BIN)/python -m pytest -p tests.forked_kernels --nbval --nbval-current-env --nbval-cell-timeout=30 notebooks

# Two workers, each with a JupyterLab and a chromium of its own. A chromium that does not answer costs five minutes, so the
# run ends at the fifth failure.
browser: env
	$(BIN)/python -m pytest -m browser tests/browser --numprocesses 2 --dist loadfile --maxfail 5 -o faulthandler_timeout=300 $(ARGS)

opens: env $(VALIDATORS)/.installed
	$(VALIDATORS)/bin/python -m pytest -m opens -p no:nbval $(ARGS)

durability: env
	$(BIN)/python -m pytest -m durability $(ARGS)

# A class of 60 with hostile notebooks. It needs bubblewrap (apt install bubblewrap). ARGS="--students 300": a larger class.
marks: env
	$(BIN)/python -m pytest -m marks -p no:nbval -o faulthandler_timeout=3600 tests/course $(ARGS)

# Stock clients in Go, Java and Ruby, where the packages of requirements/debian.txt are installed.
# Stock clients from npm. Without npm or a registry, their tests are skipped.
NODE_CLIENTS := build/node-clients
$(NODE_CLIENTS)/.installed: requirements/node-clients/package-lock.json
	@mkdir -p $(NODE_CLIENTS)
	cp requirements/node-clients/*.json $(NODE_CLIENTS)
	npm ci --silent --no-audit --no-fund --prefix $(NODE_CLIENTS)
	@touch $@

node-clients: $(NODE_CLIENTS)/.installed

client-tests: env
	-@$(MAKE) --no-print-directory node-clients
	@rm -rf build/clients-seen
	$(BIN)/python -m pytest -m $(if $(WRITE_CLIENTS),interop,languages) -p no:nbval tests/interop tests/notebook/files/test_file_system.py $(ARGS)

coverage: env
	$(BIN)/coverage run -m pytest $(ARGS)
	$(BIN)/coverage report --skip-covered --show-missing

# An environment that adds the packages of a lock to those of the checkout; with --alone it has only those of the lock.
define ADDED_ENVIRONMENT
$(BIN)/python -m tools.added_environment $(1) $<
@touch $@
endef

# Tests with the oldest version of each dependency that pyproject.toml allows, in front of the packages of the checkout.
OLDEST := build/oldest-env
$(OLDEST)/.installed: requirements/oldest.txt | env
	$(call ADDED_ENVIRONMENT,$(OLDEST) --alone)

TESTS := tests/notebook
oldest: $(OLDEST)/.installed
	PYTHONPATH=$$(echo $(OLDEST)/lib/python*/site-packages) $(BIN)/python -m pytest -p no:nbval --quiet \
		--ignore tests/notebook/files/test_file_system.py $(TESTS) $(ARGS) # the suite of the oldest fsspec is for pytest 8

# The validators of `make opens` in an environment that adds to that of the checkout.
$(VALIDATORS)/.installed: requirements/validators.txt | env
	$(call ADDED_ENVIRONMENT,$(VALIDATORS))

# The executors of docs/bulk.md in two processes each. Their environment adds to that of the checkout.
CLUSTER := build/cluster-env
$(CLUSTER)/.installed: requirements/cluster.txt | env
	$(call ADDED_ENVIRONMENT,$(CLUSTER))

cluster-tests: env $(CLUSTER)/.installed
	$(CLUSTER)/bin/python -m pytest -m cluster -p no:nbval $(ARGS) tests/cluster

# The configuration of docs/hub.md with JupyterHub in an environment that adds to that of the checkout, and with its proxy
# from npm. ARGS go to pytest.
HUB := build/hub-env
HUB_PROXY := build/hub-proxy
$(HUB)/.installed: requirements/hub.txt | env
	$(call ADDED_ENVIRONMENT,$(HUB))

$(HUB_PROXY)/.installed: requirements/hub-proxy/package-lock.json
	@mkdir -p $(HUB_PROXY)
	cp requirements/hub-proxy/*.json $(HUB_PROXY)
	npm ci --silent --no-audit --no-fund --prefix $(HUB_PROXY)
	@touch $@

hub-env: env $(HUB)/.installed $(HUB_PROXY)/.installed

hub-tests: hub-env
	$(HUB)/bin/python -m pytest -m hub -p no:nbval $(ARGS) tests/hub

# A service on PostgreSQL, which is started from the system in a temporary folder, and on an S3 server in an environment of
# its own. ARGS=--sample: one test of each kind, in about a minute.
S3_SERVER := build/s3-env
$(S3_SERVER)/.installed: requirements/s3-server.txt | env
	$(call ADDED_ENVIRONMENT,$(S3_SERVER) --alone)

s3-env: $(S3_SERVER)/.installed

# The WSGI servers have an environment that adds to that of the checkout.
WSGI := build/wsgi-env
$(WSGI)/.installed: requirements/wsgi.txt | env
	$(call ADDED_ENVIRONMENT,$(WSGI))

scale: env s3-env $(WSGI)/.installed
	$(BIN)/python -m tests.scale $(ARGS)

# The programs that read calendars beside ours: Python packages in an environment of their own, and ical.js from npm.
PEERS := build/peers-env
ICAL_JS := build/ical.js
$(PEERS)/.installed: requirements/peers.txt | env
	$(call ADDED_ENVIRONMENT,$(PEERS) --alone)

$(ICAL_JS)/.installed: requirements/ical.js/package-lock.json
	@mkdir -p $(ICAL_JS)
	cp requirements/ical.js/*.json $(ICAL_JS)
	npm ci --silent --no-audit --no-fund --prefix $(ICAL_JS)
	@touch $@

peers: $(PEERS)/.installed $(ICAL_JS)/.installed

bench: env $(PEERS)/.installed
	$(BIN)/python -m bench $(ARGS)

# Writes the tables of docs, and builds the site in build/docs; a broken link fails. ARGS go to Sphinx.
DOCS := build/docs-env
$(DOCS)/.installed: requirements/docs.txt | env
	$(call ADDED_ENVIRONMENT,$(DOCS))

docs: env $(DOCS)/.installed
	$(BIN)/python -m tools.docs
	$(BIN)/python -m tools.mermaid build/docs-static
	@rm -rf build/docs
	$(DOCS)/bin/python -m sphinx --quiet --fresh-env --fail-on-warning -c docs -d build/docs-cache $(ARGS) . build/docs
	$(DOCS)/bin/python -m pagefind --silent --site build/docs --root-selector article.bd-article \
		--glob "{CHANGELOG,CONTRIBUTING,docs/**/*,notebooks/**/*}.html" --exclude-selectors .headerlink --keep-index-url
	@echo "docs: build/docs/index.html. The search needs a server: python3 -m http.server --directory build/docs"

# The site in a real chromium, without a network.
docs-tests: docs
	$(BIN)/python -m pytest -m docs tests/browser/test_docs_site.py

# The site in build/lite; what builds it has an environment of its own, and needs npm. ARGS=--bundle: with the compiled
# packages of Pyodide, which pages load from Pyodide's distribution otherwise.
LITE := build/lite-env
$(LITE)/.installed: requirements/lite.txt | env
	$(call ADDED_ENVIRONMENT,$(LITE) --alone)

lite: env $(LITE)/.installed
	$(BIN)/python -m tools.lite.build $(ARGS)

# The site in a real chromium, without a network.
lite-tests: env $(LITE)/.installed
	$(BIN)/python -m pytest -m lite $(ARGS)

# Renews what the site is made of; needs npm.
lite-lock: env
	$(BIN)/python -m tools.lite.lock

# Executes every notebook and saves it with its outputs; a second run leaves no diff.
notebooks: env
	$(BIN)/python -m tools.save_notebooks $(ARGS)

# Pins stay where they are unless asked: make lock ARGS="--upgrade" or ARGS="--upgrade-package pandas"
LOCK = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate
lock: env
	$(LOCK) pyproject.toml --extra lab --extra postgres --extra s3 --extra metrics --group dev $(ARGS) \
		--output-file requirements/dev.txt
	$(LOCK) pyproject.toml --extra lab --group build \
		--constraint requirements/dev.txt --output-file binder/requirements.txt
	$(LOCK) pyproject.toml --extra postgres --extra s3 --extra metrics --group wsgi \
		--constraint requirements/dev.txt --output-file requirements/deploy.txt
	$(LOCK) --group build --constraint requirements/dev.txt --output-file requirements/build.txt
	$(LOCK) --group audit --output-file requirements/audit.txt
	$(LOCK) --group install --constraint requirements/dev.txt --output-file requirements/uv.txt
	$(LOCK) --group docs --constraint requirements/dev.txt --output-file requirements/docs.txt
	$(LOCK) --group cluster --constraint requirements/dev.txt --output-file requirements/cluster.txt
	$(LOCK) --group hub --constraint requirements/dev.txt --output-file requirements/hub.txt
	$(LOCK) --group wsgi --constraint requirements/dev.txt --output-file requirements/wsgi.txt
	$(LOCK) --group peers --output-file requirements/peers.txt
	$(LOCK) --group validators --constraint requirements/dev.txt --output-file requirements/validators.txt
	$(LOCK) --group s3-server --output-file requirements/s3-server.txt
	$(LOCK) --resolution lowest-direct pyproject.toml --extra lab --extra postgres --extra s3 --extra metrics \
		--output-file requirements/oldest.txt

wheel: env
	$(BIN)/python -m hatchling build

# The wheel and the sdist, and what Binder would build, each in an empty environment outside of this checkout.
check-wheel: env
	$(BIN)/python -m tools.check_wheel

check-binder: env
	$(BIN)/python -m tools.check_binder

# The badge in README.md, for the repository in [project.urls] of pyproject.toml. ARGS: a tag
badge: env
	$(BIN)/python -m tools.binder_badge $(ARGS)

clean:
	rm -rf $(VENV) dist build docs/api .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
