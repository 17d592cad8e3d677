#!/usr/bin/env bash
# Checks the types in the comments of the viewer's modules. It needs `tsc`, and says so where there is none.
set -euo pipefail
cd "$(dirname "$0")/../airflow_provider_spark_lineage/openlineage/viewer/static"
if ! command -v tsc > /dev/null; then
  echo "The viewer's types are not checked: tsc is not installed (on Debian and Ubuntu: apt install node-typescript)."
  exit 0
fi
tsc --noEmit --allowJs --checkJs --strict --target es2022 --module es2022 --moduleResolution node --lib es2022,dom,dom.iterable ./*.js types.d.ts
