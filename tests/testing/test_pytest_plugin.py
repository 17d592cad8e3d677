"""The pytest plugin, seen from outside: suites go in; report, exit code and files come out."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

# After each inner run pytester forgets its imports, but packages keep their old modules as attributes:
# modules imported here before it stay the same objects.
import airflow_provider_spark_lineage.openlineage.testing  # noqa: F401

pytest_plugins = ["pytester"]

PLUGIN = "airflow_provider_spark_lineage.pytest_plugin"
INSTALLED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))

EVENT = {
    "eventType": "COMPLETE",
    "eventTime": "2024-05-01T10:00:00Z",
    "producer": "https://example.com/tests",
    "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    "run": {"runId": "018f3a5e-7d2b-7c43-8f6a-000000000001"},
    "job": {"namespace": "shop", "name": "shop.totals"},
    "inputs": [{"namespace": "file", "name": "/in/orders"}],
    "outputs": [],
}
SUITE = f"""
import json
EVENT = {EVENT!r}
"""
EMITTED = f"""{SUITE}
def emit(openlineage_events, **changes):
    with openlineage_events.path.open("a") as out:
        out.write(json.dumps({{**EVENT, **changes}}) + "\\n")
"""
EXPECTED = "shop.totals.event.complete:\n  inputs: [{namespace: file, name: '${PLACE}/orders'}]\n"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a test module with the plugin."""
    # Pytest cuts the lines of its summary.
    monkeypatch.setenv("COLUMNS", "200")

    def run(text: str, *options: str, expected: str | None = EXPECTED) -> pytest.RunResult:
        pytester.makepyfile(EMITTED + text)
        if expected is not None:
            pytester.path.joinpath("shop.yaml").write_text(expected)
        plugin = [] if INSTALLED else ["-p", PLUGIN]
        return pytester.runpytest_inprocess(*plugin, "-p", "no:cacheprovider", *options)

    return run


GOOD = """
def test_lineage(openlineage_events, assert_lineage):
    emit(openlineage_events)
    assert_lineage("shop.yaml", variables={"PLACE": "/in"}, without=["start_first"])
"""


def test_expected_events_pass(suite: Run) -> None:
    """Events as expected make the test pass, and the exit code is 0."""
    done = suite(GOOD)
    done.assert_outcomes(passed=1)
    assert done.ret == 0


def test_a_difference_is_shown_in_place_of_a_traceback(suite: Run) -> None:
    """Path, expected beside actual, where the events are kept and which line asked; no traceback."""
    done = suite(GOOD, "--lineage-var", "PLACE=/elsewhere")
    assert done.ret == 1
    done.stdout.fnmatch_lines(
        [
            "changed     shop.totals.event.complete*",
            "*expected  *elsewhere/orders*",
            "*actual    *in/orders*",
            "0 events match, 1 differs",
            "kept: events in */openlineage.jsonl",
            "*.py:*: lineage differs",
            "FAILED *test_lineage - 0 events match, 1 differs",
        ]
    )
    done.stdout.no_fnmatch_line("*asserting.py*")
    done.stdout.no_fnmatch_line("*\x1b*")


def test_kept_events_are_there_after_the_run(suite: Run) -> None:
    """The place that the message names can be read when the suite has ended."""
    done = suite(GOOD, "--lineage-var", "PLACE=/elsewhere")
    [place] = [line.removeprefix("kept: events in ") for line in done.outlines if "kept: " in line]
    assert json.loads(Path(place).read_text())["job"]["name"] == "shop.totals"


def test_a_terminal_gets_colour(suite: Run) -> None:
    """Emitted values are red, expected ones green."""
    out = suite(GOOD, "--color=yes", "--lineage-var", "PLACE=/elsewhere").stdout.str()
    assert "\x1b[31m    actual" in out
    assert "\x1b[32m    expected" in out


def test_junit_gets_the_differences_as_plain_text(suite: Run, pytester: pytest.Pytester) -> None:
    """CI shows the report of a failure, with no escapes of a terminal."""
    suite(GOOD, "--color=yes", "--junitxml=out.xml", "--lineage-var", "PLACE=/elsewhere")
    [failure] = ET.parse(pytester.path / "out.xml").iter("failure")  # noqa: S314
    assert "changed     shop.totals.event.complete" in (failure.text or "")
    assert "x1B" not in (failure.text or "")


def test_workers_of_xdist_send_the_differences(suite: Run) -> None:
    """The report is the same when tests run in parallel."""
    done = suite(GOOD, "-n", "1", "--lineage-var", "PLACE=/elsewhere")
    assert done.ret == 1
    done.stdout.fnmatch_lines(["changed     shop.totals.event.complete*", "*: lineage differs"])


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    assert_lineage('shop.yaml')", "missing     shop.totals.event.complete*"),
        ("    assert_lineage('shop.yaml')", "No events at all. Likely causes:"),
        (
            "    emit(openlineage_events)\n"
            "    emit(openlineage_events, job={'namespace': 'n', 'name': 'b.t'})\n"
            "    assert_lineage('shop.yaml', scope='all')",
            "unexpected  b.t.event.complete*",
        ),
        ("    assert_lineage('none.yaml')", "*none.yaml: no such file*--update-expected writes it."),
        ("    emit(openlineage_events)\n    assert_lineage({'a.b': {}})", "*`a.b`*"),
        (
            "    openlineage_events.path.write_text('{torn')\n    assert_lineage('shop.yaml')",
            "unreadable  *openlineage.jsonl, line 1: *",
        ),
    ],
)
def test_wrong_suites_fail_and_say_why(suite: Run, body: str, line: str) -> None:
    """Missing, unexpected, nothing at all, no file, a wrong key, a torn file: each fails with its reason."""
    done = suite(
        f"def test_lineage(openlineage_events, assert_lineage):\n{body}\n", "--lineage-var", "PLACE=/in"
    )
    assert done.ret == 1
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([line])


def test_comparing_without_events_names_the_cure(suite: Run) -> None:
    """A test that asks for a comparison of nothing cannot pass."""
    done = suite("def test_lineage(assert_lineage):\n    assert_lineage('shop.yaml')\n")
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*assert_lineage has no events: run a DAG with the fixture run_dag*"])


def test_a_wrong_variable_is_a_usage_error(suite: Run) -> None:
    """`--lineage-var` without a value stops the run before the first test."""
    done = suite(GOOD, "--lineage-var", "PLACE")
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*--lineage-var PLACE: not NAME=VALUE."])


def test_the_environment_is_as_it_was_afterwards(suite: Run) -> None:
    """In the test the settings of provider and client lead to the file, afterwards none does."""
    text = """
import os
def test_inside(openlineage_events, monkeypatch):
    transport = json.loads(os.environ["AIRFLOW__OPENLINEAGE__TRANSPORT"])
    assert transport["log_file_path"] == str(openlineage_events.path)
    assert "OPENLINEAGE_URL" not in os.environ
    from openlineage.client import OpenLineageClient
    assert OpenLineageClient().transport.kind == "file"

def test_outside():
    assert os.environ["OPENLINEAGE_URL"] == "http://127.0.0.1:1"
    assert not [name for name in os.environ if name.startswith(("AIRFLOW__", "OPENLINEAGE__"))]
"""
    done = suite("import os\nos.environ['OPENLINEAGE_URL'] = 'http://127.0.0.1:1'\n" + text)
    done.assert_outcomes(passed=2)


def test_patches_of_the_test_outlive_the_fixture(suite: Run) -> None:
    """A test's patches are undone by its own `monkeypatch`, after the fixtures that need the patch."""
    text = """
import os, pytest

@pytest.fixture
def needs_patch(monkeypatch):
    monkeypatch.setenv("SHOP", "open")
    yield
    assert os.environ["SHOP"] == "open"

def test_patched(needs_patch, openlineage_events, monkeypatch):
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__NAMESPACE", "mine")

def test_outside():
    assert not [name for name in os.environ if name.startswith(("AIRFLOW__", "OPENLINEAGE__", "SHOP"))]
"""
    suite(text).assert_outcomes(passed=2)


LOADED = f"""
import json, pytest, sys
before = set(sys.modules)
import {PLUGIN}
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_unused_it_costs_nothing() -> None:
    """Pytest loads it in every project of the environment: it brings in nothing else."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, check=True)
    loaded = json.loads(done.stdout)
    assert loaded == ["airflow_provider_spark_lineage", PLUGIN]


RUNS = """
import pytest
from pathlib import Path

def test_object_inside_a_function(run_dag):
    class Dag:
        fileloc, dag_id = __file__, "hidden"
    run_dag(Dag())

def test_not_called(run_dag):
    def my_dag(): ...
    run_dag(my_dag)

def test_no_file(run_dag):
    run_dag("/nowhere/dag.py")
"""


def test_a_dag_that_cannot_run_is_refused_with_the_cure(suite: Run) -> None:
    """One sentence, and no traceback, for each mistake that can be seen before Airflow starts."""
    stub = "\n@pytest.fixture(scope='session')\ndef airflow_metadata(tmp_path_factory):\n    return None\n"
    done = suite(RUNS + stub, "-k", "not object")
    done.assert_outcomes(failed=2, deselected=1)
    done.stdout.fnmatch_lines_random(
        [
            "run_dag: <function *my_dag*> is not a DAG; pass a DAG or the path of its file.",
            "/nowhere/dag.py: no such DAG file.",
        ]
    )


def test_expected_files_are_written_and_kept(suite: Run, pytester: pytest.Pytester) -> None:
    """`--update-expected` lists its changes; the next run passes without it, and another changes nothing."""
    options = ("--lineage-var", "PLACE=/in")
    text = GOOD.replace("shop.yaml", "new.yaml")
    done = suite(text, "--update-expected", *options)
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(
        ["*= expected lineage =*", "added  *shop.totals.event.complete", "*new.yaml: written*"]
    )
    written = pytester.path.joinpath("new.yaml").read_text()
    assert "${PLACE}/orders" in written
    assert suite(text, *options).ret == 0
    suite(text, "--update-expected", *options).stdout.fnmatch_lines(["*new.yaml: unchanged"])
    assert pytester.path.joinpath("new.yaml").read_text() == written


def test_workers_of_xdist_report_written_files(suite: Run) -> None:
    """The summary is the controller's, the files are the workers' work."""
    done = suite(GOOD.replace("shop.yaml", "new.yaml"), "--update-expected", "-n", "1")
    done.stdout.fnmatch_lines(["*new.yaml: written*"])
