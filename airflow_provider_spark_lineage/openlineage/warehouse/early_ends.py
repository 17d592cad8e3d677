"""Turns what ends a load early into one sentence: the tables are as before, because a load publishes last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from airflow_provider_spark_lineage.errors import BadInputError

_OF_SPARK = ("pyspark", "py4j")
"""Packages whose errors are Spark's."""

_TRACEBACK = "Traceback (most recent call last)"

_GONE = "Spark has stopped, perhaps for want of memory (spark.driver.memory)"
"""Cause of an error of the connection to Spark's JVM."""


@contextmanager
def ended_early(action: str) -> Iterator[None]:
    """Raise BadInputError for errors of Spark and of the file system; `action` begins its sentence.

    >>> with ended_early("the load"):
    ...     raise OSError(28, "No space left on device", "/lineage/data")
    Traceback (most recent call last):
    airflow_provider_spark_lineage.errors.BadInputError: the load ended early, and the tables are as before: \
/lineage/data: No space left on device.
    """
    try:
        yield
    except BadInputError:
        raise
    except Exception as error:
        cause = _cause_of(error)
        if not cause:
            raise
        sentence = cause.rstrip(".")
        raise BadInputError(f"{action} ended early, and the tables are as before: {sentence}.") from error


def _cause_of(error: Exception) -> str:
    """Return the first line of what went wrong; empty if it is a fault of this package."""
    java = getattr(error, "java_exception", None)
    package = type(error).__module__.partition(".")[0]
    if isinstance(error, ConnectionError) or type(error).__name__ == "Py4JNetworkError":
        return _GONE
    if isinstance(error, OSError):
        return ": ".join(filter(None, (error.filename and str(error.filename), error.strerror or str(error))))
    if package == "pyarrow":
        return _line_of(error)
    if package not in _OF_SPARK:
        return ""
    if java is None:
        return _line_of(error)
    try:
        place = ""
        while java.getCause() is not None:
            file = re.search(r"reading file (\S+?)\.?(\s|$)", str(java.getMessage()))
            place, java = f"{file[1]}: " if file else place, java.getCause()
        return place + _line_of(java.toString())
    except Exception:  # The JVM that has the cause is gone; py4j raises errors of many classes.
        return _GONE


def _line_of(error: object) -> str:
    text = str(error).strip()
    # The last line of a traceback of Python says what happened, and else the first.
    lines = text.split("\n")
    return (lines[-1] if _TRACEBACK in text else lines[0]) or type(error).__name__
