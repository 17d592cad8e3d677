"""Drafts of expected events: the emitted events, with matchers for values that vary between runs.

A draft repeats the emitted events, right or wrong. It leaves out facets of a run by Airflow's own provider.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.events.shapes import object_at
from airflow_provider_spark_lineage.testing.keys import ExpectedKey, full_key, key_order, parse_key
from airflow_provider_spark_lineage.testing.matchers import ABSENT_KEY, Matcher, as_object, make

LEFT_OUT = frozenset({"_producer", "_schemaURL", "_deleted", "stackTrace", "tasksDuration", "description"})
"""Keys that vary with versions or are not about lineage."""

NAMED_BY_USERS = frozenset({"fields", "tasksState"})
"""Objects whose keys are columns or tasks, which may have any name."""

KEPT_RUN_FACETS = frozenset({"airflowState", "errorMessage"})
"""Run facets of Airflow's provider that are kept; facets of other producers are always kept."""

TRIMMED_FACETS: Mapping[str, Any] = {
    "parent": {"job": {"name": {}}, "root": {"job": {"name": {}}}},
    "processing_engine": {"name": {}},
    # The edges of single fields are in `columnLineage` too.
    "lineage": {"entries": {"namespace": {}, "name": {}}},
}
"""Facet -> the keys that are kept; a test should not depend on the others."""

MEASURED = frozenset({"size", "bytes", "fileCount", "files", "duration", "durationMs", "duration_ms"})
"""Numbers that depend on the machine; row counts do not."""

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATETIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


@dataclass(frozen=True)
class DraftRules:
    """Rules for the events of one producer, beyond OpenLineage's and Airflow's definitions."""

    varying: tuple[str, ...] = ()
    """Regular expressions of texts that vary between runs, such as ids."""

    texts: Mapping[str, Callable[[str], Matcher | None]] = field(default_factory=dict)
    """Key -> function that returns the matcher for its text, or None to expect the text."""

    absent_run_facets: Mapping[str, str] = field(default_factory=dict)
    """Run facet -> name of a producer. If that name is anywhere in the events, a run that ends without the
    facet is expected to end without it."""


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
        self._rules = rules
        self._names = {text: name for name, text in sorted(variables.items(), reverse=True) if text}
        self._varying = [(_UUID, make("uuid")), (_DATETIME, make("datetime"))]
        self._varying += [(pattern, make("regex", pattern)) for pattern in rules.varying]
        patterns = [
            rf"(?<![0-9a-zA-Z])(?P<v{i}>{pattern})(?![0-9a-zA-Z])"
            for i, (pattern, _) in enumerate(self._varying)
        ]
        # The longest first: a folder inside another has its own name.
        texts = "|".join(map(re.escape, sorted(self._names, key=len, reverse=True)))
        patterns += [rf"(?<!\w)(?P<variable>{texts})(?![\w-])"] if texts else []
        self._replaced = re.compile("|".join(patterns))
        text = json.dumps([event.document for event in events], default=as_object)
        self._absent_facets = [name for name, part in rules.absent_run_facets.items() if part in text]
        self._full_keys = {id(event): full_key(event, events) for event in events}
        self._retried = {
            (key.subject, key.map_index) for key in self._full_keys.values() if (key.try_number or 1) > 1
        }
        # If one event needs the key without address, no event of that key gets an address: the plain key
        # selects all of them.
        self._plain = {event.key for event in events if str(self._short_key(event)) == event.key}

    def tree(self) -> dict[str, Any]:
        """Return the content of a new file, independent of the order of the events."""
        groups: dict[str, list[Any]] = {}
        for event in self.events:
            groups.setdefault(self.key_of(event), []).append(self.of(event))
        return {
            key: one_or_list(sorted(groups[key], key=stable_text)) for key in sorted(groups, key=key_order)
        }

    def key_of(self, event: Event, known: Collection[str] = ()) -> str:
        """Return the first of the known keys that names the event, else a key that is specific enough.

        Raises BadInputError for an event that no key can name.
        """
        full = self._full_keys[id(event)]
        names = (full.plain, *map(str, (replace(full, try_number=None), replace(full, map_index=None), full)))
        new = event.key if event.key in self._plain else str(self._short_key(event))
        key = next((name for name in names if name in known), new)
        try:
            parse_key(key)
        except ValueError as error:
            raise BadInputError(f"{event.source}: no expected file can name this event: {error}") from None
        return key

    def _short_key(self, event: Event) -> ExpectedKey:
        """Return the key with the index of a mapped task, and with the try if there are several."""
        full = self._full_keys[id(event)]
        return full if (full.subject, full.map_index) in self._retried else replace(full, try_number=None)

    def of(self, event: Event) -> dict[str, Any]:
        """Return the draft of an event."""
        document, masked = event.document, self.masked(event.document)
        is_run, has_ended = "run" in document, event.type in ("complete", "fail")
        facets = _trimmed_facets(document, masked, "run")
        for name in self._absent_facets if has_ended else ():
            facets.setdefault(name, ABSENT_KEY)
        draft: dict[str, Any] = {"run": {"facets": facets}} if facets else {}
        job = _trimmed_facets(document, masked, "job") if has_ended or not is_run else {}
        if job:
            draft["job"] = {"facets": job}
        if isinstance(document.get("dataset"), Mapping):
            draft["dataset"] = _dataset(masked["dataset"], whole=True)
        # The content of RUNNING and OTHER events depends on the moment.
        whole = event.type not in ("running", "other")
        for side in ("inputs", "outputs"):
            if isinstance(document.get(side), list):
                order = sorted(range(len(document[side])), key=lambda i: _name_of(document[side][i]))
                draft[side] = [_dataset(masked[side][i], whole=whole) for i in order]
            elif side in document:
                draft[side] = trimmed(masked[side])
        return draft

    def masked(self, value: Any, key: str = "") -> Any:
        """Return the whole value with variables in its texts and matchers for values that vary.

        `key` is the key of the value. Columns without edges get `!absent`, because an expected object accepts
        keys that it does not mention.
        """
        if isinstance(value, Mapping):
            return _with_absent_edges({name: self.masked(item, name) for name, item in value.items()})
        if isinstance(value, list):
            return [self.masked(item, key) for item in value]
        if isinstance(value, str):
            return self._masked_text(value, key)
        if isinstance(value, float) and not isfinite(value):
            return make("any")
        if key in MEASURED and isinstance(value, int | float) and not isinstance(value, bool):
            return make("integer" if isinstance(value, int) else "number", ">= 0" if value >= 0 else None)
        return value

    def _masked_text(self, text: str, key: str) -> Any:
        by_key = self._rules.texts[key](text) if key in self._rules.texts else None
        if by_key is not None:
            return by_key
        for pattern, matcher in self._varying:
            if re.fullmatch(pattern, text) and not matcher.check(text):
                return matcher
        matches = list(self._replaced.finditer(text))
        if all(match.lastgroup == "variable" for match in matches):
            return self._with_names(text, matches, lambda part: part.replace("${", "$${"))
        return make("regex", self._with_names(text, matches, literal_pattern))

    def _with_names(self, text: str, matches: list[re.Match[str]], escape: Callable[[str], str]) -> str:
        """Return the text with variables, and with patterns for varying parts."""
        parts, position = [], 0
        for match in matches:
            parts.append(escape(text[position : match.start()]))
            kind = match.lastgroup or ""
            is_variable = kind == "variable"
            new = f"${{{self._names[match[0]]}}}" if is_variable else f"({self._varying[int(kind[1:])][0]})"
            parts.append(new)
            position = match.end()
        return "".join([*parts, escape(text[position:])])


def trimmed(masked: Any, *path: str) -> Any:
    """Return the parts of a masked value that a test should expect; `path` are the last keys before it."""
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
    """Return a regular expression for exactly this text; `re.escape` would also escape spaces and dashes."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def stable_text(draft: Any) -> str:
    """Return a sort key for drafts."""
    return json.dumps(draft, default=as_object, sort_keys=True)


def one_or_list(documents: list[Any]) -> Any:
    """Return the value of a key: an event, or a list of events."""
    return documents[0] if len(documents) == 1 else documents


def _picked(value: Any, shape: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_picked(item, shape) for item in value]
    if not shape or not isinstance(value, Mapping):
        return value
    return {key: _picked(value[key], inner) for key, inner in shape.items() if key in value}


def _trimmed_facets(document: Mapping[str, Any], masked: Mapping[str, Any], part: str) -> dict[str, Any]:
    """Return the facets of the run or job that are not about Airflow itself."""
    facets = object_at(document, part, "facets")
    return {
        name: trimmed(masked[part]["facets"][name], "facets", name)
        for name, facet in facets.items()
        if name in KEPT_RUN_FACETS or not _is_of_airflow(name, facet)
    }


def _is_of_airflow(name: str, facet: Any) -> bool:
    return name.startswith("airflow") or "providers-openlineage" in str(object_at(facet).get("_producer"))


def _name_of(dataset: Any) -> tuple[str, str]:
    return str(object_at(dataset).get("namespace")), str(object_at(dataset).get("name"))


def _dataset(masked: Any, *, whole: bool) -> Any:
    if not isinstance(masked, Mapping):
        return masked
    keys = ("namespace", "name", *(("facets", "inputFacets", "outputFacets") if whole else ()))
    return {
        key: trimmed(masked[key], key)
        for key in keys
        if key in masked and (masked[key] or key in ("namespace", "name"))
    }


def _with_absent_edges(facets: dict[str, Any]) -> dict[str, Any]:
    """Mark missing edges of columns and of the dataset as `!absent`."""
    lineage = facets.get("columnLineage")
    edges = lineage.get("fields", {}) if isinstance(lineage, dict) else None
    if not isinstance(lineage, dict) or not isinstance(edges, dict):
        return facets
    fields = object_at(facets, "schema").get("fields")
    names = [object_at(item).get("name") for item in fields] if isinstance(fields, list) else []
    absent = dict.fromkeys((name for name in names if isinstance(name, str)), ABSENT_KEY)
    lineage = {"fields": {**absent, **edges}, **{key: lineage[key] for key in lineage if key != "fields"}}
    lineage["dataset"] = lineage.pop("dataset", ABSENT_KEY)
    return {**facets, "columnLineage": lineage}
