"""Calls functions after a module was imported for the first time, without importing it."""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys
import zipimport
from typing import Any, Callable, Dict, List

from airflow_provider_spark_lineage.capture.guard import harmless


class Imports:
    """Finds the awaited modules as Python does, and calls the functions that wait for them.

    One finder for all: of two finders of the same module Python would ask only the first.
    """

    def __init__(self) -> None:
        self._waiting: Dict[str, List[Callable[[], None]]] = {}
        self._process = os.getpid()

    def wait(self, module: str, function: Callable[[], None]) -> None:
        """Have a function called after each first import of a module in this process."""
        if self._process != os.getpid():
            # What the parent of a forked child waits for is no business of the child.
            self._process = os.getpid()
            self._waiting.clear()
        self._waiting.setdefault(module, []).append(function)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def forget(self, module: str, function: Callable[[], None]) -> None:
        """Wait no longer."""
        functions = self._waiting.get(module, [])
        if function in functions:
            functions.remove(function)
        if not functions:
            self._waiting.pop(module, None)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of an awaited module; None for every other module."""
        if name not in self._waiting:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return None
        run = getattr(spec.loader, "exec_module", None)
        # The loader of a zip is shared by its modules, and before Python 3.10 it has no such method.
        if run is None or isinstance(spec.loader, zipimport.zipimporter):
            return None

        def exec_module(module: Any) -> None:
            run(module)
            if os.getpid() == self._process:
                for function in tuple(self._waiting.get(name, ())):
                    with harmless(f"the import of {name} could not be observed"):
                        function()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


@functools.lru_cache(maxsize=1)
def imports() -> Imports:
    """Return the finder of this process."""
    return Imports()
