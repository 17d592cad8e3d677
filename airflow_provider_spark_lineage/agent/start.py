"""Starts capture when the driver creates its Spark context.

Nothing happens in processes that have no driver: Python workers, programs that the driver starts. This module
is imported before the program begins, so it imports little; `driver` is imported while Spark creates the
context.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import sys
import threading
from typing import Any

from airflow_provider_spark_lineage.capture.guard import harmless


def wait_for_pyspark() -> None:
    """Have the agent started when the program imports pyspark."""
    sys.meta_path.insert(0, _Importer())


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the package `pyspark` as without it, and then calls `_watch_contexts`."""

    def __init__(self) -> None:
        self._loader: Any = None
        self._is_searching = False
        self._has_loaded = False

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """Return pyspark's spec with this object as its loader; None for all other modules."""
        # Python calls it under the lock of imports: not in two threads at once.
        if fullname != "pyspark" or self._is_searching or self._has_loaded:
            return None
        # Libraries ask for the spec alone, to see whether there is pyspark.
        self._is_searching = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._is_searching = False
        if spec is not None and hasattr(spec.loader, "get_code"):
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: Any) -> None:
        """Have Python create the module."""

    def exec_module(self, module: Any) -> None:
        """Run pyspark's code; in Python 3.9 the loader of a zip cannot."""
        is_first, self._has_loaded = not self._has_loaded, True
        module.__loader__ = module.__spec__.loader = self._loader
        exec(self._loader.get_code("pyspark"), module.__dict__)  # noqa: S102  what an import does
        # A library may have asked for the spec before, and load the package from it once more.
        if is_first:
            with harmless("the agent could not be started"):
                _watch_contexts(module.SparkContext)


def _watch_contexts(context_class: Any) -> None:
    """Start capture after each Spark context that is created from now on."""
    create = context_class._do_init

    @functools.wraps(create)
    def create_captured(context: Any, *args: Any, **kwargs: Any) -> None:
        with harmless("the agent could not be prepared"):
            # While the JVM creates the context this process has nothing to do.
            threading.Thread(target=_prepare, args=(context_class,), daemon=True).start()
        create(context, *args, **kwargs)
        with harmless("the agent could not be started"):
            from airflow_provider_spark_lineage.agent import driver

            driver.begin(context)

    context_class._do_init = create_captured


def _prepare(context_class: Any) -> None:
    with harmless("the agent could not be prepared"):
        from airflow_provider_spark_lineage.agent import driver

        driver.prepare(context_class)
