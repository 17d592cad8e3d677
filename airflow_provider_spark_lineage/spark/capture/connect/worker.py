"""A thread that runs one job after the other, in the order of submission."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Callable, Optional

Job = Callable[[], None]


class Worker:
    """Runs jobs on a separate thread, which starts with the first job; a job must not raise."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[Optional[Job]] = SimpleQueue()
        self._thread: Optional[threading.Thread] = None
        self._lock = threading.Lock()

    def submit(self, job: Job) -> None:
        """Run a job after all jobs submitted before; return at once."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        self._jobs.put(job)

    def wait(self, timeout_seconds: float) -> bool:
        """Wait until all jobs submitted so far are done; return whether they are."""
        if self._thread is None or self._thread is threading.current_thread():
            return True
        done = threading.Event()
        self._jobs.put(done.set)
        return done.wait(timeout_seconds)

    def close(self) -> None:
        """End the thread after all submitted jobs."""
        if self._thread is not None:
            self._jobs.put(None)

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if job is None:
                return
            job()
