"""Tasks with every possible ending, each after a write.

A function writes `out/<run>/<name>` under ENDINGS_HOME, and a *mark* beside it once the write is done:
the events are compared with the marks. Some tasks wait to be ended from outside. `plain_` and `function_` are
tasks of Airflow's own operators, captured by the plugin.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pendulum
from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.openlineage.plugins.macros import lineage_run_id
from airflow.sdk import dag, get_current_context, task
from airflow.sdk.exceptions import AirflowSkipException

from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HOME = Path(os.environ["ENDINGS_HOME"])
ORDERS = str(HOME / "orders")
LONGEST_WAIT_S = 120

SPARK = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
}


def mark(what: str, **more: Any) -> None:
    """Write a mark about the work of this try so far."""
    ti = get_current_context()["ti"]
    run = lineage_run_id(ti)
    folder = HOME / "marks" / ti.run_id
    folder.mkdir(parents=True, exist_ok=True)
    written = {"task": ti.task_id, "map_index": ti.map_index, "try": ti.try_number, "run": run}
    written |= {"what": what, "at": time.time(), **more}
    name = f"{ti.task_id}.{ti.map_index}.{ti.try_number}.{time.time_ns()}"
    (folder / f"{name}.unfinished").write_text(json.dumps(written))
    (folder / f"{name}.unfinished").rename(folder / f"{name}.json")


def write(frame: DataFrame, name: str, rows: int) -> None:
    """Overwrite a dataset of this run, and mark it with the number of its rows."""
    path = str(HOME / "out" / get_current_context()["run_id"] / name)
    mark("writes", path=path)
    frame.write.mode("overwrite").parquet(path)
    mark("wrote", path=path, rows=rows)


def orders(spark: SparkSession) -> DataFrame:
    return spark.read.parquet(ORDERS)


def wait_to_be_ended() -> None:
    """Wait for somebody else to end this task; fail if nobody does."""
    mark("waits")
    deadline = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < deadline:
        time.sleep(0.1)
    msg = "Nobody has ended this task"
    raise RuntimeError(msg)


def totals(spark: SparkSession) -> None:
    """Reads, groups, writes."""
    import airflow_provider_spark_lineage

    mark("runs", package=airflow_provider_spark_lineage.__file__)
    write(orders(spark).groupBy("customer").sum("amount").toDF("customer", "total"), "totals", rows=3)


@task.pyspark_lineage(config_kwargs=SPARK)
def decorated(spark: SparkSession) -> None:
    write(orders(spark).where("amount > 1"), "decorated", rows=3)


def plain(spark: SparkSession) -> None:
    """Of Airflow's own operator, captured by the plugin."""
    write(orders(spark).select("customer"), "plain", rows=4)


@task.pyspark_lineage(config_kwargs=SPARK)
def mapped(customer: str, spark: SparkSession) -> None:
    rows = {"ada": 2, "bob": 1}[customer]
    write(orders(spark).where(f"customer = '{customer}'"), f"mapped_{customer}", rows)


@task.pyspark_lineage(config_kwargs=SPARK)
def skipped(spark: SparkSession) -> None:
    write(orders(spark), "skipped", rows=4)
    raise AirflowSkipException


@task.pyspark_lineage(config_kwargs=SPARK)
def fails(spark: SparkSession) -> None:
    """After one write that was done, and one that Spark gave up."""
    write(orders(spark), "fails", rows=4)
    write(orders(spark).selectExpr("amount / 0 AS never"), "fails_never", rows=0)


@task.pyspark_lineage(config_kwargs=SPARK, retries=1)
def second_try(spark: SparkSession, ti: Any = None) -> None:
    write(orders(spark), f"second_try_{ti.try_number}", rows=4)
    if ti.try_number == 1:
        msg = "The first try fails on purpose"
        raise RuntimeError(msg)


def be_told_to_stop(spark: SparkSession) -> None:
    """Get a request to stop while Spark writes, and go on."""
    from pyspark.sql.functions import udf

    @udf("string")
    def slowly(customer: str) -> str:
        time.sleep(1)
        return customer

    name = get_current_context()["ti"].task_id
    write(orders(spark), f"{name}_before", rows=4)
    threading.Timer(2, os.kill, [os.getpid(), signal.SIGTERM]).start()
    write(orders(spark).select(slowly("customer")), f"{name}_during", rows=4)
    write(orders(spark), f"{name}_after", rows=4)


def be_killed(spark: SparkSession) -> None:
    """Wait for the test to kill this process, as the kernel does when memory runs out."""
    write(orders(spark), get_current_context()["ti"].task_id, rows=4)
    mark("may be killed", pid=os.getpid())
    wait_to_be_ended()


def own_session() -> SparkSession:
    """Return the session that a Python function opens by itself."""
    from pyspark.sql import SparkSession

    return SparkSession.builder.config(map=SPARK).getOrCreate()


@task.pyspark_lineage(config_kwargs=SPARK)
def told_to_stop(spark: SparkSession) -> None:
    be_told_to_stop(spark)


@task
def function_told_to_stop() -> None:
    be_told_to_stop(own_session())


@task.pyspark_lineage(config_kwargs=SPARK)
def killed(spark: SparkSession) -> None:
    be_killed(spark)


@task
def function_killed() -> None:
    be_killed(own_session())


@task.pyspark_lineage(config_kwargs=SPARK)
def marked_failed(spark: SparkSession) -> None:
    write(orders(spark), "marked_failed", rows=4)
    wait_to_be_ended()


def plain_marked_failed(spark: SparkSession) -> None:
    write(orders(spark), "plain_marked_failed", rows=4)
    wait_to_be_ended()


@task.pyspark_lineage(config_kwargs=SPARK)
def cleared(spark: SparkSession, ti: Any = None) -> None:
    write(orders(spark), f"cleared_{ti.try_number}", rows=4)
    if ti.try_number == 1:
        wait_to_be_ended()


@task.pyspark_lineage(config_kwargs=SPARK, execution_timeout=timedelta(minutes=10))
def timed_out(spark: SparkSession) -> None:
    """Its time is up right after its write, however slow the machine is."""
    write(orders(spark), "timed_out", rows=4)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    wait_to_be_ended()


@task.pyspark_lineage(
    config_kwargs={
        **SPARK,
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.sql.adaptive.enabled": "false",
    }
)
def skewed(spark: SparkSession) -> None:
    """One customer has nearly all rows, so one task of the join does nearly all work."""
    from pyspark.sql.functions import udf

    @udf("string")
    def slowly(customer: str) -> str:
        time.sleep(0.02)
        return customer

    copies = "explode(sequence(1, if(customer = 'ada', 150, 1)))"
    many = orders(spark).selectExpr("customer", f"{copies} AS copy")
    customers = orders(spark).select("customer").distinct()
    write(many.join(customers, "customer").select(slowly("customer").alias("customer")), "skewed", rows=302)


@task.pyspark_lineage(config_kwargs=SPARK)
def streamed(spark: SparkSession) -> None:
    """A stream that writes its batches by `foreachBatch`."""

    def write_batch(frame: DataFrame, number: int) -> None:
        frame.write.mode("append").parquet(path)

    context = get_current_context()
    path = str(HOME / "out" / context["run_id"] / "streamed")
    checkpoint = str(HOME / "checkpoints" / context["run_id"])
    stream = spark.readStream.schema("customer string, amount double").parquet(ORDERS)
    mark("writes", path=path)
    query = stream.writeStream.foreachBatch(write_batch).option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()
    mark("wrote", path=path, rows=4)


@dag(
    schedule=None,
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    default_args={"retry_delay": timedelta(0)},
    doc_md=__doc__,
)
def endings() -> None:
    # Those that wait to be ended come first: they wait while others work.
    killed()
    PySparkOperator(task_id="plain_killed", python_callable=be_killed, config_kwargs=SPARK)
    function_killed()
    marked_failed()
    PySparkOperator(task_id="plain_marked_failed", python_callable=plain_marked_failed, config_kwargs=SPARK)
    cleared()
    PySparkLineageOperator(task_id="operator", python_callable=totals, config_kwargs=SPARK)
    decorated()
    PySparkOperator(task_id="plain", python_callable=plain, config_kwargs=SPARK)
    mapped.expand(customer=["ada", "bob"])
    skipped()
    fails()
    timed_out()
    second_try()
    told_to_stop()
    PySparkOperator(task_id="plain_told_to_stop", python_callable=be_told_to_stop, config_kwargs=SPARK)
    function_told_to_stop()
    skewed()
    streamed()


endings()
