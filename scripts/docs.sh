#!/usr/bin/env bash
# Builds the site of the pages and the reference in .cache/site, with tools that are in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh

VENV=.venv-docs
PINS=requirements/docs.txt
stamp="$(printf '%s\n' "$PWD" | cat - "$PINS" | cksum)"

if [ "$(cat "$VENV/.whole" 2>/dev/null || true)" != "$stamp" ]; then
  echo "==> Installing the packages of $PINS"
  rm -rf "$VENV"
  python3 -m venv "$VENV"
  "$VENV/bin/python" -m pip install --quiet --no-input --disable-pip-version-check --no-deps -r "$PINS"
  printf '%s\n' "$stamp" >"$VENV/.whole"
fi
# The theme prints an announcement otherwise.
NO_MKDOCS_2_WARNING=1 "$VENV/bin/python" tools/build_site.py .cache/site
echo "The site is in .cache/site. To read it with its search: python3 -m http.server --bind 127.0.0.1 --directory .cache/site"
