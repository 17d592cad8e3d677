"""The columns that a frame must have: `{"columns": {"id": "bigint", "name": "string"}}`. Reads no row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.spark.checks.assertion import Assertion
from airflow_provider_spark_lineage.spark.checks.checks import CLAUSE, Measurements, Names
from airflow_provider_spark_lineage.spark.checks.measuring import Measure
from airflow_provider_spark_lineage.spark.checks.named_checks import OF_EVERY_CHECK, NamedCheck
from airflow_provider_spark_lineage.spark.checks.type_texts import EXAMPLE, type_text

COLUMNS = "columns"
_IN_ORDER, _ALLOW_MORE = "order", "allow_more"
KEYS_OF_COLUMNS = (
    COLUMNS,
    _IN_ORDER,
    _ALLOW_MORE,
    *(key for key in OF_EVERY_CHECK if key not in (CLAUSE, "if_absent")),
)

MAX_NAMED = 10
"""Limit of the columns that the result of the whole check names; each has a result of its own."""


class _Difference(NamedTuple):
    column: str
    expected: str
    actual: str


def validate_columns(name: str, given: Mapping[str, Any]) -> None:
    """Raise ValueError if the columns are not names, or names with types that Spark has."""
    columns = given[COLUMNS]
    is_given = isinstance(columns, (Mapping, list, tuple)) and bool(columns)
    if not is_given or not all(isinstance(column, str) and column.strip() for column in columns):
        raise ValueError(
            f"{name}: {COLUMNS} must be names with types, {{'id': 'bigint', 'name': 'string'}} for example, "
            "or a list of names."
        )
    if len({column.lower() for column in columns}) < len(columns):
        raise ValueError(
            f"{name}: {COLUMNS} has a name twice; Spark does not tell upper and lower case apart."
        )
    for key in (_IN_ORDER, _ALLOW_MORE):
        if not isinstance(given.get(key, False), bool):
            raise ValueError(f"{name}: {key} is {given[key]!r}; it must be True or False.")
    for column, kind in columns.items() if isinstance(columns, Mapping) else ():
        if kind is not None and (problem := _problem_of_type(kind)):
            raise ValueError(f"{name}: the type of {column} is {kind!r}; {problem}")


class ColumnsCheck(NamedCheck):
    """Compares the names, types and order of a frame's columns with those that are expected."""

    @property
    def _key(self) -> str:
        return f"columns {self.name}"

    @property
    def _expected(self) -> dict[str, str]:
        """Name of a column -> its type in Spark's form; empty for any type."""
        columns = self.given[COLUMNS]
        types = columns if isinstance(columns, Mapping) else dict.fromkeys(columns)
        return {column: _plain(kind) if kind else "" for column, kind in types.items()}

    def measures(self, names: Names) -> dict[str, Measure]:
        """Return the one measure that reads no row."""
        return {self._key: Measure([], is_of_schema=True)}

    def assertion(self, measurements: Measurements, names: Names, clause: str) -> Assertion:
        """Return the result of the whole check; its parts are the results of columns that differ."""
        columns, problem = measurements[self._key].value, measurements[self._key].problem
        result = self._assertion(
            "",
            success=not problem,
            check_type=COLUMNS,
            expected=_listed([f"{column} {kind}".strip() for column, kind in self._expected.items()]),
            params={
                "check_type": COLUMNS,
                **{key: self.given[key] for key in (_IN_ORDER, _ALLOW_MORE) if key in self.given},
            },
            not_evaluated=problem,
            value=None if problem else 1,
        )
        differences = [] if problem else self._differences(columns)
        if not differences:
            return replace(result, actual=None if problem else result.expected)
        text = _listed([f"{each.column}: {each.actual}" for each in differences])
        parts = tuple(
            replace(
                result,
                success=False,
                name=f"{self.name}.{each.column}",
                column=each.column,
                expected=each.expected,
                actual=each.actual,
            )
            for each in differences
        )
        return replace(result, success=False, actual=text, value=text, parts=parts)

    def _differences(self, columns: Sequence[tuple[str, str]]) -> list[_Difference]:
        """Return what differs of each column, in the order of the expected columns."""
        present = {column.lower(): (column, kind) for column, kind in columns}
        places = {column.lower(): at for at, (column, _) in enumerate(columns, start=1)}
        expected_places = self._places(present, places)
        differences = []
        for column, kind in self._expected.items():
            if column.lower() not in present:
                differences.append(_Difference(column, kind or "a column", "absent"))
                continue
            name, actual_kind = present[column.lower()]
            place = places[column.lower()]
            is_type, is_place = (
                not kind or kind == _plain(actual_kind),
                expected_places.get(column.lower(), place) == place,
            )
            if not (is_type and is_place):
                pairs = (
                    (kind, actual_kind, is_type),
                    (_place(expected_places, column), f"place {place}", is_place),
                )
                differences.append(
                    _Difference(
                        name,
                        ", ".join(expected for expected, _, is_same in pairs if not is_same),
                        ", ".join(actual for _, actual, is_same in pairs if not is_same),
                    )
                )
        if not self.given.get(_ALLOW_MORE):
            expected = {column.lower() for column in self._expected}
            differences += [
                _Difference(column, "absent", kind)
                for column, kind in columns
                if column.lower() not in expected
            ]
        return differences

    def _places(self, present: Mapping[str, Any], places: Mapping[str, int]) -> dict[str, int]:
        """Return the places of the columns that are there, in the expected order."""
        if not self.given.get(_IN_ORDER):
            return {}
        expected = [column.lower() for column in self._expected if column.lower() in present]
        return dict(zip(expected, sorted(places[column] for column in expected), strict=True))

    @property
    def sql(self) -> str:
        """Return nothing: no query is needed."""
        return ""


def _place(places: Mapping[str, int], column: str) -> str:
    return f"place {places.get(column.lower())}"


def _listed(texts: Sequence[str]) -> str:
    more = len(texts) - MAX_NAMED
    return "; ".join(texts[:MAX_NAMED]) + (f"; and {more} more" if more > 0 else "")


def _plain(kind: str) -> str:
    """Return a type in the form that is compared; one that cannot be read as it is."""
    try:
        return type_text(kind)
    except ValueError:
        return kind.lower()


def _problem_of_type(kind: Any) -> str:
    """Return why a text is not a type, in one sentence; empty if it is one."""
    if not isinstance(kind, str) or not kind.strip():
        return EXAMPLE
    try:
        type_text(kind)
    except ValueError as error:
        return str(error)
    return ""
