from __future__ import annotations

from datetime import datetime, timezone

import pytest

from airflow_provider_spark_lineage.spark.facets.events import EventExecution, EventRun
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Failure,
    Field,
    Gap,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
    Statistics,
)
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity, Symlink

ORDERS = DatasetId("file", "/in/orders")
CUSTOMERS = DatasetId("s3://lake", "in/customers")
TOTALS = DatasetId("file", "/out/totals")


def _edges(*edges: Edge) -> tuple[Edge, ...]:
    return tuple(sorted(edges, key=lambda edge: edge.order))


@pytest.fixture
def totals() -> Lineage:
    """Orders joined with customers, aggregated and written; no facet is empty."""
    orders = Dataset(
        Identity(
            ORDERS,
            storage_layer="file",
            file_format="parquet",
            symlinks=(Symlink("hive://metastore:9083", "sales.orders"),),
            locations=("file:/in/orders/day=1", "file:/in/orders/day=2"),
        ),
        (
            Field("customer", "string"),
            Field("amount", "decimal(10,2)"),
            Field("password", "string"),
            Field("address", "struct<street:string,geo:struct<lat:double,lon:double>>"),
        ),
    )
    customers = Dataset(Identity(CUSTOMERS), (Field("id", "bigint"),))
    written = Dataset(
        Identity(TOTALS, storage_layer="file", file_format="parquet"),
        (
            Field("customer", "string"),
            Field("total", "double"),
            Field("password", "int"),
            Field("one", "int"),
        ),
    )
    return Lineage(
        inputs=(Input(orders, Statistics(rows=9, size_bytes=2048, files=2)), Input(customers)),
        outputs=(
            Output(
                written,
                Mode.OVERWRITE,
                Statistics(rows=3),
                _edges(
                    Edge(ORDERS, "customer", Kind.JOIN),
                    Edge(ORDERS, "customer", Kind.GROUP_BY),
                    Edge(CUSTOMERS, "id", Kind.JOIN),
                    Edge(ORDERS, "customer", Kind.IDENTITY, column="customer"),
                    Edge(ORDERS, "amount", Kind.AGGREGATION, column="total"),
                    Edge(ORDERS, "amount", Kind.CONDITIONAL, column="total"),
                    Edge(ORDERS, "password", Kind.TRANSFORMATION, masking=True, column="password"),
                ),
                (ORDERS, CUSTOMERS),
            ),
        ),
        gaps=(
            Gap(
                "MapInPandas at map#4",
                Reason(GapKind.CODE_OVER_ROWS, "Code over whole rows was not looked into."),
                TOTALS,
                "total",
            ),
            Gap("RDD at map#7", Reason(GapKind.ROWS_FROM_PYTHON, "Rows came out of an RDD.")),
        ),
    )


@pytest.fixture
def copies() -> Lineage:
    """One task that copies a to x and b to y."""
    ids = [DatasetId("file", name) for name in ("/a", "/b", "/x", "/y")]
    a, b, x, y = (Dataset(Identity(i), (Field("k", "int"),)) for i in ids)
    return Lineage(
        inputs=(Input(a), Input(b)),
        outputs=tuple(
            Output(
                target,
                Mode.CREATE,
                edges=(Edge(source.id, "k", Kind.IDENTITY, column="k"),),
                inputs=(source.id,),
            )
            for source, target in ((a, x), (b, y))
        ),
    )


@pytest.fixture
def failures() -> tuple[Failure, ...]:
    return (
        Failure("ValueError", "bad row", execution="execution 2 (command)"),
        Failure(
            "org.apache.spark.SparkArithmeticException",
            "Division by zero.",
            "22012",
            "execution 4 (command)",
        ),
    )


@pytest.fixture
def whole(totals: Lineage) -> EventRun:
    return EventRun("local-17", _at(0), _at(60), totals, engine_version="4.1.0")


@pytest.fixture
def execution(totals: Lineage) -> EventExecution:
    return EventExecution("sales.totals", _at(5), _at(9), totals, sql="SELECT 1", engine_version="4.1.0")


def _at(second: int) -> datetime:
    return datetime(2026, 3, 1, 12, 0, second % 60, 250_000, tzinfo=timezone.utc).replace(minute=second // 60)
