"""Drafts of expected events: what was emitted, with matchers for what differs from run to run.

A draft repeats what was emitted, right or wrong: it saves typing, not thinking. It leaves out what Airflow's
own provider says of a run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.keys import Addresses, ExpectedKey, key_order, parse_key
from airflow_provider_spark_lineage.testing.matchers import ABSENT_KEY, Matcher, make
from airflow_provider_spark_lineage.testing.writing import is_writable, json_value

LEFT_OUT = frozenset({"_producer", "_schemaURL", "_deleted", "stackTrace", "tasksDuration", "description"})
"""Keys that vary with versions or say nothing about lineage."""

NAMED_BY_USERS = frozenset({"fields", "tasksState"})
"""Objects whose keys are columns or tasks, which may have any name."""

KEPT_RUN_FACETS = frozenset({"airflowState", "errorMessage"})
"""Run facets of Airflow's provider that are kept; those of other producers are all kept."""

TRIMMED_FACETS: Mapping[str, Any] = {
    "parent": {"job": {"name": {}}, "root": {"job": {"name": {}}}},
    "processing_engine": {"name": {}},
    # The edges of single fields are in `columnLineage` too.
    "lineage": {"entries": {"namespace": {}, "name": {}}},
}
"""Facet -> what is kept of it; the rest is more than a test should depend on."""

MEASURED = frozenset({"size", "bytes", "fileCount", "files", "duration", "durationMs", "duration_ms"})
"""Numbers that depend on the machine; row counts do not."""

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATETIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


@dataclass(frozen=True)
class DraftRules:
    """What is to be known of the producer of the events, besides what OpenLineage and Airflow define."""

    varying: tuple[str, ...] = ()
    """Regular expressions of texts that differ from run to run, such as ids."""

    texts: Mapping[str, Callable[[str], Matcher | None]] = field(default_factory=dict)
    """Key -> function that returns the matcher for its text, or None to expect the text."""

    absent_run_facets: Mapping[str, str] = field(default_factory=dict)
    """Run facet -> part of a `_producer`: with events of this producer, a run that ends without the facet is
    expected to have none."""


NO_RULES = DraftRules()


class Drafts:
    """The keys and drafts of the events of one file; `variables` replace their values in texts.

    >>> drafts = Drafts(Events.of([]), {"DATA": "/tmp/data"})
    >>> drafts.masked("/tmp/data/in"), drafts.masked({"size": 12, "rowCount": 3})
    ('${DATA}/in', {'size': Matcher(name='integer', argument='>= 0'), 'rowCount': 3})
    """

    def __init__(self, events: Events, variables: Mapping[str, str], rules: DraftRules = NO_RULES) -> None:
        self.events = events
        self.variables = variables
        # The longest first: a folder inside another has its own name.
        by_length = sorted(variables.items(), key=lambda item: (-len(item[1]), item[0]))
        self._values = {name: text for name, text in by_length if text}
        texts = "|".join(map(re.escape, dict.fromkeys(self._values.values())))
        self._value_pattern = re.compile(rf"(?<!\w)(?:{texts})(?![\w-])") if texts else None
        self._rules = rules
        self._varying = [(_UUID, make("uuid")), (_DATETIME, make("datetime"))]
        self._varying += [(pattern, make("regex", pattern)) for pattern in rules.varying]
        patterns = (f"(?P<v{i}>{pattern})" for i, (pattern, _) in enumerate(self._varying))
        self._any_varying = re.compile(rf"(?<![0-9a-zA-Z])(?:{'|'.join(patterns)})(?![0-9a-zA-Z])")
        producers = {producer for event in events for producer in _producers(event.document)}
        self._absent_facets = [
            name
            for name, part in rules.absent_run_facets.items()
            if any(part in producer for producer in producers)
        ]
        addresses = Addresses(events)
        self._full_keys = {id(event): addresses.key_of(event) for event in events}
        retried = {
            (key.subject, key.map_index) for key in self._full_keys.values() if (key.try_number or 1) > 1
        }
        self._retried = {
            number for number, key in self._full_keys.items() if (key.subject, key.map_index) in retried
        }
        # If one event of a key has no address, the key without address is needed, which names all the others
        # as well: then none of them gets an address.
        self._without_address = {event.key for event in events if not self._short_key(event).has_address}

    def tree(self) -> dict[str, Any]:
        """Return a whole new file; the order does not depend on the order of the events."""
        groups: dict[str, list[Any]] = {}
        for event in self.events:
            key = self.key_of(event)
            groups.setdefault(key, []).append(self.of(event, key))
        return {
            key: one_or_list(sorted(groups[key], key=stable_text)) for key in sorted(groups, key=key_order)
        }

    def key_of(self, event: Event, known: Collection[str] = ()) -> str:
        """Return the first of the known keys that names the event, else one that tells it from others.

        Raises BadInputError for an event that no key can name.
        """
        full = self._full_keys[id(event)]
        names = (full.plain, *map(str, (replace(full, try_number=None), replace(full, map_index=None), full)))
        new = event.key if event.key in self._without_address else str(self._short_key(event))
        key = next((name for name in names if name in known), new)
        try:
            parse_key(key)
        except ValueError as error:
            raise BadInputError(f"{event.source}: no expected file can name this event: {error}") from None
        return key

    def _short_key(self, event: Event) -> ExpectedKey:
        """Return the key with the index of a mapped task, and with the try if there are several."""
        full = self._full_keys[id(event)]
        return full if id(event) in self._retried else replace(full, try_number=None)

    def of(self, event: Event, key: str) -> dict[str, Any]:
        """Return the draft of an event under a key."""
        document, masked = event.document, self.masked(event.document)
        is_run, has_ended = "run" in document, event.type in ("complete", "fail")
        facets = self._instance(event, parse_key(key))
        for name in _kept_facets(document.get("run")):
            facets[name] = trimmed(masked["run"]["facets"][name], "facets", name)
        for name in self._absent_facets if has_ended else ():
            facets.setdefault(name, ABSENT_KEY)
        draft: dict[str, Any] = {"run": {"facets": facets}} if facets else {}
        names = _kept_facets(document.get("job")) if has_ended or not is_run else []
        if names:
            job = masked["job"]["facets"]
            draft["job"] = {"facets": {name: trimmed(job[name], "facets", name) for name in names}}
        if isinstance(document.get("dataset"), Mapping):
            draft["dataset"] = _dataset(masked["dataset"], whole=True)
        # What a run says while it runs depends on the moment.
        whole = event.type not in ("running", "other")
        for side in ("inputs", "outputs"):
            if isinstance(document.get(side), list):
                order = sorted(range(len(document[side])), key=lambda i: _name_of(document[side][i]))
                draft[side] = [_dataset(masked[side][i], whole=whole) for i in order]
            elif side in document:
                draft[side] = trimmed(masked[side])
        return draft

    def _instance(self, event: Event, key: ExpectedKey) -> dict[str, Any]:
        """Return the run facet that says what the key does not say of the instance and the try."""
        instance: dict[str, int] = {}
        if key.map_index is None and event.map_index is not None:
            instance["map_index"] = event.map_index
        if key.try_number is None and event.try_number is not None and id(event) in self._retried:
            instance["try_number"] = event.try_number
        return {"airflow": {"taskInstance": instance}} if instance else {}

    def masked(self, value: Any, key: str = "") -> Any:
        """Return the whole value with variables in its texts and matchers for what varies.

        `key` is the key of the value. Columns without edges are said to have none, because an expected object
        accepts what it does not mention.
        """
        if isinstance(value, Mapping):
            items = {name: self.masked(item, name) for name, item in value.items() if is_writable(name)}
            return _with_absent_edges(items)
        if isinstance(value, list):
            return [self.masked(item, key) for item in value]
        if isinstance(value, str):
            return self._masked_text(value, key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if not isfinite(value):
            return make("any")
        if key in MEASURED:
            return make("integer" if isinstance(value, int) else "number", ">= 0" if value >= 0 else None)
        return value

    def _masked_text(self, text: str, key: str) -> Any:
        if not is_writable(text):
            return make("string") if text else text
        by_key = self._rules.texts[key](text) if key in self._rules.texts else None
        if by_key is not None:
            return by_key
        for pattern, matcher in self._varying:
            if re.fullmatch(pattern, text) and not matcher.check(text):
                return matcher
        if not self._any_varying.search(text):
            return self._with_variables(text, key, lambda part: part.replace("${", "$${"))
        parts, position = [], 0
        for match in self._any_varying.finditer(text):
            parts.append(self._with_variables(text[position : match.start()], key, literal_pattern))
            pattern = next(
                pattern for i, (pattern, _) in enumerate(self._varying) if match[f"v{i}"] is not None
            )
            parts.append(f"({pattern})")
            position = match.end()
        return make("regex", "".join([*parts, self._with_variables(text[position:], key, literal_pattern)]))

    def _with_variables(self, text: str, key: str, escape: Callable[[str], str]) -> str:
        if self._value_pattern is None:
            return escape(text)
        parts, position = [], 0
        for match in self._value_pattern.finditer(text):
            parts += [escape(text[position : match.start()]), f"${{{self._variable(match[0], key)}}}"]
            position = match.end()
        return "".join([*parts, escape(text[position:])])

    def _variable(self, text: str, key: str) -> str:
        """Return the variable with this value; of several, one for URIs (`X_URI`) only in a URI."""
        names = [name for name, value in self._values.items() if value == text]
        is_uri = key in ("uri", "url")
        fitting = [name for name in names if name.upper().endswith(("_URI", "_URL")) == is_uri]
        return (fitting or names)[0]


def trimmed(masked: Any, *path: str) -> Any:
    """Return what is worth expecting of a masked value; `path` are the last keys that lead to it."""
    if path[-2:-1] == ("facets",) and path[-1] in TRIMMED_FACETS:
        masked = _picked(masked, TRIMMED_FACETS[path[-1]])
    if isinstance(masked, Mapping):
        keep_all = path[-1:] and path[-1] in NAMED_BY_USERS
        return {
            key: trimmed(item, *path[-1:], key)
            for key, item in masked.items()
            if keep_all or (key not in LEFT_OUT and not (key == "masking" and item is False))
        }
    return [trimmed(item) for item in masked] if isinstance(masked, list) else masked


def literal_pattern(text: str) -> str:
    """Return a regular expression for exactly this text; `re.escape` would escape spaces and dashes too."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def stable_text(draft: Any) -> str:
    """Return what drafts are sorted by."""
    return json.dumps(json_value(draft), sort_keys=True)


def one_or_list(documents: Collection[Any]) -> Any:
    """Return the value of a key: an event, or a list of several."""
    return next(iter(documents)) if len(documents) == 1 else list(documents)


def _picked(value: Any, shape: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_picked(item, shape) for item in value]
    if not shape or not isinstance(value, Mapping):
        return value
    return {key: _picked(value[key], inner) for key, inner in shape.items() if key in value}


def _kept_facets(part: Any) -> list[str]:
    """Return the names of the facets of a run or job that are not about Airflow itself."""
    facets = part.get("facets") if isinstance(part, Mapping) else None
    return [
        name
        for name, facet in (facets.items() if isinstance(facets, Mapping) else ())
        if is_writable(name) and (name in KEPT_RUN_FACETS or not _is_of_airflow(name, facet))
    ]


def _is_of_airflow(name: str, facet: Any) -> bool:
    producer = facet.get("_producer") if isinstance(facet, Mapping) else ""
    return name.startswith("airflow") or "providers-openlineage" in str(producer)


def _producers(value: Any) -> Iterator[str]:
    """Yield the producers of all facets in an event."""
    if isinstance(value, Mapping):
        if isinstance(value.get("_producer"), str):
            yield value["_producer"]
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from _producers(item)


def _name_of(dataset: Any) -> tuple[str, str]:
    names = dataset if isinstance(dataset, Mapping) else {}
    return str(names.get("namespace")), str(names.get("name"))


def _dataset(masked: Any, *, whole: bool) -> Any:
    if not isinstance(masked, Mapping):
        return masked
    kept = ("namespace", "name", *(("facets", "inputFacets", "outputFacets") if whole else ()))
    return {
        key: trimmed(masked[key], key)
        for key in kept
        if key in masked and (masked[key] or key in ("namespace", "name"))
    }


def columns_of(facets: Any) -> list[str]:
    """Return the columns that the schema among a dataset's facets names."""
    schema = facets.get("schema") if isinstance(facets, Mapping) else None
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    names = (
        [item.get("name") for item in fields if isinstance(item, Mapping)] if isinstance(fields, list) else []
    )
    return [name for name in names if isinstance(name, str)]


def edges_of(facets: Any) -> Mapping[str, Any] | None:
    """Return the edges of the columns in a dataset's facets; None if there is no such facet."""
    facet = facets.get("columnLineage") if isinstance(facets, Mapping) else None
    edges = facet.get("fields", {}) if isinstance(facet, Mapping) else None
    return edges if isinstance(edges, Mapping) else None


def _with_absent_edges(facets: dict[str, Any]) -> dict[str, Any]:
    """Say of columns without edges, and of a dataset without, that there are none."""
    edges = edges_of(facets)
    if edges is None:
        return facets
    facet = {"dataset": ABSENT_KEY, **facets["columnLineage"]}
    facet["fields"] = {**dict.fromkeys(columns_of(facets), ABSENT_KEY), **edges}
    order = ("fields", *(key for key in facet if key not in ("fields", "dataset")), "dataset")
    return {**facets, "columnLineage": {key: facet[key] for key in order}}
