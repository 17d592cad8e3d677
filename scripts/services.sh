#!/usr/bin/env bash
# Runs the tests of operators whose providers are not in .venv: these come into .cache; the rest is .venv's.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

PINS=requirements/services.txt
folder="$PWD/.cache/services"
stamp="$(cksum <"$PINS")"

if [ "$(cat "$folder/.whole" 2>/dev/null || true)" != "$stamp" ]; then
  echo "==> Installing the packages of $PINS"
  rm -rf "$folder"
  python -m pip install --quiet --no-input --disable-pip-version-check --no-deps --target "$folder" -r "$PINS"
  printf '%s\n' "$stamp" >"$folder/.whole"
fi
echo "==> Tests of operators of Databricks, Dataproc, Hive, Kubernetes, PostgreSQL and Synapse"
# A provider that is missing fails them here; elsewhere it skips them.
SPARK_LINEAGE_SERVICES=1 PYTHONPATH="$folder" pytest -q -n 2 --dist loadgroup tests/launch/test_{services_in_airflow,aws_azure_ssh_in_airflow,launches}.py \
  tests/extractors/test_sql_checks_{on_thrift,by_name}.py
