"""Events of our tasks, of the Java agent, of dbt and of Airflow's SQL operators are one graph."""

from __future__ import annotations

import json
from pathlib import Path

from graph.estate import edges, task
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import column_lineage_dataset, parent_run, schema_dataset
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import read_events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.selection import select

DATABASE = "postgres://db:5432"
JAVA_AGENT = Path(__file__).resolve().parents[1] / "viewer" / "events" / "java_agent.jsonl"


def event(job, source, target, *, hour, transformations, producer, namespace="dbt", facets=None, parent=None):
    """Return the end of a run that copies `amount`, made with the real client."""
    field = column_lineage_dataset.InputField(
        namespace=source[0],
        name=source[1],
        field="amount",
        transformations=[
            column_lineage_dataset.Transformation(type=kind, subtype=subtype)
            for kind, subtype in transformations
        ],
    )
    lineage = column_lineage_dataset.ColumnLineageDatasetFacet(
        fields={"amount": column_lineage_dataset.Fields(inputFields=[field])}
    )
    schema = schema_dataset.SchemaDatasetFacet(
        fields=[schema_dataset.SchemaDatasetFacetFields(name="amount", type="numeric")]
    )
    made = RunEvent(
        eventType=RunState.COMPLETE,
        eventTime=f"2026-01-01T{hour:02}:00:00+00:00",
        run=Run(runId=f"01a21c74-914d-7b3a-84a7-d1dc584ac6{hour:02}", facets=parent or {}),
        job=Job(namespace=namespace, name=job),
        inputs=[InputDataset(*source, facets={"schema": schema})],
        outputs=[OutputDataset(*target, facets={"schema": schema, "columnLineage": lineage})],
        producer=producer,
    )
    document = Serde.to_dict(made)
    document["run"]["facets"].update(facets or {})
    return document


def table(name):
    return DATABASE, f"shop.public.{name}"


def all_producers():
    ours = event(
        "shop.load",
        ("s3://lake", "/orders"),
        table("orders"),
        hour=1,
        transformations=[("DIRECT", "IDENTITY")],
        producer="https://airflow-provider-spark-lineage.example/0.1.0",
        namespace="airflow",
        facets={**task("shop", "load"), "sparkLineage_gaps": {"gaps": []}},
    )
    dbt = event(
        "shop.public.shop.mart.build.run",
        table("orders"),
        table("mart"),
        hour=2,
        transformations=[],
        producer="https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/dbt",
        parent={
            "parent": parent_run.ParentRunFacet(
                run=parent_run.Run(runId="01a21c74-914d-7b3a-84a7-d1dc584ac699"),
                job=parent_run.Job(namespace="dbt", name="dbt-run-shop"),
            )
        },
    )
    sql = event(
        "shop.report",
        table("mart"),
        table("report"),
        hour=3,
        transformations=[],
        producer="https://github.com/apache/airflow/tree/providers-openlineage/2.20.0",
        namespace="airflow",
        facets=task("shop", "report"),
    )
    agent = event(
        "export.execute_insert_into_hadoop_fs_relation_command.lake_report",
        table("report"),
        ("s3://lake", "report"),
        hour=4,
        transformations=[("DIRECT", "IDENTITY")],
        producer="https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark",
        namespace="agent",
    )
    return [ours, dbt, sql, agent]


def test_a_column_is_followed_through_all_producers():
    """An edge without transformations, as dbt and Airflow's parser of SQL write it, is a value."""
    current = Current.of(Events.of(all_producers()))
    graph = LineageGraph.of(current)
    impact = Impact(current, graph, [select(current, graph, "s3://lake/orders.amount")])
    assert [(name, field, each.how, each.depth) for ((_, name), field), each in impact.columns.items()] == [
        ("shop.public.orders", "amount", ["value"], 1),
        ("shop.public.mart", "amount", ["value"], 2),
        ("shop.public.report", "amount", ["value"], 3),
        ("report", "amount", ["value"], 4),
    ]
    assert [job.name.rpartition(".")[2] for job in impact.jobs] == ["load", "run", "report", "lake_report"]


def test_recorded_events_of_the_java_agent_are_a_graph_with_ours():
    """What the agent wrote is read by a job of ours."""
    agent = read_events(JAVA_AGENT)
    ours = Events.of(all_producers())
    output = next(
        each
        for event in reversed(agent.items)
        for each in event.document["outputs"]
        if event.type == "complete"
    )
    column = output["facets"]["schema"]["fields"][0]["name"]
    reader = json.loads(json.dumps(all_producers()[0]).replace("s3://lake", output["namespace"]))
    reader["inputs"][0]["name"] = output["name"]
    reader["outputs"][0]["facets"] |= edges(f"amount <- {output['name']}.{column}")
    source = reader["outputs"][0]["facets"]["columnLineage"]["fields"]["amount"]["inputFields"][0]
    source["namespace"] = output["namespace"]
    current = Current.of(Events((*agent.items, *ours.items[1:], *Events.of([reader]).items)))
    graph = LineageGraph.of(current)
    impact = Impact(current, graph, [select(current, graph, output["name"])])
    assert ((DATABASE, "shop.public.report"), "amount") in impact.columns
