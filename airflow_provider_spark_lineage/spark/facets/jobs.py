"""Job facets: the inputs of each output, the SQL text, the kind of job."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import attrs
from openlineage.client.facet_v2 import JobFacet, job_type_job, sql_job

from airflow_provider_spark_lineage.spark.facets.datasets import fields_read
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.lineage.model import Lineage, Output

if TYPE_CHECKING:
    from openlineage.client.generated.lineage import LineageDatasetEntry, LineageInput, LineageTransformation

LINEAGE = "lineage"


def lineage_job_facets(lineage: Lineage) -> dict[str, JobFacet]:
    """Return the explicit lineage facet under its key; empty if nothing was written.

    An event lists all inputs and all outputs, which reads as "each output depends on each input". This facet
    lists the pairs, so that two independent copies in one task are two edges instead of four.
    """
    try:
        from openlineage.client.generated import lineage as explicit
    except ImportError:
        # Clients before 1.54 may lack the facet (1.50 does); the event is correct without it.
        return {}
    if not lineage.outputs:
        return {}
    entries = [_entry(write) for write in lineage.outputs]
    return {LINEAGE: explicit.LineageJobFacet(entries=[*entries], producer=PRODUCER)}


def with_entries(
    facets: dict[str, JobFacet], sources: Iterable[tuple[Any, list[Any]]]
) -> dict[str, JobFacet]:
    """Return job facets whose explicit lineage also has entries for outputs that were added to the event.

    `sources` has each added output with its possible sources. An output without sources gets no entry: an
    empty one would say that it has no upstream, which is unknown. Entries of other outputs are kept.
    """
    facet: Any = facets.get(LINEAGE)
    if facet is None:
        return facets
    from openlineage.client.generated import lineage as explicit

    added = [
        explicit.LineageDatasetEntry(
            namespace=output.namespace,
            name=output.name,
            type="DATASET",
            inputs=[_input(read.namespace, read.name) for read in reads],
        )
        for output, reads in sources
        if reads
    ]
    return {**facets, LINEAGE: attrs.evolve(facet, entries=[*facet.entries, *added])}


def sql_facet(query: str) -> dict[str, JobFacet]:
    """Return the facet with the user's statement, under its key; empty without a statement."""
    return {"sql": sql_job.SQLJobFacet(query=query, dialect="spark", producer=PRODUCER)} if query else {}


def job_type_facet(job_type: str, *, streaming: bool = False) -> dict[str, JobFacet]:
    """Return the job type: `APPLICATION`, `SQL_JOB` or `RDD_JOB`, as in OpenLineage's Java agent.

    Batches of a stream are STREAMING, as in that agent. The application that runs the stream is BATCH, like
    the Airflow task, because it ends.
    """
    facet = job_type_job.JobTypeJobFacet(
        processingType="STREAMING" if streaming else "BATCH",
        integration="SPARK",
        jobType=job_type,
        producer=PRODUCER,
    )
    return {"jobType": facet}


def _entry(write: Output) -> LineageDatasetEntry:
    from openlineage.client.generated import lineage as explicit

    by_column = {
        column: [
            _input(source.namespace, source.name, field, transformations)
            for source, field, transformations in fields_read(edges, explicit.LineageTransformation)
        ]
        for column, edges in groupby(write.edges, key=lambda edge: edge.column)
    }
    on_dataset = by_column.pop("", [])
    sources = sorted({*write.inputs, *(edge.source for edge in write.edges)})
    return explicit.LineageDatasetEntry(
        namespace=write.dataset.id.namespace,
        name=write.dataset.id.name,
        type="DATASET",
        # Also if empty: in the spec, an empty list means "has no upstream".
        inputs=[*(_input(source.namespace, source.name) for source in sources), *on_dataset],
        fields={column: explicit.LineageFieldEntry(inputs=read) for column, read in by_column.items()},
    )


def _input(
    namespace: str,
    name: str,
    field: str | None = None,
    transformations: list[LineageTransformation] | None = None,
) -> LineageInput:
    from openlineage.client.generated import lineage as explicit

    return explicit.LineageDatasetInput(
        namespace=namespace, name=name, type="DATASET", field=field, transformations=transformations
    )
