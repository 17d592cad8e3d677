"""State of streaming queries that a client started, which run on the server."""

from __future__ import annotations

import json
from typing import Any, Dict, List

from airflow_provider_spark_lineage.capture.connect.server import QUERY_SECONDS, Server


def state_of(server: Server, query_id: Any) -> Dict[str, Any]:
    """Return the number of batches with rows of a query, whether it is active, and its error.

    `query_id` is the server's answer to the start of the query.
    """
    batches: List[Dict[str, Any]] = []
    for response in _asked(server, query_id, "recent_progress"):
        if response.HasField("recent_progress"):
            batches.extend(json.loads(text) for text in response.recent_progress.recent_progress_json)
    state: Dict[str, Any] = {"batches": sum(map(_has_rows, batches))}
    for response in _asked(server, query_id, "status"):
        state["is_active"] = bool(response.status.is_active)
    for response in _asked(server, query_id, "exception"):
        if response.HasField("exception") and response.exception.exception_message:
            state["error"] = {
                "class": str(response.exception.error_class or "StreamingQueryException"),
                "message": str(response.exception.exception_message),
            }
    return state


def _has_rows(batch: Dict[str, Any]) -> bool:
    return any(source.get("numInputRows") for source in batch.get("sources") or ())


def _asked(server: Server, query_id: Any, question: str) -> List[Any]:
    """Return the server's answers to a request about a query."""
    import pyspark.sql.connect.proto as pb2

    command = pb2.Command()
    command.streaming_query_command.query_id.CopyFrom(query_id)
    setattr(command.streaming_query_command, question, True)
    return [
        response.streaming_query_command_result
        for response in server.commanded(command, QUERY_SECONDS)
        if response.HasField("streaming_query_command_result")
    ]
