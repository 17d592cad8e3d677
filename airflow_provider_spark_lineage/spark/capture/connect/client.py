"""Observes the clients of Spark Connect by replaced methods of pyspark's `SparkConnectClient`.

Since Spark 3.5, every action and every command of a client calls `_execute` or
`_execute_and_fetch_as_iterator`.
"""

from __future__ import annotations

import functools
import os
import sys
from contextlib import closing, contextmanager
from typing import Any, Callable, Iterator, List, Optional, Sequence, Tuple

from airflow_provider_spark_lineage.spark.capture.imports import imports
from airflow_provider_spark_lineage.spark.capture.replaced import without_own_frame
from airflow_provider_spark_lineage.spark.capture.watchers import Watchable
from airflow_provider_spark_lineage.spark.guard import harmless

MODULE = "pyspark.sql.connect.client.core"
"""Importing it takes a second (grpc, pandas, pyarrow), so capture does not import it."""


class ClientHooks(Watchable):
    """Notifies its watchers of executed plans, and of clients before they close.

    A watcher has the methods `begins(client, plan)`, which returns an object with the methods
    `received(response)` and `ended(error)`, or None to ignore the plan, and `closes(client)`; `problems` is a
    list.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()

    def _install(self) -> None:
        if not self._awake():
            # A forked child that captures has its own watchers.
            self._process = os.getpid()
            self._watchers.clear()
        if MODULE in sys.modules:
            self._replace()
        elif not self._watchers:
            imports().wait(MODULE, self._replace_if_watched)

    def _replace_if_watched(self) -> None:
        with self._lock:
            if self._watchers:
                self._replace()

    def _replace(self) -> None:
        owner = sys.modules[MODULE].SparkConnectClient
        for name, wrap in (
            ("_execute", self._executes),
            ("_execute_and_fetch_as_iterator", self._fetches),
            ("release_session", self._closes),
            ("close", self._closes),
        ):
            # Spark 3.5 has no `release_session`.
            if name in vars(owner):
                self._methods.replace(owner, name, wrap)

    def _uninstall(self) -> None:
        imports().forget(MODULE, self._replace_if_watched)
        super()._uninstall()

    def _executes(self, run: Any) -> Callable[..., Any]:
        def execute(client: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
            with without_own_frame(), self._observed(client, req):
                return run(client, req, *args, **kwargs)

        return execute

    def _fetches(self, run: Any) -> Callable[..., Iterator[Any]]:
        def fetch(client: Any, req: Any, *args: Any, **kwargs: Any) -> Iterator[Any]:
            lost = "a response of the Spark Connect server could not be read"
            with (
                without_own_frame(),
                self._observed(client, req) as executions,
                closing(run(client, req, *args, **kwargs)) as responses,
            ):
                for response in responses:
                    for execution, problems in executions:
                        with harmless(lost, problems):
                            execution.received(response)
                    yield response

        return fetch

    def _closes(self, run: Any) -> Callable[..., Any]:
        def close(client: Any, *args: Any, **kwargs: Any) -> Any:
            for watcher in self._awake():
                with harmless("the last executions of a session could not be recorded", watcher.problems):
                    watcher.closes(client)
            with without_own_frame():
                return run(client, *args, **kwargs)

        return close

    @contextmanager
    def _observed(self, client: Any, req: Any) -> Iterator[Sequence[Tuple[Any, List[str]]]]:
        """Notify the watchers before and after the execution of a plan."""
        executions: List[Tuple[Any, List[str]]] = []
        for watcher in self._awake():
            with harmless("a plan of Spark Connect could not be recorded", watcher.problems):
                execution = watcher.begins(client, req.plan)
                if execution is not None:
                    executions.append((execution, watcher.problems))
        error: Optional[BaseException] = None
        try:
            yield executions
        except GeneratorExit:  # The program needs no more rows.
            raise
        except BaseException as raised:  # Also KeyboardInterrupt; all are raised again.
            error = raised
            raise
        finally:
            for execution, problems in executions:
                with harmless("an execution of Spark Connect could not be recorded", problems):
                    execution.ended(error)
            # The traceback refers to this frame: the cycle would keep the program's data alive.
            error = None

    def _awake(self) -> Tuple[Any, ...]:
        """Return the watchers; none in a forked child, whose executions do not belong to the task."""
        return tuple(self._watchers) if os.getpid() == self._process else ()


@functools.lru_cache(maxsize=1)
def client_hooks() -> ClientHooks:
    """Return the hooks of this process."""
    return ClientHooks()
