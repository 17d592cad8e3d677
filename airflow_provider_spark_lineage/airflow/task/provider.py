"""Access to OpenLineage's provider: whether it sends a task's events, and their names and facets."""

from __future__ import annotations

import functools
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from airflow.providers.openlineage import conf as openlineage_conf
from airflow.providers.openlineage.plugins import macros
from airflow.providers.openlineage.plugins.adapter import _PRODUCER, OpenLineageAdapter
from airflow.providers.openlineage.plugins.listener import get_openlineage_listener
from airflow.providers.openlineage.utils import utils
from airflow.utils.state import TaskInstanceState

from airflow_provider_spark_lineage.airflow import conf
from airflow_provider_spark_lineage.airflow.task import kafka
from airflow_provider_spark_lineage.openlineage.json_values import json_value
from airflow_provider_spark_lineage.spark import harmless

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark import EventParts, RunIdentity

log = logging.getLogger(__name__)


def is_skipped(task_instance: Any) -> bool:
    """Return whether a task ended by skipping itself, for which OpenLineage sends COMPLETE.

    Its work may be incomplete, as for a failed task.
    """
    return bool(getattr(task_instance, "state", None) == "skipped")


def is_active(task_instance: Any) -> bool:
    """Return whether the provider's options allow events of this task with its operator's lineage.

    Without them, no events of its executions are sent, either.
    """
    if conf.disabled() or openlineage_conf.is_disabled():
        return False
    policy = emission_policy(task_instance)
    if policy is not None:
        return bool(policy.emit and policy.extract_operator_metadata)
    from airflow.providers.openlineage.utils.utils import is_operator_disabled, is_selective_lineage_enabled

    task = task_instance.task
    return not is_operator_disabled(task) and is_selective_lineage_enabled(task)


@cache
def warn_of_unknown_run_facets() -> None:
    """Log a warning, once per process, for each function of `custom_run_facets` that we do not have."""
    from airflow_provider_spark_lineage.airflow.task.run_facets import unknown_functions

    for _, sentence in unknown_functions(";".join(sorted(openlineage_conf.custom_run_facets()))):
        log.warning("%s", sentence)


def emission_policy(task_instance: Any) -> Any:
    """Return the provider's `EmissionPolicy` for a task; None before 2.19, which has two options instead."""
    try:
        from airflow.providers.openlineage.utils.emission_policy import resolve_task_emission_policy
    except ImportError:
        return None
    with warnings.catch_warnings():
        # The provider itself warns about deprecated options elsewhere.
        warnings.simplefilter("ignore", DeprecationWarning)
        return resolve_task_emission_policy(
            operator=task_instance.task, dag_id=task_instance.dag_id, task_id=task_instance.task_id
        )


def identity_of(task_instance: Any) -> RunIdentity:
    """Return the identity of a task's run in OpenLineage, with its root run."""
    from airflow_provider_spark_lineage.spark import RunIdentity

    root = RunIdentity(
        run_id=macros.lineage_root_run_id(task_instance),
        namespace=macros.lineage_root_job_namespace(task_instance),
        job=macros.lineage_root_job_name(task_instance),
    )
    return RunIdentity(
        run_id=macros.lineage_run_id(task_instance),
        namespace=macros.lineage_job_namespace(),
        job=macros.lineage_job_name(task_instance),
        root=root,
        producer=_PRODUCER,
    )


def facets_of_start(task_instance: Any) -> EventParts:
    """Return new facets, as the provider adds them to START and to all other events of a task.

    Facets of the operator's extractor are left out: they differ from event to event.
    """
    from airflow_provider_spark_lineage.spark import EventParts, RunIdentity

    context = task_instance.get_template_context()
    dag_run, dag, task = context["dag_run"], context["dag"], context["task"]
    identity = identity_of(task_instance)
    parent = RunIdentity(
        OpenLineageAdapter.build_dag_run_id(
            dag_id=dag.dag_id,
            logical_date=getattr(dag_run, "logical_date", None) or dag_run.run_after,
            clear_number=getattr(dag_run, "clear_number", 0),
        ),
        identity.namespace,
        dag.dag_id,
        root=identity.root,
        producer=identity.producer,
    )
    about = {"dag_run": dag_run, "dag": dag, "task_instance": task_instance, "task": task}
    about["task_uuid"] = identity.run_id
    if hasattr(utils, "build_task_event_run_facets"):
        policy = emission_policy(task_instance)
        # 2.18 has neither a policy nor this argument.
        more = {} if policy is None else {"include_full_task_info": bool(policy.include_full_task_info)}
        run = utils.build_task_event_run_facets(
            **about, ti_state=TaskInstanceState.RUNNING, parent_run_id=parent.run_id, **more
        )
        job = utils.build_task_event_job_facets(task=task, dag=dag)
    else:  # Older providers, before 2.18; without documentation, owners and tags.
        run = {
            **utils.get_user_provided_run_facets(task_instance, TaskInstanceState.RUNNING),
            **utils.get_airflow_run_facet(**about),
            **utils.get_airflow_debug_facet(),
            **utils.get_processing_engine_facet(),
        }
        job = OpenLineageAdapter._build_job(job_name=identity.job, job_type="TASK").facets or {}
    run |= parent.as_parent() | utils.get_airflow_mapped_task_facet(task_instance)
    return EventParts(run_facets=run, job_facets=job)


def redactor() -> Callable[..., Any]:
    """Return the function that masks values as Airflow does; the provider calls it before it sends."""
    redact: Callable[..., Any] = OpenLineageAdapter()._redacter.redact
    return redact


def emit(event: Any) -> bool:
    """Send an event from this process; return False if the transport raised an error, or does not exist.

    The provider's adapter logs the error, and does not raise it.
    """
    with _creating:
        adapter = _adapter()
    if adapter is None:
        return False
    _last.failed = False
    adapter.emit(event)
    return not _last.failed


def wait_until_sent(timeout_seconds: float) -> int:
    """Wait for transports that send on a thread of their own; return the number of events that they lost.

    Their threads end with this process, and do not exist in its forked children. Events whose `emit` has not
    returned, or raised an error, are not among them.
    """
    if not _client.cache_info().currsize:
        return 0
    deadline, lost = time.monotonic() + timeout_seconds, 0
    for transport in _transports_of(_client()):
        if hasattr(transport, "wait_for_completion"):
            is_done = transport.wait_for_completion(max(deadline - time.monotonic(), 0))
            producer = getattr(transport, "producer", None)
            counting = producer if isinstance(producer, kafka.Producer) else transport
            if hasattr(counting, "get_stats"):
                counts = counting.get_stats()
                # The counts are those of the process, which may run several tasks.
                lost += counts["pending"] + counts["failed"] - _failed.get(id(transport), 0)
                _failed[id(transport)] = counts["failed"]
            else:
                # A transport of the user's own: one event at least.
                lost += not is_done
    return lost


def _transports_of(client: Any) -> Iterator[Any]:
    """Yield the transport of a client, and those inside of it: it may be composite, or transform events."""
    waiting = [client.transport]
    while waiting:
        transport = waiting.pop()
        yield transport
        waiting += getattr(transport, "transports", ())
        waiting += filter(None, [getattr(transport, "transport", None)])


_failed: dict[int, int] = {}
"""Transport -> the number of events that it had lost at the last call."""


_creating = threading.Lock()
"""Held while the client is created: the sender and a signal handler may both be the first."""

_last = threading.local()
"""`failed`: the last event of this thread was not sent."""


class _Client:
    """OpenLineage's client, which notes whether the last event was sent."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def emit(self, event: Any) -> None:
        _last.failed = True
        self._client.emit(_valid(event))
        _last.failed = False


def _valid(event: Any) -> Any:
    """Return an event that is valid JSON, whoever's facets it has; if that fails, as it is."""
    with harmless("an event may have values that are not valid JSON"):
        return json_value(event)
    return event


def send_valid_json() -> None:
    """Make the events that the provider's listener sends from now on valid JSON, whoever's facets they have.

    NaN in a result of a check, for example, is also in the provider's own facet `airflow`.
    """
    with harmless("the event of this task may have values that are not valid JSON"):
        _replace_emit(get_openlineage_listener().adapter)


@cache
def _replace_emit(adapter: Any) -> None:
    """Replace a method of the provider's adapter, once."""
    emit = adapter.emit

    @functools.wraps(emit)
    def emit_valid(event: Any) -> Any:
        return emit(_valid(event))

    adapter.emit = emit_valid


@contextmanager
def client_of_this_process() -> Iterator[None]:
    """Let the provider's functions use the client that sends events from this process.

    They would create the listener's client here otherwise, which belongs to its forked children.
    """
    adapter = get_openlineage_listener().adapter
    before, adapter._client = adapter._client, _client()
    try:
        yield
    finally:
        adapter._client = before


@cache
def _client() -> Any:
    client = OpenLineageAdapter().get_or_create_openlineage_client()
    for transport in _transports_of(client):
        producer = getattr(transport, "producer", None)
        if producer is not None and getattr(transport, "kind", "") in kafka.KINDS:
            transport.producer = kafka.Producer(producer, emit_waits=getattr(transport, "flush", True))
    return _Client(client)


@cache
def _adapter() -> OpenLineageAdapter | None:
    """Return the adapter that sends events from this process; None if its transport cannot be created.

    Not the listener's, which sends in forked children: they would inherit a client whose connections are in
    use here, or whose sending thread does not exist in the child.
    """
    with harmless("OpenLineage's transport could not be created: events of executions are not sent"):
        return OpenLineageAdapter(client=_client())
    return None
