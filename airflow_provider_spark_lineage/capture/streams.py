"""Finds the batch of a streaming query whose rows `foreachBatch` receives as an RDD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.capture.jvm import JvmReader

BATCH = "WriteToMicroBatchDataSourceV1"
"""Class of the root of the batch's plan."""

_TO_A_FUNCTION = "ForeachBatchSink"


def batch_of_rdd(session: Any, rdd_id: int, reader: JvmReader) -> Optional[Any]:
    """Return the `QueryExecution` of the batch whose rows an RDD has; None if there is none."""
    for query in session.streams().active():
        execution = query.streamingQuery().lastExecution()
        if execution is None or not _is_to_a_function(execution):
            continue
        rows = reader.computed(execution, "toRdd")
        if rows is not None and int(rows.id()) == rdd_id:
            return execution
    return None


def _is_to_a_function(execution: Any) -> bool:
    plan = execution.logical()
    return str(plan.nodeName()) == BATCH and _TO_A_FUNCTION in str(plan.sink().getClass().getName())
