"""Finds the batch of a streaming query whose rows `foreachBatch` receives as an RDD."""

from __future__ import annotations

from typing import Any, Optional

BATCH = "WriteToMicroBatchDataSourceV1"
"""Class of the root of such a batch's plan."""

_TO_A_FUNCTION = "ForeachBatchSink"


def batch_of_rdd(session: Any, rdd_id: int) -> Optional[Any]:
    """Return the `QueryExecution` of the batch whose rows an RDD has; None if there is none."""
    for query in session.streams().active():
        execution = query.streamingQuery().lastExecution()
        # `toRdd` plans the query, which Spark may be doing at the same time, so call it for this sink only.
        if execution is None or not _is_to_a_function(execution):
            continue
        if int(execution.toRdd().id()) == rdd_id:
            return execution
    return None


def _is_to_a_function(execution: Any) -> bool:
    plan = execution.analyzed()
    return str(plan.nodeName()) == BATCH and _TO_A_FUNCTION in str(plan.sink().getClass().getName())
