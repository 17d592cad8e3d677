"""Memory and processor time of a program and of all processes below it: Spark's JVM, workers of Python."""

from __future__ import annotations

import threading

import psutil


class Watch:
    """Looks at this process and at all below it, five times a second.

    Times are added up process by process, because those of Spark's workers are lost when they end: their
    parent does not wait for them, so that the system does not add them to its own.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        """Greatest memory of all processes."""
        self._before: dict[tuple[int, float], float] = {}
        self._times: dict[tuple[int, float], float] = {}
        """Number and start of a process -> its processor time, as it was seen last."""
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, daemon=True)

    @property
    def cpu_seconds(self) -> float:
        """Processor time of all processes since the begin."""
        return sum(self._times.values()) - sum(self._before.values())

    def __enter__(self) -> Watch:
        self._look()
        self._before = dict(self._times)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watcher.join()
        self._look()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self._look()

    def _look(self) -> None:
        own = psutil.Process()
        total = 0
        for process in (own, *own.children(recursive=True)):
            try:
                key, times = (process.pid, process.create_time()), process.cpu_times()
                # One that has just begun still has the memory of its parent, which is not its own.
                total += process.memory_info().rss if key in self._times or process is own else 0
                self._times[key] = times.user + times.system
            except psutil.NoSuchProcess:
                continue
        self.peak_bytes = max(self.peak_bytes, total)
