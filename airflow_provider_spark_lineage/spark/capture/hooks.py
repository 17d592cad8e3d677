"""Observes sessions, calls, stops of contexts and forks, by replaced methods of pyspark and hooks of `os`."""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from datetime import datetime, timezone
from typing import Any, Callable, List

from airflow_provider_spark_lineage.spark.capture.application import jvm_lock
from airflow_provider_spark_lineage.spark.capture.replaced import without_own_frame
from airflow_provider_spark_lineage.spark.capture.unlogged import is_of_program, unlogged
from airflow_provider_spark_lineage.spark.capture.watched import Site, WatchedCall, sites
from airflow_provider_spark_lineage.spark.capture.watchers import Watchable
from airflow_provider_spark_lineage.spark.guard import harmless


class Hooks(Watchable):
    """Notifies its watchers of new sessions, of calls, and of contexts before they stop.

    A watcher has the methods `attach(session)`, `called(call)` and `context_stops(context)` and a list
    `problems`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._in_call = threading.local()
        """Name of a scope -> True while this thread is in a call of it: pyspark's actions call each other."""

    def _install(self) -> None:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        for name in _PY4J_LOGGERS:
            logging.getLogger(name).addFilter(is_of_program)
        self._methods.replace(SparkSession, "__init__", self._session_appears)
        self._methods.replace(SparkContext, "stop", self._context_stops)
        for site in sites():
            self._methods.replace(site.owner, site.name, functools.partial(self._calls, site))

    def _uninstall(self) -> None:
        for name in _PY4J_LOGGERS:
            logging.getLogger(name).removeFilter(is_of_program)
        super()._uninstall()

    def _session_appears(self, make: Any) -> Callable[..., None]:
        def appear(session: Any, *args: Any, **kwargs: Any) -> None:
            with without_own_frame():
                make(session, *args, **kwargs)
            for watcher in tuple(self._watchers):
                watcher.attach(session)

        return appear

    def _context_stops(self, stop: Any) -> Callable[..., None]:
        def stop_drained(context: Any) -> None:
            for watcher in tuple(self._watchers):
                with harmless("a stopping Spark context could not be drained", watcher.problems):
                    watcher.context_stops(context)
            with without_own_frame():
                stop(context)

        return stop_drained

    def _calls(self, site: Site, run: Any) -> Callable[..., Any]:
        def call(subject: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._watchers or getattr(self._in_call, site.scope, False):
                with without_own_frame():
                    return run(subject, *args, **kwargs)
            setattr(self._in_call, site.scope, True)
            watched = WatchedCall(site, subject, args, kwargs, datetime.now(timezone.utc))
            try:
                with without_own_frame():
                    self._notify(watched)
                    watched.result = run(subject, *args, **kwargs)
            except BaseException as error:  # Also KeyboardInterrupt; all are raised again.
                watched.error = error
                raise
            else:
                return watched.result
            finally:
                watched.ended = datetime.now(timezone.utc)
                try:
                    self._notify(watched)
                finally:
                    # A signal (Ctrl-C, Airflow's timeout) may interrupt `_notify`; record later calls anyway.
                    setattr(self._in_call, site.scope, False)
                    # The traceback refers to this frame: the cycle would keep the program's data alive.
                    watched.error = None

        return call

    def _notify(self, call: WatchedCall) -> None:
        """Notify the watchers of a call that is about to begin or has ended."""
        for watcher in tuple(self._watchers):
            lost = f"a call of `{call.site.name}` could not be recorded"
            with unlogged(), harmless(lost, watcher.problems):
                watcher.called(call)


_PY4J_LOGGERS = ("py4j.clientserver", "py4j.java_gateway")


@functools.lru_cache(maxsize=1)
def hooks() -> Hooks:
    """Return the hooks of this process."""
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
    return Hooks()


_MAX_WAIT_SECONDS = 1.0
"""Maximum wait of a fork for `jvm_lock`, if the JVM does not answer."""

_forking = threading.local()
"""`has_lock`: the forking thread acquired `jvm_lock` in time and must release it."""

_waits = True
"""A fork waits for the lock; False after a timeout, until the lock is free again."""


def _before_fork() -> None:
    global _waits  # noqa: PLW0603  a process has one JVM
    _forking.has_lock = _waits = jvm_lock.acquire(timeout=_MAX_WAIT_SECONDS if _waits else 0)
    _hold_connections()


def _after_fork() -> None:
    _connections.clear()
    if _forking.has_lock:
        jvm_lock.release()


def _after_fork_in_child() -> None:
    _forget_connections()
    _after_fork()


_connections: List[Any] = []
"""The connections to the JVM during a fork."""


def _gateway() -> Any:
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    return getattr(context, "_gateway", None)


def _hold_connections() -> None:
    """Keep py4j's connections alive during a fork.

    The child has only the thread that forked; the other threads' connections would be finalized in it
    before any hook of the child runs.
    """
    gateway = _gateway()
    if gateway is not None:
        client = gateway._gateway_client
        own = getattr(client, "get_thread_connection", lambda: None)()
        server = gateway.__dict__.get("_callback_server")
        _connections.extend([*client.deque, own, *getattr(server, "connections", ())])


def _forget_connections() -> None:
    """Keep a forked child from closing its parent's connections to the JVM.

    The child's garbage collector would shut down the inherited sockets, for the parent, too, which then
    logs "Error while sending" at its next call. So the child drops its references to the sockets without
    closing them; it cannot use py4j anyway.
    """
    for connection in _connections:
        if connection is not None:
            connection.socket = connection.stream = None
    gateway = _gateway()
    if gateway is not None:
        gateway._gateway_client.is_connected = False
