"""Checks of columns that a frame does not have: an error, or skipped if `if_absent` says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion
from airflow_provider_spark_lineage.spark.checks.statements import roots_of

IF_ABSENT = "if_absent"
SKIP, FAIL = "skip", "error"

NO_COLUMN = "UNRESOLVED_COLUMN"
_NO_FIELD = "FIELD_NOT_FOUND"
"""Spark's conditions for a column, and for a field of a struct, that is missing."""

_FIELD = re.compile(r"\w+(\.\w+)+")


def validate_if_absent(check: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if `if_absent` has another value than `error` and `skip`."""
    if given.get(IF_ABSENT, FAIL) not in (FAIL, SKIP):
        raise ValueError(f"{check}: {IF_ABSENT} is {given[IF_ABSENT]!r}; it must be 'error' or 'skip'.")


def may_be_absent(given: Mapping[str, Any], texts: Iterable[str], names: Mapping[str, str]) -> list[str]:
    """Return the columns of texts that are not among a frame's, if a check may be skipped without them.

    A guess: a text may name a column of another table, in a subquery. Spark's error decides.
    """
    if given.get(IF_ABSENT) != SKIP:
        return []
    return [
        root
        for text in texts
        if text.lower() not in names
        # A name that is no expression, with a space for example, is a column's.
        for root in ([text] if _FIELD.fullmatch(text) else roots_of(text) or [text])
        if root.lower() not in names
    ]


def conditions_of(absent: Iterable[str]) -> tuple[str, ...]:
    """Return the conditions of Spark's errors that say that one of these columns is missing."""
    return (NO_COLUMN, *([_NO_FIELD] if any("." in column for column in absent) else []))


def skipped_if_absent(assertion: Assertion, absent: list[str]) -> Assertion:
    """Return an assertion as skipped if Spark did not find one of these columns."""
    if not absent or assertion.not_evaluated not in conditions_of(absent):
        return assertion
    params = {**assertion.params, "absent": ", ".join(absent)}
    return replace(assertion, success=True, is_skipped=True, not_evaluated="", actual=None, params=params)
