"""What Spark counted goes to the dataset that it was counted for, and to none where that is not told."""

from __future__ import annotations

from airflow_provider_spark_lineage.lineage.statistics import scan_statistics
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
