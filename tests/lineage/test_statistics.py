"""What Spark counted goes to the dataset that it was counted for, and to none where that is not told."""

from __future__ import annotations

from airflow_provider_spark_lineage.lineage.model import Statistics
from airflow_provider_spark_lineage.lineage.statistics import scan_statistics, task_statistics
from airflow_provider_spark_lineage.sources.dataset import DatasetId

FILES = DatasetId("file", "/in/people")
TABLE = DatasetId("postgres://h:5432", "db.public.people")
SCAN = "JDBCRelation(people) [numPartitions=1]"
METRICS = (
    {"node": "Scan parquet", "location": "InMemoryFileIndex(1 paths)[file:/in/people]", "rows": 5},
    {"node": f"Scan {SCAN}", "rows": 2},
)


def test_a_scan_that_names_itself_is_counted_for_that_dataset() -> None:
    """A table beside files has its own rows, also under the name of a table of Spark's."""
    for node in (f"Scan {SCAN}", f"Scan {SCAN} spark_catalog.default.people"):
        counted = scan_statistics((METRICS[0], {"node": node, "rows": 2}), [FILES, TABLE], {SCAN: TABLE})
        assert {key: one.rows for key, one in counted.items()} == {FILES: 5, TABLE: 2}


def test_the_rows_of_a_query_are_those_of_none_of_its_tables() -> None:
    """A query's count is not given to the only other dataset there is."""
    counted = scan_statistics(METRICS, [FILES], {SCAN: None})
    assert {key: one.rows for key, one in counted.items()} == {FILES: 5}


def test_tasks_that_wrote_no_rows_are_told_from_tasks_that_were_not_counted() -> None:
    """Delta discards a file without rows. Nothing at all may be a target that does not count."""
    assert task_statistics({"rows": 0, "size_bytes": 296}, counts_all=False) == Statistics(rows=0)
    assert task_statistics({"rows": 0, "size_bytes": 0}, counts_all=False) == Statistics()
    assert task_statistics({"rows": 0, "size_bytes": 0}, counts_all=True) == Statistics(0, 0)
    assert task_statistics({}, counts_all=True) == Statistics()
