"""What a task that launches Spark by a shell stores for the viewer, and when its code is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.airflow

PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.openlineage.plugins.listener import get_openlineage_listener
from task_instances import instance

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.plugins.task_ends import StoredLineage
from airflow_provider_spark_lineage.airflow.task import provider

get_openlineage_listener()  # Airflow's plugins do this in each process.
if {auto_capture}:
    from airflow_provider_spark_lineage.airflow.plugins.launched import report_launches as running
else:
    running = lambda task_instance: StoredLineage().on_task_instance_running(None, task_instance)
task_instance = instance(task=BashOperator(task_id="t", bash_command={command!r}))
running(task_instance)
ours = lambda: {{name for name in sys.modules if name.startswith("airflow_provider_spark_lineage")}}
before, values = ours(), []
task_instance.xcom_push = lambda key, value: values.append(value)
task_instance.task_reschedule_count = 0
sys.modules["airflow.sdk.execution_time.task_runner"] = None  # XComs are pushed by the method above.
StoredLineage().on_task_instance_success(None, task_instance)
for value in values:
    print("stored", sorted(stored_form.unpack(value).events[-1]["run"]["facets"]))
print("imported", sorted(ours() - before))
"""


def output(tmp_path: Path, command: str, *, auto_capture: bool) -> list[str]:
    """Return what a process prints in which a task of BashOperator starts and ends."""
    tests = str(Path(__file__).parents[1])
    program = PROGRAM.format(tests=tests, command=command, auto_capture=auto_capture)
    extractor = "airflow_provider_spark_lineage.extractors.launchers.LauncherExtractor"
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}',
        **({} if auto_capture else {"AIRFLOW__OPENLINEAGE__EXTRACTORS": extractor}),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(("stored", "imported"))]


@pytest.mark.parametrize("auto_capture", [True, False], ids=["auto_capture", "extractor"])
def test_the_end_of_a_command_imports_nothing_more(tmp_path, auto_capture):
    """The store has one second: on a busy machine, the imports alone took it, and nothing was stored."""
    lines = output(tmp_path, "spark-submit s3://code/job.py", auto_capture=auto_capture)
    assert "sparkLineage_launch" in lines[0]
    assert lines[1:] == ["imported []"]


def test_a_command_without_spark_imports_nothing_of_it(tmp_path):
    """Neither at its start nor at its end."""
    [line] = output(tmp_path, "echo hello", auto_capture=False)
    assert "launch.collector" not in line
