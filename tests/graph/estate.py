"""Events of many jobs for tests of the graph: short to write, complete as OpenLineage has them."""

from __future__ import annotations

from typing import Any

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.graph.current import Current

NAMESPACE = "s3://lake"


def dataset(name: str, fields: str = "", **facets: Any) -> dict[str, Any]:
    """Return a dataset; `fields` are `name:type` pairs, the type may be left out."""
    pairs = (each.partition(":") for each in fields.split())
    schema = [{"name": field, "type": kind or "string"} for field, _, kind in pairs]
    more = {"schema": {"fields": schema}} if schema else {}
    return {"namespace": NAMESPACE, "name": name, "facets": {**more, **facets}}


def edges(*texts: str) -> dict[str, Any]:
    """Return a columnLineage facet of texts such as `total <- orders.amount DIRECT AGGREGATION masked`.

    `* <- orders.day INDIRECT FILTER` is an edge of all rows.
    """
    fields: dict[str, dict[str, Any]] = {}
    whole: list[dict[str, Any]] = []
    for text in texts:
        target, _, rest = text.partition(" <- ")
        source, *words = rest.split()
        name, _, field = source.rpartition(".")
        kind, subtype = ([word for word in words if word != "masked"] + ["DIRECT", "IDENTITY"])[:2]
        if not [word for word in words if word != "masked"]:
            kind, subtype = "DIRECT", "IDENTITY"
        how = {"type": kind, "subtype": subtype, "masking": "masked" in words}
        edge = {"namespace": NAMESPACE, "name": name, "field": field, "transformations": [how]}
        if target == "*":
            whole.append(edge)
        else:
            fields.setdefault(target, {"inputFields": []})["inputFields"].append(edge)
    return {"columnLineage": {"fields": fields, **({"dataset": whole} if whole else {})}}


def run(
    job: str,
    inputs: list[dict[str, Any]] = (),
    outputs: list[dict[str, Any]] = (),
    *,
    hour: int = 6,
    day: int = 1,
    state: str = "COMPLETE",
    id: str = "",  # noqa: A002
    facets: dict[str, Any] | None = None,
    job_facets: dict[str, Any] | None = None,
    ours: bool = True,
    gaps: list[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the end event of a run; `ours` is one of this package, which names every gap."""
    own = {"sparkLineage_gaps": {"gaps": list(gaps)}} if ours else {}
    return {
        "eventType": state,
        "eventTime": f"2026-01-{day:02}T{hour:02}:00:00Z",
        "producer": "https://example.com/producer",
        "job": {"namespace": "jobs", "name": job, "facets": job_facets or {}},
        "run": {"runId": id or f"{job}-{day}-{hour}", "facets": {**own, **(facets or {})}},
        "inputs": list(inputs),
        "outputs": list(outputs),
    }


def task(dag: str, name: str, *, date: str = "2026-01-01T00:00:00+00:00", **more: Any) -> dict[str, Any]:
    """Return Airflow's facet of a task's run."""
    dag_run = {"run_id": f"manual__{date}", "logical_date": date}
    instance = {"try_number": 1, **more}
    return {
        "airflow": {
            "dag": {"dag_id": dag, "owner": "sales"},
            "dagRun": dag_run,
            "task": {"task_id": name},
            "taskInstance": instance,
        }
    }


def current(*events: dict[str, Any], **times: int) -> Current:
    return Current.of(Events.of(events), **times)


def wrote(found: Current) -> dict[tuple[str, str], set[tuple[str | None, str]]]:
    """Return for each job and output the columns with the names of their sources."""
    return {
        (write.job.name, write.output[1]): {
            (edge.column, f"{edge.source[1]}.{edge.field}") for edge in write.edges
        }
        for write in found.writes
    }


SHOP = [
    run(
        "shop.clean",
        [dataset("raw/orders", "id amount:double email day")],
        [
            dataset(
                "silver/orders",
                "id amount:double email_hash",
                **edges(
                    "id <- raw/orders.id",
                    "amount <- raw/orders.amount",
                    "email_hash <- raw/orders.email DIRECT TRANSFORMATION masked",
                    "* <- raw/orders.day INDIRECT FILTER",
                ),
            )
        ],
        hour=1,
        facets=task("shop", "clean"),
    ),
    run(
        "shop.report",
        [dataset("silver/orders", "id amount:double email_hash")],
        [
            dataset(
                "gold/report",
                "total:double customers:long",
                **edges(
                    "total <- silver/orders.amount DIRECT AGGREGATION",
                    "customers <- silver/orders.email_hash DIRECT AGGREGATION",
                ),
            )
        ],
        hour=2,
        facets=task("shop", "report"),
    ),
    run("mail.send", [dataset("gold/report", "total:double customers:long")], hour=3, ours=False),
]
"""A shop: orders are cleaned and summed up by two tasks of Airflow, and another system reads the result."""
