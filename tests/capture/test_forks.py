"""Forks of a program that is captured."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap


def test_a_jvm_that_does_not_answer_holds_up_one_fork():
    """A program may fork a hundred times while a file system does not answer: only the first one waits."""
    program = """
        import os, time
        from airflow_provider_spark_lineage.spark.capture.application import jvm_lock
        from airflow_provider_spark_lineage.spark.capture import hooks
        hooks._MAX_WAIT_SECONDS = 3

        def fork():
            began = time.monotonic()
            child = os.fork()
            if not child:
                os._exit(0)
            os.waitpid(child, 0)
            return time.monotonic() - began >= 3

        hooks.hooks()
        with jvm_lock:
            waited = [fork() for _ in range(5)]
        print(waited, fork(), jvm_lock.acquire(timeout=0))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.strip() == "[True, False, False, False, False] False True"
