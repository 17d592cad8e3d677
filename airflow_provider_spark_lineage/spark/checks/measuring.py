"""Many aggregates of one frame in one query, each with its value or the reason why it has none.

All is made of Spark's columns: a text of the user is one expression, parsed by itself, and cannot leave its
place. Works on a session in this process and on Spark Connect.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MAX_QUERIES_AFTER_AN_ERROR = 20
"""Limit of the queries that find out which of a user's statements fails while it runs."""

TOO_MANY = "TOO_MANY_FAILURES"
"""Problem of statements that were not tried after an error, because of the limit."""

_LOGS_OF_ERRORS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""PySpark logs each failed analysis there, with the query and its literals."""


@dataclass(frozen=True)
class Measure:
    """One aggregate of a frame."""

    forms: Sequence[Callable[[Any], Any]]
    """Each makes a column of Spark from the module of functions; the first that Spark accepts is used."""

    is_of_user: bool = False
    """The text is the user's, and may fail while it runs."""

    is_distinct: bool = False
    """It has a query of its own, so that its cost is not that of the others."""

    rows: Callable[[Any, Any], Any] | None = None
    """Makes the rows that are measured of a frame and the module of functions, if the forms cannot say it."""

    query: str = ""
    """Name of the query that measures `rows`; measures with the same name share it."""

    is_of_schema: bool = False
    """The value is the frame's columns, each with the name of its type: no row is read."""


@dataclass(frozen=True)
class Measured:
    """The value of one aggregate."""

    value: Any = None
    form: int = 0
    """Which of its forms Spark accepted."""

    problem: str = ""
    """Spark's error condition, `UNRESOLVED_COLUMN` for example; empty if there is a value."""

    error: str = ""
    """First line of Spark's message."""


def functions_of(frame: Any) -> Any:
    """Return the module of Spark's functions for frames of this kind."""
    is_remote = type(frame).__module__.startswith("pyspark.sql.connect")
    return importlib.import_module("pyspark.sql.connect.functions" if is_remote else "pyspark.sql.functions")


def measured(frame: Any, measures: Mapping[str, Measure], clause: str = "") -> dict[str, Measured]:
    """Return the value of each measure of the rows of a clause, or the problem that it has.

    One query for all, another one for those that need all distinct values, and one for each name of a query.
    If a query fails, its measures are tried by themselves.
    """
    result: dict[str, Measured] = {}
    queries: dict[tuple[bool, str], dict[str, Measure]] = {}
    for key, measure in measures.items():
        if measure.is_of_schema:
            result[key] = Measured(frame.dtypes)
            continue
        queries.setdefault((measure.is_distinct, measure.query), {})[key] = measure
    if not queries:
        # An execution without rows, so that the dataset is known as an input.
        frame.limit(0).collect()
    for group in queries.values():
        result.update(_Query(frame, clause, next(iter(group.values())).rows).run(group))
    return result


def observed(
    frame: Any, name: str, measures: Mapping[str, Measure]
) -> tuple[Any, dict[str, tuple[str, int]]]:
    """Return a frame whose rows are measured when it runs, and for each measure its column and its form.

    Raises ValueError with one sentence for a measure that Spark refuses there.
    """
    functions = functions_of(frame)

    def observing(forms: Mapping[str, int]) -> Any:
        columns = [
            measures[key].forms[form](functions).alias(f"value_{at}")
            for at, (key, form) in enumerate(forms.items())
        ]
        with _quiet():
            result = frame.observe(name, *columns)
            # Connect analyzes it now; it knows the schema of the result itself already.
            _ = result.select("*").schema
        return result

    def accepted(key: str, measure: Measure) -> int:
        problems: list[str] = []
        for form in range(len(measure.forms)):
            try:
                observing({key: form})
            except Exception as error:
                if not _is_of_spark(error):
                    raise
                problems.append(_problem(error).error)
            else:
                return form
        raise ValueError(f"{key}: Spark cannot measure this during a write: {problems[0]}")

    forms = dict.fromkeys(measures, 0)
    try:
        result = observing(forms)
    except Exception as error:
        if not _is_of_spark(error):
            raise
        forms = {key: accepted(key, measure) for key, measure in measures.items()}
        result = observing(forms)
    return result, {key: (f"value_{at}", form) for at, (key, form) in enumerate(forms.items())}


class _Query:
    """Aggregates of some rows of a frame."""

    def __init__(self, frame: Any, clause: str, rows: Callable[[Any, Any], Any] | None) -> None:
        self._functions = functions_of(frame)
        self._frame = frame
        self._clause = clause
        self._of = rows

    def run(self, measures: Mapping[str, Measure]) -> dict[str, Measured]:
        result: dict[str, Measured] = {}
        forms = dict.fromkeys(measures, 0)
        try:
            rows = self._rows()
            if not self._analyzes(rows, measures, forms):
                for key, measure in measures.items():
                    form = self._accepted_form(rows, measure)
                    if isinstance(form, Measured):
                        result[key] = form
                        del forms[key]
                    else:
                        forms[key] = form
        except Exception as error:
            if not _is_of_spark(error):
                raise
            return dict.fromkeys(measures, _problem(error))
        try:
            return result | self._values(rows, measures, forms)
        except Exception as error:
            if not _is_of_values(error):
                raise
            return result | self._one_by_one(rows, measures, forms)

    def _rows(self) -> Any:
        with _quiet():
            rows = self._frame
            if self._clause:
                rows = rows.where(self._functions.expr(self._clause))
            if self._of is not None:
                rows = self._of(rows, self._functions)
            _ = rows.schema  # Connect analyzes it now.
        return rows

    def _analyzes(self, rows: Any, measures: Mapping[str, Measure], forms: Mapping[str, int]) -> bool:
        try:
            with _quiet():
                _ = self._aggregated(rows, [measures[key].forms[form] for key, form in forms.items()]).schema
        except Exception as error:
            if not _is_of_spark(error):
                raise
            return False
        return True

    def _accepted_form(self, rows: Any, measure: Measure) -> int | Measured:
        problems: list[Measured] = []
        for index, form in enumerate(measure.forms):
            try:
                with _quiet():
                    _ = self._aggregated(rows, [form]).schema
            except Exception as error:
                if not _is_of_spark(error):
                    raise
                problems.append(_problem(error))
            else:
                return index
        return problems[0]

    def _values(
        self, rows: Any, measures: Mapping[str, Measure], forms: Mapping[str, int]
    ) -> dict[str, Measured]:
        if not forms:
            return {}
        aggregated = self._aggregated(rows, [measures[key].forms[form] for key, form in forms.items()])
        with _quiet():
            values = aggregated.collect()[0]
        return {key: Measured(values[at], form) for at, (key, form) in enumerate(forms.items(), start=1)}

    def _aggregated(self, rows: Any, forms: Sequence[Callable[[Any], Any]]) -> Any:
        # With the count of rows, a rule for each row is no aggregate for Spark, whatever it looks like.
        columns = [self._functions.count(self._functions.lit(1)).alias("rows")]
        columns += [form(self._functions).alias(f"value_{at}") for at, form in enumerate(forms)]
        return rows.agg(*columns)

    def _one_by_one(
        self, rows: Any, measures: Mapping[str, Measure], forms: Mapping[str, int]
    ) -> dict[str, Measured]:
        """Return the measurable forms: those of this package together if possible, all others alone."""
        ours = {key: form for key, form in forms.items() if not measures[key].is_of_user}
        result: dict[str, Measured] = {}
        try:
            result |= self._values(rows, measures, ours)
        except Exception as error:
            if not _is_of_values(error):
                raise
        alone = [key for key in forms if key not in result]
        for key in alone[:MAX_QUERIES_AFTER_AN_ERROR]:
            try:
                result |= self._values(rows, measures, {key: forms[key]})
            except Exception as error:
                if not _is_of_values(error):
                    raise
                result[key] = _problem(error)
        return result | dict.fromkeys(alone[MAX_QUERIES_AFTER_AN_ERROR:], Measured(problem=TOO_MANY))


def condition_of(error: BaseException) -> str:
    """Return Spark's condition of an error, up to its first dot; the error's class if it has none."""
    condition = _told(error, "getCondition", "getErrorClass") or _condition_in(error)
    return condition.partition(".")[0] or type(error).__name__


_CONDITION = re.compile(r"\[([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\]|\[([A-Z][A-Z0-9_]+)\.[A-Z0-9_.]+\]")


def _condition_in(error: BaseException) -> str:
    """Return the condition in Spark's message: a server of Spark Connect 3.5 sends nothing else."""
    match = _CONDITION.search(str(error)) if _is_of_spark(error) else None
    return (match[1] or match[2]) if match else ""


MAX_CAUSES = 20
"""Limit of the causes that are followed."""


def _told(error: BaseException, *methods: str) -> str:
    """Return the first answer to one of the methods, of an error or a Java cause of it; empty if none knows.

    Spark 3.5 wraps an error of a task in one that knows nothing.
    """
    current: Any = error
    cause = getattr(error, "java_exception", None)
    for _ in range(MAX_CAUSES):
        for method in methods:
            if answer := _answer(current, method):
                return answer
        if cause is None:
            break
        current, cause = cause, cause.getCause()
    return ""


def _answer(error: Any, method: str) -> str:
    """Return the result of a method of an error of Python or of Java; empty without such a method."""
    try:
        return str(getattr(error, method)() or "")
    except AttributeError:
        return ""
    except Exception as refused:  # py4j knows only by a call whether Java has a method.
        if not _is_of_spark(refused):
            raise
        return ""


_SQLSTATE = re.compile(r"SQLSTATE: (\w{5})")
_OF_VALUES = "22"
"""Class of the SQLSTATEs of errors that values cause: a division by zero, a text that is not a number."""

_CONDITIONS_OF_VALUES = frozenset(
    """
    ARITHMETIC_OVERFLOW BINARY_ARITHMETIC_OVERFLOW CANNOT_PARSE_DECIMAL CANNOT_PARSE_TIMESTAMP
    CAST_INVALID_INPUT CAST_OVERFLOW DATETIME_OVERFLOW DIVIDE_BY_ZERO INTERVAL_ARITHMETIC_OVERFLOW
    INTERVAL_DIVIDED_BY_ZERO
    INVALID_ARRAY_INDEX INVALID_ARRAY_INDEX_IN_ELEMENT_AT INVALID_INDEX_OF_ZERO INVALID_PARAMETER_VALUE
    NUMERIC_VALUE_OUT_OF_RANGE
    """.split()
)
"""Conditions of Spark 3.5 with an SQLSTATE of that class, for a server that does not send it."""


def _is_of_values(error: BaseException) -> bool:
    """Return whether values of rows caused an error; of a lost file or executor, no check is the cause."""
    state = _told(error, "getSqlState")
    if not state and (match := _SQLSTATE.search(str(error))):
        state = match[1]
    if not state:
        return _condition_in(error) in _CONDITIONS_OF_VALUES
    return _is_of_spark(error) and state.startswith(_OF_VALUES)


def _problem(error: BaseException) -> Measured:
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    return Measured(problem=condition_of(error), error=first)


def _is_of_spark(error: BaseException) -> bool:
    return any(
        kind.__module__.partition(".")[0] in ("pyspark", "py4j", "grpc") for kind in type(error).__mro__
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep a query that may fail out of PySpark's log of errors, which has its literals: a result says it."""

    def drop(record: logging.LogRecord) -> bool:
        return False

    try:
        logger_class = importlib.import_module("pyspark.logger").PySparkLogger
    except ImportError:  # Spark 3.5 logs no errors.
        yield
        return
    # By its class: a plain logger of this name, if it came first, would break PySpark's own calls.
    loggers = [logger_class.getLogger(name) for name in _LOGS_OF_ERRORS]
    for logger in loggers:
        logger.addFilter(drop)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(drop)
