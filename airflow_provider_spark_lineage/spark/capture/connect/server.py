"""Requests of capture to a Spark Connect server, in the user's session: plans, settings, rows of statements.

Every request has a time limit and is sent once: pyspark's own calls repeat a request for minutes.
"""

from __future__ import annotations

import copy
import os
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence

from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

_ADDRESS = ("session_id", "user_context", "client_type", "client_observed_server_side_session_id")
"""Fields of a request that identify the session."""

EXPLAIN_SECONDS = 60.0
"""Time limit of the request for a plan; the server works on it while the action runs."""

QUERY_SECONDS = 10.0
"""Time limit of a request that should be answered at once."""


class RefusedError(Exception):
    """The server did not answer a request: it is unreachable, too slow, or does not accept it."""


class Channel:
    """Our own connection to the server of a client.

    On the client's own connection, threads could wait for each other: while a gRPC call holds the channel,
    Python may finalize a session that the program has dropped, and that waits for all other calls.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._channel: Any = None
        self._stub: Any = None

    def stub(self) -> Any:
        """Return the stub of Spark's service; connect at the first call."""
        with self._lock:
            if self._stub is None:
                from pyspark.sql.connect.proto import base_pb2_grpc

                self._channel = self._client._builder.toChannel()
                self._stub = base_pb2_grpc.SparkConnectServiceStub(self._channel)
            return self._stub

    def close(self) -> None:
        """Disconnect."""
        with self._lock:
            if self._channel is not None:
                self._channel.close()


class Server:
    """The server of one client; created in the client's thread, used in any thread.

    Requests carry the same user, tokens and extensions of the user's context as the client's requests.
    """

    def __init__(self, client: Any, channel: Channel) -> None:
        import pyspark.sql.connect.proto as pb2

        self._pb2: Any = pb2
        self._client = client
        self._channel = channel
        self._address = client._analyze_plan_request_with_metadata()
        self._until: Optional[threading.Event] = None

    def until(self, event: threading.Event) -> Server:
        """Return the server for requests that are refused once an event has happened."""
        other = copy.copy(self)
        other._until = event
        return other

    def explained(self, relation: Any, seconds: float) -> str:
        """Return the text of `explain(extended=True)` of a relation, for which the server analyses it."""
        request = self._pb2.AnalyzePlanRequest()
        request.explain.plan.root.CopyFrom(relation)
        request.explain.explain_mode = self._pb2.AnalyzePlanRequest.Explain.EXPLAIN_MODE_EXTENDED
        return str(self._sent("AnalyzePlan", request, seconds).explain.explain_string)

    def schema(self, relation: Any) -> str:
        """Return the schema of a relation as Spark's JSON."""
        from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type

        request = self._pb2.AnalyzePlanRequest()
        request.schema.plan.root.CopyFrom(relation)
        schema = self._sent("AnalyzePlan", request, EXPLAIN_SECONDS).schema.schema
        return str(proto_schema_to_pyspark_data_type(schema).json())

    def version(self) -> str:
        """Return the server's version of Spark."""
        request = self._pb2.AnalyzePlanRequest()
        request.spark_version.SetInParent()
        return str(self._sent("AnalyzePlan", request, QUERY_SECONDS).spark_version.version)

    def settings(self, names: Sequence[str]) -> Dict[str, str]:
        """Return those of the named settings that are set in the session, without secrets."""
        request = self._pb2.ConfigRequest()
        request.operation.get_option.keys.extend(names)
        response = self._sent("Config", request, QUERY_SECONDS)
        return {pair.key: without_secrets(pair.value) for pair in response.pairs if pair.HasField("value")}

    def all_settings(self) -> Dict[str, str]:
        """Return all settings of the session, which may hold secrets."""
        request = self._pb2.ConfigRequest()
        request.operation.get_all.SetInParent()
        return {pair.key: pair.value for pair in self._sent("Config", request, QUERY_SECONDS).pairs}

    def set(self, settings: Mapping[str, Optional[str]]) -> None:
        """Change settings of the session; None removes a setting."""
        removed, changed = self._pb2.ConfigRequest(), self._pb2.ConfigRequest()
        for name, value in settings.items():
            if value is None:
                removed.operation.unset.keys.append(name)
            else:
                changed.operation.set.pairs.add(key=name, value=value)
        for request in (removed, changed):
            if request.HasField("operation"):
                self._sent("Config", request, QUERY_SECONDS)

    def rows(self, relation: Any, seconds: float = QUERY_SECONDS) -> List[Dict[str, Any]]:
        """Return the rows of a relation; only for statements without effects, such as DESCRIBE."""
        from pyarrow import ipc

        request = self._pb2.ExecutePlanRequest()
        request.plan.root.CopyFrom(relation)
        rows: List[Dict[str, Any]] = []
        for response in self._sent("ExecutePlan", request, seconds):
            if response.HasField("arrow_batch"):
                with ipc.open_stream(response.arrow_batch.data) as reader:
                    rows.extend(row for batch in reader for row in batch.to_pylist())
        return rows

    def about_stream(self, query_id: Any, question: str) -> List[Any]:
        """Return the answers about a streaming query: `recent_progress`, `status` or `exception`."""
        request = self._pb2.ExecutePlanRequest()
        command = request.plan.command.streaming_query_command
        command.query_id.CopyFrom(query_id)
        setattr(command, question, True)
        return [
            response.streaming_query_command_result
            for response in self._sent("ExecutePlan", request, QUERY_SECONDS)
            if response.HasField("streaming_query_command_result")
        ]

    def statement(self, text: str) -> List[Dict[str, Any]]:
        """Return the rows of a statement without effects."""
        relation = self._pb2.Relation()
        relation.sql.query = text
        return self.rows(relation)

    def has(self, kind: str, name: str) -> bool:
        """Return whether a `table` (or view) or a `function` exists, without a printed error."""
        relation = self._pb2.Relation()
        setattr(getattr(relation.catalog, f"{kind}_exists"), f"{kind}_name", name)
        return any(value for row in self.rows(relation) for value in row.values())

    def _sent(self, method: str, request: Any, seconds: float) -> Any:
        """Send a request; raise `RefusedError` with a sentence if it is not answered."""
        if self._until is not None and self._until.is_set():
            raise RefusedError("its answer is not needed any more")
        for name in _ADDRESS:
            field = request.DESCRIPTOR.fields_by_name.get(name)
            if field is None:
                continue
            if field.message_type is not None:
                getattr(request, name).CopyFrom(getattr(self._address, name))
            elif getattr(self._address, name, ""):
                setattr(request, name, getattr(self._address, name))
        import grpc

        try:
            call = getattr(self._channel.stub(), method)
            response = call(request, metadata=self._client._builder.metadata(), timeout=seconds)
            return list(response) if method == "ExecutePlan" else response
        # A closed channel raises ValueError.
        except (grpc.RpcError, ValueError) as error:
            raise RefusedError(_reason(error)) from None


def local_server() -> Any:
    """Return the Spark context of the server that pyspark started in this process; None for any other server.

    Such a server prints the stack trace of a failed request into the program's log.
    """
    if "SPARK_LOCAL_REMOTE" not in os.environ:
        return None
    from pyspark import SparkContext

    return SparkContext._active_spark_context


def _reason(error: Any) -> str:
    """Return the reason of a gRPC error, without the server's stack trace."""
    code = getattr(error, "code", lambda: None)()
    name = getattr(code, "name", "") or type(error).__name__
    if name == "DEADLINE_EXCEEDED":
        return "it took too long"
    details = str(getattr(error, "details", lambda: "")() or "").strip()
    first = details.splitlines()[0] if details else ""
    return f"{name} {without_secrets(first)}".strip()[:300]
