"""One application, written down twice: by capture, and by Spark itself in its event log."""

from __future__ import annotations

import pytest
from conftest import start_spark

from airflow_provider_spark_lineage.event_log import SETTINGS
from airflow_provider_spark_lineage.lineage.compose import compose
from airflow_provider_spark_lineage.lineage.text import render
from airflow_provider_spark_lineage.pipeline import RecordedFolder, executions

pytestmark = pytest.mark.spark


def job(spark, folder):
    orders, people = str(folder / "orders"), str(folder / "people")
    spark.read.parquet(orders).createOrReplaceTempView("o")
    spark.read.parquet(people).createOrReplaceTempView("p")
    spark.sql(
        "select name, sum(amount) as total, max(struct(amount, `the note`)).`the note` as last"
        " from o join p on o.customer = p.id where `the note` <> 'a) AND (b' group by name"
    ).write.parquet(str(folder / "totals"))
    spark.sql(
        "with big as (select * from o where amount > (select avg(amount) from o))"
        " select b.customer, case when p.name like 'A%' then 'x, y' else p.name end as n"
        " from big b left join p on b.customer = p.id"
        " where exists (select 1 from o where o.customer = p.id)"
    ).write.parquet(str(folder / "big"))
    spark.sql("create table kept using parquet as select customer, amount * 2 as twice from o")
    spark.sql("insert into kept select id, 1.0D from p")
    spark.sql(
        "select customer, rank() over (partition by customer order by twice desc) as r from kept"
    ).write.json(str(folder / "ranks"))


@pytest.mark.parametrize("codec", ["", "zstd", "lz4"])
def test_the_log_tells_what_capture_tells(tmp_path, recorded, codec):
    """The same datasets, edges and counts, from a log that Spark wrote plainly or compressed."""
    if codec:
        pytest.importorskip({"zstd": "zstandard", "lz4": "lz4"}[codec])
    logs = tmp_path / "logs"
    logs.mkdir()
    of_log = {
        **SETTINGS,
        "spark.eventLog.dir": logs.as_uri(),
        "spark.eventLog.compress": "true" if codec else "false",
        "spark.eventLog.compression.codec": codec or "zstd",
    }
    spark = start_spark(tmp_path, **of_log)
    try:
        columns = "customer int, amount double, `the note` string"
        rows = spark.createDataFrame([(1, 2.5, "a"), (2, 7.0, "b")], columns)
        rows.coalesce(1).write.parquet(str(tmp_path / "orders"))
        spark.createDataFrame([(1, "Ann"), (2, "Bob")], "id int, name string").coalesce(1).write.parquet(
            str(tmp_path / "people")
        )
        with recorded() as records:
            job(spark, tmp_path)
    finally:
        spark.stop()
    captured = compose(execution.lineage for execution in executions(records))
    # The log has the setup, too.
    written = [*RecordedFolder(logs).executions()][2:]
    read = compose(execution.lineage for execution in written)
    assert edges(read) == edges(captured)
    assert counts(read) == counts(captured)
    assert not [gap for gap in read.gaps if gap not in captured.gaps], render(read)


def edges(lineage):
    return {(output.dataset.id, edge) for output in lineage.outputs for edge in output.edges}


def counts(lineage):
    reads = {("read", one.dataset.id.name, one.statistics.rows) for one in lineage.inputs}
    return reads | {("write", one.dataset.id.name, one.statistics) for one in lineage.outputs}
