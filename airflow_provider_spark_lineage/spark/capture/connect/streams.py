"""State of streaming queries that a client started, which run on the server."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from airflow_provider_spark_lineage.spark.capture.connect.server import Server


def state_of(server: Server, query_id: Any) -> Dict[str, Any]:
    """Return the number of batches with rows of a query, whether it is active, and its error.

    `query_id` is the server's answer to the start of the query.
    """
    batches: List[Dict[str, Any]] = []
    for answer in server.about_stream(query_id, "recent_progress"):
        batches.extend(json.loads(text) for text in answer.recent_progress.recent_progress_json)
    state: Dict[str, Any] = {"batches": sum(map(_has_rows, batches))}
    for answer in server.about_stream(query_id, "status"):
        state["is_active"] = bool(answer.status.is_active)
    for answer in server.about_stream(query_id, "exception"):
        if answer.exception.exception_message:
            state["error"] = {
                "class": str(answer.exception.error_class or "StreamingQueryException"),
                "message": str(answer.exception.exception_message),
            }
    return state


def _has_rows(batch: Dict[str, Any]) -> bool:
    return any(source.get("numInputRows") for source in batch.get("sources") or ())
