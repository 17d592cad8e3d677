"""Turns a JSON schema into a function that says yes or no, for the many events that are valid.

jsonschema says what is wrong and where, and takes milliseconds for an event: a thousand times what reading it
takes. Here is only what our schemas use of JSON Schema 2020-12; a schema with anything else is not compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

Check = Callable[[Any], bool]


class QuickChecks:
    """Functions by the URL of their schema, each made when it is first asked for.

    >>> quick = QuickChecks({"urn:a": {"type": "object", "required": ["name"]}}, {})
    >>> check = quick("urn:a")
    >>> check({"name": 1}), check({})
    (True, False)
    """

    def __init__(self, documents: Mapping[str, Any], formats: Mapping[str, Callable[[str], bool]]) -> None:
        self._documents = documents
        self._formats = formats
        self._made: dict[str, Check] = {}

    def __call__(self, url: str) -> Check | None:
        """The function of a schema that is among the documents; None where a keyword in it is not known."""
        try:
            return self._referenced(url)
        except _UnknownKeywordError:
            # What was being made refers to what could not be made.
            self._made.clear()
            return None

    def _referenced(self, url: str) -> Check:
        if url not in self._made:
            # Schemas refer to themselves: fields have fields.
            self._made[url] = partial(self._later, url)
            document, _, pointer = url.partition("#")
            schema = self._documents[document]
            for part in pointer.split("/")[1:]:
                schema = schema[part]
            self._made[url] = self._check(schema, document)
        return self._made[url]

    def _later(self, url: str, value: Any) -> bool:
        return self._made[url](value)

    def _check(self, schema: Any, document: str) -> Check:
        if isinstance(schema, bool):
            return _anything if schema else _nothing
        unknown = schema.keys() - _KEYWORDS.keys() - _OF_OBJECTS - _IGNORED
        if unknown:
            raise _UnknownKeywordError(min(unknown))
        of_object = not _OF_OBJECTS.isdisjoint(schema)
        words = {word for word in schema if not (of_object and word == "type" and schema[word] == "object")}
        checks = [make(self, schema[word], document) for word, make in _KEYWORDS.items() if word in words]
        if of_object:
            checks.append(self._object(schema, document))
        return _joined(checks)

    def _object(self, schema: Mapping[str, Any], document: str) -> Check:
        """All that is said of an object, in one walk over its keys."""
        if_none = schema.get("type") != "object"
        required = frozenset(schema.get("required", ()))
        named = {key: self._check(one, document) for key, one in schema.get("properties", {}).items()}
        other = self._check(schema.get("additionalProperties", True), document)
        if other is _anything:
            # Most of what an event holds are texts, and a call costs more than the question.
            is_text = _TYPES["string"]
            texts = tuple(key for key, check in named.items() if check is is_text)
            rest = {key: check for key, check in named.items() if check not in (is_text, _anything)}
            return partial(_open_object, if_none, required, texts, rest)

        def check(actual: Any) -> bool:
            if not isinstance(actual, dict):
                return if_none
            if not required <= actual.keys():
                return False
            for key, value in actual.items():  # noqa: SIM110 - a generator costs as much as many a check
                if not named.get(key, other)(value):
                    return False
            return True

        return check

    def _ref(self, value: str, document: str) -> Check:
        return self._referenced(f"{document}{value}" if value.startswith("#") else value)

    def _type(self, value: str, _: str) -> Check:
        return _TYPES[value]

    def _dependent_required(self, value: Mapping[str, list[str]], _: str) -> Check:
        return lambda actual: (
            not isinstance(actual, dict)
            or all(set(keys) <= actual.keys() for key, keys in value.items() if key in actual)
        )

    def _items(self, value: Any, document: str) -> Check:
        check_one = self._check(value, document)
        return lambda actual: not isinstance(actual, list) or all(map(check_one, actual))

    def _min_items(self, value: int, _: str) -> Check:
        return lambda actual: not isinstance(actual, list) or len(actual) >= value

    def _all_of(self, value: list[Any], document: str) -> Check:
        return _joined([self._check(schema, document) for schema in value])

    def _any_of(self, value: list[Any], document: str) -> Check:
        checks = [self._check(schema, document) for schema in value]
        return lambda actual: any(check(actual) for check in checks)

    def _one_of(self, value: list[Any], document: str) -> Check:
        checks = [self._check(schema, document) for schema in value]
        return lambda actual: sum(check(actual) for check in checks) == 1

    def _enum(self, value: list[Any], _: str) -> Check:
        if not all(isinstance(one, str) for one in value):
            raise _UnknownKeywordError("enum")  # of other values; equality is a science there
        texts = frozenset(value)
        return lambda actual: isinstance(actual, str) and actual in texts

    def _format(self, value: str, _: str) -> Check:
        if value not in self._formats:
            return _anything
        is_valid = self._formats[value]
        return lambda actual: not isinstance(actual, str) or is_valid(actual)

    def _minimum(self, value: float, _: str) -> Check:
        return lambda actual: not _is_number(actual) or actual >= value


class _UnknownKeywordError(Exception):
    """Something of JSON Schema that is not compiled."""


def _open_object(
    if_none: bool, required: frozenset[str], texts: tuple[str, ...], rest: Mapping[str, Check], actual: Any
) -> bool:
    """Check an object that may have other keys; `texts` must be strings."""
    if not isinstance(actual, dict):
        return if_none
    if not required <= actual.keys():
        return False
    for key in texts:
        if key in actual and not isinstance(actual[key], str):
            return False
    for key, check in rest.items():  # noqa: SIM110 - a generator costs as much as many a check
        if key in actual and not check(actual[key]):
            return False
    return True


def _anything(_: Any) -> bool:
    return True


def _nothing(_: Any) -> bool:
    return False


def _joined(checks: list[Check]) -> Check:
    """One function for all, and itself where only one demands something."""
    checks = [check for check in checks if check is not _anything]
    if len(checks) <= 1:
        return checks[0] if checks else _anything
    return partial(_all, tuple(checks))


def _all(checks: tuple[Check, ...], actual: Any) -> bool:
    for check in checks:  # noqa: SIM110 - a generator costs as much as many a check
        if not check(actual):
            return False
    return True


def _is_number(actual: Any) -> bool:
    return isinstance(actual, int | float) and not isinstance(actual, bool)


_TYPES: Mapping[str, Check] = {
    "object": lambda actual: isinstance(actual, dict),
    "array": lambda actual: isinstance(actual, list),
    "string": lambda actual: isinstance(actual, str),
    "boolean": lambda actual: isinstance(actual, bool),
    "null": lambda actual: actual is None,
    "number": _is_number,
    "integer": lambda actual: _is_number(actual) and (isinstance(actual, int) or actual.is_integer()),
}

_KEYWORDS: Mapping[str, Callable[[QuickChecks, Any, str], Check]] = {
    "type": QuickChecks._type,
    "$ref": QuickChecks._ref,
    "allOf": QuickChecks._all_of,
    "anyOf": QuickChecks._any_of,
    "dependentRequired": QuickChecks._dependent_required,
    "enum": QuickChecks._enum,
    "format": QuickChecks._format,
    "items": QuickChecks._items,
    "minItems": QuickChecks._min_items,
    "minimum": QuickChecks._minimum,
    "oneOf": QuickChecks._one_of,
}

_OF_OBJECTS = frozenset({"additionalProperties", "properties", "required"})
"""Keywords that are checked together."""

_IGNORED = frozenset({"$comment", "$defs", "$id", "$schema", "default", "description", "examples", "title"})
"""Keywords that demand nothing."""
