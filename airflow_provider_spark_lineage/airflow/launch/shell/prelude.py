"""Function of bash that adds the agent to `spark-submit` on another machine, where no shim is.

It is one line in front of the user's command, so that lines keep their numbers.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

# `--py-files` replaces the property. Of two options, Spark takes the last. With `|| return`, a trap on ERR is
# that of the caller only.
_FUNCTION = """
NAME() {
{ local - && set +x; } 2>/dev/null;
local spark_lineage_files= spark_lineage_more= spark_lineage_own=; local -a spark_lineage_options=();
while [ $# -gt 1 ]; do case $1 in
--py-files) spark_lineage_files=$2; spark_lineage_options+=("$1" "$2"); shift 2;;
--conf|-c) case $2 in spark.submit.pyFiles=*) spark_lineage_more=${2#*=};;
spark.lineage.records=*) spark_lineage_own=1;; esac;
spark_lineage_options+=("$1" "$2"); shift 2;;
-v|--verbose|--supervise|--load-spark-defaults|--*=*) case $1 in
--py-files=*) spark_lineage_files=${1#*=};; --conf=spark.submit.pyFiles=*) spark_lineage_more=${1#*=*=};;
--conf=spark.lineage.records=*) spark_lineage_own=1;; esac; spark_lineage_options+=("$1"); shift;;
-*) spark_lineage_options+=("$1" "$2"); shift 2;;
*) break;; esac; done;
spark_lineage_files=${spark_lineage_files:-$spark_lineage_more};
case $spark_lineage_own${1-} in *.py) [ -n "$spark_lineage_own" ] ||
set -- --py-files "${spark_lineage_files:+$spark_lineage_files,}"AGENT PROPERTIES "$@";; esac;
command NAME ${spark_lineage_options[@]+"${spark_lineage_options[@]}"} "$@" || return; };
"""

# The first condition is false in csh, where the second would be an error; `SHELL` may be of another shell.
_IS_BASH = """expr "$SHELL" : '.*/bash$' >/dev/null && test -n "$BASH_VERSION\""""


def with_function(script: str, names: Iterable[str], agent: str, properties: Mapping[str, str]) -> str:
    """Return a command line that makes bash add the agent to each command with one of the names or paths.

    Only to commands that the other machine has: a script may test that. Shells other than bash accept the
    added text and ignore it.
    """
    words = shlex.join(part for pair in properties.items() for part in ("--conf", "=".join(pair)))
    # A program that the script runs may look up the path of a command: it gets no function.
    is_exported = re.search(r"\bbash\s+(?:-\S+\s+)*-\w*c\b", script) is not None
    values = {"AGENT": shlex.quote(agent), "PROPERTIES": words}
    text = "".join(_function({**values, "NAME": name}, is_exported=is_exported) for name in names)
    guarded = shlex.quote(f"shopt -oq posix || {{ {text} }}")
    return f"{_IS_BASH} && eval {guarded} || :; {script}"


def _function(values: Mapping[str, str], *, is_exported: bool) -> str:
    name = values["NAME"]
    body = re.sub("|".join(values), lambda match: values[match[0]], _FUNCTION.strip().replace("\n", " "))
    # A subshell does not take over a function whose name is a path.
    export = f" export -f {name};" if is_exported and "/" not in name else ""
    # Neither a function nor an alias of the user's login shell.
    return f'[ "$(type -t {name})" != file ] || {{ {body}{export} }};'
