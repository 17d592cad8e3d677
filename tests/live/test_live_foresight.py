"""Questions to Spark before a statement runs: they never run it, and cost no job."""

from __future__ import annotations

import os
import sys

import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.spark.capture import jvm

pytestmark = pytest.mark.spark


@pytest.fixture
def kept(spark):
    spark.sql("drop table if exists kept")
    spark.sql("create table kept (id int) using parquet")
    yield "kept"
    spark.sql("drop table if exists kept")


TEXTS = {
    "in a comment": "insert into kept select 1 /* drop table kept */",
    "as text": """execute immediate 'insert into kept select 1 /* drop table kept */'""",
    "script": "begin insert into kept values (1); drop table if exists nothing; end",
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_statement_runs_once(spark, kept, what):
    """Spark runs EXECUTE IMMEDIATE and scripts while it analyzes them, so these are not asked about."""
    if what != "in a comment" and spark.version < "4":
        pytest.skip("no such statement in Spark 3.5")
    with capture_lineage(spark) as captured:
        spark.sql(TEXTS[what]).collect()
    assert spark.table(kept).count() == 1
    written = [output for output in captured.lineage.outputs if output.has_rows]
    assert [output.statistics.rows for output in written] == [1]


def test_a_statement_that_drops_by_text_drops(spark, kept):
    """Asking about it beforehand must not drop the table: the statement itself would fail then."""
    if spark.version < "4":
        pytest.skip("no such statement in Spark 3.5")
    with capture_lineage(spark):
        spark.sql("execute immediate 'drop table kept'")
    assert not spark.catalog.tableExists(kept)


def test_a_database_dropped_by_a_bound_name_is_a_gap(spark):
    """Its tables could not be asked for: the event has a gap for them."""
    spark.sql("create database bound")
    spark.sql("create table bound.t (id int) using parquet")
    with capture_lineage(spark) as captured:
        spark.sql("drop database identifier(:name) cascade", args={"name": "bound"})
    assert gap_kinds(captured.lineage) == ["unnamed_dataset"]


def test_a_jvm_that_cannot_be_listened_to_is_tried_once(spark, monkeypatch):
    """A Spark without a compiler costs one attempt and one gap, not one at each call of the program."""
    tried = []

    def broken(*_, **__):
        tried.append(1)
        raise RuntimeError("no compiler")

    monkeypatch.setattr(jvm.JvmReader, "__init__", broken)
    with capture_lineage(spark) as captured:
        for _ in range(5):
            spark.sql("select 1").collect()
    assert len(tried) == 1
    assert len(captured.lineage.gaps) == 1


def test_a_forked_child_that_leaves_the_block_disturbs_nobody(spark, tmp_path):
    """The child unwinds the block as well; later actions of the parent are captured."""
    with capture_lineage(spark) as captured:
        child = os.fork()
        if not child:
            try:
                sys.exit(0)
            finally:
                captured.stop()
                os._exit(0)
        os.waitpid(child, 0)
        spark.range(3).write.parquet(str(tmp_path / "later"))
    assert [output.dataset.id.name for output in captured.lineage.outputs] == [str(tmp_path / "later")]
    assert captured.lineage.gaps == ()


def test_batches_of_a_stream_are_one_read(spark, tmp_path):
    """Each batch reads other files: their rows add up, as those that it writes."""
    for _ in range(3):
        spark.range(2).coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    with capture_lineage(spark) as captured:
        stream = (
            spark.readStream.schema("id long").option("maxFilesPerTrigger", 1).parquet(str(tmp_path / "in"))
        )
        query = stream.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        query.trigger(availableNow=True).start(str(tmp_path / "out"), format="parquet").awaitTermination()
    (read,), (written,) = captured.lineage.inputs, captured.lineage.outputs
    assert (read.statistics.rows, written.statistics.rows) == (6, 6)
