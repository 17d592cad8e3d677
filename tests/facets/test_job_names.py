"""The jobs of executions are named after datasets, not numbered."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.facets.job_names import JobNames
from airflow_provider_spark_lineage.sources.dataset import DatasetId


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        ("file", "/data/out/orders", "etl.load.orders"),
        ("s3://lake", "/orders/", "etl.load.orders"),
        ("s3://lake", "/", "etl.load.lake"),
        ("postgres://db:5432", "shop.public.orders", "etl.load.shop.public.orders"),
        ("kafka://broker:9092", "orders.v1", "etl.load.orders.v1"),
    ],
)
def test_a_path_is_cut_to_its_last_part(namespace, name, expected):
    """The folders above it differ between environments; names of tables and topics are kept whole."""
    assert JobNames("etl.load").next(DatasetId(namespace, name)) == expected


def test_no_two_jobs_have_one_name():
    """A counter only where it is needed, also beside datasets that look as if they had one."""
    names = JobNames("t")
    datasets = ("/a", "/b", "/x/a", "/a.3", "/a", "/a.3", "/a")
    assert [names.next(DatasetId("file", name)) for name in datasets] == [
        *("t.a", "t.b", "t.a.2", "t.a.3", "t.a.4", "t.a.3.2", "t.a.5"),
    ]
