# Every target does its own set-up and says what it does. `make help` lists them.
# PYTHON and JAVA can be given: make setup PYTHON=/path/to/python3.11 JAVA=/path/to/java

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
PYTHON ?= $(shell deploy/find-python)
JAVA ?= $(or $(FAIRLEAD_JAVA),$(if $(JAVA_HOME),$(JAVA_HOME)/bin/java,java))
export FAIRLEAD_JAVA := $(JAVA)
# Tests start hundreds of processes: each would compile anew what it imports.
unexport PYTHONDONTWRITEBYTECODE
IMAGE ?= fairlead:$(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' fairlead/__init__.py)
PYTEST_ARGS ?=
# Three on two cores: tests with a broker wait half of their time, and a fourth makes all of them late.
AT_ONCE := -n 3 --dist loadgroup --no-loadscope-reorder
DEMO_ARGS ?=
BENCH_ARGS ?=
EXPLORE_ARGS ?=
MUTANTS_ARGS ?=
ABUSE_ARGS ?=
ALERT_ARGS ?=

say = printf '==> %s\n'

.PHONY: help setup archives prometheus python java demo check format prepared programs test-jars test test-fast test-long fuzz explore mutants bench bench-gateway bench-pull bench-rocketmq bench-rocketmq-moves bench-serve bench-strategies bench-producer strategy-figures alerts alert-rules java-client console-pictures dashboards metrics-page metrics-samples json-page openapi settings-pages abuse lock image image-steps clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | \
	  while IFS=$$'\t' read -r name text; do printf '  make %-16s %s\n' "$$name" "$$text"; done

setup: archives prometheus ## .venv with the fairlead command, jars, class-data archives, Prometheus

archives: java $(STAMP)
	@$(say) "jars: fetched once, checked by SHA-256"
	@$(BIN)/fairlead setup jars
	@$(say) "fairlead-java: the client for Java, built if something has changed"
	@$(BIN)/python -m tools.java_client || $(say) "without it: all works but the tests of the Java client"
	@$(say) "class-data archives: halve the starts of engine and broker"
	@$(BIN)/fairlead setup archive || $(say) "without archives: all works, starts take longer"

prometheus: $(STAMP)
	@$(say) "prometheus and promtool: for the tests of the alerts, fetched once with apt, without root"
	@$(BIN)/python -m tools.prometheus || $(say) "without Prometheus: all works but make test"

java:
	@deploy/check-java "$(JAVA)"

$(STAMP): requirements-dev.lock pyproject.toml client/pyproject.toml proof/pyproject.toml
	@deploy/find-python --check "$(PYTHON)"
	@$(say) "virtual environment in $(VENV) with $(PYTHON)"
	@$(BIN)/python -c '' 2>/dev/null || "$(PYTHON)" -m venv --clear $(VENV)
	@$(say) "dependencies from requirements-dev.lock, each checked by its hash (about 900 MB, a minute or two)"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-input --progress-bar on \
	  --require-hashes -r requirements-dev.lock
	@$(say) "fairlead, its client and its proof, from this folder"
	@$(BIN)/python -m pip install --disable-pip-version-check --no-input --quiet \
	  --no-deps --no-build-isolation --editable . --editable client --editable proof
	@touch $@

demo: setup ## set-up, then the main job on a real broker, judged
	@$(say) "fairlead demo --check $(DEMO_ARGS)"
	@$(BIN)/fairlead demo --check $(DEMO_ARGS)

check: $(STAMP) ## format, lint, types, import layers (no JVM)
	@$(say) "ruff format --check"
	@$(BIN)/ruff format --check .
	@$(say) "ruff check"
	@$(BIN)/ruff check .
	@$(say) "mypy: the engine"
	@$(BIN)/mypy
	@$(say) "mypy: the client"
	@cd client && ../$(BIN)/mypy --config-file pyproject.toml
	@$(say) "import layers"
	@$(BIN)/lint-imports

format: $(STAMP) ## let ruff format and fix what it can
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Jars and programs come over the network while the checks compute.
prepared: java $(STAMP)
	@$(MAKE) -j 5 setup programs test-jars check

programs: $(STAMP) ## programs that only tests need: shells, a browser, the languages of examples/
	@$(say) "zsh and fish: for the tests of completion, fetched once with apt, without root"
	@$(BIN)/python -m tests.shells || $(say) "without them: the tests of completion fail"
	@$(say) "chromium: for the tests of the console, 100 MB, fetched once with apt where the machine has none"
	@$(BIN)/python -m tests.chromium || $(say) "without it: the tests of the console fail"
	@$(say) "go, node, curl, jq: for the tests of examples/, fetched once where the machine has none"
	@$(BIN)/python -m tests.example_programs || $(say) "without them: the tests of examples/ fail"

test-jars: java $(STAMP)
	@$(say) "jars of RocketMQ: for the tests of its clients, 140 MB, fetched once, side by side"
	@$(BIN)/python -m tests.jar_sets || $(say) "without them: the tests of RocketMQ fail"

test: prepared ## set-up, checks, then every test but the slow ones
	@$(say) "pytest: pure, Spark and broker tests"
	@$(BIN)/python -m pytest $(AT_ONCE) -m "not slow" $(PYTEST_ARGS)

test-fast: $(STAMP) ## the pure tests: no JVM, seconds
	@$(BIN)/python -m pytest -m "not spark and not broker and not java and not slow" $(PYTEST_ARGS)

test-long: prepared ## every test, the slow ones included
	@$(say) "libfaketime and iptables: for long trials of clocks and networks, fetched once with apt, without root"
	@$(BIN)/python -m tests.faults.fault_packages || $(say) "without them: those trials fail"
	@$(say) "pytest: all, then what needs the machine for itself"
	@export HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-long}; failed=0; \
	$(BIN)/python -m pytest $(AT_ONCE) -m "not alone" $(PYTEST_ARGS) || failed=$$?; \
	$(BIN)/python -m pytest -m alone $(PYTEST_ARGS) || failed=$$?; exit $$failed

fuzz: prepared ## hostile records of every kind at a running system: FUZZ_SEED= repeats, FUZZ_ROUNDS= lengthens
	@FUZZ_SEED="$(FUZZ_SEED)" FUZZ_ROUNDS="$(FUZZ_ROUNDS)" $(BIN)/python -m pytest -s -k "short or mutation" tests/fuzz $(PYTEST_ARGS)

explore: $(STAMP) ## every order of events of the worlds that must hold (minutes, no JVM)
	@$(say) "fairlead proof explore --rows required $(EXPLORE_ARGS)"
	@$(BIN)/fairlead proof explore --rows required $(EXPLORE_ARGS)

mutants: $(STAMP) ## drop rules of the handover one by one, in a copy of the source: each is noticed
	@$(say) "python -m tests.mutants $(MUTANTS_ARGS)"
	@$(BIN)/python -m tests.mutants $(MUTANTS_ARGS)

bench: setup ## latency of joins and leaves on the real broker and job
	@$(say) "fairlead proof bench $(BENCH_ARGS)"
	@$(BIN)/fairlead proof bench $(BENCH_ARGS)

bench-gateway: setup ## joins through gateways beside direct ones; clients of one gateway
	@$(say) "python -m benchmarks.gateway_joins, python -m benchmarks.gateway_load"
	@$(BIN)/python -m benchmarks.gateway_joins --check $(BENCH_ARGS)
	@$(BIN)/python -m benchmarks.gateway_load --check

bench-pull: setup ## the push consumer beside bare kafka-python: what it keeps of its speed
	@$(say) "benchmarks/pull_throughput.py $(BENCH_ARGS)"
	@$(BIN)/python benchmarks/pull_throughput.py $(BENCH_ARGS)

bench-rocketmq: setup ## consumers of RocketMQ's queues beside RocketMQ's own in Java
	@$(say) "python -m benchmarks.rocketmq_throughput $(BENCH_ARGS)"
	@$(BIN)/python -m benchmarks.rocketmq_throughput $(BENCH_ARGS)

bench-rocketmq-moves: setup ## moves of RocketMQ's queues: attached Java consumers beside Python's
	@$(say) "python -m benchmarks.rocketmq_adoption --check $(BENCH_ARGS)"
	@$(BIN)/python -m benchmarks.rocketmq_adoption --check $(BENCH_ARGS)
	@$(BIN)/python -m benchmarks.rocketmq_adoption --check --ordered $(BENCH_ARGS)

bench-serve: setup ## what the view of all groups costs at rest, with ten open tabs (six minutes)
	@$(say) "python -m benchmarks.serve_at_rest --check $(BENCH_ARGS)"
	@$(BIN)/python -m benchmarks.serve_at_rest --check $(BENCH_ARGS)

bench-strategies: java $(STAMP) ## our strategies beside Kafka's own assignors: time, moves, spread
	@$(say) "fairlead proof bench-strategies $(BENCH_ARGS)"
	@$(BIN)/fairlead proof bench-strategies $(BENCH_ARGS)

bench-producer: $(STAMP) ## selections a second of the producer's selector (a minute, no JVM)
	@$(say) "python -m benchmarks.selection --check"
	@$(BIN)/python -m benchmarks.selection --check

abuse: setup ## one client abuses a real engine: what a join in another group waits (nine minutes)
	@$(say) "python -m benchmarks.abuse --check $(ABUSE_ARGS)"
	@$(BIN)/python -m benchmarks.abuse --check $(ABUSE_ARGS)

strategy-figures: bench-strategies ## that, and its figures written into docs/strategy-benchmark.md
	@$(say) "docs/strategy-benchmark.md"
	@$(BIN)/python benchmarks/strategy_figures.py

java-client: java $(STAMP) ## the jar of the client for Java, built if something has changed
	@$(BIN)/python -m tools.java_client

alerts: $(STAMP) ## write the rules of the alerts, their tests and docs/alerts.md from the table in code
	@$(BIN)/python -m tests.monitoring.alert_files

alert-rules: $(STAMP) ## rules for your own Prometheus: ALERT_ARGS="--name-prefix X --runbook-base URL" > rules.yml
	@$(BIN)/python -m tools.alerts $(ALERT_ARGS)

metrics-page: $(STAMP) ## write the tables of docs/metrics.md from code and samples
	@$(say) "python -m tools.metrics"
	@$(BIN)/python -m tools.metrics

json-page: $(STAMP) ## write docs/json.md from the schema of all answers
	@$(say) "python -m tools.json_page"
	@$(BIN)/python -m tools.json_page

openapi: $(STAMP) ## write fairlead/schemas/openapi.json, the gateway's contract, from code
	@$(say) "python -m fairlead.gateway.openapi"
	@$(BIN)/python -m fairlead.gateway.openapi

settings-pages: $(STAMP) ## write the comments of conf/default.toml and docs/configuration.md from code
	@$(say) "python -m fairlead.settings.pages"
	@$(BIN)/python -m fairlead.settings.pages

console-pictures: prepared ## take the pictures of docs/console.md anew, from a live system (a minute or two)
	@$(say) "pytest tests/browser/pictures.py"
	@$(BIN)/python -m pytest -n 0 tests/browser/pictures.py

metrics-samples: setup ## that, with samples of a run that is made for it (a minute)
	@$(say) "python -m tools.metrics --record"
	@$(BIN)/python -m tools.metrics --record

dashboards: $(STAMP) ## write deploy/grafana/dashboards from their code
	@$(say) "python -m tools.dashboards"
	@$(BIN)/python -m tools.dashboards

# Locks rather than ranges, and pip rather than uv at set-up: ADR 0002.
lock: $(STAMP) ## resolve the dependencies anew into the hashed locks
	@$(say) "uv, in an environment of its own"
	@test -x .cache/lock/bin/uv || { "$(PYTHON)" -m venv .cache/lock && \
	  .cache/lock/bin/python -m pip install --disable-pip-version-check --quiet 'uv>=0.5'; }
	@$(say) "requirements.lock, requirements-dev.lock, requirements-examples.lock"
	@deploy/lock .cache/lock/bin/uv

image: ## build the container image (needs docker, podman or buildah)
	@deploy/build-image "$(IMAGE)"

image-steps: java ## run the image's steps in a clean environment, as a user without rights
	@deploy/try-image-steps

clean: ## remove what make setup and the tests made here (the jar cache stays)
	@$(say) "removing $(VENV), caches and build output"
	@rm -rf $(VENV) .cache dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis \
	  .import_linter_cache .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
