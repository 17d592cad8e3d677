"""Waits for Spark to appear in this process, without importing pyspark.

A Python function may use Spark or not: until a context or a client of Spark Connect appears, auto-capture
costs it nothing.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Callable

from airflow_provider_spark_lineage.spark.capture.imports import imports
from airflow_provider_spark_lineage.spark.capture.replaced import Replacements
from airflow_provider_spark_lineage.spark.guard import harmless

CLASSIC = "pyspark"
CONNECT = "pyspark.sql.connect.client.core"


class Arrival:
    """Calls a function once: when this process has a Spark context, or is about to create a Connect client.

    The capture that the function starts includes this context or client.
    """

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._methods = Replacements()
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._is_armed = False

    def arm(self) -> None:
        """Start waiting; call the function at once if a Spark session already exists."""
        self._is_armed = True
        for module, watch in ((CLASSIC, self._watch_contexts), (CONNECT, self._watch_clients)):
            if module in sys.modules:
                with harmless("a Spark session could not be waited for"):
                    watch()
            else:
                imports().wait(module, watch)

    def disarm(self) -> None:
        """Stop waiting, and restore the methods of pyspark."""
        self._is_armed = False
        imports().forget(CLASSIC, self._watch_contexts)
        imports().forget(CONNECT, self._watch_clients)
        self._methods.restore()

    def _watch_contexts(self) -> None:
        # Without classic Spark, as in `pyspark-client`, there is no such class.
        context_class = getattr(sys.modules[CLASSIC], "SparkContext", None)
        if context_class is None:
            return
        active = context_class._active_spark_context
        if active is not None and active._jsc is not None:
            self._arrived()
        else:
            self._methods.replace(context_class, "_do_init", self._creates)

    def _watch_clients(self) -> None:
        session_module = sys.modules.get("pyspark.sql.connect.session")
        session_class = getattr(session_module, "SparkSession", None)
        if session_class is not None and _has_session(session_class):
            self._arrived()
        else:
            self._methods.replace(sys.modules[CONNECT].SparkConnectClient, "__init__", self._connects)

    def _creates(self, create: Any) -> Callable[..., None]:
        def create_captured(context: Any, *args: Any, **kwargs: Any) -> None:
            create(context, *args, **kwargs)
            self._arrived()

        return create_captured

    def _connects(self, connect: Any) -> Callable[..., None]:
        def connect_captured(client: Any, *args: Any, **kwargs: Any) -> None:
            self._arrived()
            connect(client, *args, **kwargs)

        return connect_captured

    def _arrived(self) -> None:
        with harmless("a Spark session could not be captured"):
            with self._lock:
                is_first, self._is_armed = self._is_armed and os.getpid() == self._process, False
            if is_first:
                self._function()


def _has_session(session_class: Any) -> bool:
    """Return whether there is a session of Spark Connect that `getOrCreate` would return."""
    of_thread = getattr(session_class, "_active_session", None)
    return bool(getattr(session_class, "_default_session", None) or getattr(of_thread, "session", None))
