"""The places where pyspark and the operating system tell what capture must know: sessions, stops, forks.

Replaces two methods of pyspark while something watches, and puts them back afterwards.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from typing import Any, Callable, Dict, List, Tuple

from airflow_provider_spark_lineage.capture.guard import harmless


class Hooks:
    """Tells its watchers that a session appears and that a context is about to stop.

    A watcher has the methods `attach(session)` and `context_stops(context)` and a list `problems`.
    """

    def __init__(self) -> None:
        self._watchers: List[Any] = []
        self._lock = threading.Lock()
        self._replaced: Dict[Any, Tuple[str, Any, Any]] = {}
        """Class -> method name, the original, ours."""

    def add(self, watcher: Any) -> None:
        """Tell a watcher from now on."""
        with self._lock:
            self._install()
            self._watchers.append(watcher)

    def remove(self, watcher: Any) -> None:
        """Tell a watcher no more; the last one takes the hooks with it."""
        with self._lock:
            if watcher in self._watchers:
                self._watchers.remove(watcher)
            if not self._watchers:
                self._uninstall()

    def _install(self) -> None:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        logging.getLogger("py4j.clientserver").addFilter(_is_no_callback)
        self._replace(SparkSession, "__init__", self._session_appears)
        self._replace(SparkContext, "stop", self._context_stops)

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        if owner not in self._replaced:
            original = getattr(owner, name)
            ours = functools.wraps(original)(wrap(original))
            self._replaced[owner] = (name, original, ours)
            setattr(owner, name, ours)

    def _uninstall(self) -> None:
        logging.getLogger("py4j.clientserver").removeFilter(_is_no_callback)
        for owner, (name, original, ours) in tuple(self._replaced.items()):
            # Whoever replaced the method after us calls ours, which stays and only passes through.
            if getattr(owner, name) is ours:
                setattr(owner, name, original)
                del self._replaced[owner]

    def _session_appears(self, make: Any) -> Callable[..., None]:
        def appear(session: Any, *args: Any, **kwargs: Any) -> None:
            make(session, *args, **kwargs)
            for watcher in tuple(self._watchers):
                watcher.attach(session)

        return appear

    def _context_stops(self, stop: Any) -> Callable[..., None]:
        def stop_drained(context: Any) -> None:
            for watcher in tuple(self._watchers):
                with harmless("a stopping Spark context could not be drained", watcher.problems):
                    watcher.context_stops(context)
            stop(context)

        return stop_drained


def _is_no_callback(entry: logging.LogRecord) -> bool:
    """Keep py4j's note about each callback, one for each execution, out of the task's log."""
    return not str(entry.msg).startswith("Received command")


@functools.lru_cache(maxsize=1)
def hooks() -> Hooks:
    """Return the hooks of this process."""
    os.register_at_fork(after_in_child=_let_go_of_gateway)
    return Hooks()


def _let_go_of_gateway() -> None:
    """Keep a forked child from closing its parent's connections to the JVM.

    The child inherits py4j's connections. Its garbage collector would shut their sockets down, for the
    parent too, which then logs "Error while sending" at its next call. A child that only forgets the
    sockets leaves the parent's alone; py4j itself cannot be used over a fork.
    """
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    if gateway is None:
        return
    client = gateway._gateway_client
    client.is_connected = False
    connections = [*client.deque, *getattr(gateway.__dict__.get("_callback_server"), "connections", ())]
    own = getattr(client, "get_thread_connection", lambda: None)()
    for connection in (*connections, own):
        if connection is not None:
            connection.socket = connection.stream = None
