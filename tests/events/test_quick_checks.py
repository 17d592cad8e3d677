"""The compiled schemas say what jsonschema says, of what is valid and of what is nearly so."""

from __future__ import annotations

import random
from typing import Any

import pytest

from airflow_provider_spark_lineage.events import validation
from airflow_provider_spark_lineage.events.quick_checks import QuickChecks

SCALARS: tuple[Any, ...] = (
    *("", "x", "https://example.org/a#b", "no uri", "018f3a5e-7d2b-7c43-8f6a-000000000001"),
    *("2024-05-01T10:00:00Z", "2024-13-01T10:00:00Z", "2024-05-01T10:00:00"),
    *(0, 1, -1, 0.5, 1.0, True, False, None),
)
INSTANCES = 40
"""Per definition, by seeded chance."""


class Guesser:
    """Makes values that are mostly what a schema wants."""

    def __init__(self, seed: str, whole: dict[str, Any]) -> None:
        self.random = random.Random(seed)  # noqa: S311 - no secret
        self.documents = {**validation._documents(), "": whole}

    def resolved(self, schema: dict[str, Any], document: str) -> tuple[dict[str, Any], str]:
        while "$ref" in schema:
            base, _, pointer = schema["$ref"].partition("#")
            document = base or document
            schema = self.documents[document]
            for part in pointer.split("/")[1:]:
                schema = schema[part]
        return schema, document

    def value(self, schema: Any, document: str, depth: int = 0) -> Any:
        if self.random.random() < 0.03:
            return self.random.choice((*SCALARS, [], {}, [1], {"x": 1}))
        if not isinstance(schema, dict):
            return self.random.choice(SCALARS)
        schema, document = self.resolved(schema, document)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        parts = [schema, *schema.get("allOf", ())]
        for kind in ("oneOf", "anyOf"):
            if kind in schema:
                parts.append(self.random.choice(schema[kind]))
        parts = [self.resolved(part, document) for part in parts]
        parts += [self.resolved(inner, base) for part, base in parts[1:] for inner in part.get("allOf", ())]
        if any("properties" in part or part.get("type") == "object" for part, _ in parts):
            return self.object(parts, depth)
        return self.plain(schema, document, depth)

    def object(self, parts: list[tuple[dict[str, Any], str]], depth: int) -> dict[str, Any]:
        found = {}
        for part, base in parts:
            for key, schema in part.get("properties", {}).items():
                wanted = 0.98 if key in part.get("required", ()) else 0.5 / (depth + 1)
                if self.random.random() < wanted and depth < 6:
                    found[key] = self.value(schema, base, depth + 1)
            if "additionalProperties" in part and self.random.random() < 0.5 and depth < 6:
                found["more"] = self.value(part["additionalProperties"], base, depth + 1)
        if self.random.random() < 0.1:
            found["stray"] = self.random.choice(SCALARS)
        return found

    def plain(self, schema: dict[str, Any], document: str, depth: int) -> Any:
        if schema.get("type") == "array":
            count = self.random.choice((0, 1, 2)) if depth < 6 else 0
            return [self.value(schema.get("items", True), document, depth + 1) for _ in range(count)]
        fitting = {
            "string": [one for one in SCALARS if isinstance(one, str)],
            "integer": [one for one in SCALARS if type(one) is int],
            "number": [one for one in SCALARS if type(one) in (int, float)],
            "boolean": [True, False],
        }.get(schema.get("type", ""), list(SCALARS))
        formats = {"uri": SCALARS[2], "uuid": SCALARS[4], "date-time": SCALARS[5]}
        if schema.get("format") in formats and self.random.random() < 0.9:
            return formats[schema["format"]]
        return self.random.choice(fitting)


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    urls = [
        f"{url}#/$defs/{name}"
        for url, document in validation._documents().items()
        for name in document.get("$defs", {})
    ]
    found = {url: validation._validator(url) for url in (*urls, *validation._documents())}
    return found | {f"Airflow {key}": schema for key, schema in validation._airflow_validators().items()}


def test_every_schema_is_compiled(schemas):
    """A schema that uses more of JSON Schema than is known costs milliseconds per event: add the keyword."""
    assert [url for url, schema in schemas.items() if schema is None or schema.is_valid is None] == []


def test_it_says_what_jsonschema_says(schemas):
    """Of thousands of values, good and bad ones, both say the same."""
    said = {True: 0, False: 0}
    for url, schema in schemas.items():
        guesser = Guesser(url, schema.validator.schema)
        for _ in range(INSTANCES):
            value = guesser.value(schema.validator.schema, "")
            wanted = not list(schema.validator.iter_errors(value))
            assert schema.is_valid(value) == wanted, (url, value)
            said[wanted] += 1
    assert min(said.values()) > 500, said


def test_an_unknown_keyword_is_not_guessed():
    """What is not known is left to jsonschema, in the schema itself and in what refers to it."""
    quick = QuickChecks({"urn:a": {"$ref": "urn:b"}, "urn:b": {"properties": {"x": {"multipleOf": 2}}}}, {})
    assert quick("urn:b") is None
    assert quick("urn:a") is None
    assert QuickChecks({"urn:a": {"enum": [1, True]}}, {})("urn:a") is None


def test_fields_of_fields():
    """A schema that refers to itself is followed as deep as the value goes."""
    schema = {"type": "object", "properties": {"fields": {"type": "array", "items": {"$ref": "#"}}}}
    check = QuickChecks({"urn:a": schema}, {})("urn:a")
    assert check is not None
    assert check({"fields": [{"fields": [{}]}]})
    assert not check({"fields": [{"fields": [1]}]})
