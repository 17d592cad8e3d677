"""The pytest plugin: fixtures that run a DAG, collect OpenLineage events and compare them with expected ones.

Pytest loads it in every project of an environment, so it imports only pytest and the standard library; the
first fixture that needs the harness imports it, and only the process that runs a DAG imports Airflow.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyReport
    from airflow_provider_spark_lineage.openlineage.testing import DagRun, Events, Expected, Report

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

UPDATED = "lineage_expected"
"""User property of a test report: result of `--update-expected`; also sent by xdist's workers."""

EvidenceKey = pytest.StashKey[list[Any]]()
"""The runs and paths with events of a test, oldest first."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the fixture `assert_lineage`."""
    group = parser.getgroup("lineage", "OpenLineage events (airflow-provider-spark-lineage)")
    group.addoption(
        "--update-expected",
        action="store_true",
        help="Write or update the expected files given to assert_lineage, then compare.",
    )
    group.addoption(
        "--lineage-var",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        type=_variable,
        help="Value of ${NAME} in expected files; wins over the test's own; repeatable.",
    )


def _variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not _NAME.fullmatch(name):
        raise pytest.UsageError(f"--lineage-var {text}: not NAME=VALUE.")
    return name, value


class OpenLineageEvents:
    """The events of a test: `path`, a file of JSON Lines, and `read()`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Events:
        """The events so far."""
        from airflow_provider_spark_lineage.openlineage.testing import read_events

        return read_events(self.path)


@pytest.fixture
def openlineage_events(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenLineageEvents]:
    """Collect the events that this process emits in the test, with Airflow's provider or the client alone."""
    path = tmp_path / "openlineage.jsonl"
    path.touch()
    request.node.stash.setdefault(EvidenceKey, []).append(path)
    # Not the fixture `monkeypatch`: undoing it here would undo the patches of the test, too.
    with pytest.MonkeyPatch.context() as patches:
        for name in [name for name in os.environ if name.startswith("OPENLINEAGE_")]:
            patches.delenv(name)
        transport = {"type": "file", "log_file_path": str(path), "append": True}
        patches.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", json.dumps(transport))
        patches.setenv("AIRFLOW__OPENLINEAGE__DISABLED", "False")
        patches.delenv("AIRFLOW__OPENLINEAGE__CONFIG_PATH", raising=False)
        # For code that creates a client of its own.
        for name, value in {**transport, "append": "true"}.items():
            patches.setenv(f"OPENLINEAGE__TRANSPORT__{name.upper()}", str(value))
        _forget_settings()
        yield OpenLineageEvents(path)
    _forget_settings()


def _failed(message: str) -> BaseException:
    """A failure with a message that needs no traceback."""
    return pytest.fail.Exception(message, pytrace=False)


@contextmanager
def _mistakes_fail() -> Iterator[None]:
    """Fail the test with the sentence of a mistake of its author."""
    from airflow_provider_spark_lineage.errors import SparkLineageError

    try:
        yield
    except SparkLineageError as error:
        raise _failed(str(error)) from None


def _need_extra() -> None:
    """Fail the test with a sentence if a package of the extra `testing` is missing."""

    from airflow_provider_spark_lineage.errors import extra

    with _mistakes_fail(), extra("testing"):
        import airflow_provider_spark_lineage.testing  # noqa: F401


def _forget_settings() -> None:
    """Clear the caches of Airflow's provider, if it is loaded: its settings and its client."""
    conf = sys.modules.get("airflow.providers.openlineage.conf")
    for function in vars(conf).values() if conf else ():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    listener = sys.modules.get("airflow.providers.openlineage.plugins.listener")
    if listener:
        listener.get_openlineage_listener().adapter._client = None


@pytest.fixture(scope="session")
def airflow_metadata(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Airflow's metadata database, created once; every DAG run gets a copy."""
    _need_extra()
    from airflow_provider_spark_lineage.openlineage.testing import make_metadata

    with _mistakes_fail():
        return make_metadata(tmp_path_factory.mktemp("airflow"))


@pytest.fixture
def run_dag(request: pytest.FixtureRequest, tmp_path: Path, airflow_metadata: Path) -> Callable[..., DagRun]:
    """Run a DAG in Airflow, as `testing.run_dag` does.

    The run must end in the `state` that is given, `"success"` by default; with none, any will do. A relative
    path begins at the folder of the test.
    """
    from airflow_provider_spark_lineage.openlineage import testing

    evidence = request.node.stash.setdefault(EvidenceKey, [])
    runs = 0

    def run(dag: Any, *, state: str | None = "success", home: Path | None = None, **options: Any) -> DagRun:
        nonlocal runs
        runs += 1
        if isinstance(dag, str | Path):
            dag = request.path.parent / dag
        options = {"home": home or tmp_path / f"airflow-{runs}", "metadata": airflow_metadata, **options}
        with _mistakes_fail():
            done = testing.run_dag(dag, **options)
        evidence.append(done)
        if state not in (None, done.state):
            states = ", ".join(f"{task} {state}" for task, state in done.tasks.items())
            raise _failed(
                f"{testing.tail(done.log, 100)}\n\nThe run of `{done.dag_id}` ended as {done.state}, and "
                f"{state} was expected; tasks: {states}.\nThe log is above and in {done.log}, the events are "
                f"in {done.events}."
            )
        return done

    return run


@pytest.fixture
def assert_lineage(request: pytest.FixtureRequest) -> Callable[..., Report]:
    """Compare events with expected ones, as `testing.assert_lineage` does; a failure shows every difference.

    Without `events`, those of the test's last run, or of its `openlineage_events`. A relative path of
    `expected` begins at the folder of the test. `--lineage-var` adds to `variables`, and wins.
    """
    _need_extra()
    from airflow_provider_spark_lineage.openlineage import testing

    evidence = request.node.stash.setdefault(EvidenceKey, [])

    def check(
        expected: Expected | Mapping[str, Any] | Path | str,
        events: Any = None,
        *,
        variables: Mapping[str, str] | None = None,
        without: Collection[str] = (),
        **options: Any,
    ) -> Report:
        events = _events(evidence if events is None else [events], "assert_lineage")
        values = {**(variables or {}), **dict(request.config.getoption("--lineage-var"))}
        with _mistakes_fail():
            if isinstance(expected, str | Path):
                expected = request.path.parent / expected
                if request.config.getoption("--update-expected"):
                    update = _update(expected, events, values, options.get("versions"))
                    request.node.user_properties.append((UPDATED, update))
                elif not expected.exists():
                    raise _failed(
                        f"{expected}: no such file of expected events; --update-expected writes it."
                    )
            return testing.assert_lineage(expected, events, variables=values, without=without, **options)

    return check


@pytest.fixture
def assert_policy(request: pytest.FixtureRequest) -> Callable[..., PolicyReport]:
    """Check a policy against events, as `testing.assert_policy` does; a failure shows each violation.

    Without `events`, those of the test's last run, or of its `openlineage_events`. A relative path begins at
    the folder of the test.
    """
    _need_extra()
    from airflow_provider_spark_lineage import testing

    evidence = request.node.stash.setdefault(EvidenceKey, [])

    def check(policy: Path | str, events: Any = None) -> PolicyReport:
        events = _events(evidence if events is None else [events], "assert_policy")
        with _mistakes_fail():
            return testing.assert_policy(request.path.parent / policy, events)

    return check


def _events(evidence: list[Any], fixture: str) -> Any:
    """Return the last events, or the path of their file; without any, the test fails."""
    if not evidence:
        raise _failed(
            f"{fixture} has no events: run a DAG with the fixture run_dag, use the fixture"
            " openlineage_events, or pass `events=`."
        )
    return getattr(evidence[-1], "path", evidence[-1])


def _update(path: Path, events: Any, variables: Mapping[str, str], versions: Mapping[str, str] | None) -> str:
    from airflow_provider_spark_lineage.airflow.draft_rules import RULES
    from airflow_provider_spark_lineage.openlineage.testing import update_expected
    from airflow_provider_spark_lineage.openlineage.testing.comparison import events_of

    done = update_expected(path, events_of(events), variables=variables, versions=versions, rules=RULES)
    return done.text()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the differences instead of the traceback, which is inside the harness."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    # Not by type: that would import the harness in every test that fails.
    if type(error).__name__ == "LineageDiffersError" and call.excinfo:
        inside = [entry.lineno + 1 for entry in call.excinfo.traceback if Path(entry.path) == item.path]
        shown: Any = _Differences(error, f"{item.location[0]}:{inside[-1] if inside else ''}")
        report.longrepr = shown
    return report


class _Differences:
    """The differences in pytest's output, coloured on a terminal."""

    def __init__(self, error: Any, place: str) -> None:
        self.lines = error.lines
        self.place = place
        self.reprcrash = SimpleNamespace(message=error.report.summary)  # For the short summary.

    def toterminal(self, writer: Any) -> None:
        for line in self.lines:
            writer.line(line.text, **dict.fromkeys(line.style.split(), True))
        writer.line("")
        writer.line(f"{self.place}: lineage differs")

    def __str__(self) -> str:
        return "\n".join([*(line.text for line in self.lines), "", f"{self.place}: lineage differs"])


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print what `--update-expected` wrote."""
    texts = [
        text
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, text in report.user_properties
        if name == UPDATED
    ]
    if texts:
        terminalreporter.section("expected lineage")
        terminalreporter.write_line("\n".join(texts))
