"""Requests of capture to a Spark Connect server, in the user's session: plans, settings, rows of statements.

Every request has a time limit and is sent once: pyspark's own calls repeat a request for minutes.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Dict, List, Sequence

from airflow_provider_spark_lineage.records.credentials import without_secrets

_ADDRESS = ("session_id", "user_context", "client_type", "client_observed_server_side_session_id")
"""Fields of a request that identify the session."""

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
        self._client = client
        self._channel = channel
        self._address = client._analyze_plan_request_with_metadata()

    def explained(self, relation: Any, seconds: float) -> str:
        """Return the text of `explain(extended=True)` of a relation, for which the server analyses it."""
        import pyspark.sql.connect.proto as pb2

        request = pb2.AnalyzePlanRequest()
        request.explain.plan.root.CopyFrom(relation)
        request.explain.explain_mode = pb2.AnalyzePlanRequest.Explain.ExplainMode.EXPLAIN_MODE_EXTENDED
        return str(self._analyzed(request, seconds).explain.explain_string)

    def schema(self, relation: Any, seconds: float) -> str:
        """Return the schema of a relation as Spark's JSON."""
        import pyspark.sql.connect.proto as pb2
        from pyspark.sql.connect.types import proto_schema_to_pyspark_data_type

        request = pb2.AnalyzePlanRequest()
        request.schema.plan.root.CopyFrom(relation)
        schema = self._analyzed(request, seconds).schema.schema
        return str(proto_schema_to_pyspark_data_type(schema).json())

    def version(self) -> str:
        """Return the server's version of Spark."""
        import pyspark.sql.connect.proto as pb2

        request = pb2.AnalyzePlanRequest()
        request.spark_version.SetInParent()
        return str(self._analyzed(request, QUERY_SECONDS).spark_version.version)

    def settings(self, names: Sequence[str]) -> Dict[str, str]:
        """Return those of the named settings that are set in the session, without secrets."""
        import pyspark.sql.connect.proto as pb2

        request = pb2.ConfigRequest()
        request.operation.get_option.keys.extend(names)
        response = self._sent("Config", request, QUERY_SECONDS)
        return {pair.key: without_secrets(pair.value) for pair in response.pairs if pair.HasField("value")}

    def set(self, settings: Dict[str, Any]) -> None:
        """Change settings of the session; None removes a setting."""
        import pyspark.sql.connect.proto as pb2

        unset = [name for name, value in settings.items() if value is None]
        if unset:
            request = pb2.ConfigRequest()
            request.operation.unset.keys.extend(unset)
            self._sent("Config", request, QUERY_SECONDS)
        pairs = [pb2.KeyValue(key=name, value=value) for name, value in settings.items() if value is not None]
        if pairs:
            request = pb2.ConfigRequest()
            request.operation.set.pairs.extend(pairs)
            self._sent("Config", request, QUERY_SECONDS)

    def rows(self, relation: Any, seconds: float = QUERY_SECONDS) -> List[Dict[str, Any]]:
        """Return the rows of a relation; only for statements without effects, such as DESCRIBE."""
        import pyspark.sql.connect.proto as pb2
        from pyarrow import ipc

        request = pb2.ExecutePlanRequest()
        request.plan.root.CopyFrom(relation)
        rows: List[Dict[str, Any]] = []
        for response in self._sent("ExecutePlan", request, seconds):
            if response.HasField("arrow_batch"):
                with ipc.open_stream(response.arrow_batch.data) as reader:
                    rows.extend(row for batch in reader for row in batch.to_pylist())
        return rows

    def commanded(self, command: Any, seconds: float) -> List[Any]:
        """Return the answers to a command without effects, such as a request about a stream."""
        import pyspark.sql.connect.proto as pb2

        request = pb2.ExecutePlanRequest()
        request.plan.command.CopyFrom(command)
        return list(self._sent("ExecutePlan", request, seconds))

    def statement(self, text: str, seconds: float = QUERY_SECONDS) -> List[Dict[str, Any]]:
        """Return the rows of a statement without effects."""
        import pyspark.sql.connect.proto as pb2

        relation = pb2.Relation()
        relation.sql.query = text
        return self.rows(relation, seconds)

    def has_table(self, name: str) -> bool:
        """Return whether a table or view with a name exists, without a printed error."""
        import pyspark.sql.connect.proto as pb2

        relation = pb2.Relation()
        relation.catalog.table_exists.table_name = name
        return any(value for row in self.rows(relation) for value in row.values())

    def has_function(self, name: str) -> bool:
        """Return whether a function with a name exists, without a printed error."""
        import pyspark.sql.connect.proto as pb2

        relation = pb2.Relation()
        relation.catalog.function_exists.function_name = name
        return any(value for row in self.rows(relation) for value in row.values())

    def _analyzed(self, request: Any, seconds: float) -> Any:
        return self._sent("AnalyzePlan", request, seconds)

    def _sent(self, method: str, request: Any, seconds: float) -> Any:
        """Send a request; raise `RefusedError` with a sentence if it is not answered."""
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
