"""Calls the JVM on a new thread, with a connection of its own.

A signal may have interrupted a call of the program: Ctrl-C, or Airflow's `execution_timeout`. The connection
of that thread is then one reply behind, and every later call on it gets the answer of the call before.
"""

from __future__ import annotations

import threading
from typing import Any, Callable

from airflow_provider_spark_lineage.spark.capture.unlogged import unlogged
from airflow_provider_spark_lineage.spark.guard import alarm_paused, harmless


def on_own_thread(client: Any, function: Callable[[], object]) -> None:
    """Call a function on a new thread, and wait for its end; `client` is py4j's."""

    def run() -> None:
        with unlogged(), harmless("the end of the capture could not be recorded"):
            try:
                function()
            finally:
                close_connection(client)

    thread = threading.Thread(target=run, name="spark-lineage-end", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        # From Python 3.12 on, an interpreter that is ending starts no threads.
        function()
        return
    with alarm_paused():
        thread.join()


def close_connection(client: Any) -> None:
    """Close the connection of this thread; py4j would close it later, with a message in the user's log."""
    with harmless("a connection to the JVM could not be closed"):
        connection = _connection(client)
        if connection is not None:
            client.deque.remove(connection)
            connection.close()


def is_interrupted(client: Any) -> bool:
    """Return whether a call of this thread has not got its reply yet."""
    with harmless("it is unknown whether a call of the JVM was interrupted"):
        connection = _connection(client)
        # py4j removes a connection from its queue during a call.
        return connection is not None and connection not in client.deque
    return False


def _connection(client: Any) -> Any:
    """Return the connection of this thread; None if threads share connections (`PYSPARK_PIN_THREAD`)."""
    return getattr(client, "get_thread_connection", lambda: None)()
