"""Fixtures of the system tests: one Airflow database for all, one place for the data, visible progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from airflow_provider_spark_lineage.events.validation import problems_of
from airflow_provider_spark_lineage.testing import compare, read_events, read_expected
from system_tests.airflow_run import DAGS, DagRun, TaskProgress, migrate, run_dag, tail, variables_of

EXPECTED = Path(__file__).parent / "expected"

RunExample = Callable[..., DagRun]
AssertEvents = Callable[[DagRun], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs both."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker("airflow")
            item.add_marker("spark")


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Airflow's metadata, made once; every DAG run gets a copy."""
    return migrate(tmp_path_factory.mktemp("airflow"))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Root of the example data, shared by all DAGs; its path has a space in it, as many users' have."""
    return tmp_path_factory.mktemp("example data")


@pytest.fixture
def run_example(request: pytest.FixtureRequest, tmp_path: Path, database: Path, data: Path) -> RunExample:
    """Run the DAG of a file in `dags/`, and show its tasks as they finish."""
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")
    capture = request.config.pluginmanager.get_plugin("capturemanager")

    def show(progress: TaskProgress) -> None:
        if terminal is None or capture is None or progress.seconds is None:
            return
        with capture.global_and_fixture_disabled():
            terminal.ensure_newline()
            terminal.write_line(f"  {progress.name}: {progress.state} after {progress.seconds:.1f} s")

    def run(
        dag_id: str,
        *,
        state: str = "success",
        settings: Mapping[str, str] | None = None,
        own_processes: bool = False,
    ) -> DagRun:
        done = run_dag(
            DAGS / f"{dag_id}.py",
            home=tmp_path,
            data=data,
            database=database,
            settings=settings,
            show=show,
            own_processes=own_processes,
        )
        assert done.state == state, f"{dict(done.tasks)}\n{tail(done.log, 100)}"
        return done

    return run


@pytest.fixture
def assert_events(data: Path) -> AssertEvents:
    """Compare all events of a DAG run with `expected/<dag_id>.yaml`, and check them by their schemas."""

    def check(run: DagRun) -> None:
        expected = read_expected(EXPECTED / f"{run.dag_id}.yaml")
        events = read_events(run.events)
        report = compare(expected, events, variables=variables_of(data), scope="all")
        assert report.ok, report.text()
        assert [problem for event in events for problem in problems_of(event.document)] == []

    return check
