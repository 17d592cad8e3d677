# Sourced by every recipe: decides which Python, Spark and Java the commands of this checkout use.
# It installs nothing and writes nothing; `scripts/setup.sh` does.
#
#   . scripts/env.sh            # the development set in .venv
#   SPARK_LINEAGE_VENV=.venv-spark-4.3; . scripts/env.sh

VIRTUAL_ENV="$PWD/${SPARK_LINEAGE_VENV:-.venv}"
# First on PATH, because PySpark starts its workers with whatever `python3` it finds there.
PATH="$VIRTUAL_ENV/bin:$PATH"
export VIRTUAL_ENV PATH
# Each of these would put another Spark or another Python under the tests than the pinned one.
unset SPARK_HOME PYSPARK_PYTHON PYSPARK_DRIVER_PYTHON PYTHONHOME PYTHONPATH

# java_major COMMAND: prints 17 for `openjdk version "17.0.15"`, 8 for `java version "1.8.0_392"`.
java_major() {
  "$1" -version 2>&1 | sed -n 's/.* version "\(1\.\)\{0,1\}\([0-9][0-9]*\).*/\2/p' | head -n 1
}

java_is_usable() {
  local major
  major="$(java_major "$1" 2>/dev/null || true)"
  [ -n "$major" ] && [ "$major" -ge 17 ]
}

# Succeeds when Spark will start on Java 17 or newer. Spark itself looks at JAVA_HOME, then at PATH; when both
# are missing or too old, a newer runtime among the usual folders of the system is taken instead.
find_java() {
  local home
  if [ -n "${JAVA_HOME:-}" ]; then
    if java_is_usable "$JAVA_HOME/bin/java"; then return 0; fi
  elif command -v java >/dev/null && java_is_usable java; then
    return 0
  fi
  for home in /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home /opt/homebrew/opt/openjdk*; do
    if [ -x "$home/bin/java" ] && java_is_usable "$home/bin/java"; then
      JAVA_HOME="$home"
      export JAVA_HOME
      return 0
    fi
  done
  # The system's own `java` may be fine where only JAVA_HOME points at an old one.
  if command -v java >/dev/null && java_is_usable java; then
    unset JAVA_HOME
    return 0
  fi
  return 1
}
find_java || true  # Linters and unit tests need no Java; setup.sh says what is missing.
