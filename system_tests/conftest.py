"""Fixtures of the system tests: one place for the data, and the harness with settings of the example DAGs."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import representatives
from servers.airflow_workers import worker_processes
from servers.quick_java import quick_java

from airflow_provider_spark_lineage.testing import DagRun
from system_tests.examples import DAGS, EXPECTED, settings_of, variables_of

RunExample = Callable[..., DagRun]
AssertEvents = Callable[[DagRun], None]

os.environ.setdefault("JAVA_TOOL_OPTIONS", quick_java())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs both."""
    own = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in own:
        item.add_marker("airflow")
        item.add_marker("spark")
    representatives.mark(own, whole=False)


@pytest.fixture(scope="session")
def airflow_metadata() -> Path:
    """Airflow's metadata, made once in `.cache`: the harness makes them for each session of pytest."""
    from airflow_runs import metadata

    return metadata()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of the example data, shared by all DAGs; its path has a space in it, as many users' have."""
    return tmp_path_factory.mktemp("example data")


@pytest.fixture
def run_example(
    run_dag: Callable[..., DagRun], airflow_metadata: Path, tmp_path: Path, data: Path
) -> RunExample:
    """Run the DAG of a file in `dags/`, or of another file on the same data.

    With `in_workers`, every task has a process of its own, as in a deployment.
    """

    def run(
        dag: str | Path,
        *,
        settings: Mapping[str, str] | None = None,
        in_workers: bool = False,
        **options: Any,
    ) -> DagRun:
        file = DAGS / f"{dag}.py" if isinstance(dag, str) else dag
        home = tmp_path / "airflow"
        with ExitStack() as stack:
            workers = {}
            if in_workers:
                workers = stack.enter_context(worker_processes(home, airflow_metadata))
            metadata = None if in_workers else airflow_metadata
            settings = {**settings_of(data, home), **workers, **(settings or {})}
            return run_dag(file, home=home, metadata=metadata, settings=settings, **options)

    return run


@pytest.fixture
def assert_events(assert_lineage: Callable[..., object], data: Path) -> AssertEvents:
    """Compare all events of a DAG run with `expected/<dag_id>.yaml`."""

    def check(run: DagRun) -> None:
        assert_lineage(EXPECTED / f"{run.dag_id}.yaml", run, variables=variables_of(data), scope="all")

    return check
