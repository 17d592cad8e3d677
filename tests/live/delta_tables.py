"""Session and table of the live tests of Delta, and marks of tests that older releases fail."""

from __future__ import annotations

import pyspark
import pytest
from lakes import make_source
from live_session import start_spark
from spark_packages import release

alters = pytest.mark.skipif(
    pyspark.__version__ >= "4.1" and release("delta") < (4, 3),
    reason="Delta's ALTER TABLE asks for a class that Spark has no more",
)
of_delta_4_3 = pytest.mark.skipif(release("delta") < (4, 3), reason="older releases have no such statement")
of_delta_4_4 = pytest.mark.skipif(release("delta") < (4, 4), reason="older releases have no such statement")

SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    spark = start_spark(tmp_path_factory.mktemp("delta"), **SETTINGS)
    yield spark
    spark.stop()


@pytest.fixture
def table(spark, tmp_path):
    """A table of the catalog at `<tmp_path>/t`, and a parquet folder behind the view `src`."""
    make_source(spark, tmp_path)
    spark.sql("drop table if exists t")
    location = str(tmp_path / "t")
    spark.table("src").write.format("delta").option("path", location).saveAsTable("t")
    return location
