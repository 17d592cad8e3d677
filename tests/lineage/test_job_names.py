"""The jobs of executions are named after datasets, not numbered."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.lineage.job_names import JobNames
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink


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
    """The folders above it often differ between environments; other names are kept."""
    assert JobNames("etl.load").next(Identity(DatasetId(namespace, name))) == expected


@pytest.mark.parametrize(
    ("catalog", "name"),
    [
        ("hive://host:9083", "sales.orders"),
        ("arn:aws:glue:eu-west-1:123456789012", "table/sales/orders"),
    ],
)
def test_a_table_has_its_name_in_the_catalog(catalog, name):
    """Catalogs may put an id into the location."""
    location = DatasetId("s3://lake", "/tables/0e7d1c")
    links = (Symlink(catalog, name),)
    assert JobNames("etl.load").next(Identity(location, symlinks=links)) == "etl.load.orders"


def test_an_entry_of_a_catalog_has_the_name_of_the_table():
    """A view, or a table whose data lie elsewhere: its DROP has the name of an INSERT into it."""
    place = Symlink("file", "/data/outside", "LOCATION")
    entry = Identity(DatasetId("file:/warehouse", "sales.orders"), symlinks=(place,), type="TABLE")
    view = Identity(DatasetId("file:/warehouse", "sales.v"), type="VIEW")
    assert JobNames("etl.load").next(entry) == "etl.load.orders"
    assert JobNames("etl.load").next(view) == "etl.load.v"


def test_a_name_is_not_an_address_of_an_instance_or_try():
    """`[0]` and `#2` mean those in the keys of expected events."""
    assert JobNames("t").next(Identity(DatasetId("file", "/a/part[0]#2"))) == "t.part_0__2"


def test_no_two_jobs_have_one_name():
    """A counter only where it is needed, also beside datasets that look as if they had one."""
    names = JobNames("t")
    datasets = ("/a", "/b", "/x/a", "/a.3", "/a", "/a.3", "/a")
    assert [names.next(Identity(DatasetId("file", name))) for name in datasets] == [
        *("t.a", "t.b", "t.a.2", "t.a.3", "t.a.4", "t.a.3.2", "t.a.5"),
    ]
