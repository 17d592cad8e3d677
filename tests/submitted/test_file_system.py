"""Commands of the worker for a file system of Hadoop: they give a reason, and leave nothing running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.submitted.file_system import reason_of, run_shell

LASTS = "exec 3>{fifo}; echo on >&3; sleep 1000 & sleep 1000"
"""Two processes that end only when they are killed, and then close their files."""


def job(script: str) -> SimpleNamespace:
    """Return a job whose `spark-submit` is a script."""
    command = ["sh", "-c", script, "spark-submit"]
    return SimpleNamespace(properties={}, options=[], environment=dict(os.environ), spark_submit=command)


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "fifo")
    return tmp_path / "fifo"


@pytest.fixture
def reader(fifo: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that reads from the fifo, and ends when its last writer has gone."""
    with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE, text=True) as reader:
        yield reader
        reader.kill()


def test_a_file_system_that_does_not_answer_is_given_up(fifo: Path, reader: subprocess.Popen[str]):
    """With all processes that `spark-submit` has started."""
    failure = run_shell(job(LASTS.format(fifo=fifo)), "-get", "x", "y", timeout_seconds=2)
    assert failure == "no answer in 2 seconds"
    assert reader.communicate(timeout=60)[0] == "on\n"


def test_a_command_does_not_outlive_the_task(fifo: Path, reader: subprocess.Popen[str]):
    """Airflow kills a task that does not end when asked."""
    program = f"""
        import sys
        sys.path[:0] = {[str(Path(__file__).parent), *sys.path]!r}
        from test_file_system import LASTS, job, run_shell
        run_shell(job(LASTS.format(fifo={str(fifo)!r})), "-get", "x", "y", timeout_seconds=1000)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)]) as task:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "on\n"
        task.send_signal(signal.SIGKILL)
    assert reader.wait(60) == 0


def test_it_runs_with_the_environment_and_the_options_of_the_job():
    """`HADOOP_CONF_DIR` may be the operator's; a failure without words is one, too."""
    own = job('test "$HADOOP_CONF_DIR" = conf && echo "$@" | grep -q -e "--properties-file own.conf"')
    assert run_shell(own, "-get", "x", "y", timeout_seconds=60) == "it failed without output"
    own.environment["HADOOP_CONF_DIR"] = "conf"
    own.options = ["--properties-file", "own.conf"]
    assert run_shell(own, "-get", "x", "y", timeout_seconds=60) == ""


def test_secrets_are_removed_from_a_reason():
    """An error text of a library may have the address that it was called with."""
    failure = run_shell(job("echo 'get: no s3a://me:hunter2@bucket' >&2; exit 1"), timeout_seconds=60)
    assert "no s3a://" in failure
    assert "hunter2" not in failure


NOISE = """
WARNING: Using incubator modules: jdk.incubator.vector
:: resolving dependencies :: org.apache.spark#spark-submit-parent-cf599746;1.0
26/11/23 10:46:41 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform
"""
TRACE = """
\tat org.apache.hadoop.conf.Configuration.getClass(Configuration.java:2857)
\t... 26 more
"""


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ('get: No FileSystem for scheme "zzz"', 'No FileSystem for scheme "zzz"'),
        ("mkdir: `s3a://lake/a': it is a file", "`s3a://lake/a': it is a file"),
        (
            "-get: Fatal internal error\njava.lang.RuntimeException: not this one"
            + TRACE
            + "Caused by: java.lang.ClassNotFoundException: Class S3AFileSystem not found"
            + TRACE,
            "java.lang.ClassNotFoundException: Class S3AFileSystem not found",
        ),
        (
            "-get: Fatal internal error\njava.lang.IllegalStateException: closed" + TRACE,
            "java.lang.IllegalStateException: closed",
        ),
        (
            'Exception in thread "main" java.lang.RuntimeException: [unresolved dependency: a#b;1: not found]'
            + TRACE,
            "java.lang.RuntimeException: [unresolved dependency: a#b;1: not found]",
        ),
        ("JAVA_HOME is not set", "JAVA_HOME is not set"),
    ],
)
def test_the_reason_is_found_between_noise(output: str, reason: str):
    """Real output of `spark-submit` and Hadoop: warnings before, and a stack trace behind."""
    assert reason_of(NOISE + output) == reason
