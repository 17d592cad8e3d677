"""# Every shape that a Spark task can take in Airflow

Mapped tasks, a task group, a retry, several sessions in one task, a callable that stops the session itself,
one that never touches Spark, and one that does not ask for `spark`. Each runs as it would with Airflow's own
`@task.pyspark`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pendulum
from airflow.sdk import dag, task, task_group
from nycflights_source import SPARK, deliver, landing, layer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@task.pyspark_lineage(config_kwargs=SPARK)
def copy_table(table: str, spark: SparkSession) -> None:
    """Mapped: one task instance per table, all of one name."""
    rows = spark.read.csv(landing(table), header=True)
    rows.write.mode("overwrite").parquet(layer("shapes", "copies", table))


@task.pyspark_lineage(config_kwargs=SPARK)
def northern_airports(spark: SparkSession) -> str:
    """In a task group: its task id has a dot. Returns the path for the next task."""
    path = layer("shapes", "northern_airports")
    airports = spark.read.csv(landing("airports"), header=True, inferSchema=True)
    airports.where("lat > 45").select("faa", "name").write.mode("overwrite").parquet(path)
    return path


@task.pyspark_lineage(config_kwargs=SPARK)
def count_rows(path: str, spark: SparkSession) -> int:
    """In a task group: reads, writes nothing, and takes its argument from the task before."""
    return spark.read.parquet(path).count()


@task_group
def north() -> None:
    count_rows(northern_airports())


@task.pyspark_lineage(config_kwargs=SPARK, retries=1, retry_delay=timedelta(0))
def second_try(spark: SparkSession, ti: Any = None) -> None:
    """Fails after its first write, and finishes on the second try."""
    airlines = spark.read.csv(landing("airlines"), header=True)
    airlines.select("carrier").write.mode("overwrite").parquet(layer("shapes", "carriers"))
    if ti.try_number == 1:
        msg = "The first try fails on purpose"
        raise RuntimeError(msg)
    airlines.select("name").write.mode("overwrite").parquet(layer("shapes", "names"))


@task.pyspark_lineage(config_kwargs=SPARK)
def several_sessions(spark: SparkSession) -> None:
    """Writes from the session that it was given, from a second one, and from one made after stopping both."""
    from pyspark.sql import SparkSession

    def copy(session: SparkSession, table: str) -> None:
        rows = session.read.csv(landing(table), header=True)
        rows.write.mode("overwrite").parquet(layer("shapes", "sessions", table))

    copy(spark, "airlines")
    copy(spark.newSession(), "airports")
    spark.stop()

    again = SparkSession.builder
    for key, value in SPARK.items():
        again = again.config(key, value)
    session = again.getOrCreate()
    copy(session, "planes")
    session.stop()


@task.pyspark_lineage(config_kwargs=SPARK)
def stops_session(spark: SparkSession) -> None:
    """Stops the session itself, as scripts do that were written for spark-submit."""
    airlines = spark.read.csv(landing("airlines"), header=True)
    airlines.write.mode("overwrite").parquet(layer("shapes", "stopped"))
    spark.stop()


@task.pyspark_lineage(config_kwargs=SPARK)
def never_touches_spark(spark: SparkSession) -> int:
    """Asks for a session and does not use it."""
    return 2013


@task.pyspark_lineage(config_kwargs=SPARK)
def finds_session_itself() -> None:
    """Does not ask for `spark`, and uses the active session."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    planes = session.read.csv(landing("planes"), header=True)
    planes.select("tailnum", "model").write.mode("overwrite").parquet(layer("shapes", "models"))


@dag(
    schedule=None,
    start_date=pendulum.datetime(2013, 1, 1, tz="UTC"),
    catchup=False,
    doc_md=__doc__,
    tags=["spark", "lineage"],
)
def task_shapes() -> None:
    task(deliver)() >> [
        copy_table.expand(table=["airlines", "airports", "planes"]),
        north(),
        second_try(),
        several_sessions(),
        stops_session(),
        never_touches_spark(),
        finds_session_itself(),
    ]


task_shapes()
