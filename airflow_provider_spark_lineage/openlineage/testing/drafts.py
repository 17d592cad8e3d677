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
from airflow_provider_spark_lineage.openlineage.events import Event, Events
from airflow_provider_spark_lineage.openlineage.events.shapes import object_at
from airflow_provider_spark_lineage.openlineage.testing.draft_facets import FACETS, Keep, Row, row_of
from airflow_provider_spark_lineage.openlineage.testing.draft_texts import Texts
from airflow_provider_spark_lineage.openlineage.testing.keys import (
    ExpectedKey,
    full_key,
    key_order,
    parse_key,
)
from airflow_provider_spark_lineage.openlineage.testing.matchers import ABSENT_KEY, Matcher, as_object, make

LEFT_OUT = frozenset({"_producer", "_schemaURL", "_deleted", "stackTrace", "description"})
"""Keys that vary with versions or are not about lineage, in facets without a row."""

NAMED_BY_USERS = frozenset({"fields"})
"""Objects whose keys are columns, which may have any name."""

KEPT_RUN_FACETS = frozenset({"airflowState", "errorMessage"})
"""Run facets of Airflow's provider that are kept; facets of other producers are kept as their rows say."""

_MEASURED = re.compile(r"size|bytes|fileCount|files|duration|.*(Ms|_ms|Millis|Seconds|_seconds|Bytes|_bytes)")
"""Keys of numbers that depend on the machine, in facets without a row; row counts do not."""

_HOST = re.compile(r"(?i).*host(name)?|(.+_)?(pid|ip)|.*(Link|Url|links|urls|_url)")
"""Keys of texts that name a machine or a process, in facets without a row."""

_HOLDERS_OF_FACETS = ("facets", "inputFacets", "outputFacets")
_LEFT_OUT_EVERYWHERE = frozenset({"_producer", "_schemaURL", "_deleted"})
_REPEATED = ("CREATE", "OVERWRITE")
"""States of a dataset that an overwrite has in its first run, and in all later ones."""


@dataclass(frozen=True)
class DraftRules:
    """Rules for the events of one producer, beyond OpenLineage's and Airflow's definitions."""

    varying: tuple[str, ...] = ()
    """Regular expressions of texts that vary between runs, such as ids."""

    varying_in_messages: tuple[str, ...] = ()
    """The same in texts for people only."""

    texts: Mapping[str, Callable[[str], Matcher | None]] = field(default_factory=dict)
    """Key -> function that returns the matcher for its text, or None if the row decides."""

    facets: Mapping[str, Row] = field(default_factory=dict)
    """Name of a facet of this producer -> its row, as in `draft_facets.FACETS`."""

    absent_run_facets: Mapping[str, str] = field(default_factory=dict)
    """Run facet -> name of a producer. If that name is anywhere in the events, a run that ends without the
    facet is expected to end without it."""


NO_RULES = DraftRules()


class Drafts:
    """The keys and drafts of the events of one file; `variables` replace their values in texts.

    >>> drafts = Drafts(Events.of([]), {"DATA": "/tmp/data"})
    >>> drafts.masked("/tmp/data/in"), drafts.masked({"cpuMs": 12, "rows": 3})
    ('${DATA}/in', {'cpuMs': Matcher(name='integer', argument='>= 0'), 'rows': 3})
    """

    def __init__(self, events: Events, variables: Mapping[str, str], rules: DraftRules = NO_RULES) -> None:
        self.events = events
        self.variables = variables
        self._rules = rules
        self._rows: Mapping[str, Row] = {**FACETS, **rules.facets}
        self._texts = Texts(variables, rules.varying, rules.varying_in_messages, rules.texts)
        text = json.dumps([event.document for event in events], default=as_object)
        self._absent_facets = [name for name, part in rules.absent_run_facets.items() if part in text]
        # Run id of a task -> its end, which merges what its executions report.
        self._ends = {
            event.text("run", "runId"): event.document
            for event in events
            if event.type in ("complete", "fail") and object_at(event.document, "run", "facets", "airflow")
        }
        self._failed = {event.text("run", "runId") for event in events if event.type == "fail"}
        self._drafts_of_ends: dict[tuple[str, str], Mapping[tuple[str, str], Any]] = {}
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
        facets = self._facets_of(document, masked, "run")
        is_of_airflow = any(name.startswith("airflow") for name in object_at(document, "run", "facets"))
        parent = "" if is_of_airflow else event.text("run", "facets", "parent", "run", "runId")
        is_dag_run = "airflowDagRun" in object_at(document, "run", "facets")
        for name in self._absent_facets if has_ended and not is_dag_run else ():
            facets.setdefault(name, ABSENT_KEY)
        draft: dict[str, Any] = {"run": {"facets": facets}} if facets else {}
        job = self._facets_of(document, masked, "job") if has_ended or not is_run else {}
        if job:
            draft["job"] = {"facets": job}
        if isinstance(document.get("dataset"), Mapping):
            draft["dataset"] = self._dataset(masked["dataset"], whole=True)
        # The content of RUNNING and OTHER events depends on the moment; that of START, too, if the run began
        # inside a task: a slow one is told while it runs, a quick one when it has ended.
        whole = event.type not in ("running", "other") and not (event.type == "start" and parent)
        for side in ("inputs", "outputs"):
            if isinstance(document.get(side), list):
                draft[side] = self._datasets(document, masked, side, whole=whole)
            elif side in document:
                draft[side] = self.trimmed(masked[side])
        if whole and parent:
            self._remove_repeated(draft, parent)
        if event.type == "start" and parent and event.text("run", "runId") in self._failed:
            # It names what the run would write only if it was sent while the run was writing.
            outputs = draft.pop("outputs", None)
            if outputs:
                draft["outputs"] = make("one_of", [[], outputs])
        return draft

    def _remove_repeated(self, draft: dict[str, Any], parent: str) -> None:
        """Remove the facets of datasets that the end of the parent run has, too."""
        for side in ("inputs", "outputs"):
            if isinstance(draft.get(side), list):
                of_parent = self._of_end(parent, side)
                draft[side] = [_without(each, of_parent.get(_name_of(each))) for each in draft[side]]

    def _of_end(self, run_id: str, side: str) -> Mapping[tuple[str, str], Any]:
        """Return the drafts of the inputs or outputs in the end event of a task, by their names."""
        if (run_id, side) not in self._drafts_of_ends:
            document = self._ends.get(run_id, {})
            datasets = document.get(side)
            drafts = (
                self._datasets(document, self.masked(document), side, whole=True)
                if isinstance(datasets, list)
                else []
            )
            self._drafts_of_ends[run_id, side] = {_name_of(each): each for each in drafts}
        return self._drafts_of_ends[run_id, side]

    def _datasets(
        self, document: Mapping[str, Any], masked: Mapping[str, Any], side: str, *, whole: bool
    ) -> list[Any]:
        """Return the drafts of the inputs or outputs, in the order of their names."""
        order = sorted(range(len(document[side])), key=lambda i: _name_of(document[side][i]))
        return [self._dataset(masked[side][i], whole=whole) for i in order]

    def masked(self, value: Any, key: str = "") -> Any:
        """Return the whole value with variables in its texts and matchers for values that vary.

        `key` is the key of the value. Columns without edges get `!absent`, because an expected object accepts
        keys that it does not mention.
        """
        if isinstance(value, Mapping):
            masked = {
                name: self._by_row(item, self._rows[name], name)
                if key in _HOLDERS_OF_FACETS and name in self._rows
                else self.masked(item, name)
                for name, item in value.items()
            }
            return _with_absent_edges(masked)
        if isinstance(value, list):
            return [self.masked(item, key) for item in value]
        if isinstance(value, str):
            return _any_like(value) if _HOST.fullmatch(key) else self._texts.masked(value, key)
        if isinstance(value, float) and not isfinite(value):
            return make("any")
        if isinstance(value, int | float) and not isinstance(value, bool) and _MEASURED.fullmatch(key):
            return _any_like(value)
        return value

    def _by_row(self, value: Any, row: Row, key: str) -> Any:
        """Return a value of a facet, masked as its row says; nothing is left out yet."""
        if isinstance(value, Mapping):
            return {name: self._by_row(item, row_of(row, name), name) for name, item in value.items()}
        if isinstance(value, list):
            return [self._by_row(item, row, key) for item in value]
        if not isinstance(row, Keep) or row is Keep.VALUE:
            return self.masked(value) if not isinstance(value, str) else self._texts.masked(value, key)
        if row is Keep.MESSAGE and isinstance(value, str):
            return self._texts.masked_message(value, key)
        if row is Keep.STATE and value in _REPEATED:
            return make("one_of", list(_REPEATED))
        if row is Keep.STATE or (row is Keep.COMPUTED and not isinstance(value, float)):
            return self.masked(value)
        # Not in a new file. If somebody wrote the key, any value of this type is as good.
        return _any_like(value)

    def trimmed(self, masked: Any, *path: str) -> Any:
        """Return the parts of a masked value that a test expects; `path` are the last keys before it."""
        if path[-2:-1] and path[-2] in _HOLDERS_OF_FACETS and path[-1] in self._rows:
            return _picked(masked, self._rows[path[-1]])
        if isinstance(masked, Mapping):
            keep_all = path[-1:] and path[-1] in NAMED_BY_USERS
            parts = {
                key: self.trimmed(item, *path[-1:], key)
                for key, item in masked.items()
                if keep_all or (key not in LEFT_OUT and not _is_unmasked(key, item))
            }
            if not path or path[-1] not in _HOLDERS_OF_FACETS:
                return parts
            # A facet of which nothing is expected is left out.
            return {key: item for key, item in parts.items() if item != {} or not masked[key]}
        return [self.trimmed(item) for item in masked] if isinstance(masked, list) else masked

    def _facets_of(self, document: Mapping[str, Any], masked: Mapping[str, Any], part: str) -> dict[str, Any]:
        """Return the facets of the run or job that are not about Airflow itself."""
        facets = object_at(document, part, "facets")
        own = {
            name: masked[part]["facets"][name]
            for name, facet in facets.items()
            if name in KEPT_RUN_FACETS or not _is_of_airflow(name, facet)
        }
        if part == "run":
            own.pop("tags", None)  # The version of OpenLineage's client.
        trimmed: dict[str, Any] = self.trimmed(own, "facets")
        return trimmed

    def _dataset(self, masked: Any, *, whole: bool) -> Any:
        if not isinstance(masked, Mapping):
            return masked
        keys = ("namespace", "name", *(_HOLDERS_OF_FACETS if whole else ()))
        parts = {key: self.trimmed(masked[key], key) for key in keys if key in masked}
        return {key: part for key, part in parts.items() if part or key in ("namespace", "name")}


def stable_text(draft: Any) -> str:
    """Return a sort key for drafts."""
    return json.dumps(draft, default=as_object, sort_keys=True)


def one_or_list(documents: list[Any]) -> Any:
    """Return the value of a key: an event, or a list of events."""
    return documents[0] if len(documents) == 1 else documents


def _picked(masked: Any, row: Row) -> Any:
    """Return the parts of a masked facet that its row keeps."""
    if isinstance(masked, list):
        return [_picked(item, row) for item in masked]
    if not isinstance(masked, Mapping):
        return masked
    parts = {
        key: _picked(item, row_of(row, key))
        for key, item in masked.items()
        if row_of(row, key) is not Keep.OUT
        and key not in _LEFT_OUT_EVERYWHERE
        and not _is_unmasked(key, item)
    }
    # An object of which nothing is expected is left out.
    return {key: part for key, part in parts.items() if part != {} or not masked[key]}


def _is_unmasked(key: str, item: Any) -> bool:
    """Return whether this is the `masking` of a column that is not masked: every edge has it."""
    return key == "masking" and item is False


def _any_like(value: Any) -> Matcher:
    """Return the matcher for any value of this type."""
    if isinstance(value, bool):
        return make("one_of", [True, False])
    if isinstance(value, int | float) and isfinite(value):
        return make("integer" if isinstance(value, int) else "number", ">= 0" if value >= 0 else None)
    return make("string") if isinstance(value, str) and value else make("any")


def _is_of_airflow(name: str, facet: Any) -> bool:
    return name.startswith("airflow") or "providers-openlineage" in str(object_at(facet).get("_producer"))


def _name_of(dataset: Any) -> tuple[str, str]:
    return str(object_at(dataset).get("namespace")), str(object_at(dataset).get("name"))


def _without(dataset: Any, repeated: Any) -> Any:
    """Return the draft of a dataset without the facets that are in another draft of it, too."""
    if not isinstance(dataset, Mapping) or not isinstance(repeated, Mapping):
        return dataset
    rest = dict(dataset)
    for holder in _HOLDERS_OF_FACETS:
        facets, others = object_at(dataset, holder), object_at(repeated, holder)
        rest[holder] = {name: facet for name, facet in facets.items() if facet != others.get(name)}
    return {key: part for key, part in rest.items() if part or key not in _HOLDERS_OF_FACETS}


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
