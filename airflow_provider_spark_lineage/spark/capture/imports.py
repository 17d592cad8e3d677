"""Calls functions after the first import of a module, without importing it."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import zipimport
from typing import Any, Callable, Dict, List, Set

from airflow_provider_spark_lineage.spark.guard import harmless


class ImportWatch:
    """Finds the awaited modules as Python does, and calls the functions that wait for them.

    One finder serves all: if two finders find a module, Python uses only the first.
    """

    def __init__(self) -> None:
        self._waiting: Dict[str, List[Callable[[], None]]] = {}
        self._searching: Set[str] = set()
        self._process = os.getpid()

    def wait(self, module: str, function: Callable[[], None]) -> None:
        """Call a function after each first import of a module in this process."""
        if self._process != os.getpid():
            # A forked child does not inherit the waiting functions of its parent.
            self._process = os.getpid()
            self._waiting.clear()
        self._waiting.setdefault(module, []).append(function)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def forget(self, module: str, function: Callable[[], None]) -> None:
        """Stop waiting."""
        functions = self._waiting.get(module, [])
        if function in functions:
            functions.remove(function)
        if not functions:
            self._waiting.pop(module, None)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of an awaited module; None for every other module."""
        if name not in self._waiting or name in self._searching or name in sys.modules:
            return None
        self._searching.add(name)
        try:
            # By all finders: libraries and platforms have their own.
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.discard(name)
        if spec is None or spec.loader is None:
            return None
        if isinstance(spec.loader, zipimport.zipimporter):
            spec.loader = _of_one_module(spec.loader)
        loader: Any = spec.loader
        run = getattr(loader, "exec_module", None)
        if run is None:
            return spec

        def exec_module(module: Any) -> None:
            run(module)
            if os.getpid() == self._process:
                for function in tuple(self._waiting.get(name, ())):
                    with harmless(f"the import of {name} could not be observed"):
                        function()

        loader.exec_module = exec_module
        return spec


def _of_one_module(shared: zipimport.zipimporter) -> Any:
    """Return a loader for one module of a zip, whose own loader is shared by all of its modules."""
    loader: Any = zipimport.zipimporter(os.path.join(shared.archive, shared.prefix))
    if not hasattr(loader, "exec_module"):
        # Only for Python 3.9; delete it when that is no longer supported.
        def exec_module(module: Any) -> None:
            exec(loader.get_code(module.__name__), module.__dict__)  # noqa: S102  what an import does

        loader.create_module = lambda _: None
        loader.exec_module = exec_module
    return loader


@functools.lru_cache(maxsize=1)
def imports() -> ImportWatch:
    """Return the finder of this process."""
    return ImportWatch()
