"""The list of those who watch replaced methods of pyspark."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from typing import Any, List

from airflow_provider_spark_lineage.spark.capture.replaced import Replacements


class Watchable(ABC):
    """Replaces methods of pyspark while it has watchers, and restores them afterwards."""

    def __init__(self) -> None:
        self._watchers: List[Any] = []
        self._lock = threading.Lock()
        self._methods = Replacements()

    def add(self, watcher: Any) -> None:
        """Notify a watcher from now on."""
        with self._lock:
            self._install()
            self._watchers.append(watcher)

    def remove(self, watcher: Any) -> None:
        """Stop notifying a watcher; after the last one, restore the methods."""
        with self._lock:
            if watcher in self._watchers:
                self._watchers.remove(watcher)
            if not self._watchers:
                self._uninstall()

    @abstractmethod
    def _install(self) -> None:
        """Replace the methods; called for each new watcher."""

    def _uninstall(self) -> None:
        self._methods.restore()
