"""The one place where exceptions of lineage code end, so that a user's job never sees them.

Everything that capture, operators, extractors and run facets do inside a user's process runs under
`harmless`. A fault becomes one warning with the reason; its traceback is logged at debug level.
"""

from __future__ import annotations

import logging
import signal
import threading
import traceback
from contextlib import contextmanager
from types import TracebackType
from typing import Iterator, List, Optional, Type

from airflow_provider_spark_lineage.credentials import without_secrets

log = logging.getLogger("airflow_provider_spark_lineage")


_withheld = 0
"""How many captures run that may hand on no literal: an exception of Spark's may repeat a statement."""


def withhold(count: int) -> None:
    """Leave the reasons of failures out of logs and problems, for `count` captures more or fewer."""
    global _withheld  # noqa: PLW0603  the log is one for the process
    _withheld += count


class harmless:  # noqa: N801  reads as a statement
    """Run a block whose failure costs lineage only.

    `what` says what is lost, for the log; `problems` receives the same sentence, so that it can
    become visible as a gap.

    >>> with harmless("the example could not be run"):
    ...     raise ValueError("on purpose")
    """

    def __init__(self, what: str, problems: Optional[List[str]] = None) -> None:
        self._what = what
        self._problems = problems

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        # Everything that is an error, since py4j, the JVM and a half-stopped session raise what they like;
        # not KeyboardInterrupt and SystemExit, which are the user's.
        if not isinstance(error, Exception):
            return False
        sentence = f"{self._what}: {type(error).__name__}"
        if _withheld:
            tell(sentence, self._problems)
            return True
        reason = _first_line(without_secrets(str(error)))[:300]
        if tell(f"{sentence}: {reason}", self._problems):
            # The error's text may be of Spark, with the options of a source in it.
            details = "".join(traceback.format_exception(kind, error, trace))
            log.debug("Spark lineage failure details:\n%s", without_secrets(details))
        return True


@contextmanager
def alarm_paused() -> Iterator[None]:
    """Stop the clock that ends the user's code, while our code keeps it waiting.

    Airflow raises a task's `execution_timeout` by this timer: a function that ended in time would fail
    because lineage was slow. Signals arrive in the main thread, so no other thread needs this.
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


def tell(sentence: str, problems: Optional[List[str]] = None) -> bool:
    """Warn of something that lineage lost, and add it to `problems`; say whether it is news there.

    What befalls each of a thousand executions is one line, not a thousand.
    """
    if problems is not None:
        if sentence in problems:
            return False
        problems.append(sentence)
    log.warning("Spark lineage: %s. This has no impact on the task.", sentence)
    return True


def _first_line(message: str) -> str:
    """Return the line that says what happened: a Java stack trace fills pages."""
    lines = message.strip().splitlines() or [""]
    # py4j names its handle of the object first, and the Java exception on the next line.
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:
        return lines[1].lstrip(": ")
    return lines[0]
