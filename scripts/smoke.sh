#!/usr/bin/env bash
# Runs a few live tests on other releases of Spark than the pinned one, which come into .cache; the rest is .venv's.
#
#   scripts/smoke.sh 3.5.9 4.3.0
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

TESTS="$(echo tests/live/test_live_{sessions,files,file_names,file_writes,errors,errors_of_processes,agent,event_log,connect,checks,broken_rows,observed_metrics,quality,kinds_of_checks}.py)"
# The situations of docs/checks.md, by the operators in a DAG run.
TESTS="$TESTS tests/operators/test_checks.py"

for version; do
  folder="$PWD/.cache/pyspark-$version"
  if [ ! -f "$folder/.whole" ]; then
    echo "==> Installing Spark $version"
    rm -rf "$folder"
    python -m pip install --quiet --no-input --disable-pip-version-check --target "$folder" "pyspark==$version"
    touch "$folder/.whole"
  fi
  echo "==> Live tests on Spark $version"
  # Without Delta and Iceberg, whose jars would have to be fetched for each Spark.
  # shellcheck disable=SC2086
  DELTA_RELEASE= ICEBERG_RELEASE= PYTHONPATH="$folder" pytest -q $TESTS
done
