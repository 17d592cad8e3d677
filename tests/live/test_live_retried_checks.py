"""Checks that ride on a write whose tasks run again."""

from __future__ import annotations

import pytest
from live_session import start_spark

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check

pytestmark = pytest.mark.spark

ROWS = 1000


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    spark = start_spark(tmp_path_factory.mktemp("spark"), **{"spark.master": "local[2,3]"})
    yield spark
    spark.stop()


def test_rows_of_tasks_that_ran_again_are_counted_once(spark, tmp_path):
    """A failed attempt had rows, too: the results are those of the rows that are written."""

    def failing_at_first(rows):
        from pyspark import TaskContext

        yield from rows
        task = TaskContext.get()
        if task.attemptNumber() == 0 and task.partitionId() in (1, 2):
            raise ValueError("the first attempt fails after its rows")

    frame = spark.range(0, ROWS, 1, 4).mapInPandas(failing_at_first, "id long")
    with capture_lineage(spark) as captured:
        checked = check(
            frame,
            columns={"id": {"null_check": {"equal_to": 0}, "sum": {"equal_to": 499500}}},
            rows={"even": "id % 2 = 0", "row_count": f"count(*) = {ROWS}"},
            severity="warn",
        )
        checked.write.parquet(str(tmp_path / "out"))
    found = {each.name: (each.success, each.actual, each.not_evaluated) for each in captured.checks}
    assert found == {
        "id.null_check": (True, "0", ""),
        "id.sum": (True, "499500", ""),
        "even": (False, "500", ""),
        "row_count": (True, str(ROWS), ""),
    }
    assert captured.lineage.outputs[0].statistics.rows == ROWS
