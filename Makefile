# Every recipe runs in the checkout with relative, quoted paths: GNU make cannot carry a space in a variable's path.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

SPARK_4_1 := 4.1.4
SPARK_4_3 := 4.3.0
SPARK_3_5 := 3.5.9
# `make test ORDER="--shuffle-files 7"` runs the files in another order.
ORDER :=
# A Spark session serves a whole module, so a module stays in one process. Three, because sessions wait a lot. Without
# reordering, because by itself the scheduler begins the modules with the fewest tests last, and these take longest.
LIVE := pytest -n 3 --dist loadfile --no-loadscope-reorder $(ORDER)
PREPARED := python tests/prepare.py

.PHONY: help setup requirements lint unit prepare live rest long full smoke smoke-oldest services installs soundness system-standalone test lakes matrix spark-4.3 demo docs bench clean

help: ## Print this list
	@sed -n 's/^\([a-z0-9.-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F '|' '{ printf "%-20s %s\n", $$1, $$2 }'

setup: ## Build .venv from the pinned set, with Java if it is missing; the only target that installs
	@bash scripts/setup.sh

demo: setup ## Run the example DAGs on real Airflow and Spark, and print their lineage
	@. scripts/env.sh && python scripts/demo.py

test: ## Set up, lint, and run the unit tests and one live test of each way to run Spark
	@bash scripts/test.sh

full: test rest long services smoke installs soundness system-standalone spark-4.3 ## Run every test on the pinned releases: before a release

lint: setup ## Check style, formatting, types, the walls between packages, and counts that only fall
	@. scripts/env.sh && ruff check . && ruff format --check . && mypy && lint-imports && python tools/limits.py && python tools/parts_table.py --check && bash scripts/viewer_types.sh

unit: setup ## Run the tests that need no JVM and no Airflow, in seconds
	@. scripts/env.sh && pytest -n auto $(ORDER) -m "not spark and not airflow" tests

prepare: setup ## Fetch the jars of live tests, and make what else they share
	@. scripts/env.sh && $(PREPARED)

live: prepare ## Run one test of each way to run Spark, and the example DAGs: tests/representatives.py
	@. scripts/env.sh && $(LIVE) -m representative system_tests tests

rest: prepare ## Run the other tests that start Spark or Airflow
	@. scripts/env.sh && $(LIVE) -m "(spark or airflow) and not representative and not long and not standalone and not installs" system_tests tests

long: prepare ## Run the live tests that take minutes each: tests/representatives.py
	@. scripts/env.sh && $(LIVE) -m long system_tests tests

services: setup ## Run the tests of operators with providers of their own: Databricks, Dataproc, Hive, Kubernetes, PostgreSQL, Synapse
	@bash scripts/services.sh

installs: setup ## Try the commands of docs/install.md, Data.Rentgen, and pandera and cuallee in environments of their own
	@. scripts/env.sh && pytest -m installs tests/install tests/consumers tests/docs

soundness: setup ## Prove all queries by changing what they read, and seeded programs by looking at disk and catalog
	@. scripts/env.sh && python tests/soundness/run.py

system-standalone: ## Run tasks that end badly on `airflow standalone` with a wheel and a backend that fails, too
	@bash scripts/setup.sh .venv-wheel requirements/spark-4.1.txt 10 wheel
	@SPARK_LINEAGE_VENV=.venv-wheel; . scripts/env.sh && python tests/servers/quick_java.py && pytest -m standalone system_tests

smoke: setup ## Run a few live tests on the oldest and on the newest Spark
	@bash scripts/smoke.sh $(SPARK_3_5) $(SPARK_4_3)

smoke-oldest: setup
	@bash scripts/smoke.sh $(SPARK_3_5)

lakes: setup ## Run the live tests of Delta and Iceberg with every release for every Spark, in an hour or two
	@. scripts/env.sh && python tests/lake_releases.py

matrix: ## Try the package with all versions that it declares, in hours (needs uv); ROWS="lowest spark-4.2" tries some
	@command -v uv >/dev/null || { echo "make matrix: uv is not on PATH; install it (pip install uv)." >&2; exit 1; }
	@python3 tools/matrix.py $(ROWS)

spark-4.3: ## Run the live tests but for the long ones on Spark 4.3, in an environment of its own
	@bash scripts/setup.sh .venv-spark-4.3 requirements/spark-4.3.txt 11
	@SPARK_LINEAGE_VENV=.venv-spark-4.3; . scripts/env.sh && $(PREPARED) && $(LIVE) -m "(spark or airflow) and not long and not installs" tests

docs: ## Build the site of the pages, with search and a reference of public names, and check its links
	@bash scripts/docs.sh

bench: setup ## Print speed and memory figures
	@. scripts/env.sh && python benchmarks/run.py

# No index address may reach the compiled files, whatever the machine's settings are.
COMPILE := uv pip compile --universal --overrides requirements/overrides.txt \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet
PIN := $(COMPILE) requirements/dev.in

requirements: ## Compile the pinned sets again (needs uv)
	@command -v uv >/dev/null || { echo "make requirements: uv is not on PATH; install it (pip install uv)." >&2; exit 1; }
	@mkdir -p .cache
	@echo "pyspark==$(SPARK_4_1)" > .cache/spark-4.1.txt
	@$(PIN) -c .cache/spark-4.1.txt --python-version 3.10 -o requirements/spark-4.1.txt > /dev/null
	@echo "pyspark==$(SPARK_4_3)" > .cache/spark-4.3.txt
	@$(PIN) -c .cache/spark-4.3.txt --python-version 3.11 -o requirements/spark-4.3.txt > /dev/null
	@cat requirements/dev.in requirements/services.in > .cache/services.in
	@$(COMPILE) .cache/services.in --overrides requirements/services-overrides.txt -c requirements/spark-4.1.txt \
	  --python-version 3.10 -o .cache/services.txt > /dev/null
	@grep -vxFf requirements/spark-4.1.txt .cache/services.txt > requirements/services.txt
	@$(COMPILE) requirements/docs.in --python-version 3.10 -o requirements/docs.txt > /dev/null

clean: ## Remove what tests, linters and the demo left; the environments stay
	@rm -rf .demo .cache .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@rm -rf spark-warehouse metastore_db derby.log dist
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
