#!/usr/bin/env bash
# Builds a virtual environment from a pinned set, and is the only place of the project that installs anything.
#
#   scripts/setup.sh [VENV [PINS [OLDEST_PYTHON_MINOR [editable|wheel]]]]
#
# Run again it does nothing, in a fraction of a second, unless the pins, pyproject.toml or the folder changed.
# With `wheel`, the checkout is built and installed as users install it, again on every run.
set -euo pipefail
cd "$(dirname "$0")/.."

VENV="${1:-.venv}"
PINS="${2:-requirements/spark-4.1.txt}"
OLDEST="${3:-10}"
FORM="${4:-editable}"
NEWEST=13
LOG="$VENV/setup.log"
# Pip reads the user's own settings; only a user-wide `user = true` cannot hold inside an environment.
export PIP_USER=no PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1

PATH_BEFORE="$PATH"
# shellcheck source=scripts/env.sh
. scripts/env.sh
# The interpreter that builds the environment must not be the one inside it.
PATH="$PATH_BEFORE"
unset VIRTUAL_ENV

say() { printf '==> %s\n' "$*"; }
die() { printf 'make setup: %s\n' "$*" >&2; exit 1; }

is_root_on_debian() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -q --no-install-recommends "$@" </dev/null
}

apt_refresh() {
  say "Refreshing the package lists of the system"
  apt-get update -q </dev/null || true  # A dead third-party list must not stop a package that is known already.
}

# ---- Python -----------------------------------------------------------------------------------------------------

# Prints the minor version when the command is a Python 3 that can be used. A pyenv shim may exist and not run.
python_minor() {
  "$1" -c 'import sys; print(sys.version_info.minor if sys.version_info.major == 3 else "")' 2>/dev/null || true
}

find_python() {
  local candidate minor
  for candidate in python3 python3.12 python3.11 python3.13 python3.10 python; do
    command -v "$candidate" >/dev/null || continue
    minor="$(python_minor "$candidate")"
    if [ -n "$minor" ] && [ "$minor" -ge "$OLDEST" ] && [ "$minor" -le "$NEWEST" ]; then
      PYTHON="$candidate"
      PYTHON_MINOR="$minor"
      return 0
    fi
  done
  return 1
}

has_venv_module() { "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; }

need_python() {
  find_python ||
    die "no Python 3.$OLDEST to 3.$NEWEST on PATH; install one (Debian, Ubuntu: apt-get install python3 python3-venv)."
  has_venv_module && return 0
  local package="python3.$PYTHON_MINOR-venv"
  is_root_on_debian || die "$PYTHON cannot make virtual environments; install its venv module (apt-get install $package)."
  say "Installing $package"
  apt_install "$package" || { apt_refresh && apt_install "$package"; } || true
  has_venv_module || die "$PYTHON still cannot make virtual environments; install its venv module and try again."
}

# ---- Java -------------------------------------------------------------------------------------------------------

need_java() {
  find_java && return 0
  is_root_on_debian || die "Spark needs a Java 17 or newer runtime; install one (openjdk-17-jre-headless, Temurin 17) and put it on PATH or in JAVA_HOME."
  apt_refresh
  local package
  # The first is not offered by every release; the second is whatever the release calls current.
  for package in openjdk-17-jre-headless default-jre-headless; do
    say "Installing $package"
    apt_install "$package" || continue
    if find_java; then return 0; fi
  done
  die "no Java 17 or newer could be installed with apt-get; install one and put it on PATH or in JAVA_HOME."
}

# ---- Chromium ---------------------------------------------------------------------------------------------------

# Tests of the viewer alone need it, so nothing here stops `make setup`. CHROMIUM may name another executable.
# The font is the one of the pictures in docs/viewer.
has_chromium() { command -v "${CHROMIUM:-chromium}" >/dev/null; }

need_chromium() {
  if is_root_on_debian && ! { has_chromium && dpkg -s fonts-dejavu-core >/dev/null 2>&1; }; then
    apt_refresh
    say "Installing chromium, for the tests of the viewer"
    apt_install chromium fonts-dejavu-core || true
  fi
  has_chromium ||
    say "The tests of the viewer need Chromium: install it (Debian: apt-get install chromium fonts-dejavu-core), or name it in CHROMIUM."
}

# ---- Packages ---------------------------------------------------------------------------------------------------

# One line; on a terminal it first ends the line on which the counter stands.
step() { if [ -t 1 ]; then printf '\n'; fi; printf '    %s\n' "$1"; }

# Counts what pip collects, so that a long download is seen to move; the whole output goes to the log.
show_progress() {
  local total="$1" count=0 line name
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$LOG"
    case "$line" in
      "Collecting "* | "Requirement already satisfied: "*)
        count=$((count + 1))
        line="${line#Collecting }"
        line="${line#Requirement already satisfied: }"
        name="${line%% *}"
        if [ -t 1 ]; then
          printf '\r    %d of about %d  %-50s' "$count" "$total" "$name"
        elif [ $((count % 25)) = 0 ]; then
          printf '    %d of about %d\n' "$count" "$total"
        fi
        ;;
      *"Downloading pyspark"*) step "downloading Spark itself, some hundred megabytes" ;;
      "Building wheels for collected packages"*) step "building the packages that come as source" ;;
      "Installing collected packages"*) step "unpacking" ;;
    esac
  done
}

pip_install() {
  local total="$1"
  shift
  "$VENV/bin/python" -m pip install --no-input --progress-bar off --no-deps "$@" </dev/null 2>&1 | show_progress "$total" || {
    if grep -qE 'NewConnectionError|ConnectTimeoutError|ProxyError|Network is unreachable' "$LOG"; then
      die "no package index answered pip; connect this machine to one (pip reads pip.conf and PIP_INDEX_URL) and try again. What was tried is in $LOG."
    fi
    tail -n 15 "$LOG" >&2
    die "pip could not install the packages; the lines above are the end of $LOG."
  }
}

# Scripts inside an environment name their interpreter with a full path, so a checkout that was moved needs them anew.
fingerprint() { { printf '%s\n' "$PWD" "$VENV"; cat "$@"; } | cksum; }

stamped() { [ -f "$VENV/.$1-stamp" ] && [ "$(cat "$VENV/.$1-stamp")" = "$2" ]; }

# The code may have changed since the last wheel; its version has not, so pip must be told to replace it.
install_wheel() {
  say "Installing the wheel of this checkout"
  rm -rf "$VENV/wheel"
  "$VENV/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$VENV/wheel" . >>"$LOG" 2>&1 || {
    tail -n 15 "$LOG" >&2
    die "the wheel could not be built; the lines above are the end of $LOG."
  }
  pip_install 1 --force-reinstall "$VENV"/wheel/*.whl
}

build_environment() {
  local pins project
  pins="$(fingerprint "$PINS")"
  project="$(fingerprint pyproject.toml)"
  if stamped pins "$pins" && stamped project "$project" && [ -x "$VENV/bin/spark-lineage" ]; then
    [ "$FORM" = wheel ] && install_wheel
    return 0
  fi
  if ! "$VENV/bin/python" -m pip --version >/dev/null 2>&1 || [ "$(cat "$VENV/.folder" 2>/dev/null || pwd)" != "$(pwd)" ]; then
    need_python
    say "Creating $VENV with $("$PYTHON" --version)"
    "$PYTHON" -m venv --clear "$VENV" || die "$PYTHON could not create $VENV."
  fi
  pwd >"$VENV/.folder"
  : >"$LOG"
  if ! stamped pins "$pins"; then
    local total
    # An upper bound: some lines are for other Python versions.
    total="$(grep -c '==' "$PINS")"
    say "Installing the packages of $PINS"
    pip_install "$total" -r "$PINS"
    printf '%s\n' "$pins" >"$VENV/.pins-stamp"
  fi
  if [ "$FORM" = wheel ]; then
    install_wheel
  else
    say "Installing this checkout, editable"
    pip_install 1 --no-build-isolation --editable .
  fi
  printf '%s\n' "$project" >"$VENV/.project-stamp"
  say "Ready: $VENV/bin/spark-lineage"
}

need_java
need_chromium
build_environment
