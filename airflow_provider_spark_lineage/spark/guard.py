"""The one place where exceptions of lineage code end, so that a user's job never sees them.

All code of capture, operators, extractors and run facets in a user's process runs under `harmless`. An
exception becomes one warning with the reason; its traceback is logged at debug level.
"""

from __future__ import annotations

import logging
import signal
import threading
import traceback
from contextlib import contextmanager
from types import TracebackType
from typing import Callable, Iterator, List, Optional, Type

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason

log = logging.getLogger("airflow_provider_spark_lineage")


_withheld = 0
"""Number of running captures that must not log literals: Spark's exceptions may quote a statement."""


def withhold(count: int) -> None:
    """Add `count` to the number of captures that keep reasons of failures out of logs and problems."""
    global _withheld  # noqa: PLW0603  the process has one log
    _withheld += count


class harmless:  # noqa: N801  reads as a statement
    """Run a block whose exceptions must not reach the user's code.

    `lost` is a sentence for the log; it is added to `problems`, too, which become gaps. If it is a `Reason`,
    its kind is the gap's.

    >>> with harmless("the example could not be run"):  # doctest: +SKIP
    ...     raise ValueError("on purpose")
    """

    def __init__(self, lost: str, problems: Optional[List[str]] = None) -> None:
        self._what = lost
        self._problems = problems

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        # py4j, the JVM and a session that is stopping raise many kinds of errors. KeyboardInterrupt and
        # SystemExit are the user's.
        if not isinstance(error, Exception):
            return False
        # Imported here, because compiling its patterns would delay every Airflow process by milliseconds.
        from airflow_provider_spark_lineage.spark.records.credentials import without_secrets

        sentence = f"{self._what}: {type(error).__name__}"
        if _withheld:
            tell(self._of_kind(sentence), self._problems)
            return True
        reason = _first_line(without_secrets(str(error)))[:300]
        if tell(self._of_kind(f"{sentence}: {reason}"), self._problems):
            # Messages of Spark may contain the options of a source.
            details = "".join(traceback.format_exception(kind, error, trace))
            log.debug("Spark lineage failure details:\n%s", without_secrets(details))
        return True

    def _of_kind(self, sentence: str) -> str:
        return self._what.reworded(sentence) if isinstance(self._what, Reason) else sentence


@contextmanager
def alarm_paused() -> Iterator[None]:
    """Pause the timer of Airflow's `execution_timeout` while the task waits for lineage.

    Otherwise a function that ended in time could fail while lineage waits. Signals arrive in the main thread,
    so no other thread needs this.
    """
    remaining, interval = (0.0, 0.0)
    if hasattr(signal, "getitimer") and threading.current_thread() is threading.main_thread():
        remaining, interval = signal.getitimer(signal.ITIMER_REAL)
    if not remaining:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)


def within(seconds: float, function: Callable[..., object], *arguments: object) -> bool:
    """Call a function on a new thread, and wait for its end, for a limited time; return whether it ended."""
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    with alarm_paused():
        thread.start()
        thread.join(seconds)
    return not thread.is_alive()


def tell(sentence: str, problems: Optional[List[str]] = None) -> bool:
    """Log a loss as a warning and add it to `problems`; return False if it was told before.

    So a problem that repeats in a thousand executions is logged once.
    """
    if problems is not None:
        if sentence in problems:
            return False
        problems.append(sentence)
    if getattr(_thread, "tells_again", False):
        return False
    log.warning("Spark lineage: %s. This has no impact on the task.", sentence)
    return True


_thread = threading.local()
"""`tells_again`: True while another process has already logged the warnings of this thread."""


@contextmanager
def told_elsewhere() -> Iterator[None]:
    """Log no losses of this thread: the provider's forked child computes the same, and warns of them."""
    _thread.tells_again = True
    try:
        yield
    finally:
        _thread.tells_again = False


def _first_line(message: str) -> str:
    """Return the line with the reason: the first, or the second of a py4j error with a Java stack trace."""
    lines = message.strip().splitlines() or [""]
    # The Java exception is on the second line.
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:
        return lines[1].lstrip(": ")
    return lines[0]
