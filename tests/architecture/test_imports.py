"""Imports of a DAG file: our modules load nothing heavy that Airflow's own operator does not.

Import-linter sees who imports whom, not when; `sys.modules` of a fresh process does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.airflow

AIRFLOW_OWN = [
    "airflow.providers.apache.spark.operators.spark_pyspark",
    "airflow.providers.apache.spark.decorators.pyspark",
]
LOADED = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print("LOADED" + json.dumps(sorted(sys.modules)))
"""


def _loaded(home: str, modules: list[str]) -> set[str]:
    """Return the names of all modules of a fresh process that imported these."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(modules)],
        env={**os.environ, "AIRFLOW_HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.rpartition("LOADED")[2]))


def _below(names: set[str], *packages: str) -> list[str]:
    return sorted(name for name in names for package in packages if f"{name}.".startswith(f"{package}."))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return str(tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="module")
def airflow_own(home):
    return _loaded(home, AIRFLOW_OWN)


def test_operator_brings_in_no_spark_and_no_openlineage(home, airflow_own):
    """A DAG file that swaps the operator must parse as fast as before, on a scheduler without Spark."""
    added = _loaded(home, [*AIRFLOW_OWN, "airflow_provider_spark_lineage.operators.pyspark"]) - airflow_own
    assert "airflow_provider_spark_lineage.operators.pyspark" in added
    assert _below(added, "pyspark", "py4j", "openlineage", "airflow.providers.openlineage") == []


def test_operator_brings_in_nothing_that_only_a_run_needs(home, airflow_own):
    """Capture, plans and facets are loaded when a task runs, not when a file is parsed."""
    added = _loaded(home, [*AIRFLOW_OWN, "airflow_provider_spark_lineage.operators.pyspark"]) - airflow_own
    parts = ("spark.capture", "spark.plan", "spark.facets", "openlineage.events", "cli")
    ours = [f"airflow_provider_spark_lineage.{name}" for name in parts]
    assert _below(added, *ours, "sqlglot", "pandas", "pyarrow", "rich", "click") == []


@pytest.mark.parametrize("package", ["extractors.spark", "extractors.pyspark", "run_facets"])
def test_imports_of_openlineage_are_light(package, home):
    """OpenLineage imports these in every task; an import that fails there disables its whole plugin."""
    loaded = _loaded(home, [f"airflow_provider_spark_lineage.{package}"])
    parts = ("spark.runs.captured", "spark.facets", "spark.runs.recorded", "airflow.task")
    ours = [f"airflow_provider_spark_lineage.{name}" for name in parts]
    assert _below(loaded, "pyspark", "py4j", *ours) == []


def test_the_table_of_operators_needs_no_airflow(home):
    """Texts of jobs are read by it, also where there is no Airflow."""
    loaded = _loaded(home, ["airflow_provider_spark_lineage.airflow.known_operators"])
    assert _below(loaded, "airflow", "openlineage") == []


RUNS = """
import json, sys
from types import SimpleNamespace
from airflow_provider_spark_lineage.airflow.plugins.auto_capture import SparkLineagePlugin

def ours():
    # Airflow reads the description of every provider.
    names = {name for name in sys.modules if name.startswith("airflow_provider_spark_lineage.")}
    return sorted(names - {"airflow_provider_spark_lineage.get_provider_info"})

at_import = ours()
listeners = SparkLineagePlugin.listeners
for name in ("BashOperator", "@task.bash", "PythonOperator", "PySparkOperator", "SparkSubmitOperator"):
    hook = SimpleNamespace(run_command=lambda command: None)
    task = type("BashOperator" if name == "@task.bash" else name, (), {"subprocess_hook": hook})()
    task.bash_command = None if name == "@task.bash" else "ls"
    instance = SimpleNamespace(task=task, dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
    if sys.argv[1] == "without Spark" and "Spark" in name:
        continue
    for listener in listeners:
        if hasattr(listener, "on_task_instance_running"):
            listener.on_task_instance_running(previous_state=None, task_instance=instance)
        task.bash_command = "ls"
        hook.run_command(command=["bash", "-c", "ls"])
        listener.on_task_instance_success(previous_state=None, task_instance=instance)
print("LOADED" + json.dumps([at_import, ours(), "pyspark" in sys.modules]))
"""
WAITS_FOR_SPARK = {
    *("airflow", "spark"),
    *(
        "spark.capture",
        "spark.guard",
        "airflow.checks",
        "airflow.checks.described_tables",
        "airflow.conf",
        "spark.capture.arrival",
        "spark.capture.imports",
        "spark.capture.replaced",
        "spark.gaps",
        "spark.gaps.kinds",
        "airflow.known_operators",
        "airflow.task",
        "airflow.task.hook_reports",
        "airflow.task.process",
        "airflow.task.selection",
    ),
    *("airflow.launch", "airflow.launch.shell", "airflow.launch.shell.mention", "airflow.launch.table"),
}


@pytest.mark.parametrize(
    ("auto_capture", "tasks", "light"),
    [("", "all", {"airflow"}), ("False", "all", {"airflow"}), ("True", "without Spark", WAITS_FOR_SPARK)],
)
def test_a_task_without_spark_imports_next_to_nothing(home, auto_capture, tasks, light):
    """Every task of Airflow has the plugin; off, nothing is imported but the plugin itself."""
    done = subprocess.run(
        [sys.executable, "-c", RUNS, tasks],
        env={
            **os.environ,
            "AIRFLOW_HOME": home,
            "AIRFLOW__OPENLINEAGE__TRANSPORT": '{"type": "console"}',
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": auto_capture,
            "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE_COMMANDS": "True",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    at_import, after_runs, has_pyspark = json.loads(done.stdout.rpartition("LOADED")[2])
    assert at_import == after_runs
    names = {name.partition(".")[2] for name in at_import if ".plugins" not in name}
    assert names == light
    assert not has_pyspark


VIEWER = """
import json, sys
import airflow.plugins_manager
from airflow.providers.common.compat.sdk import AirflowPlugin, conf

before = set(sys.modules)
from airflow_provider_spark_lineage.airflow.ui.plugin import SparkLineageViewerPlugin
print("LOADED" + json.dumps(sorted(set(sys.modules) - before)))
"""


def test_the_plugin_of_the_viewer_brings_in_nothing(home):
    """Every process of Airflow loads it; only the API server answers requests."""
    done = subprocess.run(
        [sys.executable, "-c", VIEWER],
        env={**os.environ, "AIRFLOW_HOME": home},
        capture_output=True,
        text=True,
        check=True,
    )
    names = ["airflow", *(f"airflow.ui{name}" for name in ("", ".application", ".plugin"))]
    ours = ["airflow_provider_spark_lineage", *(f"airflow_provider_spark_lineage.{name}" for name in names)]
    assert set(json.loads(done.stdout.rpartition("LOADED")[2])) <= set(ours)


def test_the_extractor_of_launchers_brings_in_no_provider_and_no_reader(home):
    """It is loaded in every process of Airflow; the operators that it is for may not even be installed."""
    base = "airflow.providers.openlineage.extractors.base"
    added = _loaded(home, [base, "airflow_provider_spark_lineage.airflow.extractors.launchers"]) - _loaded(
        home, [base]
    )
    assert "airflow_provider_spark_lineage.airflow.extractors.launchers" in added
    parts = ("spark.capture", "spark.facets", "spark.runs", "spark.plan", "airflow.task")
    ours = [f"airflow_provider_spark_lineage.{name}" for name in parts]
    assert _below(added, "airflow", "pyspark", "py4j", "sqlglot", "yaml", *ours) == []
    assert _below(added, "airflow_provider_spark_lineage.airflow.launch") == [
        "airflow_provider_spark_lineage.airflow.launch",
        "airflow_provider_spark_lineage.airflow.launch.table",
    ]


def test_package_alone_needs_neither_airflow_nor_spark(home):
    """`capture_lineage` promises to work in a notebook without Airflow, so the package root imports none."""
    loaded = _loaded(home, ["airflow_provider_spark_lineage"])
    assert _below(loaded, "airflow", "pyspark", "py4j", "openlineage") == []


LAUNCHES = """
import json, sys
from airflow_provider_spark_lineage.airflow.extractors.launchers import launch_of

before = set(sys.modules)
for name in ("BashOperator", "SSHOperator", "_BashDecoratedOperator"):
    for command in ("ls lake/spark-submits | wc -l", None):
        assert launch_of(type(name, (), {"bash_command": command, "command": command})()) is None
print("LOADED" + json.dumps(sorted(set(sys.modules) - before)))
"""


def test_a_command_without_spark_imports_only_its_reader(home):
    """Every task of a shell is asked, and few of them start Spark."""
    done = subprocess.run(
        [sys.executable, "-c", LAUNCHES],
        env={**os.environ, "AIRFLOW_HOME": home},
        capture_output=True,
        text=True,
        check=True,
    )
    ours = [
        f"airflow_provider_spark_lineage.airflow.launch.shell{name}"
        for name in ("", ".mention", ".operators")
    ]
    assert json.loads(done.stdout.rpartition("LOADED")[2]) == ours
