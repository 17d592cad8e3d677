"""Spark's counts go to the dataset that they were counted for, and to none if that is unclear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from airflow_provider_spark_lineage.spark.lineage.model import Statistics
from airflow_provider_spark_lineage.spark.lineage.statistics import scan_statistics, task_statistics
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

FILES = DatasetId("file", "/in/people")
TABLE = DatasetId("postgres://h:5432", "db.public.people")
SCAN = "JDBCRelation(people) [numPartitions=1]"
METRICS = (
    {"node": "Scan parquet", "location": "InMemoryFileIndex(1 paths)[file:/in/people]", "rows": 5},
    {"node": f"Scan {SCAN}", "rows": 2},
)


def rows_of(
    metrics: Sequence[Mapping[str, Any]],
    *ids: DatasetId,
    named: Mapping[str, DatasetId | None] | None = None,
    shared: Sequence[DatasetId] = (),
) -> dict[DatasetId, int | None]:
    """Return the rows of each dataset; all are read whole."""
    counted = scan_statistics(metrics, map(Identity, ids), named, shared)
    return {identifier: counts.rows for (identifier, _), counts in counted.items()}


def test_a_scan_that_names_itself_is_counted_for_that_dataset() -> None:
    """A table beside files has its own rows, also under the name of a table of Spark's."""
    for node in (f"Scan {SCAN}", f"Scan {SCAN} spark_catalog.default.people"):
        metrics = (METRICS[0], {"node": node, "rows": 2})
        assert rows_of(metrics, FILES, TABLE, named={SCAN: TABLE}) == {FILES: 5, TABLE: 2}


def test_the_rows_of_a_query_are_those_of_none_of_its_tables() -> None:
    """A query's count is not given to the only other dataset there is."""
    assert rows_of(METRICS, FILES, named={SCAN: None}) == {FILES: 5}


X, Y = DatasetId("file", "/in/x/orders"), DatasetId("file", "/in/y/orders")


def test_a_scan_of_several_datasets_is_counted_for_none() -> None:
    """Also where Spark cuts the list of paths: the first one is not all that was read."""
    for location in (
        "InMemoryFileIndex(2 paths)[file:/in/x/orders, file:/in/y/orders]",
        "InMemoryFileIndex(2 paths)[file:/in/x/orders, ...]",
    ):
        assert not rows_of([{"node": "Scan csv", "location": location, "rows": 40}], X, Y, shared=[X, Y])
    node = "BatchScan csv file:/in/x/orders/20240101,file:/in/y/orders/20240101"
    assert not rows_of([{"node": node, "rows": 40}], X, Y, shared=[X, Y])


def test_a_cut_list_of_one_dataset_s_folders_is_counted_for_it() -> None:
    """No other dataset is read together with it."""
    location = "InMemoryFileIndex(30 paths)[file:/in/x/orders/20240101, file:/in/x/orders/20240102, ...]"
    assert rows_of([{"node": "Scan csv", "location": location, "rows": 4}], X, Y) == {X: 4}


NAMES = ["a,b", "a, b", "a b", "a]b", "a[b", "a. ", "a, ...", "...", "a(2 paths)[b", "a, /b", "ä{}*?;:=&%20"]


@pytest.mark.parametrize("name", NAMES)
def test_any_character_may_be_in_the_name_of_a_folder(name: str) -> None:
    """A comma, a bracket or dots do not end a path."""
    odd = DatasetId("file", f"/in/{name}")
    location = f"InMemoryFileIndex(1 paths)[file:/in/{name}]"
    alone = {"node": "Scan csv", "location": location, "rows": 3}
    assert rows_of([alone], odd, X) == {odd: 3}
    folders = f"file:/in/{name}/day=1, file:/in/{name}/day=2"
    two = {"node": "Scan csv", "location": f"InMemoryFileIndex(2 paths)[{folders}]", "rows": 5}
    assert rows_of([two], odd, X) == {odd: 5}
    if "*" not in name:
        v2 = {"node": f"BatchScan csv {folders.replace(', file', ',file')}", "rows": 5}
        assert rows_of([v2], odd, X) == {odd: 5}


def test_folders_that_are_read_apart_are_counted_apart() -> None:
    """A scan whose folders are not known leaves all of them uncounted."""
    days = [Identity(X, locations=(f"file:/in/x/orders/2024010{day}",)) for day in (1, 2)]
    scans = [
        {"node": "Scan csv", "location": f"InMemoryFileIndex(1 paths)[{day.locations[0]}]", "rows": rows}
        for day, rows in zip(days, (3, 5), strict=True)
    ]
    counted = scan_statistics(scans, days)
    assert {key: counts.rows for key, counts in counted.items()} == {
        (X, frozenset({"20240101"})): 3,
        (X, frozenset({"20240102"})): 5,
    }
    cut = {"node": "Scan csv", "location": f"InMemoryFileIndex(9 paths)[{days[0].locations[0]}, ...]"}
    assert scan_statistics([*scans, cut], days) == {}


def test_tasks_without_rows_differ_from_tasks_without_counts() -> None:
    """Delta discards a file without rows. Nothing at all may be a target that does not count."""
    assert task_statistics({"rows": 0, "size_bytes": 296}, counts_all=False) == Statistics(rows=0)
    assert task_statistics({"rows": 0, "size_bytes": 0}, counts_all=False) == Statistics()
    assert task_statistics({"rows": 0, "size_bytes": 0}, counts_all=True) == Statistics(0, 0)
    assert task_statistics({}, counts_all=True) == Statistics()
