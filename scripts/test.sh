#!/usr/bin/env bash
# Runs the stages of `make test` until one fails, and prints how long each took.
#
# What live tests share comes over the network while linters and unit tests use the processor.
set -euo pipefail
cd "$(dirname "$0")/.."

took=""

stage() {
  local began=$SECONDS
  echo "==> make $1"
  make --no-print-directory "$1" || { echo "make test: stage '$1' failed" >&2; exit 1; }
  took+="  $1 $((SECONDS - began)) s"
}

stage setup
mkdir -p .cache
make --no-print-directory prepare >.cache/prepare.log 2>&1 &
prepared=$!
trap 'kill "$prepared" 2>/dev/null || true' EXIT
stage lint
stage unit
if ! wait "$prepared"; then
  cat .cache/prepare.log >&2
  echo "make test: stage 'prepare' failed" >&2
  exit 1
fi
stage live
echo "make test: passed in $((SECONDS / 60)) min $((SECONDS % 60)) s:$took"
