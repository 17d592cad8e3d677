"""Checks on Spark by Airflow's six operators: known situations, in a session of the task and on a server."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest
from airflow_runs import run_dag
from openlineage_client import needs_fields_of_results
from servers.connect import connect

from airflow_provider_spark_lineage.testing import tail

HOLDS = "all truthy"
NAMES = ("Ann", "Bob")
"""Texts of the first two rows, which the log shows."""

SITUATIONS = {
    # task: state, results (assertion, column, success, expected, actual, problem)
    "keys": (
        "failed",
        [
            ("not_null", "id", False, "0", "1", None),
            ("unique", "id", False, "0", "1", None),
            ("min", "id", True, ">=1", "1", None),
            ("max", "id", True, "<=2", "2", None),
        ],
    ),
    "range": ("failed", [("min", "id", False, ">=2", "1", None), ("max", "id", True, "<=3", "2", None)]),
    "tolerance": ("success", [("min", "a", True, ">=-33.0, <=-27.0", "-30", None)]),
    "no_column": (
        "failed",
        [("min", "age", False, ">=0", None, "UNRESOLVED_COLUMN"), ("max", "id", True, "<=2", "2", None)],
    ),
    "text": (
        "failed",
        [("matches", "name", False, "0", "1", None), ("min", "name", True, ">=A", None, None)],
    ),
    "samples": (
        "failed",
        [
            ("accepted_values", "name", False, "0", "4", None),
            ("matches", "name", False, "0", "4", None),
            ("not_null", "name", True, "0", "0", None),
            ("max", "name", True, "<=planted-literal", None, None),
        ],
    ),
    "row_samples": (
        "failed",
        [
            ("like", None, False, "0", "4", None),
            ("cast", None, False, "0", None, "CAST_INVALID_INPUT"),
            ("top", None, True, "!='planted-literal'", None, None),
        ],
    ),
    "warned": ("success", [("min", "id", False, ">=2", "1", None), ("max", "id", True, "<=2", "2", None)]),
    "empty": (
        "success",
        [("not_null", "id", True, "0", "0", None), ("max", "id", True, "<=5", None, None)],
    ),
    "empty_rows": ("failed", [("positive", None, False, "0", "0 rows", None)]),
    "null_row": ("failed", [("positive", None, False, "0", "1", None)]),
    "zero_division": (
        "failed",
        [("ratio", None, False, HOLDS, None, "DIVIDE_BY_ZERO"), ("many", None, True, "3", "3", None)],
    ),
    "shares": ("success", [("accepted_values", "a", True, ">=0.6", "0.666666", None)]),
    "named": (
        "failed",
        [
            ("again", None, False, "0", "1", None),
            ("most", None, True, ">=0.5", "0.5", None),
            ("key", None, True, "0", "0", None),
        ],
    ),
    "shape": (
        "failed",
        [
            ("shape", None, False, "id int; name date; age int", "name: string; age: absent", None),
            ("shape", "name", False, "date", "string", None),
            ("shape", "age", False, "int", "absent", None),
        ],
    ),
    "escape": ("failed", [("union", None, False, "0", None, "PARSE_SYNTAX_ERROR")]),
    "clauses": ("success", [("low", None, True, "1", "1", None)]),
    "sql": ("success", [("sql", None, True, HOLDS, "(3, 2)", None)]),
    "name": ("failed", [("name", None, False, "A", None, None)]),
    "value": ("success", [("value", None, False, "4", "(3,)", None)]),
    "threshold": ("failed", [("threshold", None, False, ">=5.0, <=9.0", "2", None)]),
    "null_threshold": ("failed", [("null_threshold", None, False, ">=5.0, <=9", "NULL", None)]),
    "null_limit": ("success", [("null_limit", None, False, None, "2", None)]),
    "null_interval": (
        "success",
        [
            ("interval_MAX(nullif(a, 2))", None, False, "<4", "NULL", None),
            ("interval_COUNT(*)", None, True, "<3", "0", None),
        ],
    ),
    "not_a_number": (
        "failed",
        [("max", "r", False, "<=1", "nan", None), ("min", "r", True, ">=0", "0.5", None)],
    ),
    "nan_threshold": ("success", [("nan_threshold", None, False, ">=0.0, <=1.0", "nan", None)]),
    "interval": ("success", [("interval_COUNT(*)", None, True, "<3", "0", None)]),
}

TEXTS = (">=A", "A", "<=planted-literal")
"""Limits that are texts."""

COMPARISONS = ("top", "many", "low")
"""Statements that compare an aggregate: what they compare it with is a part of them."""

DATASETS = {
    "shares": "numbers",
    "tolerance": "numbers",
    "zero_division": "numbers",
    "clauses": "numbers",
    "sql": "numbers",
} | {
    "value": "numbers",
    "threshold": "numbers",
    "interval": "numbers",
    "null_threshold": "numbers",
    "null_limit": "numbers",
    "null_interval": "numbers",
    "not_a_number": "ratios",
    "nan_threshold": "ratios",
    "empty": "empty",
    "empty_rows": "empty",
}
"""Task -> the dataset that it checks, if it is not `people`."""


@needs_fields_of_results
@pytest.mark.spark
@pytest.mark.airflow
@pytest.mark.parametrize("where", ["session", "connect"])
def test_results_stand_at_the_dataset_whatever_becomes_of_the_task(tmp_path, where):
    """A mistake in one check takes no result from the others, and a table that is missing gets no result.

    No event has a text of a row, also if the log shows rows: with `sql_text = full`, Spark's errors may quote
    one. With `masked`, no event has a literal of a check.
    """
    settings = {"CHECKS_HOME": str(tmp_path)}
    is_masked = where == "session"
    if is_masked:
        run = _run(tmp_path, {**settings, "AIRFLOW__SPARK_LINEAGE__SQL_TEXT": "masked"})
    else:
        with connect(tmp_path) as url:
            host, _, port = url.rpartition(":")
            server = {"conn_type": "spark_connect", "host": host, "port": int(port)}
            settings |= {"AIRFLOW_CONN_SERVER": json.dumps(server), "CHECKS_CONNECTION": "server"}
            run = _run(tmp_path, settings)
    states = {task: state for task, (state, _) in SITUATIONS.items()}
    others = {"make": "success", "no_table": "failed", "frames": "failed", "fresh": "failed"}
    assert run.tasks == {**states, **others}, tail(run.log, 80)
    ends = {
        event.name.partition(".")[2]: event.document
        for event in run.read().items
        if event.type in ("complete", "fail")
        and "taskInstance" in event.document["run"]["facets"].get("airflow", {})
    }
    ages = {each["column"] for each in _fresh(ends.pop("fresh"))}
    assert ages == {"ds"}
    found = {task: _results(document) for task, document in ends.items()}
    assert found == {
        "make": {},
        "no_table": {},
        "frames": {},
        **{
            task: {DATASETS.get(task, "people"): [_masked(each) if is_masked else each for each in results]}
            for task, (_, results) in SITUATIONS.items()
        },
    }
    missing = ends["no_table"]["run"]["facets"]
    assert [(test["name"], test["status"]) for test in missing["test"]["tests"]] == [("many", "skip")]
    assert "TABLE_OR_VIEW_NOT_FOUND" in missing["errorMessage"]["message"]
    tests = _facets(ends["frames"])["test"]["tests"]
    ages = [test for test in tests if test["name"].endswith("freshness")]
    assert {(test["status"], test["params"]["against"]) for test in ages} == {("pass", "data_interval_end")}
    tests = [test for test in tests if test not in ages]
    assert [(test["name"], test["status"], test.get("actual")) for test in tests] == [
        ("all.id.max", "fail", "2"),
        ("first.many", "fail", "1"),
        ("all.many", "pass", "4"),
        ("first.id.max", "pass", "1"),
    ]
    at_runs = {task for task, document in ends.items() if "test" in _facets(document)}
    assert at_runs == {"no_table", "frames", "named"}
    [skipped] = _facets(ends["named"])["test"]["tests"]
    assert (skipped["name"], skipped["status"], skipped["params"]["absent"]) == ("gone", "skip", "age")
    assert "name: string; age: absent" in ends["shape"]["run"]["facets"]["errorMessage"]["message"]
    assert "Check gone is skipped: age is absent" in run.log.read_text()
    metrics = ends["keys"]["inputs"][0]["inputFacets"]["dataQualityMetrics"]
    assert metrics["rowCount"] == 4
    assert metrics["columnMetrics"] == {
        "id": {"nullCount": 1, "count": 3, "distinctCount": 2, "min": 1.0, "max": 2.0}
    }
    # Also Airflow's facet with the operator's arguments, where the results of the checks are.
    for line in run.events.read_text().splitlines():
        json.loads(line, parse_constant=_refuse)
    assert "The following" not in str(ends["null_threshold"]["run"]["facets"]["errorMessage"])
    assert "null_threshold: the value is NULL" in str(ends["null_threshold"]["run"]["facets"]["errorMessage"])
    # The child runs of the checks' own queries say nothing of the results.
    assert _bytes(run).count(b'"dataQualityAssertions"') == 2 * (len(SITUATIONS) + 1)
    assert {name for name in NAMES if name in run.log.read_text()} == set(NAMES), "no row was sampled"
    of_spark = () if is_masked else ("sparkLineage_failures", "errorMessage")
    events = _without(run, *of_spark)
    assert not [name for name in NAMES if name in events]
    # Airflow repeats exceptions and the dictionaries of checks.
    assert ("planted-literal" in _without(run, "airflow", "errorMessage")) == (not is_masked)


def _fresh(document):
    """Return the failed results of the ages of values, against the end of the run's interval."""
    [dataset] = document["inputs"]
    results = dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
    assert {each["assertion"] for each in results} == {"freshness", "freshness(current_timestamp())"}
    for each in results:
        assert each["params"]["against"] == "data_interval_end"
        assert each["expected"] == "<=24 hours"
    return [each for each in results if not each["success"]]


def _refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


def _masked(result):
    assertion, column, success, expected, *others = result
    is_hidden = expected in TEXTS or (assertion in COMPARISONS and expected != HOLDS)
    return (assertion, column, success, None if is_hidden else expected, *others)


def _without(run, *names):
    """Return the events as a text, without these run facets."""
    events = [json.loads(line) for line in run.events.read_text().splitlines()]
    for event in events:
        for name in names:
            event["run"]["facets"].pop(name, None)
    return json.dumps(events)


def _run(folder, settings):
    # Many tasks, each with a session: minutes on a quiet machine.
    dag = Path(__file__).parent / "dags" / "checks.py"
    return run_dag(dag, home=folder / "airflow", settings=settings, timeout_s=3000)


def _facets(document):
    return document["run"]["facets"]


def _bytes(run):
    return run.events.read_bytes()


def _results(document):
    """Return the assertions of each dataset of an event; they are the same in both kinds of its facets."""
    results = {}
    for dataset in (*document["inputs"], *document["outputs"]):
        facet = dataset["facets"].get("dataQualityAssertions")
        assert dataset.get("inputFacets", {}).get("dataQualityAssertions") == facet
        if facet is not None:
            results[dataset["name"].rpartition("/")[2]] = [
                (
                    entry["assertion"],
                    entry.get("column"),
                    entry["success"],
                    entry.get("expected"),
                    entry.get("actual"),
                    entry["params"].get("not_evaluated"),
                )
                for entry in facet["assertions"]
            ]
    return results


@pytest.mark.airflow
@pytest.mark.parametrize("kind", ["Column", "Table", "", "Value", "Threshold", "Interval"])
def test_a_changed_import_line_moves_a_dag(kind):
    """All arguments and templates of Airflow's operator are there, and default arguments reach it."""
    from airflow.providers.common.sql.operators import sql

    from airflow_provider_spark_lineage.operators import checks

    given = {
        "Column": {"table": "t", "column_mapping": {"a": {"min": {"geq_to": 1}}}},
        "Table": {"table": "t", "checks": {"many": {"check_statement": "count(*) > 1"}}},
        "": {"sql": "SELECT 1"},
        "Value": {"sql": "SELECT 1", "pass_value": 1},
        "Threshold": {"sql": "SELECT 1", "min_threshold": 1, "max_threshold": 2},
        "Interval": {"table": "t", "metrics_thresholds": {"count(*)": 2}},
    }[kind]
    ours, theirs = getattr(checks, f"Spark{kind}CheckOperator"), getattr(sql, f"SQL{kind}CheckOperator")
    assert issubclass(ours, theirs)
    assert set(theirs.template_fields) <= set(ours.template_fields)
    task = ours(task_id="check", default_args={"conn_id": "spark", "severity": "warn"}, **given)
    assert (task.conn_id, task.severity) == ("spark", "warn")
    added = {"path", "format", "query", "samples"} if kind in ("Column", "Table") else set()
    ours_only = set(inspect.signature(ours.__init__).parameters) - {"self", "kwargs"}
    assert ours_only - set(inspect.signature(theirs.__init__).parameters) == {
        *added,
        "severity",
        "config_kwargs",
    }
    mapped = ours.partial(task_id="many", conn_id="spark", config_kwargs={"a": "b"})
    assert mapped.expand(**{name: [value] for name, value in given.items()})


@pytest.mark.airflow
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "check: give one of table, path and query: what shall be checked?"),
        ({"table": "t", "query": "SELECT 1"}, "check: give one of table, path and query"),
        ({"path": "/data"}, "check: path and format belong together, for example format='parquet'."),
        ({"table": "t", "severity": "low"}, "check: severity is 'low'; it must be 'error' or 'warn'."),
        ({"table": "t", "samples": 1000}, "check: samples must be a number from 0 to 20."),
    ],
)
def test_a_mistake_in_the_arguments_is_one_sentence(arguments, sentence):
    """When the DAG is parsed."""
    from airflow_provider_spark_lineage.operators.checks import SparkColumnCheckOperator

    with pytest.raises(ValueError, match=f"^{sentence.partition('?')[0]}"):
        SparkColumnCheckOperator(task_id="check", column_mapping={"a": {"min": {"geq_to": 1}}}, **arguments)
