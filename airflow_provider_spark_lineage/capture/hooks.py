"""Where pyspark and the operating system tell what capture must know: sessions, calls, stops, forks.

Replaces methods of pyspark while something watches, and puts them back afterwards.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import threading
from datetime import datetime, timezone
from typing import Any, Callable, Dict, List, Tuple

from airflow_provider_spark_lineage.capture.application import talking
from airflow_provider_spark_lineage.capture.calls import Call, Site, sites
from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.unlogged import is_ours, unlogged


class Hooks:
    """Tells its watchers that a session appears, what is called, and that a context is about to stop.

    A watcher has the methods `attach(session)`, `called(call)` and `context_stops(context)` and a list
    `problems`.
    """

    def __init__(self) -> None:
        self._watchers: List[Any] = []
        self._lock = threading.Lock()
        self._replaced: Dict[Tuple[Any, str], Tuple[Any, Any]] = {}
        """Class and method name -> the original, ours."""
        self._here = threading.local()
        """Whether this thread is inside a call of each kind: pyspark's actions are made of one another."""

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

        for name in _PY4J_LOGGERS:
            logging.getLogger(name).addFilter(_is_the_user_s)
        self._replace(SparkSession, "__init__", self._session_appears)
        self._replace(SparkContext, "stop", self._context_stops)
        for site in sites():
            self._replace(site.owner, site.name, functools.partial(self._calls, site))

    def _replace(self, owner: Any, name: str, wrap: Callable[[Any], Any]) -> None:
        if (owner, name) not in self._replaced:
            original = owner.__dict__[name]
            ours = _like(original, name, owner, wrap)
            self._replaced[owner, name] = (original, ours)
            setattr(owner, name, ours)

    def _uninstall(self) -> None:
        for name in _PY4J_LOGGERS:
            logging.getLogger(name).removeFilter(_is_the_user_s)
        for (owner, name), (original, ours) in tuple(self._replaced.items()):
            # Whoever replaced the method after us calls ours, which stays and only passes through.
            if owner.__dict__.get(name) is ours:
                setattr(owner, name, original)
                del self._replaced[owner, name]

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

    def _calls(self, site: Site, run: Any) -> Callable[..., Any]:
        def call(subject: Any, *args: Any, **kwargs: Any) -> Any:
            if not self._watchers or getattr(self._here, site.inside, False):
                return run(subject, *args, **kwargs)
            setattr(self._here, site.inside, True)
            noted = Call(site, subject, args, kwargs, datetime.now(timezone.utc))
            try:
                self._tell(noted)
                noted.result = run(subject, *args, **kwargs)
            except BaseException as error:  # Ctrl-C fails a call as well; all of them pass through.
                noted.error = error
                raise
            else:
                return noted.result
            finally:
                noted.ended = datetime.now(timezone.utc)
                try:
                    self._tell(noted)
                finally:
                    # Ctrl-C and Airflow's timeout may come while it is told: later calls count all the same.
                    setattr(self._here, site.inside, False)
                    # The error's traceback holds this frame: a cycle, and the program's data in it.
                    noted.error = None

        return call

    def _tell(self, call: Call) -> None:
        """Tell the watchers of a call, once before it begins and once when it has ended."""
        for watcher in tuple(self._watchers):
            what = f"a call of `{call.site.name}` could not be recorded"
            with unlogged(), harmless(what, watcher.problems):
                watcher.called(call)


def _like(original: Any, name: str, owner: Any, wrap: Callable[[Any], Any]) -> Any:
    """Wrap a method, or what computes a property, and return what may stand in its place."""
    if isinstance(original, property):
        return property(_wrapped(original.fget, wrap), doc=original.__doc__)
    if isinstance(original, functools.cached_property):
        ours = functools.cached_property(_wrapped(original.func, wrap))
        ours.__set_name__(owner, name)
        return ours
    return _wrapped(original, wrap)


def _wrapped(original: Any, wrap: Callable[[Any], Any]) -> Any:
    return functools.wraps(original)(wrap(original))


_PY4J_LOGGERS = ("py4j.clientserver", "py4j.java_gateway")


def _is_the_user_s(entry: logging.LogRecord) -> bool:
    """Keep what capture asks out of the task's log."""
    return not is_ours(entry)


@functools.lru_cache(maxsize=1)
def hooks() -> Hooks:
    """Return the hooks of this process."""
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child)
    return Hooks()


_MOST_WAITED_SECONDS = 1.0
"""A JVM that hangs must not keep a process from forking."""


_forking = threading.local()
"""Whether the thread that forks has `talking`: where that could not be had in time, another thread has it."""


def _before_fork() -> None:
    _forking.talks = talking.acquire(timeout=_MOST_WAITED_SECONDS)
    _hold_connections()


def _after_fork() -> None:
    _held.clear()
    if _forking.talks:
        talking.release()


def _in_child() -> None:
    _forget_connections()
    _after_fork()


_held: List[Any] = []
"""The connections to the JVM while this process forks."""


def _hold_connections() -> None:
    """Keep py4j's connections alive over a fork.

    The child has only the thread that forked; the other threads' connections would be finalized in it
    before any hook of the child runs.
    """
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    if gateway is not None:
        client = gateway._gateway_client
        own = getattr(client, "get_thread_connection", lambda: None)()
        server = gateway.__dict__.get("_callback_server")
        _held.extend([*client.deque, own, *getattr(server, "connections", ())])


def _forget_connections() -> None:
    """Keep a forked child from closing its parent's connections to the JVM.

    The child's garbage collector would shut the inherited sockets down, for the parent too, which then
    logs "Error while sending" at its next call. A child that only forgets the sockets leaves the
    parent's alone; py4j itself cannot be used over a fork.
    """
    for connection in _held:
        if connection is not None:
            connection.socket = connection.stream = None
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    if gateway is not None:
        gateway._gateway_client.is_connected = False
