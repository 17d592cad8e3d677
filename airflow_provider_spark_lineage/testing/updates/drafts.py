"""What to expect of an event that was emitted: its values, with matchers for what differs from run to run.

A draft repeats what was emitted, right or wrong: it saves the typing and not the thinking. Facets of datasets
are kept where a task has ended, and only names elsewhere; what Airflow's own provider says of a run is left
out. Values are templates: a text that a variable stands for is written as `${NAME}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.matchers import Matcher, matcher
from airflow_provider_spark_lineage.testing.updates.writing import writable

LEFT_OUT = frozenset({"_producer", "_schemaURL", "_deleted", "stackTrace", "tasksDuration", "description"})
"""Keys that vary with versions or say nothing about lineage."""

NAMED_BY_USERS = frozenset({"fields", "tasksState"})
"""Objects whose keys are columns or tasks, which may be called like anything above."""

KEPT_RUN_FACETS = frozenset({"airflowState", "errorMessage"})
"""What is kept of the facets that Airflow's provider adds to a run; all of other producers is kept."""

PROVIDER = "providers-openlineage"
"""Part of the `_producer` of facets that Airflow's provider makes."""

OURS = "airflow-provider-spark-lineage"
"""Part of the `_producer` of facets that this package makes: without gaps, they claim to be complete."""

ABSENT = matcher("absent")

_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_DATETIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})"

VARYING: tuple[tuple[str, Matcher], ...] = (
    (_UUID, matcher("uuid")),
    (_DATETIME, matcher("datetime")),
    (r"(app|local)-[0-9-]{10,}", matcher("regex", r"(app|local)-[0-9-]{10,}")),
    (r"application_[0-9]+_[0-9]+", matcher("regex", r"application_[0-9]+_[0-9]+")),
)
"""What differs from run to run, and the matcher that stands for it; inside a longer text, the expression."""

MEASURED = frozenset({"size", "bytes", "fileCount", "files", "duration", "durationMs", "duration_ms"})
"""Numbers that depend on the machine; row counts do not."""

_ANY_VARYING = re.compile(
    "|".join(f"(?P<v{i}>(?<![0-9a-zA-Z])({row[0]})(?![0-9a-zA-Z]))" for i, row in enumerate(VARYING))
)
_SPECIAL = re.compile(r"[\\.^$*+?{}\[\]|()]")


def _error_message(text: str) -> Matcher | None:
    """Spark's advice after the class of an error changes with its version."""
    told = re.match(r"[^\[\n]*\[[A-Z_.]+\]", text)
    return matcher("regex", f"(?s){_literal(told[0])}.*") if told else None


BY_KEY: Mapping[str, Callable[[str], Matcher | None]] = {
    "message": _error_message,
    "sparkVersion": lambda text: (
        matcher("regex", r"[0-9]+\.[0-9.]+") if re.fullmatch(r"[0-9]+\.[0-9.]+", text) else None
    ),
}
"""Texts of which only a part is worth expecting, by the key that they belong to."""

TRIMMED: Mapping[str, Any] = {
    "parent": {"job": {"name": {}}, "root": {"job": {"name": {}}}},
    "processing_engine": {"name": {}},
    # The edges of single fields are in `columnLineage`, once more.
    "lineage": {"entries": {"namespace": {}, "name": {}}},
}
"""What is kept of a facet that says more than a test should depend on."""


class Drafts:
    """Drafts of the events of one run; `variables` are what stands in for texts.

    `ours` says that this package made lineage in that run: then no gaps means that there are none.

    >>> drafts = Drafts({"DATA": "/tmp/data"})
    >>> drafts.masked("/tmp/data/in"), drafts.masked({"size": 12, "rowCount": 3})
    ('${DATA}/in', {'size': Matcher(name='integer', argument='>= 0', accepts_absence=False), 'rowCount': 3})
    """

    def __init__(self, variables: Mapping[str, str], *, ours: bool = False) -> None:
        self._ours = ours
        # The longest first: a folder inside another has its own name.
        by_length = sorted(variables.items(), key=lambda item: (-len(item[1]), item[0]))
        self._variables = {name: text for name, text in by_length if text}
        texts = "|".join(re.escape(text) for text in dict.fromkeys(self._variables.values()))
        self._known = re.compile(rf"(?<!\w)(?:{texts})(?![\w-])") if texts else None

    def masked(self, value: Any, key: str = "") -> Any:
        """The whole value, its texts as templates and matchers for what varies; keys of lists stay in order.

        `key` is what the value belongs to. What has no edges is said to have none: an expected object
        accepts whatever it does not mention.
        """
        if isinstance(value, Mapping):
            found = {name: self.masked(item, name) for name, item in value.items() if writable(name)}
            return _without_more_edges(found)
        if isinstance(value, list):
            return [self.masked(item, key) for item in value]
        if isinstance(value, str):
            return self._masked_text(value, key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        return _masked_number(value, key)

    def of(self, event: Event, told: Mapping[str, int]) -> dict[str, Any]:
        """What is worth expecting of one event; `told` is what must be said of the task's instance."""
        document, whole = event.document, self.masked(event.document)
        ended = _is_task(event) and document.get("eventType") in ("COMPLETE", "FAIL")
        facets: dict[str, Any] = {"airflow": {"taskInstance": dict(told)}} if told else {}
        for name in _own_facets(document.get("run")):
            facets[name] = trimmed(whole["run"]["facets"][name], "facets", name)
        if ended and self._ours:
            facets.setdefault("sparkLineage_gaps", ABSENT)
        draft: dict[str, Any] = {"run": {"facets": facets}} if facets else {}
        if "run" not in document or ended:
            names = _own_facets(document.get("job"))
            if names:
                job = whole["job"]["facets"]
                draft["job"] = {"facets": {name: trimmed(job[name], "facets", name) for name in names}}
        if isinstance(document.get("dataset"), Mapping):
            draft["dataset"] = _dataset(whole["dataset"], whole=True)
        for part in ("inputs", "outputs"):
            if part in document:
                draft[part] = _datasets(document[part], whole[part], whole=ended or "run" not in document)
        return draft

    def _masked_text(self, text: str, key: str) -> Any:
        if not writable(text):
            return matcher("string") if text else text
        by_key = BY_KEY[key](text) if key in BY_KEY else None
        if by_key is not None:
            return by_key
        for pattern, stands_for in VARYING:
            if re.fullmatch(pattern, text) and not stands_for.refuses(text):
                return stands_for
        if _ANY_VARYING.search(text):
            return matcher("regex", self._pattern(text, key))
        return self._template(text, key, lambda part: part.replace("${", "$${"))

    def _pattern(self, text: str, key: str) -> str:
        """A regular expression of the text, with expressions for what varies in it."""
        parts, position = [], 0
        for found in _ANY_VARYING.finditer(text):
            parts.append(self._template(text[position : found.start()], key, _literal))
            parts.append(f"({VARYING[int(str(found.lastgroup)[1:])][0]})")
            position = found.end()
        return "".join([*parts, self._template(text[position:], key, _literal)])

    def _template(self, text: str, key: str, escape: Callable[[str], str]) -> str:
        if self._known is None:
            return escape(text)
        parts, position = [], 0
        for found in self._known.finditer(text):
            parts += [escape(text[position : found.start()]), f"${{{self._name_of(found[0], key)}}}"]
            position = found.end()
        return "".join([*parts, escape(text[position:])])

    def _name_of(self, text: str, key: str) -> str:
        """The variable for this text; of several that are the same, one for URIs only in a URI."""
        names = [name for name, value in self._variables.items() if value == text]
        fitting = [
            name for name in names if name.upper().endswith(("_URI", "_URL")) == (key in ("uri", "url"))
        ]
        return (fitting or names)[0]


def trimmed(masked: Any, *path: str) -> Any:
    """Of a masked value what is worth expecting; `path` are the last keys that lead to it."""
    if path[-2:-1] == ("facets",) and path[-1] in TRIMMED:
        masked = _picked(masked, TRIMMED[path[-1]])
    if isinstance(masked, Mapping):
        named_by_users = path[-1:] and path[-1] in NAMED_BY_USERS
        return {
            key: trimmed(item, *path[-1:], key)
            for key, item in masked.items()
            if named_by_users or (key not in LEFT_OUT and not (key == "masking" and item is False))
        }
    if isinstance(masked, list):
        return [trimmed(item) for item in masked]
    return masked


def _is_task(event: Event) -> bool:
    return bool(_at(event.document, "run", "facets", "airflow", "taskInstance"))


def _own_facets(part: Any) -> list[str]:
    """The facets of a run or job that are not about Airflow itself."""
    return [
        name
        for name, facet in _at(part, "facets").items()
        if writable(name) and (name in KEPT_RUN_FACETS or not _of_airflow(name, facet))
    ]


def _of_airflow(name: str, facet: Any) -> bool:
    return name.startswith("airflow") or PROVIDER in _producer(facet)


def is_ours(value: Any) -> bool:
    """Whether anything in an event was made by this package."""
    if isinstance(value, Mapping):
        return OURS in _producer(value) or any(map(is_ours, value.values()))
    return isinstance(value, list) and any(map(is_ours, value))


def _producer(facet: Any) -> str:
    found = facet.get("_producer") if isinstance(facet, Mapping) else None
    return found if isinstance(found, str) else ""


def _datasets(datasets: Any, masked: Any, *, whole: bool) -> Any:
    """In the order of their names, because those of a set arrive in any order."""
    if not isinstance(datasets, list):
        return trimmed(masked)
    order = sorted(range(len(datasets)), key=lambda i: _sort_key(datasets[i]))
    return [_dataset(masked[i], whole=whole) for i in order]


def _sort_key(dataset: Any) -> tuple[str, str]:
    found = _at(dataset)
    return str(found.get("namespace")), str(found.get("name"))


def _dataset(masked: Any, *, whole: bool) -> Any:
    if not isinstance(masked, Mapping):
        return masked
    kept = ("namespace", "name", *(("facets", "inputFacets", "outputFacets") if whole else ()))
    return {
        key: trimmed(masked[key], key)
        for key in kept
        if key in masked and (masked[key] or key in ("namespace", "name"))
    }


def _without_more_edges(facets: dict[str, Any]) -> dict[str, Any]:
    """Say of columns without edges that they have none: what is not mentioned may be there."""
    facet = facets.get("columnLineage")
    if not isinstance(facet, Mapping) or not isinstance(facet.get("fields", {}), Mapping):
        return facets
    fields = _at(facets, "schema").get("fields")
    columns = [
        field["name"]
        for field in (fields if isinstance(fields, list) else ())
        if isinstance(field, Mapping) and isinstance(field.get("name"), str)
    ]
    rest = {key: value for key, value in facet.items() if key not in ("fields", "dataset")}
    edges = {**dict.fromkeys(columns, ABSENT), **facet.get("fields", {})}
    return {**facets, "columnLineage": {"fields": edges, **rest, "dataset": facet.get("dataset", ABSENT)}}


def _masked_number(value: float, key: str) -> Any:
    if not isfinite(value):
        return matcher("any")
    if key in MEASURED:
        return matcher("integer" if isinstance(value, int) else "number", ">= 0" if value >= 0 else None)
    return value


def _picked(value: Any, shape: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_picked(item, shape) for item in value]
    if not shape or not isinstance(value, Mapping):
        return value
    return {key: _picked(value[key], inner) for key, inner in shape.items() if key in value}


def _literal(text: str) -> str:
    """A regular expression for exactly this text; `re.escape` would escape spaces and dashes as well."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _at(value: Any, *path: str) -> Mapping[str, Any]:
    """The object at a path; empty where there is none."""
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}
