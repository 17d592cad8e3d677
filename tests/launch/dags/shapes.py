"""Shapes of shell scripts that submit PySpark, each with its last line of output; Spark itself runs them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import dag, task

HOME = os.environ.get("SHAPES_HOME", "")
SUBMIT = os.environ.get("SHAPES_SUBMIT", "")

# A job writes the dataset of its first argument, and prints its arguments.
SHAPES = {
    "plain": ("spark-submit job.py plain 'a b' '*' \"it's\"", "plain a b * it's"),
    "options": (
        "OPTIONS='--name n --py-files libs/more_lib.py'\n"
        "spark-submit $OPTIONS job.py options $(echo 1 2) more_lib",
        "options 1 2 more_lib",
    ),
    "function": ('run() { spark-submit "$@" function; }; run --name "a b" job.py', "function"),
    "loop": ("for day in 1 2; do spark-submit job.py loop$day; done", "loop2"),
    "condition": ("if spark-submit job.py condition >/dev/null; then echo yes; else echo no; fi", "yes"),
    "subshell": ('(cd / && spark-submit "$SHAPES_HOME/job.py" subshell)', "subshell"),
    "bash_c": ('DAY=3; bash -c "spark-submit job.py bash_c $DAY"', "bash_c 3"),
    "eval": ("JOB='spark-submit job.py'; eval \"$JOB eval\"", "eval"),
    "xargs": ("echo xargs 'a b' | xargs -n 3 spark-submit job.py", "xargs a b"),
    "substitution": ('OUT=$(spark-submit job.py substitution); echo "got $OUT"', "got substitution"),
    "pipe": ("set -o pipefail; spark-submit job.py pipe | tr a-z A-Z", "PIPE"),
    "heredoc": ("bash -s <<'END'\nspark-submit job.py heredoc\nEND", "heredoc"),
    "file": ("echo 'spark-submit job.py file' >run.sh; bash run.sh | cat", "file"),
    "exec": ("exec spark-submit job.py exec", "exec"),
    "trap": ("trap 'spark-submit job.py trap' EXIT; echo before", "trap"),
    "path": (f"'{SUBMIT}' job.py path", "path"),
    "own_path": (f"PATH='{Path(SUBMIT).parent}':$PATH\nspark-submit job.py own_path", "own_path"),
    "background": ("spark-submit job.py background & wait $!; echo code $?", "code 0"),
    "exit_code": ("spark-submit job.py exit_code fails 2>/dev/null; echo code $?", "code 1"),
    # The job opens the pipe when it is ready. Its process is the one of `$!`.
    "signal": (
        "mkfifo ready\nspark-submit job.py signal waits & read -r line <ready\n"
        "kill -TERM $!; wait $!; echo $line $?",
        "waits 143",
    ),
}


def writes(name: str) -> Callable[[str], str]:
    """Return a function that writes the last line of a task's output into a file."""

    def write(line: str) -> str:
        Path(HOME, "lines", name).write_text(line)
        return line

    return write


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def shapes() -> None:
    for name, (script, _) in SHAPES.items():
        BashOperator(task_id=name, bash_command=script, cwd=HOME, output_processor=writes(name))

    @task.bash(cwd=HOME, output_processor=writes("decorated"))
    def decorated() -> str:
        return 'run() { spark-submit "$@"; }; bash -c "exit 0"; run job.py decorated'

    @task.bash(cwd=HOME)
    def fails() -> str:
        return "set -e; spark-submit job.py fails fails; echo never"

    decorated()
    fails()


shapes()
