"""File paths that an RDD reads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from airflow_provider_spark_lineage.spark.capture.rdd import MAX_PARTITIONS, RddReader, split_paths
from airflow_provider_spark_lineage.spark.sources.rdd import gap_reasons


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", []),
        ("file:/a", ["file:/a"]),
        ("file:/a,file:/b", ["file:/a", "file:/b"]),
        # `sc.textFile("/in/{2024,2025}")` is one path.
        ("file:/in/{2024\\,2025},file:/b", ["file:/in/{2024,2025}", "file:/b"]),
        ("file:/a\\\\b", ["file:/a\\b"]),
    ],
)
def test_a_comma_inside_of_a_path_does_not_part_it(text: str, paths: list[str]) -> None:
    assert split_paths(text) == paths


class Scan:
    """A `FileScanRDD` of one file in each partition."""

    def __init__(self, *paths: str) -> None:
        self._paths = paths

    def getClass(self) -> Any:  # noqa: N802  Java's name
        return SimpleNamespace(getSimpleName=lambda: "FileScanRDD")

    def id(self) -> int:
        return 1

    def dependencies(self) -> Any:
        return SimpleNamespace(size=lambda: 0)

    def readSchema(self) -> Any:  # noqa: N802  Spark's name
        return SimpleNamespace(json=lambda: "{}")

    def filePartitions(self) -> Any:  # noqa: N802  Spark's name
        return SimpleNamespace(size=lambda: len(self._paths), apply=self._partition)

    def _partition(self, index: int) -> Any:
        path = SimpleNamespace(toString=lambda: self._paths[index])
        return SimpleNamespace(files=lambda: [SimpleNamespace(toPath=lambda: path)])


@pytest.mark.parametrize("count", [1, MAX_PARTITIONS])
def test_a_scan_of_few_partitions_is_asked_for_all_its_files(count: int) -> None:
    paths = [f"file:/in/{number}" for number in range(count)]
    (origin,) = RddReader().origins(Scan(*paths))
    assert origin["paths"] == paths


def test_a_scan_of_many_partitions_has_a_gap_for_those_not_read() -> None:
    """Those that are asked lie all over it: partitions of one folder lie side by side."""
    paths = [f"file:/{folder}/{number}" for folder in "abc" for number in range(MAX_PARTITIONS)]
    unasked, origin = RddReader().origins(Scan(*paths))
    assert {path.split("/")[1] for path in origin["paths"]} == {"a", "b", "c"}
    assert (origin["paths"][0], origin["paths"][-1]) == (paths[0], paths[-1])
    assert len(origin["paths"]) == MAX_PARTITIONS
    (reason,) = gap_reasons({"origins": [unasked, origin]})
    assert "only the files of some" in reason
