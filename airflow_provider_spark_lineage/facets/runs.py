"""Run facets: what failed, what Spark it was, and where the lineage has gaps."""

from __future__ import annotations

import attrs
from openlineage.client.facet_v2 import RunFacet, error_message_run, processing_engine_run
from openlineage.client.utils import RedactMixin

from airflow_provider_spark_lineage import __version__
from airflow_provider_spark_lineage.facets.producer import PRODUCER, schema_url
from airflow_provider_spark_lineage.lineage.model import Failure, Gap, Lineage

GAPS = "sparkLineage_gaps"
"""Key of `SparkLineageGapsRunFacet`; OpenLineage wants `<prefix>_<name>` for custom facets."""

FAILURES = "sparkLineage_failures"
"""Key of `SparkLineageFailuresRunFacet`."""

MAX_ENTRIES = 100
"""How many gaps and how many failures an event lists: one task may run thousands of executions, and each
message is up to a page. What is left out is a gap of its own."""


@attrs.define
class OutputEntry(RedactMixin):
    """The output that a gap is about."""

    namespace: str
    name: str


@attrs.define
class GapEntry(RedactMixin):
    """One `Gap` of the lineage model."""

    where: str
    reason: str
    output: OutputEntry | None = None
    column: str | None = None


@attrs.define
class SparkLineageGapsRunFacet(RunFacet):
    """Where the lineage of this run is not to be trusted; without this facet it claims to be complete."""

    gaps: list[GapEntry]

    @staticmethod
    def _get_schema() -> str:
        return schema_url("SparkLineageGapsRunFacet")


@attrs.define
class FailureEntry(RedactMixin):
    """One `Failure` of the lineage model."""

    errorClass: str  # noqa: N815  # the JSON name
    message: str
    sqlState: str | None = None  # noqa: N815
    execution: str | None = None


@attrs.define
class SparkLineageFailuresRunFacet(RunFacet):
    """The executions that failed, in order; the last hundred of them.

    Beside `errorMessage`, because that one holds a single text, and because Airflow's provider
    replaces it with the text of the task's exception.
    """

    failures: list[FailureEntry]

    @staticmethod
    def _get_schema() -> str:
        return schema_url("SparkLineageFailuresRunFacet")


def lineage_run_facets(lineage: Lineage) -> dict[str, RunFacet]:
    """Return what a finished run says besides its datasets: gaps and failures, each only if there are any."""
    gaps, failures = list(lineage.gaps), lineage.failures[-MAX_ENTRIES:]
    unlisted = {"failures": len(lineage.failures) - len(failures), "gaps": max(len(gaps) - MAX_ENTRIES, 0)}
    del gaps[MAX_ENTRIES:]
    gaps += [Gap("event", f"{count} more {what} are not listed") for what, count in unlisted.items() if count]
    facets: dict[str, RunFacet] = {}
    if gaps:
        facets[GAPS] = SparkLineageGapsRunFacet([_gap(gap) for gap in gaps], producer=PRODUCER)
    if failures:
        facets[FAILURES] = SparkLineageFailuresRunFacet(
            [_failure(failure) for failure in failures], producer=PRODUCER
        )
    return facets


def error_facet(failures: tuple[Failure, ...]) -> dict[str, RunFacet]:
    """`errorMessage` of a failed run, from its last failure; empty if Spark saw none fail.

    The last one, because earlier ones did not end the run: the job went on after them.
    """
    if not failures:
        return {}
    facet = error_message_run.ErrorMessageRunFacet(
        message=error_text(failures[-1]), programmingLanguage=_language(failures[-1]), producer=PRODUCER
    )
    return {"errorMessage": facet}


def error_text(failure: Failure) -> str:
    """Class, SQLSTATE and message in one line of text, in the order in which a person sorts errors.

    >>> error_text(Failure("org.apache.spark.SparkArithmeticException", "Division by zero.", "22012"))
    'org.apache.spark.SparkArithmeticException (SQLSTATE 22012): Division by zero.'
    """
    state = f" (SQLSTATE {failure.sql_state})" if failure.sql_state else ""
    text = f"{failure.error_class}{state}"
    return f"{text}: {failure.message}" if failure.message else text


def engine_facet(version: str) -> dict[str, RunFacet]:
    """`processing_engine`, which requires a version; empty without one.

    Not for the events of an Airflow task: there the engine is Airflow, which says so itself.
    """
    if not version:
        return {}
    facet = processing_engine_run.ProcessingEngineRunFacet(
        version=version, name="Spark", openlineageAdapterVersion=__version__, producer=PRODUCER
    )
    return {"processing_engine": facet}


def _gap(gap: Gap) -> GapEntry:
    output = OutputEntry(gap.output.namespace, gap.output.name) if gap.output else None
    return GapEntry(gap.where, gap.reason, output, gap.column or None)


def _failure(failure: Failure) -> FailureEntry:
    return FailureEntry(
        failure.error_class, failure.message, failure.sql_state or None, failure.execution or None
    )


def _language(failure: Failure) -> str:
    """A class of the JVM always has a package of its own; Python's built-in errors have none."""
    python = failure.error_class.startswith("pyspark.") or "." not in failure.error_class
    return "PYTHON" if python else "JAVA"
