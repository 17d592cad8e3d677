"""Changes of the data flow between two versions of a pipeline, each with its severity."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from graph import edits
from graph.edits import PIPELINE, Edit, changed, events
from graph.estate import dataset, run

from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.graph.changes import FlowChange, changes_of
from airflow_provider_spark_lineage.openlineage.graph.current import Current

READ = {
    "silver/orders": {"amount", "customer"},
    "silver/customers": {"id", "country", "email"},
    "gold/sales": {"country", "total"},
    "gold/ranking": set(),
}
"""The columns that a job downstream uses."""


Said = set[tuple[str, str, str, str | None]]


def said(base: list[dict[str, Any]], head: list[dict[str, Any]]) -> Said:
    """Return severity, kind, dataset and column of each change."""
    changes = changes_of(Current.of(Events.of(base)), Current.of(Events.of(head)))
    return {(each.severity, each.kind, each.dataset[1], each.field) for each in changes}


def planted() -> Iterator[tuple[str, Edit, Said]]:
    """Yield planted changes: a name, what it does to the pipeline, and all that is to be said."""
    for output, each in PIPELINE.items():
        for column in each["columns"]:
            is_read = column in READ[output]
            severity = "breaking" if is_read else "changed"
            yield (
                f"drop {output}.{column}",
                edits.drop(output, column),
                {(severity, "column_removed", output, column)},
            )
            yield (
                f"type {output}.{column}",
                edits.retype(output, column),
                {(severity, "type_changed", output, column)},
            )
        first = each["inputs"][0]
        yield (
            f"filter {output}",
            edits.edge(output, f"* <- {first}.added INDIRECT FILTER"),
            {("changed", "rows_changed", output, None)},
        )
        yield (
            f"new column {output}",
            edits.new(output, "extra", f"extra <- {first}.x"),
            {("added", "column_added", output, "extra")},
        )
        yield (
            f"other source {output}",
            edits.swap(output, 0, f"{first}.other"),
            {("changed", "sources_changed", output, each["edges"][0].split()[0])},
        )
        yield f"gap {output}", edits.gap(output), {("unknown", "gap_added", output, None)}
        yield (
            f"new dataset of {output}",
            edits.copy(output),
            {("added", "dataset_added", f"{output}_copy", None)},
        )
    join, filtered = "* <- silver/orders.{} INDIRECT JOIN", "* <- raw/orders.day INDIRECT FILTER"
    total = "total <- silver/orders.amount"
    for output, number in product(("silver/orders", "silver/customers", "gold/sales"), (0, 1, 2)):
        column = PIPELINE[output]["edges"][number].split()[0]
        if "masked" not in PIPELINE[output]["edges"][number]:
            yield (
                f"mask {output}.{column}",
                edits.mask(output, number),
                {("changed", "masked", output, column)},
            )
    yield "unmask", edits.unmask, {("breaking", "unmasked", "silver/customers", "email")}
    yield (
        "join key",
        edits.replace("gold/sales", join.format("customer"), join.format("id")),
        {("changed", "rows_changed", "gold/sales", None)},
    )
    yield (
        "no filter",
        edits.replace("silver/orders", filtered, None),
        {("changed", "rows_changed", "silver/orders", None)},
    )
    yield (
        "sum to copy",
        edits.replace("gold/sales", f"{total} DIRECT AGGREGATION", total),
        {("changed", "sources_changed", "gold/sales", "total")},
    )
    yield (
        "no ranking",
        lambda pipeline: pipeline.pop("gold/ranking"),
        {("changed", "dataset_removed", "gold/ranking", None)},
    )
    yield (
        "no sales",
        lambda pipeline: pipeline.pop("gold/sales"),
        {("breaking", "dataset_removed", "gold/sales", None)},
    )
    yield (
        "another table is joined without a key",
        edits.read("gold/sales", "raw/rates"),
        {
            ("changed", "rows_changed", "gold/sales", None),
            ("added", "dataset_added", "raw/rates", None),
        },
    )


PLANTED = list(planted())


@pytest.mark.parametrize(("edit", "expected"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_planted_change_is_found_and_nothing_else_is_said(edit, expected):
    """One change each, with its severity: breaking only if somebody downstream uses it."""
    assert said(events(PIPELINE), changed(edit)) == expected


OTHER_NAME = {
    "column_removed": "column_added",
    "column_added": "column_removed",
    "dataset_removed": "dataset_added",
    "dataset_added": "dataset_removed",
    "masked": "unmasked",
    "unmasked": "masked",
}


@pytest.mark.parametrize("edit", [row[1] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_a_change_turned_around_is_its_opposite(edit):
    """What is new in one direction is gone in the other; a gap that ends hides nothing more."""
    base, head = events(PIPELINE), changed(edit)
    there = {
        (OTHER_NAME.get(kind, kind), *more) for _, kind, *more in said(base, head) if kind != "gap_added"
    }
    back = {tuple(more) for _, *more in said(head, base)}
    assert there <= back
    assert said(head, head) == set()


def test_runs_times_order_and_names_of_jobs_have_no_meaning():
    """The same flow by other jobs, in another order, later."""
    renamed = {output: {**each, "job": f"new_{each['job']}"} for output, each in PIPELINE.items()}
    assert said(events(PIPELINE), events(renamed, day=9)[::-1]) == set()


def test_a_rename_is_shown_as_one_and_is_breaking():
    """A column gone and a new one with equal sources and type."""
    head = deepcopy(PIPELINE)
    head["silver/orders"]["columns"] = {"id": "long", "price": "double", "customer": "long", "note": "string"}
    head["silver/orders"]["edges"][1] = "price <- raw/orders.amount DIRECT TRANSFORMATION"
    changes = changes_of(Current.of(Events.of(events(PIPELINE))), Current.of(Events.of(events(head))))
    assert [(each.severity, each.kind, each.field, each.renamed_to) for each in changes] == [
        ("breaking", "column_removed", "amount", "price"),
        ("added", "column_added", "price", None),
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("INT", "integer"),
        ("bigint", "long"),
        ("short", "smallint"),
        ("byte", "TINYINT"),
        ("real", "float"),
        ("numeric(10)", "decimal(10, 0)"),
        ("decimal", "decimal(10,0)"),
        ("timestamp_ltz", "timestamp"),
        ("array<int>", "array<_element: integer>"),
        ("map<string,struct<a:bigint>>", "map<key: string, value: struct<a: long>>"),
        ("struct<int:int,b:array<short>>", "struct<int: integer, b: array<smallint>>"),
    ],
)
def test_another_spelling_of_a_type_is_no_change(before, after):
    """Two producers call one type by two names, also inside of another."""
    assert not retyped(before, after)
    assert not retyped(after, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("string", "varchar(10)"),
        ("int", "bigint"),
        ("timestamp", "timestamp_ntz"),
        ("decimal(10)", "decimal(10,2)"),
        ("float", "double"),
        ("struct<int:int>", "struct<integer:int>"),
        ("struct<a:int>", "struct<a:long>"),
        ("map<int,string>", "map<string,int>"),
        ("array<int>", "array<array<int>>"),
    ],
)
def test_another_type_is_a_change(before, after):
    """Only spellings of one type are equal."""
    assert [(each.kind, each.before, each.after) for each in retyped(before, after)] == [
        ("type_changed", before, after)
    ]


def retyped(before: str, after: str) -> list[FlowChange]:
    """Return the changes of a dataset whose column `x` has one type, and then another."""
    sides = []
    for kind in (before, after):
        schema = {"fields": [{"name": "x", "type": kind}]}
        sides.append(Current.of(Events.of([run("etl", [], [dataset("/out", schema=schema)])])))
    return changes_of(*sides)


def test_another_type_of_a_member_is_another_type_of_its_column():
    """OpenLineage has the members of a struct below its column."""

    def written(kind):
        output = dataset("people")
        address = {"name": "address", "type": "struct", "fields": [{"name": "zip", "type": kind}]}
        output["facets"]["schema"] = {"fields": [address]}
        return Current.of(Events.of([run("load", [dataset("raw")], [output])]))

    [change] = changes_of(written("integer"), written("string"))
    assert (change.kind, change.before, change.after) == (
        "type_changed",
        "struct<zip: integer>",
        "struct<zip: string>",
    )
