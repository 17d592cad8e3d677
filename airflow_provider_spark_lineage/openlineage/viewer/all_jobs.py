"""Composes the newest runs of all jobs, with the edges that the graph of many runs has.

`spark-lineage impact` answers from the same edges: names of datasets, columns and edges are taken from
`Current`, and amounts, checks, executions and gaps from the documents of the runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.names import DatasetNames
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.viewer.composed import compose
from airflow_provider_spark_lineage.openlineage.viewer.datasets import bare_document
from airflow_provider_spark_lineage.openlineage.viewer.document import Document

ALL_JOBS = "All jobs"
"""Title of the picture."""


@dataclass(frozen=True)
class JobDocument:
    """The view document of the newest run of a job, and the time of that run."""

    job: JobName
    time_ns: int
    document: Document


def document_of_all(newest: Sequence[JobDocument], events: Events) -> Document:
    """Return one view document of the newest runs of some jobs.

    `rows` has pairs of datasets: all rows of the first lead to all rows of the second.
    """
    current, names = Current.of(events), DatasetNames.of(events)
    writes: dict[JobName, list[JobWrite]] = {}
    for write in current.writes:
        writes.setdefault(write.job, []).append(write)
    documents = []
    for each in newest:
        # The instances of a mapped task are one job: its edges are written once.
        own = writes.pop(each.job, [])
        documents.append(_with_edges(each, own, names))
    whole = compose(documents, ALL_JOBS)
    places = {id_of(dataset): place for place, dataset in enumerate(whole["datasets"])}
    used: dict[int, dict[str, None]] = {}
    for edge in whole["edges"]:
        used.setdefault(edge["from"], {})[edge["field"]] = None
        if edge["column"] is not None:
            used.setdefault(edge["to"], {})[edge["column"]] = None
    for place, dataset in enumerate(whole["datasets"]):
        typed = {column["name"]: column["type"] for column in dataset["columns"]}
        # Runs before the last write had other columns.
        fields = dict(current.fields.get(id_of(dataset), typed.items()))
        dataset["columns"] = [
            {"name": name, "type": typed.get(name) or fields.get(name, "")}
            for name in dict.fromkeys(fields) | used.get(place, {})
        ]
    shown = {each.job for each in newest}
    pairs = dict.fromkeys(
        (places[source], places[write.output])
        for write in current.writes
        if write.job in shown
        for source in write.sources
    )
    # It belongs to no DAG run.
    whole["run"] |= {"dag_id": "", "dag_run_id": ""}
    return whole | {"rows": [{"from": source, "to": output} for source, output in pairs]}


def _with_edges(newest: JobDocument, writes: Iterable[JobWrite], names: DatasetNames) -> Document:
    """Return a document with the edges of some writes, and with the graph's names of datasets."""
    document, datasets = newest.document, []
    for dataset in document["datasets"]:
        namespace, name = names.resolve(id_of(dataset), newest.time_ns)
        datasets.append({**dataset, "namespace": namespace, "name": name})
    places: dict[Id, int] = {id_of(dataset): place for place, dataset in reversed(list(enumerate(datasets)))}

    def place(dataset: Id) -> int:
        if dataset not in places:
            places[dataset] = len(datasets)
            datasets.append(bare_document(dataset))
        return places[dataset]

    flows = {(flow["from"], flow["to"]): flow for flow in document["flows"]}
    edges = []
    for write in writes:
        to = place(write.output)
        for source in write.sources:
            ends = place(source), to
            flows.setdefault(ends, {"from": ends[0], "to": to, "task": None})
        edges += [
            {
                "from": place(edge.source),
                "field": edge.field,
                "to": to,
                "column": edge.column,
                "type": edge.type,
                "subtype": edge.subtype,
                "masking": edge.masking,
                "task": None,
            }
            for edge in write.edges
        ]
    # Tasks of several DAGs may have one id: their jobs are told apart by whole names.
    run = document["run"] | {"task_id": "", "map_index": None}
    return {**document, "run": run, "datasets": datasets, "flows": list(flows.values()), "edges": edges}
