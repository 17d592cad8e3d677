"""What an RDD says of the files it reads, in Hadoop's words."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.capture.rdd import split_paths


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
