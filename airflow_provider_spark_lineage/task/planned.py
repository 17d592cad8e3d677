"""Planned lineage of a task from the text of its job: before it runs, and if capture was not started."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.guard import harmless
from airflow_provider_spark_lineage.task.rendering import rendered

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage

    from airflow_provider_spark_lineage.lineage.model import Lineage

SWITCHED_OFF = "operators of other packages are not captured: set [spark_lineage] auto_capture to True"
NO_FILE_SYSTEM = (
    "the text has paths without a scheme, and Hadoop's default file system is unknown on this machine:"
    " set HADOOP_CONF_DIR, or the property spark.hadoop.fs.defaultFS"
)
NOT_CAPTURED = "auto-capture did not start in this task: the task's log may say why"


def planned_operator_lineage(operator: Any) -> OperatorLineage:
    """Return the datasets of an operator's job that has not run, if its text names all of them."""
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("the planned lineage of this task could not be computed"):
        from airflow_provider_spark_lineage.submitted.planned import certain, lacks_file_system

        lineage = _planned(operator)
        if lineage is not None and certain(lineage):
            from airflow_provider_spark_lineage.facets.datasets import input_datasets, output_datasets

            return OperatorLineage(inputs=input_datasets(lineage), outputs=output_datasets(lineage))
        if lineage is not None and lacks_file_system(lineage):
            from airflow_provider_spark_lineage.lineage.model import Gap, Lineage

            return rendered(Lineage(gaps=(Gap("text", NO_FILE_SYSTEM),)))
    return OperatorLineage()


def uncaptured_operator_lineage(operator: Any, *, failed: bool) -> OperatorLineage:
    """Return the planned lineage of a job that has run, with a gap that says why it was not captured.

    Empty if the user has disabled capture or excluded the task.
    """
    from airflow.providers.openlineage.extractors import OperatorLineage

    with harmless("the lineage of this task could not be computed from its text"):
        from airflow_provider_spark_lineage import conf
        from airflow_provider_spark_lineage.lineage.model import Gap, Lineage
        from airflow_provider_spark_lineage.task.selection import is_selected

        if not conf.disabled() and is_selected(operator.dag_id, operator.task_id):
            gap = Gap("task", NOT_CAPTURED if conf.auto_capture() else SWITCHED_OFF)
            planned = None if failed else _planned(operator)
            lineage = Lineage() if planned is None else planned
            return rendered(replace(lineage, gaps=(gap, *lineage.gaps)))
    return OperatorLineage()


def _planned(operator: Any) -> Lineage | None:
    from airflow_provider_spark_lineage import conf
    from airflow_provider_spark_lineage.known_operators import driver_kind
    from airflow_provider_spark_lineage.submitted.planned import planned_of

    if conf.disabled():
        return None
    return planned_of(operator, driver_kind(type(operator), conf.extra_operators()))
