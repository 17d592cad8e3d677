"""Cooperation with OpenLineage's Java agent, which may listen to the same Spark application.

The agent reads from Spark's properties which task its application belongs to. Some of Airflow's operators set
these properties, if Airflow's options ask for it; this module has them for other applications. If the agent
listens, it sends the events of executions.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import mask_secret
from airflow.providers.openlineage import conf

from airflow_provider_spark_lineage.airflow.task import provider
from airflow_provider_spark_lineage.spark import harmless

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.spark import Collector

PARENT, TRANSPORT = "spark.openlineage.parent", "spark.openlineage.transport"
"""Beginnings of the names of the properties. If there is one already, Airflow adds none of its group."""

_PARENT_JOB, _TRANSPORT = "parent_job_info", "transport_info"
"""Ends of the names of Airflow's options, and of the arguments of its operators."""

log = logging.getLogger(__name__)


def left_to_java_agent(collector: Collector) -> Callable[[], bool]:
    """Return a function that returns whether the Java agent sends the events of executions.

    It logs once that they are left to the agent.
    """
    is_logged = False

    def agent_sends() -> bool:
        nonlocal is_logged
        is_configured = collector.agent_configured
        if is_configured and not is_logged:
            is_logged = True
            log.info(
                "Spark lineage: OpenLineage's Java agent listens to this Spark application and sends the "
                "events of single executions; the event of this task has the lineage of all."
            )
        return is_configured

    return agent_sends


def properties_for_java_agent(task_instance: Any) -> Callable[[Iterable[str]], dict[str, str]] | None:
    """Return the function that adds properties to an application of a task; None if nothing asks for them.

    Airflow's options are `[openlineage] spark_inject_parent_job_info` and `spark_inject_transport_info`. An
    operator may have an argument for each, which is stronger.
    """
    groups: list[tuple[str, Callable[[Any], dict[str, str]]]] = []
    if _is_asked(task_instance.task, _PARENT_JOB):
        groups.append((PARENT, _parent))
    if _is_asked(task_instance.task, _TRANSPORT):
        groups.append((TRANSPORT, _transport))
    if not groups:
        return None

    def added(present: Iterable[str]) -> dict[str, str]:
        names, properties = tuple(present), dict[str, str]()
        with harmless("OpenLineage's Java agent does not get all properties that Airflow's options ask for"):
            if not provider.is_active(task_instance):
                return {}
            for prefix, group in groups:
                if not any(name.startswith(prefix) for name in names):
                    properties |= group(task_instance)
        return properties

    return added


def _is_asked(task: Any, ending: str) -> bool:
    """Return the value of an operator's argument, else of Airflow's option."""
    option = getattr(conf, f"spark_inject_{ending}", None)
    default = option() if option is not None else False
    argument = f"openlineage_inject_{ending}"
    return bool(getattr(task, argument, getattr(task, f"_{argument}", default)))


def _parent(task_instance: Any) -> dict[str, str]:
    """Return the properties that make the application's run a child of the task's.

    Not by the provider's function: its root has the namespace of this Airflow, also if the DAG run's `conf`
    has a root of another namespace.
    """
    identity = provider.identity_of(task_instance)
    root = identity.root or identity
    return {
        "spark.openlineage.parentJobNamespace": identity.namespace,
        "spark.openlineage.parentJobName": identity.job,
        "spark.openlineage.parentRunId": identity.run_id,
        "spark.openlineage.rootParentJobNamespace": root.namespace,
        "spark.openlineage.rootParentJobName": root.job,
        "spark.openlineage.rootParentRunId": root.run_id,
    }


def _transport(task_instance: Any) -> dict[str, str]:
    """Return the properties of the agent's transport, as Airflow passes them to its own operators."""
    from airflow.providers.openlineage.utils.spark import inject_transport_information_into_spark_properties

    with provider.client_of_this_process():
        added = inject_transport_information_into_spark_properties({}, {"ti": task_instance})
    properties = {str(name): str(value) for name, value in added.items()}
    for name, value in properties.items():
        if name.endswith(".auth.apiKey") or ".headers." in name:
            # The logs of hooks, and their errors, may have the whole command.
            mask_secret(value.removeprefix("Bearer "))
    return properties
