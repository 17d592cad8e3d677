"""Airflow's own check operators, on SQLite behind a real hook: their report stays, and gets what it lacks."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from openlineage_client import needs_fields_of_results

pytestmark = [pytest.mark.airflow, needs_fields_of_results]

ROWS = [(1, 10, "Smith", "2026-01-08"), (2, -30, "Jones", "2026-01-08"), (2, None, "Brown", "2026-01-01")]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        for table in ("orders", "empty"):
            connection.execute(f"CREATE TABLE {table} (id INT, amount INT, name TEXT, ds TEXT)")
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", ROWS)
    connection.close()
    return path


@pytest.fixture
def make(database: Path) -> Callable[..., Any]:
    """Make an operator of Airflow by its class name, with a hook of this database."""
    from airflow.providers.common.sql.hooks.sql import DbApiHook
    from airflow.providers.common.sql.operators import sql
    from airflow.sdk import Connection

    class Lite(DbApiHook):
        conn_name_attr = "lite_conn_id"
        conn_type = "sqlite"
        host = "here"
        has_names = True

        @classmethod
        def get_connection(cls, conn_id: str) -> Any:
            return Connection(conn_id=conn_id, conn_type=cls.conn_type, host=cls.host)

        def get_conn(self) -> Any:
            return sqlite3.connect(database)

        def get_sqlalchemy_engine(self, engine_kwargs: Any = None) -> None:
            return None

        def get_openlineage_database_info(self, connection: Any) -> Any:
            from airflow.providers.openlineage.sqlparser import DatabaseInfo

            return DatabaseInfo(scheme="sqlite", authority="shop") if self.has_names else None

        def get_openlineage_default_schema(self) -> str:
            return "main"

    def operator(name: str, *, conn_type: str = "sqlite", **arguments: Any) -> Any:
        task = getattr(sql, name)(task_id="check", **arguments)
        hook = Lite("lite")
        Lite.conn_type, Lite.has_names = conn_type, conn_type == "sqlite"
        vars(task)["_hook"] = hook
        return task

    return operator


@pytest.fixture
def reports() -> None:
    """Skip a test of what operators report themselves, which they do since common-sql 2."""
    from airflow.providers.common.sql.operators import sql

    if not hasattr(sql, "SQLCheckResult"):
        pytest.skip("this common-sql reports no results")


def report(operator: Any, extractor: Any = None) -> tuple[Any, BaseException | None]:
    """Run an operator; return what the extractor says at its end, and the operator's exception."""
    from airflow_provider_spark_lineage.extractors.checks import SqlCheckExtractor

    try:
        operator.execute({})
    except Exception as error:
        raised: BaseException | None = error
    else:
        raised = None
    method = "extract_on_failure" if raised else "extract_on_complete"
    asked = (extractor or SqlCheckExtractor)(operator)
    return getattr(asked, method)(SimpleNamespace(task=operator, state=None)), raised


def assertions(lineage: Any) -> dict[tuple[str | None, str], Any]:
    """The assertions of the only input, which are the same in both places, by column and name."""
    [read] = lineage.inputs
    facet = read.inputFacets["dataQualityAssertions"]
    assert facet == read.facets["dataQualityAssertions"]
    found = {(each.column, each.assertion): each for each in facet.assertions}
    assert len(found) == len(facet.assertions)
    return found


def verdicts(lineage: Any) -> dict[tuple[str | None, str], bool]:
    return {key: each.success for key, each in assertions(lineage).items()}


def at_run(lineage: Any) -> dict[str, Any]:
    facet = lineage.run_facets.get("test")
    return {each.name: each for each in facet.tests} if facet else {}


def text(lineage: Any) -> str:
    from openlineage.client.serde import Serde

    parts = (lineage.inputs, lineage.outputs, lineage.run_facets)
    return json.dumps(
        [Serde.to_dict(part) if not isinstance(part, list) else str(part) for part in parts], default=str
    )


def columns() -> dict[str, dict[str, dict[str, Any]]]:
    """Checks of two columns; the operator writes results into them."""
    return {
        "id": {
            "null_check": {"equal_to": 0},
            "unique_check": {"equal_to": 0},
            "min": {"geq_to": 2},
            "max": {"leq_to": 3},
        },
        "amount": {"min": {"equal_to": -30, "tolerance": 0.1}},
    }


def test_each_check_of_a_column_is_an_assertion_of_its_own(make):
    """`min` and `max` must not be one thing; a tolerance around a negative number has its true bounds."""
    operator = make("SQLColumnCheckOperator", table="orders", column_mapping=columns())
    lineage, raised = report(operator)
    assert "Test failed" in str(raised)
    found = assertions(lineage)
    # Older operators compare with the wrong bounds, too.
    has_true_bounds = operator._get_match({"equal_to": -30}, -30, 0.1)
    assert {key: (each.success, each.expected, each.actual) for key, each in found.items()} == {
        ("id", "not_null"): (True, "0", "0"),
        ("id", "unique"): (False, "0", "1"),
        ("id", "min"): (False, ">=2", "1"),
        ("id", "max"): (True, "<=3", "2"),
        ("amount", "min"): (has_true_bounds, ">=-33.0, <=-27.0", "-30"),
    }
    assert found["id", "min"].params == {"geq_to": 2, "accept_none": True, "check_type": "accepted_range"}
    assert (lineage.inputs[0].namespace, lineage.inputs[0].name) == ("sqlite://shop", "main.orders")
    assert "sql" in lineage.job_facets
    assert not at_run(lineage)


def test_classes_instead_of_names(make, monkeypatch):
    """The option keeps what Airflow's operators report."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__ASSERTION_NAMES", "class")
    lineage, _ = report(make("SQLColumnCheckOperator", table="orders", column_mapping=columns()))
    names = [each.assertion for each in lineage.inputs[0].facets["dataQualityAssertions"].assertions]
    assert sorted(names) == [*["accepted_range"] * 3, "not_null", "unique"]


def test_a_result_that_the_operator_cannot_compare_leaves_the_others(make):
    """Airflow raises TypeError, and reports no result at all: none of the checks before and after it."""
    mapping = {
        "id": {"min": {"geq_to": 1}},
        "amount": {"min": {"geq_to": 0}, "max": {"geq_to": 0}},
        "name": {"max": {"geq_to": 0}},
    }
    own, raised = report(
        make("SQLColumnCheckOperator", table="empty", column_mapping=mapping, accept_none=False)
    )
    assert isinstance(raised, TypeError)
    found = assertions(own)
    assert not any(each.success for each in found.values())
    assert "not_evaluated" not in found["id", "min"].params
    assert found["id", "min"].actual is None
    assert "no result" in found["amount", "min"].params["not_evaluated"]

    lineage, raised = report(make("SQLColumnCheckOperator", table="orders", column_mapping=mapping))
    assert isinstance(raised, TypeError)
    found = assertions(lineage)
    assert verdicts(lineage)["id", "min"]
    withheld = found["name", "max"]
    assert "is a text" in withheld.params["not_evaluated"]
    assert (withheld.actual, withheld.params["withheld"]) == (None, "text")


def test_checks_that_share_a_dictionary_have_no_result(make):
    """Airflow writes all results into it, so the last one stands for all: nobody knows which one it is."""
    zero = {"equal_to": 0}
    mapping = {"id": {"null_check": zero, "unique_check": zero, "max": {"leq_to": 2}}}
    lineage, _ = report(make("SQLColumnCheckOperator", table="orders", column_mapping=mapping))
    assert verdicts(lineage) == {("id", "not_null"): False, ("id", "unique"): False, ("id", "max"): True}
    shared = assertions(lineage)["id", "not_null"]
    assert (shared.actual, shared.params["not_evaluated"][:12]) == (None, "checks share")


def test_a_table_that_is_missing_has_no_assertions(make):
    """They would be a statement about data that nobody has seen: the tests of the run say `skip`."""
    lineage, raised = report(make("SQLColumnCheckOperator", table="nowhere", column_mapping=columns()))
    assert "no such table" in str(raised)
    assert not any("dataQualityAssertions" in (each.facets or {}) for each in lineage.inputs)
    assert {each.status for each in at_run(lineage).values()} == {"skip"}
    assert set(at_run(lineage)) == {
        f"{column}.{check}" for column, checks in columns().items() for check in checks
    }


def test_checks_of_a_table(make):
    """Each statement by its name, with its clauses."""
    checks = {
        "positive": {"check_statement": "amount >= 0", "partition_clause": "id = 1"},
        "few": {"check_statement": "COUNT(*) < 2"},
    }
    lineage, raised = report(make("SQLTableCheckOperator", table="orders", checks=checks))
    assert "few" in str(raised)
    assert verdicts(lineage) == {(None, "positive"): True, (None, "few"): False}
    positive = assertions(lineage)[None, "positive"]
    assert positive.params["check_partition_clause"] == "id = 1"
    assert (positive.content, positive.contentType) == ("amount >= 0", "sql")


@pytest.mark.usefixtures("reports")
def test_checks_of_an_empty_table(make):
    """Airflow raises ValueError for a rule of rows, and reports no other check either."""
    rows = {"positive": {"check_statement": "amount >= 0"}, "few": {"check_statement": "COUNT(*) < 2"}}
    lineage, raised = report(make("SQLTableCheckOperator", table="empty", checks=rows))
    assert isinstance(raised, ValueError)
    found = assertions(lineage)
    assert found[None, "positive"].params["not_evaluated"] == "no row was checked"
    assert found[None, "few"].params["not_evaluated"]


STATEMENTS = [
    ("SQLCheckOperator", {"sql": "SELECT count(*), min(id) FROM orders"}, True, "(3, 1)"),
    ("SQLCheckOperator", {"sql": "SELECT count(*), max(name) FROM orders"}, True, None),
    ("SQLValueCheckOperator", {"sql": "SELECT count(*) FROM orders", "pass_value": 4}, False, "(3,)"),
    ("SQLValueCheckOperator", {"sql": "SELECT max(name) FROM orders", "pass_value": "Smith"}, True, None),
    (
        "SQLThresholdCheckOperator",
        {"sql": "SELECT max(id) FROM orders", "min_threshold": 1, "max_threshold": 2},
        True,
        "2",
    ),
    (
        "SQLThresholdCheckOperator",
        {
            "sql": "SELECT max(name) FROM orders",
            "min_threshold": "SELECT min(name) FROM orders",
            "max_threshold": "SELECT max(name) FROM orders",
        },
        True,
        None,
    ),
]


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("situation", STATEMENTS)
def test_a_statement_is_an_assertion_of_the_table_that_it_reads(make, monkeypatch, situation):
    """Airflow has it at the run only, where few look. The value of a text is in neither place."""
    name, arguments, success, actual = situation
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", "masked")
    lineage, _ = report(make(name, **arguments))
    [found] = assertions(lineage).values()
    assert (found.assertion, found.success, found.actual) == ("check", success, actual)
    own = at_run(lineage)["check"]
    assert (own.status, own.actual) == ("pass" if success else "fail", actual)
    assert not any(row[2] in text(lineage) for row in ROWS)


@pytest.mark.usefixtures("reports")
def test_a_threshold_that_is_a_text_of_a_row(make):
    """The result of its query is in `expected`; statements may be shown, values of rows never."""
    operator = make("SQLThresholdCheckOperator", **STATEMENTS[-1][1])
    lineage, raised = report(operator)
    assert raised is None
    [found] = assertions(lineage).values()
    assert (found.expected, found.content) == (None, "SELECT max(name) FROM orders")
    assert not any(row[2] in text(lineage) for row in ROWS)


@pytest.mark.usefixtures("reports")
def test_metrics_of_two_days(make):
    """One assertion for each metric, at the table; its formula is without the values of rows."""
    operator = make(
        "SQLIntervalCheckOperator", table="orders", metrics_thresholds={"COUNT(*)": 1.5, "MAX(id)": 5}
    )
    operator.sql1 = "SELECT COUNT(*), MAX(id) FROM orders WHERE ds = '2026-01-08'"
    operator.sql2 = operator.sql1.replace("08", "01")
    lineage, raised = report(operator)
    assert "COUNT(*)" in str(raised)
    assert verdicts(lineage) == {(None, "interval_COUNT(*)"): False, (None, "interval_MAX(id)"): True}
    found = assertions(lineage)[None, "interval_COUNT(*)"]
    assert (found.content, found.actual) == ("max({current}, {past}) / min({current}, {past})", "2.0")
    assert found.params.items() >= {"current_metric": 2, "past_metric": 1, "threshold": 1.5}.items()


def test_a_statement_without_result_is_not_a_failed_check(make):
    """The query raised: Airflow reports nothing, and the run has a test that was skipped."""
    lineage, raised = report(make("SQLCheckOperator", sql="SELECT price FROM orders"))
    assert "no such column" in str(raised)
    assert at_run(lineage)["check"].status == "skip"
    assert all("dataQualityAssertions" not in (each.facets or {}) for each in lineage.inputs)


@pytest.mark.parametrize("sql_text", ["full", "masked", "none"])
def test_statements_obey_the_option(make, monkeypatch, sql_text):
    """Clauses and statements are SQL, and a limit that is a text is a literal."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", sql_text)
    operator = make(
        "SQLColumnCheckOperator",
        table="orders",
        column_mapping={"name": {"max": {"leq_to": "Zora"}}},
        partition_clause="name <> 'Adams'",
    )
    lineage, raised = report(operator)
    assert raised is None
    [found] = assertions(lineage).values()
    shown = {"full": "name <> 'Adams'", "masked": "name <> ''", "none": None}
    assert found.params.get("partition_clause") == shown[sql_text]
    assert ("Zora" in text(lineage)) == (sql_text == "full")
    assert "Smith" not in text(lineage)


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize("conn_type", ["postgres", "of_another_kind"])
def test_statements_are_masked_by_the_syntax_of_their_database(make, monkeypatch, conn_type):
    """PostgreSQL has literals between dollars, names in double quotes; nothing shows an unknown syntax."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", "masked")
    sql = 'SELECT count(*) FROM "orders" WHERE name <> $$Adams$$'
    operator = make("SQLCheckOperator", conn_type=conn_type, sql=sql)
    lineage, _ = report(operator)
    shown = "SELECT count(*) FROM \"orders\" WHERE name <> ''" if conn_type == "postgres" else None
    assert at_run(lineage)["check"].content == shown


def test_results_of_an_operator_that_does_not_report(make):
    """Before 2.0 common-sql has no `check_results`: the results are in the arguments."""
    operator = make("SQLColumnCheckOperator", table="orders", column_mapping=columns())
    operator._attach_check_facets = lambda lineage: lineage
    lineage, _ = report(operator)
    assert len(verdicts(lineage)) == 5
    assert not at_run(lineage)

    statement = make("SQLCheckOperator", sql="SELECT 1 FROM orders")
    statement.execute({})
    vars(statement).pop("check_results", None)
    from airflow_provider_spark_lineage.airflow.checks.results import KEEPS_NO_RESULT, findings_of

    [passed], [failed] = (findings_of(statement, has_failed=failed) for failed in (False, True))
    assert [each.success for each in passed.assertions] == [True]
    assert (failed.is_skipped, failed.assertions[0].not_evaluated) == (True, KEEPS_NO_RESULT)


@pytest.mark.usefixtures("reports")
@pytest.mark.parametrize(
    ("conn_type", "name"),
    [
        ("hiveserver2", ("hive://here:10000", "default.orders")),
        ("databricks", ("databricks://here:443", "default.default.orders")),
    ],
)
def test_a_table_that_the_hook_does_not_name(make, conn_type, name):
    """Without an input, all results are at the run; Airflow's own tests stay there."""
    for operator, count in (
        (make("SQLColumnCheckOperator", conn_type=conn_type, table="orders", column_mapping=columns()), 5),
        (make("SQLCheckOperator", conn_type=conn_type, sql="SELECT count(*) FROM orders;"), 1),
    ):
        lineage, _ = report(operator)
        [read] = lineage.inputs
        assert (read.namespace, read.name) == name
        assert len(verdicts(lineage)) == count
        assert len(at_run(lineage)) == count


def test_a_table_without_any_result_gets_no_name(make):
    """It may not exist, and a backend would create it."""
    arguments = {"table": "nowhere", "column_mapping": columns()}
    lineage, raised = report(make("SQLColumnCheckOperator", conn_type="hiveserver2", **arguments))
    assert "no such table" in str(raised)
    assert (lineage.inputs, {each.status for each in at_run(lineage).values()}) == ([], {"skip"})


def test_an_extractor_of_the_user_is_asked_first(make):
    """One line makes it the base: its own assertions stay, and what it raises hides no result."""
    from airflow.providers.openlineage.extractors.base import BaseExtractor, OperatorLineage
    from openlineage.client.event_v2 import Dataset
    from openlineage.client.facet_v2 import data_quality_assertions_dataset

    from airflow_provider_spark_lineage.extractors.checks import SqlCheckExtractor

    class Own(BaseExtractor):
        @classmethod
        def get_operator_classnames(cls):
            return []

        def _execute_extraction(self):
            if self.operator.table != "orders":
                raise ValueError("on purpose")
            own = data_quality_assertions_dataset.Assertion(assertion="fresh", success=True, name="fresh")
            facet = data_quality_assertions_dataset.DataQualityAssertionsDatasetFacet(assertions=[own])
            facets = {"dataQualityAssertions": facet}
            return OperatorLineage(inputs=[Dataset("mine", "warehouse.orders", facets=facets)])

    class Mine(SqlCheckExtractor):
        base = Own

    lineage, _ = report(make("SQLColumnCheckOperator", table="orders", column_mapping=columns()), Mine)
    assert (lineage.inputs[0].namespace, len(verdicts(lineage))) == ("mine", 6)
    assert verdicts(lineage)[None, "fresh"]
    lineage, _ = report(make("SQLColumnCheckOperator", table="empty", column_mapping=columns()), Mine)
    assert len(at_run(lineage)) == 5


@pytest.mark.usefixtures("reports")
def test_nothing_is_added_where_the_user_wants_nothing(make, monkeypatch):
    """The report is the operator's own, unchanged; at START there are no results."""
    from airflow_provider_spark_lineage.extractors.checks import SqlCheckExtractor

    operator = make("SQLColumnCheckOperator", table="orders", column_mapping=columns())
    [started] = SqlCheckExtractor(operator).extract().inputs
    assert (started.name, started.facets) == ("main.orders", {})
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__DISABLED", "True")
    lineage, _ = report(operator)
    names = {each.assertion for each in lineage.inputs[0].facets["dataQualityAssertions"].assertions}
    assert names == {"not_null", "unique", "accepted_range"}


def test_the_provider_gets_it_by_the_documented_name(monkeypatch):
    """A renamed class or operator is found by nobody."""
    from airflow.providers.common.sql.operators import sql

    monkeypatch.setenv(
        "AIRFLOW__OPENLINEAGE__EXTRACTORS",
        "airflow_provider_spark_lineage.extractors.checks.SqlCheckExtractor",
    )
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    extractors = ExtractorManager().extractors
    names = [name for name, each in extractors.items() if each.__name__ == "SqlCheckExtractor"]
    assert len(names) == 6
    assert all(hasattr(sql, name) for name in names)
