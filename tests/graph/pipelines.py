"""Seeded pipelines of three to eight jobs, written as SQL, and their results on changed data.

A pipeline has base tables and jobs; each job writes one dataset from one or two that exist. The results are
computed without writing anything, from views, so that many changes can be tried.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Contents = dict[tuple[str, str], list[str]]
"""Dataset and column -> its values."""

BASE = {
    "orders": {"id": "int", "customer": "int", "amount": "double", "day": "string", "note": "string"},
    "customers": {"customer": "int", "country": "string", "email": "string", "score": "int"},
}
"""The tables that everything comes from, with the types of their columns."""

ROWS = {
    "orders": [
        (number, number % 5, 10.0 * (number % 7) - 20, f"2026-01-0{number % 4 + 1}", "ab"[number % 2] * 3)
        for number in range(24)
    ],
    "customers": [(number, "dfe"[number % 3], f"{number}@example.com", number * 2) for number in range(6)],
}


@dataclass(frozen=True)
class SqlJob:
    """One job: what it writes, from what, and its query, in which datasets are `{name}`."""

    output: str
    inputs: tuple[str, ...]
    query: str
    columns: Mapping[str, str]
    """The columns of the output, with the kind of type that decides what can be done with them."""


def pipeline(seed: int) -> list[SqlJob]:
    """Return the jobs of a seed, in an order in which they can run."""
    chance = random.Random(seed)
    known: dict[str, Mapping[str, str]] = {name: dict(columns) for name, columns in BASE.items()}
    jobs = []
    for number in range(chance.randint(3, 8)):
        # Late datasets are read more often, so that chains get long.
        names = list(known)
        source = chance.choice(names[-3:])
        other = chance.choice(names)
        job = _job(chance, f"d{number}", source, other, known)
        known[job.output] = job.columns
        jobs.append(job)
    return jobs


def _job(
    chance: random.Random, output: str, source: str, other: str, known: Mapping[str, Mapping[str, str]]
) -> SqlJob:
    columns = dict(known[source])
    some = chance.sample(list(columns), k=min(len(columns), chance.randint(2, 4)))
    kept = {name: columns[name] for name in some}
    one, two = chance.choice(some), chance.choice(some)
    listed = ", ".join(some)
    shape = chance.choice(
        ["filter", "derive", "group", "join", "window", "case", "union", "exists", "distinct"]
    )
    if shape == "filter":
        return SqlJob(
            output, (source,), f"SELECT {listed} FROM {{{source}}} WHERE {_test(chance, one, columns)}", kept
        )
    if shape == "derive":
        made = (
            f"concat(cast({one} AS string), '-')"
            if chance.random() < 0.5
            else f"sha2(cast({one} AS string), 256)"
        )
        return SqlJob(
            output,
            (source,),
            f"SELECT {listed}, {made} AS made_{output} FROM {{{source}}}",
            {**kept, f"made_{output}": "string"},
        )
    if shape == "group":
        counted = {two: columns[two], f"n_{output}": "int", f"most_{output}": columns[one]}
        query = (
            f"SELECT {two}, count(*) AS n_{output}, max({one}) AS most_{output}"
            f" FROM {{{source}}} GROUP BY {two}"
        )
        return SqlJob(output, (source,), query, counted)
    if shape == "window":
        query = (
            f"SELECT {listed}, row_number() OVER (PARTITION BY {one} ORDER BY {listed}) AS place_{output}"
            f" FROM {{{source}}}"
        )
        return SqlJob(output, (source,), query, {**kept, f"place_{output}": "int"})
    if shape == "case":
        test = _test(chance, one, columns)
        query = f"SELECT {listed}, CASE WHEN {test} THEN {two} END AS case_{output} FROM {{{source}}}"
        return SqlJob(output, (source,), query, {**kept, f"case_{output}": columns[two]})
    if shape == "distinct":
        return SqlJob(output, (source,), f"SELECT DISTINCT {listed} FROM {{{source}}}", kept)
    theirs = list(known[other])
    key = chance.choice(theirs)
    if shape == "join":
        value = chance.choice(theirs)
        query = (
            f"SELECT {', '.join(f'l.{name}' for name in some)}, r.{value} AS of_{output} FROM {{{source}}} l"
            f" LEFT JOIN (SELECT * FROM {{{other}}} LIMIT 1000) r"
            f" ON cast(l.{one} AS string) = cast(r.{key} AS string)"
        )
        return SqlJob(output, (source, other), query, {**kept, f"of_{output}": known[other][value]})
    if shape == "exists":
        query = (
            f"SELECT {listed} FROM {{{source}}} l WHERE EXISTS (SELECT 1 FROM {{{other}}} r"
            f" WHERE cast(r.{key} AS string) = cast(l.{one} AS string))"
        )
        return SqlJob(output, (source, other), query, kept)
    query = (
        f"SELECT cast({one} AS string) AS both_{output} FROM {{{source}}}"
        f" UNION ALL SELECT cast({key} AS string) FROM {{{other}}}"
    )
    return SqlJob(output, (source, other), query, {f"both_{output}": "string"})


def _test(chance: random.Random, column: str, columns: Mapping[str, str]) -> str:
    if columns[column] == "string":
        return f"length({column}) + ascii({column}) > {chance.choice([53, 98, 104])}"
    return f"{column} > {chance.choice([0, 2, 5])}"


CHANGES = {
    "another value in one row": lambda value, place, kind: _other(value, kind) if place == 3 else value,
    "other values": lambda value, place, kind: _other(value, kind),
    "nulls": lambda value, place, kind: None if place % 2 else value,
}
"""Ways to change the values of one column; each gets the value, the number of its row and its type."""


def _other(value: Any, kind: str) -> Any:
    return f"{value}z" if kind == "string" else value + 7


def base_rows(changed: tuple[str, str] | None = None, change: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of the base tables, with one column of one table changed."""
    tables = dict(ROWS)
    if changed:
        table, column = changed
        place = list(BASE[table]).index(column)
        rows = []
        for number, row in enumerate(ROWS[table]):
            value = CHANGES[change](row[place], number, BASE[table][column])
            rows.append((*row[:place], value, *row[place + 1 :]))
        tables[table] = rows
    return tables


def changes() -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each base column with each way to change it."""
    for table, columns in BASE.items():
        for column in columns:
            for change in CHANGES:
                yield (table, column), change


def contents(
    spark: Any, jobs: list[SqlJob], changed: tuple[str, str] | None = None, change: str = ""
) -> Contents:
    """Return the values of every column of every output, in an order that says nothing."""
    frames = {name: table(spark, name, rows) for name, rows in base_rows(changed, change).items()}
    values: Contents = {}
    for job in jobs:
        frame = spark.sql(job.query, **{name: frames[name] for name in job.inputs})
        rows = frame.collect()
        # From its rows: a chain of plans would be computed again by each job.
        frames[job.output] = listed(
            spark, rows, {each.name: each.dataType.simpleString() for each in frame.schema}
        )
        for place, column in enumerate(frame.columns):
            values[job.output, column] = sorted(repr(row[place]) for row in rows)
    return values


def table(spark: Any, name: str, rows: Any) -> Any:
    """Return a base table with some rows."""
    return listed(spark, rows, BASE[name])


def listed(spark: Any, rows: Any, columns: Mapping[str, str]) -> Any:
    """Return a frame of rows that the plan itself lists: no Python process has to make them."""
    names = ", ".join(f"cast({name} AS {kind}) AS {name}" for name, kind in columns.items())
    lines = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows or [[None] * len(columns)])
    condition = "" if rows else " WHERE false"
    return spark.sql(f"SELECT {names} FROM VALUES {lines} AS t({', '.join(columns)}){condition}")


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return (
        f"'{value}'" if isinstance(value, str) else f"{value!r}D" if isinstance(value, float) else repr(value)
    )
