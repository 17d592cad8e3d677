"""Run facets: failures, the version of Spark, and gaps of the lineage."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from openlineage.client.facet_v2 import (
    RunFacet,
    error_message_run,
    extraction_error_run,
    processing_engine_run,
)
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage import __version__
from airflow_provider_spark_lineage.spark.facets.failures import MAX_FAILURES, failures_facets
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER, OwnSchema, schema_url
from airflow_provider_spark_lineage.spark.gaps import of_tasks
from airflow_provider_spark_lineage.spark.lineage.model import ExecutionSummary, Failure, Gap, Lineage

GAPS = "sparkLineage_gaps"
"""Key of `SparkLineageGapsRunFacet`; OpenLineage requires `<prefix>_<name>` for custom facets."""

MAX_GAPS = 100
"""Limit of gaps in an event; a gap says how many gaps and failures are left out."""


@attrs.define
class OutputEntry(RedactMixin):
    """Output that a gap is about."""

    namespace: str
    name: str


@attrs.define
class GapEntry(RedactMixin):
    """One `Gap` of the lineage model."""

    where: str
    kind: str
    reason: str
    output: OutputEntry | None = None
    column: str | None = None


@attrs.define
class SparkLineageGapsRunFacet(OwnSchema, RunFacet):
    """Gaps of the run's lineage; without this facet, the lineage claims to be complete."""

    gaps: list[GapEntry]

    @classmethod
    def _get_schema(cls) -> str:
        # In 1-0-0, gaps had no kind.
        return schema_url(cls.__name__, "1-1-0")


def lineage_run_facets(lineage: Lineage) -> dict[str, RunFacet]:
    """Return the facets of a finished run for its gaps and its failures, each only if there are any."""
    return {**gaps_facets(lineage), **failures_facets(lineage)}


def gaps_facets(lineage: Lineage) -> dict[str, RunFacet]:
    """Return `sparkLineage_gaps`; empty if the lineage is complete."""
    gaps = list(lineage.gaps[:MAX_GAPS])
    for name, count, limit in (
        ("failures", len(lineage.failures), MAX_FAILURES),
        ("gaps", len(lineage.gaps), MAX_GAPS),
    ):
        if count > limit:
            gaps.append(Gap("event", of_tasks.NOT_LISTED(count=count - limit, names=name)))
    if not gaps:
        return {}
    return {GAPS: SparkLineageGapsRunFacet([_gap(gap) for gap in gaps], producer=PRODUCER)}


def extraction_errors(executions: Sequence[ExecutionSummary]) -> dict[str, RunFacet]:
    """Return OpenLineage's `extractionError`; empty if every plan could be read."""
    unread = [execution for execution in executions if execution.unread]
    if not unread:
        return {}
    errors = [
        extraction_error_run.Error(
            errorMessage=each.unread,
            # OpenLineage counts from 0.
            taskNumber=each.number - 1,
            task=f"execution {each.number} ({each.name})",
        )
        for each in unread[:MAX_GAPS]
    ]
    facet = extraction_error_run.ExtractionErrorRunFacet(
        totalTasks=len(executions), failedTasks=len(unread), errors=errors, producer=PRODUCER
    )
    return {"extractionError": facet}


def error_facet(failures: tuple[Failure, ...]) -> dict[str, RunFacet]:
    """Return `errorMessage` of a failed run, from its last failure; empty if no execution failed.

    Earlier failures did not end the run.
    """
    if not failures:
        return {}
    # The names of JVM classes have a package, those of built-in Python errors do not.
    name = failures[-1].error_class
    is_python = name.startswith("pyspark.") or "." not in name
    facet = error_message_run.ErrorMessageRunFacet(
        message=error_text(failures[-1]),
        programmingLanguage="PYTHON" if is_python else "JAVA",
        producer=PRODUCER,
    )
    return {"errorMessage": facet}


def error_text(failure: Failure) -> str:
    """Return class, SQLSTATE and message in one line of text.

    >>> error_text(Failure("org.apache.spark.SparkArithmeticException", "Division by zero.", "22012"))
    'org.apache.spark.SparkArithmeticException (SQLSTATE 22012): Division by zero.'
    """
    state = f"(SQLSTATE {failure.sql_state})" if failure.sql_state else ""
    text = " ".join(filter(None, [failure.error_class, state]))
    return ": ".join(filter(None, [text, failure.message]))


def engine_facet(version: str) -> dict[str, RunFacet]:
    """Return `processing_engine`, which requires a version; empty without one.

    It is not used in events of an Airflow task: there the engine is Airflow, which sets the facet itself.
    """
    if not version:
        return {}
    facet = processing_engine_run.ProcessingEngineRunFacet(
        version=version, name="Spark", openlineageAdapterVersion=__version__, producer=PRODUCER
    )
    return {"processing_engine": facet}


def _gap(gap: Gap) -> GapEntry:
    output = OutputEntry(*gap.output) if gap.output else None
    return GapEntry(gap.where, gap.kind.value, str(gap.reason), output, gap.column or None)
