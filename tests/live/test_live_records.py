"""Records of real executions: every execution once, with the facts that the plan's JSON leaves out."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from airflow_provider_spark_lineage.spark.capture.jvm.classes import reader_class
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, reason_of
from airflow_provider_spark_lineage.spark.records.record import SUFFIX, Record, read_record, write_record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def orders(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("data") / "orders")
    spark.createDataFrame([("a", 1.0), ("b", 2.0), ("a", 3.0)], ["customer", "amount"]).coalesce(
        1
    ).write.parquet(path)
    return path


def facts(records: list[Record], node: str) -> list[dict]:
    return [fact["probed"] for record in records for fact in record.facts if fact["node"] == node]


def test_each_execution_is_one_record(spark, recorded, orders):
    """An action, a write and a failure are a record each, numbered in the order of their ends."""
    from pyspark.errors import PySparkException

    with recorded() as records:
        spark.read.parquet(orders).count()
        spark.read.parquet(orders).collect()
        with pytest.raises(PySparkException):
            spark.read.parquet(orders).selectExpr("assert_true(customer = 'a', 'not a')").collect()
        spark.read.parquet(orders).write.mode("overwrite").parquet(orders + "_copy")
    assert [(r.number, r.name, r.outcome) for r in records] == [
        (1, "count", "success"),
        (2, "collectToPython", "success"),
        (3, "collectToPython", "failure"),
        (4, "command", "success"),
    ]
    for record in records:
        assert record.application_id == spark.sparkContext.applicationId
        assert record.application_name == "live tests"
        assert record.spark_version == spark.version
        assert record.plan_kind == "analyzed"
        assert record.plan
        assert record.problems == []
        started, ended = map(datetime.fromisoformat, (record.started_at, record.ended_at))
        assert started < ended
    assert [r.ended_at for r in records] == sorted(r.ended_at for r in records)


def test_scan_and_write_have_paths_format_and_mode(spark, recorded, orders, tmp_path):
    """A record has the places of a file scan and of a file write, the format, and the mode."""
    with recorded() as records:
        spark.read.parquet(orders).write.mode("append").json(str(tmp_path / "out"))
    (scan,) = facts(records, "LogicalRelation")
    assert scan["paths"] == [f"file:{orders}"]
    assert scan["format"].lower().startswith("parquet")
    (write,) = facts(records, "InsertIntoHadoopFsRelationCommand")
    assert write["paths"] == f"file:{tmp_path}/out"
    assert write["mode"] == "Append"
    assert "json" in write["format"].lower()
    assert [field["name"] for field in json.loads(write["schema"])["fields"]] == ["customer", "amount"]


def test_rows_bytes_and_files_are_counted(spark, recorded, orders, tmp_path):
    """Metrics give the rows that were scanned, not those in the file, and the rows that were written."""
    with recorded() as records:
        spark.read.parquet(orders).filter("customer = 'a'").coalesce(1).write.parquet(str(tmp_path / "out"))
    by_node = {entry["node"]: entry for entry in records[0].metrics}
    scan = by_node["Scan parquet"]
    assert scan["rows"] == 3
    assert scan["files"] == 1
    assert scan["size_bytes"] > 100
    assert f"file:{orders}" in scan["location"]
    write = by_node["Execute InsertIntoHadoopFsRelationCommand"]
    assert (write["rows"], write["files"]) == (2, 1)
    written = sum(file.stat().st_size for file in (tmp_path / "out").glob("part-*"))
    assert write["size_bytes"] == written


def test_a_plan_that_runs_twice_is_counted_twice(spark, recorded, orders, wait_for_bus):
    """A DataFrame collected again read its rows again."""
    with recorded() as records:
        frame = spark.read.parquet(orders)
        frame.collect()
        # Spark resets a plan's counters when it runs again: let the first be read.
        wait_for_bus()
        frame.collect()
    assert [entry["rows"] for record in records for entry in record.metrics] == [3, 3]
    assert "files" not in records[1].metrics[0]


def test_a_cached_relation_is_counted_once(spark, recorded, orders):
    """The read that fills a cache is not repeated by users of the cache; the plan keeps its leaves."""
    with recorded() as records:
        frame = spark.read.parquet(orders).cache()
        frame.count()
        frame.filter("amount > 1").count()
    frame.unpersist()
    assert [[e["rows"] for e in r.metrics if e["node"] == "Scan parquet"] for r in records] == [[3], []]
    assert [fact["paths"] for fact in facts(records, "LogicalRelation")] == [[f"file:{orders}"]] * 2


def test_a_table_has_its_identity_and_its_location(spark, recorded, orders):
    """A catalog table's scan and write carry catalog, database, name and the place of the data."""
    with recorded() as records:
        spark.read.parquet(orders).write.mode("overwrite").saveAsTable("sales")
        spark.table("sales").filter("amount > 1").collect()
        spark.sql("create table big using parquet as select * from sales where amount > 1")
    # The catalog is asked when the creation is recorded: until the capture ends, the table stays there.
    spark.sql("drop table big")
    spark.sql("drop table sales")
    location = f"file:{spark.conf.get('spark.sql.warehouse.dir').removeprefix('file:')}/sales"
    scans = [fact for fact in facts(records, "LogicalRelation") if fact.get("table")]
    assert scans
    for scan in scans:
        assert scan["table"] == ["spark_catalog", "default", "sales"]
        assert scan["paths"] == [location]
    created = facts(records, "CreateDataSourceTableAsSelectCommand")
    assert ["spark_catalog", "default", "big"] in [fact.get("table") for fact in created]


LEAVES = {
    "scalar subquery": "select customer, (select max(amount) from more) m from orders",
    "in": "select * from orders where customer in (select customer from more)",
    "exists": "select * from orders o where exists (select 1 from more m where m.customer = o.customer)",
    "cte": "with x as (select * from more) select * from orders join x using (customer), x y",
    "view": "select * from orders_and_more",
    "nested": "select * from orders where amount > (select avg(amount) from more where customer in "
    "(select customer from more))",
    "union": "select * from orders union all select * from more",
    "lateral": "select * from orders o, lateral (select max(amount) from more where customer = o.customer)",
}


@pytest.mark.parametrize("case", LEAVES)
def test_every_leaf_has_facts_wherever_it_stands(spark, recorded, orders, case):
    """Subqueries, CTEs, views and unions keep their leaves, each with its location."""
    spark.read.parquet(orders).write.mode("overwrite").parquet(orders + "_more")
    spark.read.parquet(orders).createOrReplaceTempView("orders")
    spark.read.parquet(orders + "_more").createOrReplaceTempView("more")
    spark.sql("create or replace temp view orders_and_more as select * from orders union select * from more")
    with recorded() as records:
        spark.sql(LEAVES[case]).collect()
    (record,) = records
    paths = {path for fact in facts(records, "LogicalRelation") for path in fact["paths"]}
    assert paths == {f"file:{orders}", f"file:{orders}_more"}
    ids = [(fact["node"], fact["expr_id"]) for fact in record.facts]
    assert len(ids) == len(set(ids)), "the same leaf was asked twice"


def test_sql_text_is_kept(spark, recorded, orders):
    """The user's SQL text is in the record of its execution; the DataFrame API has none."""
    spark.read.parquet(orders).createOrReplaceTempView("orders")
    text = "select customer from orders where amount > 1"
    with recorded() as records:
        spark.sql(text).collect()
        spark.read.parquet(orders).collect()
    assert [record.sql for record in records] == [text, ""]


def test_a_failure_says_why(spark, recorded, orders):
    """A failed execution has class, SQLSTATE and message of Spark's innermost reason, and when it began."""
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

    @F.udf("int")
    def breaks(value):
        raise ValueError("no such customer")

    with recorded() as records:
        with pytest.raises(PySparkException):
            spark.read.parquet(orders).selectExpr("cast(customer as int)").collect()
        with pytest.raises(PySparkException):
            spark.read.parquet(orders).select(breaks("customer")).collect()
        with pytest.raises(PySparkException):
            spark.read.parquet(orders).write.parquet(orders)
    cast, udf, exists = (record.error for record in records)
    assert cast["class"] == "org.apache.spark.SparkNumberFormatException"
    assert cast["sql_state"] == "22018"
    assert "CAST_INVALID_INPUT" in cast["message"]
    assert "no such customer" in udf["message"]
    assert udf["class"] == "org.apache.spark.api.python.PythonException"
    assert exists["sql_state"] == "42K04"
    assert facts(records[:1], "LogicalRelation"), "what a failed query was to read is known"
    assert all(record.started_at < record.ended_at for record in records)


def test_a_query_that_spark_does_not_understand_is_not_our_fault(spark, recorded, caplog):
    """An analysis error is a failure with its reason, without a plan, and without a warning of ours."""
    from pyspark.errors import AnalysisException

    with recorded() as records, pytest.raises(AnalysisException):
        spark.sql("select nothing from nowhere").collect()
    for record in records:  # Spark before 4.0 does not tell of it
        assert record.failed
        assert record.error["sql_state"] == "42P01"
        assert (record.plan_kind, record.plan, record.problems) == ("none", [], [])
    assert [entry for entry in caplog.records if entry.name == "airflow_provider_spark_lineage"] == []


def test_a_plan_that_is_too_large_has_a_gap(spark, recorded, orders):
    """Above the limit the optimized plan is read, above that none; the record has a gap, and facts stay."""
    frame = spark.read.parquet(orders)
    for number in range(30):
        frame = frame.withColumn("amount", frame.amount + number)
    with recorded() as records:
        frame.collect()
    size = len(json.dumps(records[0].plan))
    with recorded(max_plan_bytes=size // 2) as records:
        frame.collect()
    with recorded(max_plan_bytes=10) as nothing:
        frame.collect()
    assert records[0].plan_kind == "optimized"
    assert reason_of(records[0].problems[0]).kind is GapKind.LIMIT_REACHED
    assert facts(records, "LogicalRelation")
    assert nothing[0].plan_kind == "none"
    assert reason_of(nothing[0].problems[0]).kind is GapKind.UNREAD_PLAN


def test_children_are_written_as_their_positions(spark, recorded, orders):
    """Each item of a long list has its own place among the children of the expression."""
    items = ", ".join(f"'{number}'" for number in range(20))
    with recorded() as records:
        spark.read.parquet(orders).where(f"customer not in ({items})").collect()
    plan = json.dumps(records[0].plan)
    assert f'"value": 0, "list": {list(range(1, 21))}' in plan


def test_the_position_of_a_child_is_not_searched_for_each_of_them(spark):
    """A list of 320,000 items takes 16 times as long as one of 20,000, not 256 times."""
    jvm = spark._jvm
    reader = reader_class(spark.sparkContext._gateway, jvm)
    package = reader.getName().rpartition(".")[0]
    positions = reader.getClassLoader().loadClass(f"{package}.Positions").getConstructors()[0]
    threads = jvm.java.lang.management.ManagementFactory.getThreadMXBean()

    def seconds(size):
        # From 1,000 on, each number is an object of its own.
        numbers = jvm.java.util.stream.IntStream.range(1000, 1000 + size).boxed().toList()
        arguments = spark.sparkContext._gateway.new_array(jvm.java.lang.Object, 1)
        arguments[0] = numbers
        values = jvm.org.apache.spark.api.python.PythonUtils.toSeq(numbers)
        began = threads.getCurrentThreadCpuTime()
        assert positions.newInstance(arguments).haveAll(values)
        return threads.getCurrentThreadCpuTime() - began

    few = min(seconds(20_000) for _ in range(5))
    # Linear is 16 times as much, quadratic 256 times.
    assert min(seconds(320_000) for _ in range(3)) < 100 * few


def test_an_optimized_generator_keeps_only_its_columns(spark, recorded, orders, tmp_path):
    """The optimizer drops columns in the generator itself, which is not in the plan's JSON."""
    from pyspark.sql import functions

    frame = spark.read.parquet(orders).withColumn("parts", functions.split("customer", ""))
    for number in range(30):
        frame = frame.withColumn("amount", frame.amount + number)
    frame = frame.select("amount", functions.explode("parts").alias("letter"))
    with recorded() as records:
        frame.write.parquet(str(tmp_path / "whole"))
    with recorded(max_plan_bytes=len(json.dumps(records[0].plan)) // 2) as records:
        frame.write.parquet(str(tmp_path / "optimized"))
    assert records[0].plan_kind == "optimized"
    (output,) = execution_lineage(records[0]).lineage.outputs
    assert [field.name for field in output.dataset.fields] == ["amount", "letter"]
    assert {(edge.column, edge.field) for edge in output.edges if edge.kind.is_direct} == {
        ("amount", "amount"),
        ("letter", "customer"),
    }


def test_a_live_record_survives_the_disk(spark, recorded, orders, tmp_path):
    """Nothing in a record of a real plan is lost in its file."""
    with recorded() as records:
        spark.read.parquet(orders).groupBy("customer").count().collect()
    path = write_record(tmp_path, records[0])
    assert path.name.endswith(SUFFIX)
    assert read_record(path) == records[0]
