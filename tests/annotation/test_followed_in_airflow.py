"""Assets and annotations in real Airflow and real Spark, as its database and the events show them."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import airflow_runs
import pytest
from packaging.version import Version
from providers import AIRFLOW, OPENLINEAGE
from servers.airflow_workers import worker_processes

from airflow_provider_spark_lineage.testing import DagRun, tail

pytestmark = [pytest.mark.airflow, pytest.mark.spark]

DAG = Path(__file__).parent / "dags" / "followed.py"
IN_EACH_WAY = pytest.mark.parametrize("ran", ["dag.test", "workers", "off"], indirect=True)
WITH_ASSETS = pytest.mark.parametrize("ran", ["dag.test", "workers"], indirect=True)
WITHOUT_ASSETS = pytest.mark.parametrize("ran", ["off"], indirect=True)
WRITTEN = {"ours": ["known by name", "ours"], **{name: [name] for name in ("function", "unmodified", "tidy")}}


def with_all_dags(home: Path, settings: dict[str, str]) -> Path:
    """Return a metadata database that knows the followers of the DAG, as a scheduler's does."""
    home.mkdir()
    shutil.copyfile(airflow_runs.metadata(), home / "airflow.db")
    variables = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAG),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__DAG_DISCOVERY_SAFE_MODE": "False",
    }
    command = [sys.executable, "-m", "airflow", "dags", "reserialize"]
    done = subprocess.run(
        command, env={**os.environ, **variables, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return home / "airflow.db"


class Ran:
    """A run of the DAG: its events, and Airflow's database after it."""

    def __init__(self, home: Path, run: DagRun) -> None:
        self.home = home
        self.run = run
        self._database = sqlite3.connect(home / "airflow" / "airflow.db")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self._database.execute(query).fetchall()

    def end_of(self, task: str) -> dict[str, Any]:
        [end] = [
            event.document
            for event in self.run.read().items
            if event.name == f"followed.{task}" and event.type in ("complete", "fail")
        ]
        return end


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    if request.param == "workers" and Version("3.1") > AIRFLOW:
        pytest.skip("`dag.test()` of Airflow 3.0 fails tasks whose worker has ended")
    home = tmp_path_factory.mktemp("followed")
    settings = {
        "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[1]"}),
        "AIRFLOW__SPARK_LINEAGE__ASSET_EVENTS": str(request.param != "off"),
        "AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE": "True",
        "FOLLOWED_HOME": str(home),
    }
    metadata: Path | None = with_all_dags(home / "metadata", settings)
    options: dict[str, Any] = {"home": home / "airflow", "dag_id": "followed"}
    if request.param == "workers":
        with worker_processes(home / "airflow", metadata) as workers:
            run = airflow_runs.run_dag(DAG, settings={**settings, **workers}, metadata=None, **options)
    else:
        run = airflow_runs.run_dag(DAG, settings=settings, metadata=metadata, **options)
    states = {task: state for task, state in run.tasks.items() if state != "success"}
    assert states == {"fails": "failed"}, tail(run.log, 80)
    return Ran(home, run)


@WITH_ASSETS
def test_each_write_of_a_successful_task_is_one_event_of_its_asset(ran: Ran) -> None:
    """By our operators and by Airflow's own; a declared asset has Airflow's event, and no second one."""
    query = "select source_task_id, uri, name, e.extra from asset_event e join asset a on a.id = asset_id"
    rows = ran.rows(query)
    prefix = f"file://{ran.home}/"
    names: dict[str, list[str]] = {}
    for task, uri, _, _ in rows:
        names.setdefault(task, []).append(uri.removeprefix(prefix))
    assert {task: sorted(uris) for task, uris in names.items()} == {
        **WRITTEN,
        "declares": ["declared", "resolved", "unseen"],
    }
    extras = {uri.removeprefix(prefix): json.loads(extra) for _, uri, _, extra in rows}
    for name in ("declared", "ours", "tidy"):
        fields = {key: extras[name][key] for key in ("namespace", "name", "rows", "mode")}
        assert fields == {"namespace": "file", "name": f"{ran.home}/{name}", "rows": 3, "mode": "overwrite"}
    assert extras["unseen"] == {}
    known = {name for _, uri, name, _ in rows if uri.endswith("known by name")}
    assert known == {"known"}


@IN_EACH_WAY
def test_dags_scheduled_on_written_datasets_are_ready(ran: Ran, request) -> None:
    """By the URI, by a name that only they know, and by the alias of the task; not after a failed task."""
    queued = {dag for (dag,) in ran.rows("select target_dag_id from asset_dag_run_queue")}
    assert queued == (set() if "off" in request.node.name else {"by_uri", "by_name", "by_alias"})


@WITHOUT_ASSETS
def test_without_the_option_airflow_has_what_the_task_declares(ran: Ran) -> None:
    """Nothing of ours is in the database."""
    assert {task for (task,) in ran.rows("select source_task_id from asset_event")} == {"declares"}
    assert {alias for (alias,) in ran.rows("select name from asset_alias")} == {"theirs", "followed.tidy"}


@IN_EACH_WAY
def test_an_operators_own_work_after_the_task_is_done(ran: Ran) -> None:
    """`post_execute` of a company's operator runs, also if assets use the same moment."""
    assert (ran.home / "tidied").exists()


@IN_EACH_WAY
def test_stated_datasets_and_those_of_hooks_are_in_the_event(ran: Ran) -> None:
    """In a deployment's own process, too; our assets do not repeat the datasets of Spark."""

    def stated(datasets: list[dict[str, Any]]) -> dict[str, str | None]:
        return {each["name"]: each["facets"].get("sparkLineage_stated", {}).get("by") for each in datasets}

    end, home = ran.end_of("declares"), str(ran.home)
    assert stated(end["inputs"]) == {"/rates": "inlets", "/hooked": None}
    written = {f"{home}/declared": None, f"{home}/unseen": "outlets"}
    if Version("2.16") <= OPENLINEAGE:  # It reports the asset that the task's code gave to an alias.
        written[f"{home}/resolved"] = "outlets"
    assert stated(end["outputs"]) == written
    [declared] = [each for each in end["outputs"] if each["name"] == f"{home}/declared"]
    assert declared["outputFacets"]["outputStatistics"]["rowCount"] == 3
    for task in ("ours", "function", "unmodified", "tidy"):
        names = {each["name"].removeprefix(f"{home}/") for each in ran.end_of(task)["outputs"]}
        assert names >= set(WRITTEN[task]), task
        assert not any("sparkLineage_stated" in each["facets"] for each in ran.end_of(task)["outputs"]), task
