"""One application, written down twice: by capture, and by Spark itself in its event log."""

from __future__ import annotations

import pytest
from live_session import start_spark

from airflow_provider_spark_lineage.spark.event_log import SETTINGS
from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.runs.executions import executions
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder

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
def test_the_log_has_the_lineage_of_capture(tmp_path, recorded, codec):
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
        make_inputs(spark, tmp_path)
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


def ordinary_job(spark, folder):
    """Run queries whose physical plan is as complete as the query."""
    orders, people = (spark.read.parquet(str(folder / name)) for name in ("orders", "people"))
    orders.createOrReplaceTempView("o")
    people.createOrReplaceTempView("p")
    spark.sql(
        "select p.name, sum(amount) as total, count(distinct o.`the note`) as notes"
        " from o join p on o.customer = p.id where amount > 2 and `the note` <> 'a) AND (b' group by p.name"
    ).write.parquet(str(folder / "totals"))
    wide = orders.selectExpr(*(f"amount * {number} as c{number}" for number in range(40)), "customer as C")
    wide.write.parquet(str(folder / "wide"))
    last = spark.read.parquet(str(folder / "wide")).orderBy("c39").limit(5)
    last.selectExpr("c38 + c2 as sum", "C").write.partitionBy("C").parquet(str(folder / "last"))
    cached = orders.groupBy("customer").agg({"amount": "max"}).toDF("customer", "most").cache()
    cached.count()
    cached.join(people, cached.customer == people.id, "left").selectExpr(
        "most", "upper(name) as name"
    ).write.json(str(folder / "kept"))
    cached.alias("a").join(cached.alias("b"), "customer").selectExpr("a.most as x", "b.most as y").write.json(
        str(folder / "twice")
    )
    spark.sql("create table stored using parquet as select customer, amount * 2 as twice from o")
    spark.sql("insert into stored select id, 1.0D from p")
    spark.sql(
        "select customer, rank() over (partition by customer order by twice desc) as r from stored"
        " union all select id, 0 from p where id in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)"
    ).write.orc(str(folder / "ranks"))
    spark.sql(
        "select explode(array(amount, 1.0D)) as part, case when customer > 1 then `the note` end n from o"
    ).write.csv(str(folder / "parts"))
    folders = [str(folder / name) for name in ("totals", "kept_people")]
    people.select("name").write.parquet(folders[1])
    spark.read.parquet(*folders).select("name").distinct().write.text(str(folder / "text"))


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_an_ordinary_log_has_the_lineage_of_capture(tmp_path, recorded, adaptive):
    """With Spark's own settings there is the physical plan alone, with the same lineage."""
    logs, others = tmp_path / "logs", tmp_path / "others"
    logs.mkdir()
    of_log = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": logs.as_uri()}
    spark = start_spark(tmp_path, **of_log, **{"spark.sql.adaptive.enabled": adaptive})
    try:
        make_inputs(spark, tmp_path)
        make_inputs(spark, others)
        with recorded() as ordinary:
            ordinary_job(spark, tmp_path)
        with recorded() as rewritten:
            job(spark, others)
    finally:
        spark.stop()
    written = [*RecordedFolder(logs).executions()][4:]
    count = len([*executions(ordinary)])
    captured = compose(execution.lineage for execution in executions(ordinary))
    read = compose(execution.lineage for execution in written[:count])
    assert edges(read) == edges(captured)
    assert counts(read) == counts(captured)
    assert not [gap for gap in read.gaps if gap not in captured.gaps], render(read)
    # The optimizer makes joins of subqueries: they relate the same columns in another way.
    captured = compose(execution.lineage for execution in executions(rewritten))
    read = compose(execution.lineage for execution in written[count:])
    assert ends(read) == ends(captured)
    assert counts(read) == counts(captured)
    assert not [gap for gap in read.gaps if gap not in captured.gaps], render(read)


def ends(lineage):
    return {(output, edge.source, edge.field, edge.column) for output, edge in edges(lineage)}


def make_inputs(spark, folder):
    columns = "customer int, amount double, `the note` string"
    rows = spark.createDataFrame([(1, 2.5, "a"), (2, 7.0, "b")], columns)
    rows.coalesce(1).write.parquet(str(folder / "orders"))
    people = spark.createDataFrame([(1, "Ann"), (2, "Bob")], "id int, name string")
    people.coalesce(1).write.parquet(str(folder / "people"))


def edges(lineage):
    return {(output.dataset.id, edge) for output in lineage.outputs for edge in output.edges}


def counts(lineage):
    reads = {("read", source.dataset.id.name, source.statistics.rows) for source in lineage.inputs}
    return reads | {("write", output.dataset.id.name, output.statistics) for output in lineage.outputs}
