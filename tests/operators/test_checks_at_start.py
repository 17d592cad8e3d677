"""START of a check on Spark: it names what the text of the check names."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.airflow

ICEBERG = {
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "s3://lake/warehouse",
}
COLUMNS = {"id": {"min": {"geq_to": 0, "partition_clause": "id <> 7"}}}
STATEMENT = "SELECT count(*) FROM parquet.`s3://b/a` JOIN delta.`s3://b/c` USING (id)"

CASES = [
    ("SparkColumnCheckOperator", {"path": "s3://b/a", "format": "parquet", "column_mapping": COLUMNS}, ["a"]),
    ("SparkColumnCheckOperator", {"query": STATEMENT, "column_mapping": COLUMNS}, ["a", "c"]),
    (
        "SparkTableCheckOperator",
        {"table": "lake.shop.orders", "checks": {"some": "count(*) > 0"}},
        ["shop/orders"],
    ),
    (
        "SparkTableCheckOperator",
        {"table": "orders", "database": "lake.shop", "checks": {"positive": "id > 0"}},
        ["shop/orders"],
    ),
    ("SparkTableCheckOperator", {"table": "orders", "checks": {"positive": "id > 0"}}, []),
    ("SparkCheckOperator", {"sql": STATEMENT}, ["a", "c"]),
    ("SparkValueCheckOperator", {"sql": STATEMENT, "pass_value": 1}, ["a", "c"]),
    ("SparkThresholdCheckOperator", {"sql": STATEMENT, "min_threshold": 1, "max_threshold": 2}, ["a", "c"]),
    (
        "SparkIntervalCheckOperator",
        {"table": "delta.`s3://b/c`", "metrics_thresholds": {"count(*)": 2}},
        ["c"],
    ),
    ("SparkCheckOperator", {"sql": "SELECT ("}, []),
]


@pytest.mark.parametrize("case", CASES)
def test_start_names_what_the_text_names(case: tuple[str, dict[str, Any], list[str]]) -> None:
    """No session is needed; a table whose catalog is not known has no name before the task's end."""
    from airflow_provider_spark_lineage.operators import checks

    name, arguments, expected = case
    operator = getattr(checks, name)(task_id="t", config_kwargs=ICEBERG, **arguments)
    lineage = operator.get_openlineage_facets_on_start()
    assert [each.name.removeprefix("warehouse/") for each in lineage.inputs] == expected
    assert (lineage.outputs, lineage.run_facets) == ([], {})


def test_start_names_nothing_where_the_user_wants_nothing(monkeypatch) -> None:
    """`disabled` holds for texts, too."""
    from airflow_provider_spark_lineage.operators.checks import SparkCheckOperator

    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__DISABLED", "True")
    assert not SparkCheckOperator(task_id="t", sql=STATEMENT).get_openlineage_facets_on_start().inputs
