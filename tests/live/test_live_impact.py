"""Impact is complete: whatever changes when a base column changes, on real Spark, is in the answer."""

from __future__ import annotations

import pytest
from graph import pipelines
from graph.pipelines import BASE, base_rows, contents, pipeline, table

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.graph.changes import changes_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import Selected

pyspark_errors = pytest.importorskip("pyspark.errors")
pytestmark = pytest.mark.spark

SEEDS = range(30)


@pytest.fixture
def lake(spark, tmp_path):
    """Return a function that runs the jobs of a seed once, and gives the lineage of their events."""

    def run_it(seed):
        for name, rows in base_rows().items():
            table(spark, name, rows).write.parquet(str(tmp_path / name))
        events = []
        for job in pipeline(seed):
            frames = {name: spark.read.parquet(str(tmp_path / name)) for name in job.inputs}
            with capture_lineage(spark) as captured:
                spark.sql(job.query, **frames).write.parquet(str(tmp_path / job.output))
            events += captured.events(namespace="jobs", job=job.output)
        return Current.of(Events.of(events))

    return run_it


def base_column(current, name, column):
    [dataset] = [each for each in current.datasets if each[1].endswith(f"/{name}")]
    return Selected(dataset, column)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_changes_is_in_the_answer(spark, lake, seed):
    """Each base column is changed in three ways; a column downstream whose values differ depends on it."""
    jobs, current = pipeline(seed), lake(seed)
    graph = LineageGraph.of(current)
    before = contents(spark, jobs)
    answers = {}
    for changed, change in pipelines.changes():
        after = contents(spark, jobs, changed, change)
        if changed not in answers:
            read = any(changed[0] in job.inputs for job in jobs)
            answers[changed] = (
                Impact(current, graph, [base_column(current, *changed)]).columns if read else {}
            )
        named = {(dataset[1].rpartition("/")[2], field) for dataset, field in answers[changed]}
        missed = {column for column in before if before[column] != after[column]} - named
        assert not missed, (changed, change, [job.query for job in jobs])


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_fails_without_a_column_is_in_the_answer(spark, lake, seed):
    """Each base column is dropped; a job that cannot run any more is one of those named."""
    jobs, current = pipeline(seed), lake(seed)
    graph = LineageGraph.of(current)
    for name, columns in BASE.items():
        for column in columns if any(name in job.inputs for job in jobs) else ():
            impact = Impact(current, graph, [base_column(current, name, column)])
            assert failing(spark, jobs, name, column) <= {job.name for job in impact.jobs}


def failing(spark, jobs, name, column):
    """Return the jobs whose query is not valid if a base table lacks a column."""
    frames = {name: table(spark, name, []) for name in BASE}
    frames[name] = frames[name].drop(column)
    failed = set()
    for job in jobs:
        if not set(job.inputs) <= frames.keys():
            continue
        try:
            frames[job.output] = spark.sql(job.query, **{name: frames[name] for name in job.inputs})
        except pyspark_errors.AnalysisException:
            failed.add(job.output)
    return failed


SAME_FLOW = {
    "as it was": "SELECT o.id, o.amount * 2 AS twice FROM {orders} o WHERE o.amount > 0",
    "another alias": "SELECT x.id, x.amount * 2 AS twice FROM {orders} x WHERE x.amount > 0",
    "a common table expression": (
        "WITH c AS (SELECT * FROM {orders}) SELECT id, amount * 2 AS twice FROM c WHERE amount > 0"
    ),
    "a subquery": (
        "SELECT id, twice FROM (SELECT id, amount, amount * 2 AS twice FROM {orders}) WHERE amount > 0"
    ),
    "a view": "CREATE OR REPLACE TEMP VIEW v AS SELECT id, amount, amount * 2 AS twice FROM parquet.`{path}`",
}


def test_names_inside_of_a_job_have_no_meaning(spark, tmp_path):
    """Another alias, a common table expression, a subquery or a temporary view gives no change."""
    source, target = str(tmp_path / "orders"), str(tmp_path / "out")
    table(spark, "orders", base_rows()["orders"]).write.parquet(source)
    flows = {}
    for name, query in SAME_FLOW.items():
        with capture_lineage(spark) as captured:
            if "VIEW" in query:
                spark.sql(query.replace("{path}", source))
                frame = spark.sql("SELECT id, twice FROM v WHERE amount > 0")
            else:
                frame = spark.sql(query, orders=spark.read.parquet(source))
            frame.write.mode("overwrite").parquet(target)
        flows[name] = Current.of(Events.of(captured.events(namespace="jobs", job=name)))
    assert [name for name in flows if changes_of(flows["as it was"], flows[name])] == []
