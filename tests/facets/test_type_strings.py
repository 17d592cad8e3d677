from __future__ import annotations

from typing import Any

import pytest

from airflow_provider_spark_lineage.spark.facets.types import TypedField, typed_field
from airflow_provider_spark_lineage.spark.plan.spark.tree import type_name


def shape(field: TypedField) -> Any:
    return {field.type: {part.name: shape(part) for part in field.fields}} if field.fields else field.type


def read(type_string: str) -> Any:
    field = typed_field("column", type_string)
    assert field.name == "column"
    return shape(field)


@pytest.mark.parametrize(
    ("type_string", "expected"),
    [
        ("bigint", "long"),
        ("int", "integer"),
        ("smallint", "short"),
        ("tinyint", "byte"),
        ("BIGINT", "long"),
        *((same, same) for same in ("string", "boolean", "float", "double", "binary", "date", "void")),
        *((same, same) for same in ("timestamp", "timestamp_ntz", "variant", "time(6)", "interval")),
        *((same, same) for same in ("char(3)", "varchar(20)", "string collate UTF8_LCASE")),
        *((same, same) for same in ("interval day to second", "interval year to month")),
        *((same, same) for same in ("geometry(4326)", "geometry(OGC:CRS84)", "geography(any)")),
        ("decimal(10,2)", "decimal(10,2)"),
        ("decimal(10, 2)", "decimal(10,2)"),
    ],
)
def test_a_type_has_the_name_that_the_java_agent_gives_it(type_string, expected):
    """Spark's `typeName`: consumers map types by it, and the same table has one type in all events."""
    assert read(type_string) == expected


@pytest.mark.parametrize(
    ("type_string", "expected"),
    [
        ("array<bigint>", {"array": {"_element": "long"}}),
        ("map<string,array<int>>", {"map": {"key": "string", "value": {"array": {"_element": "integer"}}}}),
        (
            "map<map<int,int>,int>",
            {"map": {"key": {"map": {"key": "integer", "value": "integer"}}, "value": "integer"}},
        ),
        ("struct<>", "struct"),
        ("struct<a:decimal(10,2),b:string>", {"struct": {"a": "decimal(10,2)", "b": "string"}}),
        (
            "struct<a:int,b:array<map<string,struct<c:decimal(10,2)>>>>",
            {
                "struct": {
                    "a": "integer",
                    "b": {
                        "array": {
                            "_element": {
                                "map": {"key": "string", "value": {"struct": {"c": "decimal(10,2)"}}}
                            }
                        }
                    },
                }
            },
        ),
        (
            "struct<i:interval day to second,t:timestamp_ntz,s:string collate UTF8_LCASE,g:geometry(4326)>",
            {
                "struct": {
                    "i": "interval day to second",
                    "t": "timestamp_ntz",
                    "s": "string collate UTF8_LCASE",
                    "g": "geometry(4326)",
                }
            },
        ),
    ],
)
def test_composite_types_have_nested_fields(type_string, expected):
    """However deep: the SQL text of a whole struct is not a type that a consumer can look up."""
    assert read(type_string) == expected


@pytest.mark.parametrize(
    ("type_string", "names"),
    [
        ("struct<a b:int, c-d: varchar(3)>", ["a b", "c-d"]),
        ("struct<a.b:int,ß(x):int,it's:int>", ["a.b", "ß(x)", "it's"]),
        ("struct<not null:int,comment:int>", ["not null", "comment"]),
        ("struct<`a:b`:int,`c``d`: int,`e,f>`:int>", ["a:b", "c`d", "e,f>"]),
        ("STRUCT<a: INT NOT NULL, b: BIGINT COMMENT 'it''s > b:int, no'>", ["a", "b"]),
        ("struct<a: int NOT NULL COMMENT \"x, y:int\", b: int COMMENT 'it\\'s'>", ["a", "b"]),
        ("struct<a: array<int> NOT NULL, b: struct<c: int COMMENT 'x'> COMMENT 'y'>", ["a", "b"]),
    ],
)
def test_the_names_of_parts_are_the_users(type_string, names):
    """With all characters that Spark lets them have; comments of DDL are skipped."""
    field = typed_field("column", type_string)
    assert (field.type, [part.name for part in field.fields]) == ("struct", names)


@pytest.mark.parametrize(
    ("type_string", "kind"),
    [
        ("struct<a:int,... 26 more fields>", "struct"),
        ("struct<a:int,b:array<int>,c:str...", "struct"),
        ("struct<a:b:int>", "struct"),
        ("struct<a:int", "struct"),
        ("struct<a:int>>", "struct"),
        ("struct<a<b:int>", "struct"),
        ("struct<a:>", "struct"),
        ("struct<:int>", "struct"),
        ("struct<a:int b:int>", "struct"),
        ("array<", "array"),
        ("map<struct<a:int>>", "map"),
        ("struct<a:" * 5000, "struct"),
    ],
)
def test_an_unclear_type_has_no_nested_fields(type_string, kind):
    """A guess at a nested field would be a field that does not exist."""
    assert typed_field("column", type_string) == TypedField("column", kind)


@pytest.mark.parametrize("unknown", ["", "udt", "list<int>", "decimal(", "a:b", "...", "integer[]", "1"])
def test_a_type_that_is_not_sparks_stays_as_it_is(unknown):
    assert typed_field("column", unknown) == TypedField("column", unknown)


@pytest.mark.parametrize("name", ["a", "a b", "a.b", "a,b", "a:int,b", "a<int>", "`a`", "it's", "ß"])
def test_the_type_that_the_model_keeps_is_read_back(name):
    """Whatever the name of a struct's member is: the model's text of a type is never ambiguous."""
    members = [
        {"name": name, "type": "long"},
        {"name": "last", "type": {"type": "array", "elementType": "byte"}},
    ]
    text = type_name({"type": "struct", "fields": members})
    assert shape(typed_field("column", text)) == {
        "struct": {name: "long", "last": {"array": {"_element": "byte"}}}
    }
