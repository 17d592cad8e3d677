from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.facets.types import TypedField, nested_fields


def shape(fields: tuple[TypedField, ...]) -> list[object]:
    return [(f.name, f.type, shape(f.fields)) if f.fields else (f.name, f.type) for f in fields]


@pytest.mark.parametrize(
    ("type_string", "expected"),
    [
        ("struct<a:int>", [("a", "int")]),
        ("struct<a:decimal(10,2),b:string>", [("a", "decimal(10,2)"), ("b", "string")]),
        ("struct<a b:int, c-d: varchar(3)>", [("a b", "int"), ("c-d", "varchar(3)")]),
        ("struct<a:map<string,int>>", [("a", "map<string,int>")]),
        (
            "struct<i:interval day to second,t:timestamp_ntz>",
            [("i", "interval day to second"), ("t", "timestamp_ntz")],
        ),
        ("struct<s:string collate UTF8_LCASE>", [("s", "string collate UTF8_LCASE")]),
        (
            "array<struct<a:int>>",
            [("_element", "struct<a:int>", [("a", "int")])],
        ),
        (
            "map<string,array<struct<a:int>>>",
            [
                ("key", "string"),
                ("value", "array<struct<a:int>>", [("_element", "struct<a:int>", [("a", "int")])]),
            ],
        ),
    ],
)
def test_structs_are_opened_however_deep_they_lie(type_string, expected):
    assert shape(nested_fields(type_string)) == expected


@pytest.mark.parametrize(
    "type_string",
    [
        "int",
        "array<int>",
        "map<string,array<int>>",
        "struct<>",
        "struct<a:int,... 26 more fields>",
        "struct<a:b:int>",
        "struct<a:int",
        "struct<a:int>>",
        "struct<a<b:int>",
        "struct<a:>",
        "struct<:int>",
        "struct<a:int b:int>",
        "map<struct<a:int>>",
        "",
        "struct<a:" * 5000,
    ],
)
def test_what_has_no_struct_or_cannot_be_read_for_certain_stays_flat(type_string):
    """A guess at a nested field would be a column that does not exist."""
    assert nested_fields(type_string) == ()
