"""Complete OpenLineage run events of Spark executions and of their run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from openlineage.client import event_v2
from openlineage.client.facet_v2 import JobFacet, RunFacet, parent_run
from openlineage.client.serde import Serde
from openlineage.client.uuid import generate_static_uuid

from airflow_provider_spark_lineage.openlineage.json_values import json_value
from airflow_provider_spark_lineage.spark.checks.assertion import Findings
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets, output_datasets
from airflow_provider_spark_lineage.spark.facets.jobs import job_type_facet, lineage_job_facets, sql_facet
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.facets.quality import add_findings
from airflow_provider_spark_lineage.spark.facets.runs import engine_facet, error_facet, lineage_run_facets
from airflow_provider_spark_lineage.spark.facets.size import EventContent, fitted
from airflow_provider_spark_lineage.spark.lineage.model import Lineage, Statistics
from airflow_provider_spark_lineage.spark.records.sql_text import NONE

START, RUNNING, END = "START", "RUNNING", "END"


@dataclass(frozen=True)
class EventExecution:
    """One Spark execution, or a streaming query so far, with the data of its events."""

    job: str
    """Name of its job, from `lineage.job_names`; unique in the run."""

    started_at: datetime
    ended_at: datetime
    lineage: Lineage
    sql: str = ""
    engine_version: str = ""
    """Spark's version."""

    streaming: bool = False
    """It is a streaming query, or a batch of one."""

    states: tuple[str, ...] = (START, END)
    """Events to send: also `RUNNING`, for a streaming query."""

    failed: bool | None = None
    """None: it failed if its lineage has failures."""

    is_unfinished: bool = False
    """It was still running when the capture ended: its last event is ABORT."""

    job_type: str = "SQL_JOB"
    """`RDD_JOB` for a job over an RDD, as in OpenLineage's Java agent."""


@dataclass(frozen=True)
class EventRun:
    """One Spark application, or a part of it, that the executions belong to."""

    application_id: str
    started_at: datetime
    ended_at: datetime
    lineage: Lineage
    """Lineage of all executions together."""

    run_facets: Mapping[str, RunFacet] = field(default_factory=dict)
    """Facets of its end event."""

    engine_version: str = ""
    failed: bool | None = None
    """The program failed. None: unknown; the run counts as failed if any execution failed."""

    findings: Sequence[Findings] = ()
    """What checks found in the data that the run wrote."""

    sql_text: str = NONE
    """The option: what of the checks' statements is shown."""


@dataclass(frozen=True)
class RunIdentity:
    """Run id and job of a run in OpenLineage: of an Airflow task, or of a whole `EventRun`."""

    run_id: str
    namespace: str
    job: str
    root: RunIdentity | None = None
    """The root run, for example the DAG run; None if this run is the root itself."""

    producer: str = PRODUCER
    """Sender of the events of this run: `_producer` of facets that name it as a parent.

    DataHub, for example, reads a task's orchestrator from it.
    """

    def as_parent(self) -> dict[str, RunFacet]:
        """Return the facet that names this run as the parent of another one."""
        return parent_facet(self)


@dataclass(frozen=True)
class EventFacets:
    """Facets of a run and of its job that all events of the run have.

    They are new objects for each event, because the provider's redactor modifies them.
    """

    run: Mapping[str, RunFacet]
    job: Mapping[str, JobFacet]

    def of(self, lineage: Lineage) -> EventFacets:
        """Return these facets and the facets of a lineage."""
        return EventFacets(
            {**self.run, **lineage_run_facets(lineage)}, {**self.job, **lineage_job_facets(lineage)}
        )


def events_of(
    executions: Iterable[EventExecution],
    whole: EventRun,
    *,
    namespace: str,
    job: str,
    run_id: str | None = None,
    dataset_edges_per_field: bool = False,
) -> list[dict[str, Any]]:
    """Return START of the run, START and end of each execution, and the end of the run.

    They are plain JSON values, equal for equal arguments: run ids are derived from start times and names.
    """
    run_id = run_id or _run_id(whole.started_at, namespace, job, whole.application_id)
    identity = RunIdentity(run_id, namespace, job)
    per_field = dataset_edges_per_field
    started, ended = whole_run_events(whole, identity, dataset_edges_per_field=per_field)
    children = execution_events(
        executions, identity, application_id=whole.application_id, dataset_edges_per_field=per_field
    )
    return [plain(event) for event in (started, *children, ended)]


def whole_run_events(
    whole: EventRun, identity: RunIdentity, *, dataset_edges_per_field: bool = False
) -> tuple[event_v2.RunEvent, event_v2.RunEvent]:
    """Return START and COMPLETE or FAIL of the run itself, under the given identity.

    START names no dataset, because inputs and outputs are known only when the run has ended.
    """
    failed = bool(whole.lineage.failures) if whole.failed is None else whole.failed
    first, last = (
        EventFacets({**engine_facet(whole.engine_version), **facets}, job_type_facet("APPLICATION"))
        for facets in ({}, whole.run_facets)
    )
    started = _event(event_v2.RunState.START, whole.started_at, identity, first, Lineage())
    ended = _end(
        whole.ended_at,
        identity,
        last,
        whole.lineage,
        failed=failed,
        dataset_edges_per_field=dataset_edges_per_field,
    )
    tests = add_findings(ended.inputs or [], whole.findings, whole.sql_text, ended.outputs or [])
    ended.run.facets = {**(ended.run.facets or {}), **tests}
    return started, ended


def task_event(
    state: str,
    identity: RunIdentity,
    facets: EventFacets,
    inputs: Sequence[event_v2.InputDataset],
    outputs: Sequence[event_v2.OutputDataset],
) -> event_v2.RunEvent:
    """Return an event of a task as Airflow's provider sends it, of all its facets and datasets.

    It is OTHER where the run's FAIL may have been sent already: OpenLineage's run cycle allows OTHER after
    the end of a run.
    """
    event = _event(event_v2.RunState[state], datetime.now(timezone.utc), identity, facets, Lineage())
    event.inputs, event.outputs = list(inputs), list(outputs)
    return event


def execution_events(
    executions: Iterable[EventExecution],
    parent: RunIdentity,
    *,
    application_id: str,
    dataset_edges_per_field: bool = False,
    max_bytes: int | None = None,
    start_outputs: bool = True,
) -> Iterator[event_v2.RunEvent]:
    """Yield START, and COMPLETE, FAIL or ABORT, of each execution, or its other `states`, below `parent`.

    An event has at most `max_bytes`, if given, with a gap for the rest. START has what an execution's
    plan says: inputs, outputs, schemas and columns; without `start_outputs`, only inputs. One execution is in
    memory at a time: a task may have thousands.
    """
    for execution in executions:
        content = EventContent(execution.lineage, execution.sql, dataset_edges_per_field)
        if max_bytes is not None:
            content = fitted(content, max_bytes)
        job, began, lineage = execution.job, execution.started_at, content.lineage
        run_id = _run_id(began, parent.namespace, job, application_id, parent.run_id)
        identity = RunIdentity(run_id, parent.namespace, job, root=parent.root)
        per_field = content.repeats_dataset_edges
        known = {*execution.lineage.gaps}
        left_out = Lineage(gaps=tuple(gap for gap in lineage.gaps if gap not in known))
        for state in execution.states:
            facets = _execution_facets(execution, content.sql, parent)
            if state == END:
                yield _end(
                    execution.ended_at,
                    identity,
                    facets,
                    lineage,
                    failed=bool(lineage.failures) if execution.failed is None else execution.failed,
                    aborted=execution.is_unfinished,
                    dataset_edges_per_field=per_field,
                )
                continue
            is_start = state == START
            shown = _planned(lineage, with_outputs=start_outputs) if is_start else lineage
            yield _event(
                event_v2.RunState[state],
                began if is_start else execution.ended_at,
                identity,
                facets.of(left_out if is_start else lineage),
                shown,
                dataset_edges_per_field=per_field,
            )


def _planned(lineage: Lineage, *, with_outputs: bool) -> Lineage:
    """Return a lineage as known before it runs: without statistics and written versions."""
    outputs = lineage.outputs if with_outputs else ()
    return Lineage(
        tuple(replace(read, statistics=Statistics()) for read in lineage.inputs),
        tuple(replace(write, dataset=write.dataset.at(""), statistics=Statistics()) for write in outputs),
    )


def _execution_facets(execution: EventExecution, sql: str, parent: RunIdentity) -> EventFacets:
    job_type = job_type_facet(execution.job_type, streaming=execution.streaming)
    return EventFacets(
        parent_facet(parent) | engine_facet(execution.engine_version),
        job_type | sql_facet(sql),
    )


def plain(part: RunFacet | event_v2.RunEvent) -> dict[str, Any]:
    """Return a facet or an event as plain JSON values."""
    return Serde.to_dict(json_value(part))


def parent_facet(parent: RunIdentity) -> dict[str, RunFacet]:
    """Return the facet with a run's parent and root, under its key."""
    root = parent.root or parent
    facet = parent_run.ParentRunFacet(
        run=parent_run.Run(runId=parent.run_id),
        job=parent_run.Job(namespace=parent.namespace, name=parent.job),
        root=parent_run.Root(
            run=parent_run.RootRun(runId=root.run_id),
            job=parent_run.RootJob(namespace=root.namespace, name=root.job),
        ),
        producer=parent.producer,
    )
    return {"parent": facet}


def _end(
    at: datetime,
    identity: RunIdentity,
    facets: EventFacets,
    lineage: Lineage,
    *,
    failed: bool,
    dataset_edges_per_field: bool,
    aborted: bool = False,
) -> event_v2.RunEvent:
    state = event_v2.RunState.FAIL if failed else event_v2.RunState.COMPLETE
    state = event_v2.RunState.ABORT if aborted else state
    facets = facets.of(lineage)
    event = _event(state, at, identity, facets, lineage, dataset_edges_per_field=dataset_edges_per_field)
    if failed:
        event.run.facets = {**(event.run.facets or {}), **error_facet(lineage.failures)}
    return event


def _event(
    state: event_v2.RunState,
    at: datetime,
    identity: RunIdentity,
    facets: EventFacets,
    lineage: Lineage,
    *,
    dataset_edges_per_field: bool = False,
) -> event_v2.RunEvent:
    return event_v2.RunEvent(
        eventType=state,
        eventTime=_utc(at).isoformat(timespec="milliseconds"),
        run=event_v2.Run(runId=identity.run_id, facets=dict(facets.run)),
        job=event_v2.Job(namespace=identity.namespace, name=identity.job, facets=dict(facets.job)),
        inputs=input_datasets(lineage),
        outputs=output_datasets(lineage, dataset_edges_per_field=dataset_edges_per_field),
        producer=PRODUCER,
    )


def _run_id(started_at: datetime, *names: str) -> str:
    return str(generate_static_uuid(_utc(started_at), "\n".join(names).encode()))


def _utc(at: datetime) -> datetime:
    """Return a time in UTC; without a zone it is UTC already, as in records."""
    return at.replace(tzinfo=timezone.utc) if at.tzinfo is None else at.astimezone(timezone.utc)
