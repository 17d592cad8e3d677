"""Writes expected files from emitted events, and brings existing ones up to date.

Expected values and matchers that accept what was emitted stay. In YAML, only the keys whose events changed
are written anew; the text of all other keys stays as it is. Comments inside a rewritten key are lost, and
named. Nothing is written before the new text has been read back and compared with the events.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.comparison import (
    Emitted,
    compare,
    dag_named_by,
    groups_of,
    in_scope,
)
from airflow_provider_spark_lineage.testing.differences import matches, pairs_of_elements
from airflow_provider_spark_lineage.testing.drafts import (
    NO_RULES,
    DraftRules,
    Drafts,
    columns_of,
    edges_of,
    one_or_list,
    stable_text,
    trimmed,
)
from airflow_provider_spark_lineage.testing.expected import SUFFIXES, Expected, ExpectedEvent, keys_of
from airflow_provider_spark_lineage.testing.keys import key_order, parse_key
from airflow_provider_spark_lineage.testing.matchers import ABSENT_KEY, Matcher, make
from airflow_provider_spark_lineage.testing.notation import fill, parse_tree, read_text
from airflow_provider_spark_lineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.testing.report import Difference, Kind
from airflow_provider_spark_lineage.testing.versions import WHEN, Versions
from airflow_provider_spark_lineage.testing.writing import json_text, lost_comments, updated_text, yaml_text


@dataclass
class Update:
    """What became of an expected file; keys are listed once for each of their events."""

    path: Path

    created: bool = False
    """The file did not exist before."""

    added: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Expected before, and not emitted."""

    kept: list[str] = field(default_factory=list)
    """Not emitted, and left in the file, because nothing at all was emitted by their DAG."""

    left: list[str] = field(default_factory=list)
    """What the events contradict and an update cannot repair: `key: path reason`."""

    lost_comments: list[str] = field(default_factory=list)
    """Comments inside rewritten keys: `line 3: # why`."""

    @property
    def changed(self) -> bool:
        """Whether the file was written."""
        return bool(self.added or self.refreshed or self.removed)

    def text(self) -> str:
        """Return everything for a person; the last line is the summary."""
        groups = {
            "added": self.added,
            "refreshed": self.refreshed,
            "removed": self.removed,
            "kept": self.kept,
        }
        lines = [f"{what:<11} {key}" for what, keys in groups.items() for key in keys]
        lines += [f"left for you: {difference}" for difference in self.left]
        lines += [f"comment lost, {comment}" for comment in self.lost_comments]
        counts = [f"{len(keys)} {what}" for what, keys in groups.items() if keys and what != "kept"]
        state = "written" if self.created else "updated" if self.changed else "unchanged"
        return "\n".join([*lines, f"{self.path}: {', '.join([state, *counts])}"])


def draft_expected(
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    dag_id: str | None = None,
    rules: DraftRules = NO_RULES,
) -> str:
    """Return the text of a new expected file, in YAML; with `dag_id`, for that DAG alone.

    Raises BadInputError if there are no events, or some could not be read.

    >>> event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}, "inputs": []}
    >>> print(draft_expected(Events.of([event])), end="")
    dag.task.event.start: {inputs: []}
    """
    try:
        return yaml_text(Drafts(_of_dag(events, dag_id), variables or {}, rules).tree())
    except RecursionError:
        raise BadInputError("An event is nested too deeply to be written.") from None


def update_expected(
    path: Path | str,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
    dag_id: str | None = None,
    rules: DraftRules = NO_RULES,
) -> Update:
    """Write an expected file, YAML or JSON by its suffix, or bring an existing one up to date.

    The value of a variable is written as `${NAME}`. A new file expects all events, or those of `dag_id`; an
    existing one stays with the DAGs that it names. Raises BadInputError, and does not write, if the file or
    an event cannot be read, and if there are no events.
    """
    path = Path(path)
    if path.is_dir() or path.suffix not in SUFFIXES:
        raise BadInputError(f"{path}: expected events are written to one file, {', '.join(SUFFIXES)}.")
    try:
        drafts = Drafts(_of_dag(events, dag_id), variables or {}, rules)
        if path.exists():
            return _update(path, drafts, versions or {})
        tree = drafts.tree()
        update = Update(path, created=True, added=[key for key, document in _documents(tree)])
        _write(
            path, json_text(tree) if path.suffix == ".json" else yaml_text(tree), drafts, versions or {}, ()
        )
        return update
    except RecursionError:
        raise BadInputError(f"{path}: left alone, because an event is nested too deeply.") from None


def _of_dag(events: Events, dag_id: str | None) -> Events:
    if events.problems:
        more = f" (and {len(events.problems) - 1} more)" if len(events.problems) > 1 else ""
        raise BadInputError(f"Not all events can be read, so some would be lost: {events.problems[0]}{more}")
    if not len(events):
        raise BadInputError("There are no events at all to expect.")
    chosen = tuple(event for event in events if dag_id in (None, events.dag_id_of(event)))
    if not chosen:
        known = ", ".join(sorted(set(map(events.dag_id_of, events))))
        raise BadInputError(f"No event is of the DAG `{dag_id}`; there are events of: {known}.")
    return Events(chosen)


def _documents(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        for document in (value if isinstance(value, list) else [value]) if key != WHEN else ():
            yield key, document


def _update(path: Path, drafts: Drafts, versions: Mapping[str, str]) -> Update:
    text = read_text(path)
    if isinstance(parse_tree(text, path), list):
        raise BadInputError(f"{path}: a list of events, as in Airflow's own system tests, is not updated.")
    tree = keys_of(text, path)
    update = Update(path)
    new_tree = _updated_tree(tree, Expected.of_tree(tree, str(path), "dags", text), drafts, versions, update)
    if update.changed:
        new_text = updated_text(text, path, tree, new_tree)
        _write(path, new_text, drafts, versions, update.kept)
        if path.suffix != ".json":
            update.lost_comments = lost_comments(text, new_text)
    else:
        expected = Expected.of_tree(tree, str(path), "dags")
        for item in _contradictions(expected, drafts, versions, update.kept):
            update.left.append(f"{item.key}: {item.path} {item.reason}")
    return update


def _updated_tree(
    tree: Mapping[str, Any], expected: Expected, drafts: Drafts, given: Mapping[str, str], update: Update
) -> dict[str, Any]:
    """Return what the file says when the events are right, and note in `update` what changes."""
    versions = Versions(drafts.events, given)
    meant, _ = expected.meant_for(versions)
    ids_of_meant = set(map(id, meant))
    actual, new = _paired(expected, meant, drafts)
    dag_ids = frozenset(map(drafts.events.dag_id_of, drafts.events))
    values: dict[str, list[Any]] = {}
    others: dict[str, list[ExpectedEvent]] = {}
    for event, (key, document) in zip(expected.events, _documents(tree), strict=True):
        documents = values.setdefault(key, [])
        if id(event) not in ids_of_meant:
            others.setdefault(key, []).append(event)
            documents.append(document)
        elif id(event) in actual:
            refreshed = _refreshed_event(event, actual[id(event)], drafts)
            if refreshed is not event.document:
                update.refreshed.append(key)
                refreshed = {**({WHEN: document[WHEN]} if WHEN in document else {}), **refreshed}
            documents.append(document if refreshed is event.document else refreshed)
        elif dag_named_by(parse_key(key).plain, dag_ids):
            update.removed.append(key)
        else:
            update.kept.append(key)
            documents.append(document)
    for unexpected in new:
        key = drafts.key_of(unexpected, tree)
        update.added.append(key)
        when = _exactly_these(versions, others.get(key, ()))
        values.setdefault(key, []).append({**when, **drafts.of(unexpected, key)})
    update.added.sort(key=key_order)
    new_tree: dict[str, Any] = {WHEN: tree[WHEN]} if WHEN in tree else {}
    for key, documents in values.items():
        if documents:
            new_tree[key] = documents if isinstance(tree.get(key), list) else one_or_list(documents)
    return new_tree


def _paired(
    expected: Expected, meant: list[ExpectedEvent], drafts: Drafts
) -> tuple[dict[int, Event], list[Event]]:
    """Return the emitted event by the id of the expected one, and the events that nothing is expected of."""
    emitted = Emitted(in_scope(drafts.events, expected, "dags").compared, drafts.events)
    filled = [event.filled(drafts.variables) for event in meant]
    original = {id(copy): event for copy, event in zip(filled, meant, strict=True)}
    actual: dict[int, Event] = {}
    asked: list[Event] = []
    for group in groups_of(filled, emitted):
        asked += group.emitted
        actual.update({id(original[id(group.wanted[i])]): group.emitted[j] for i, j in group.pairs.items()})
    paired = {id(event) for event in actual.values()}
    # A key, and the same key with an address, may both have asked for an event.
    surplus = {id(event): event for event in asked if id(event) not in paired}
    new = [*surplus.values(), *emitted.left()]
    return actual, sorted(new, key=lambda event: stable_text(drafts.masked(event.document)))


def _exactly_these(versions: Versions, others: Collection[ExpectedEvent]) -> dict[str, Any]:
    """Return the condition of an event that is new beside events for other versions: the versions it has."""
    names = {condition.name for other in others for condition in other.when if versions.refusal([condition])}
    return {WHEN: {name: f"=={min(versions.known(name))}" for name in sorted(names)}} if names else {}


# One event: what accepts the actual value stays.


def _refreshed_event(event: ExpectedEvent, actual: Event, drafts: Drafts) -> Mapping[str, Any]:
    masked = drafts.masked(actual.document)
    where = f"{event.source}: `{event.key}`"
    new = _Refresher(drafts.variables, where).refreshed(event.document, actual.document, masked)
    # Nothing of what is expected is left: the draft says more than the masked event.
    return new if new.keys() <= event.document.keys() else drafts.of(actual, event.key)


@dataclass(frozen=True)
class _Refresher:
    variables: Mapping[str, str]
    where: str

    def accepts(self, expected: Any, actual: Any, path: tuple[str, ...]) -> bool:
        # `differences` knows by the path which lists have no order.
        return matches(fill(expected, self.variables, self.where), actual, path)

    def refreshed(self, expected: Any, actual: Any, masked: Any, path: tuple[str, ...] = ()) -> Any:
        """Return the expected value, changed as little as possible so that it accepts the actual one."""
        if self.accepts(expected, actual, path):
            return expected
        new: Any = None
        if isinstance(expected, dict) and isinstance(actual, Mapping):
            new = self._object(expected, actual, masked, path)
        elif isinstance(expected, list) and isinstance(actual, list):
            new = self._list(expected, actual, masked, path)
        elif isinstance(expected, Matcher) and expected.name in ("exact", "optional"):
            held = self.refreshed(expected.argument, actual, masked, path)
            new = (
                make(expected.name, held)
                if held and (expected.name == "optional" or isinstance(held, dict))
                else None
            )
            if (
                expected.name == "exact"
                and isinstance(actual, Mapping)
                and not self.accepts(new, actual, path)
            ):
                new = make("exact", masked)
        return new if new and self.accepts(new, actual, path) else trimmed(masked, *path)

    def _object(
        self, expected: dict[str, Any], actual: Mapping[str, Any], masked: Any, path: tuple[str, ...]
    ) -> dict[str, Any]:
        new: dict[str, Any] = {}
        for key, wanted in expected.items():
            if key in actual:
                new[key] = self.refreshed(wanted, actual[key], masked.get(key), (*path[-1:], key))
            elif isinstance(wanted, Matcher) and wanted.accepts_absence:
                new[key] = wanted
            elif masked.get(key) == ABSENT_KEY:
                new[key] = ABSENT_KEY
        edges, actual_edges = edges_of(new), edges_of(masked)
        if edges and actual_edges:
            # Of columns that are new in the schema, say where they come from, as of the others.
            columns = [name for name in columns_of(new) if name not in columns_of(expected)]
            added = {name: trimmed(actual_edges[name]) for name in columns if name in actual_edges}
            new["columnLineage"] = {**new["columnLineage"], "fields": {**edges, **added}}
        return new

    def _list(
        self, expected: list[Any], actual: list[Any], masked: list[Any], path: tuple[str, ...]
    ) -> list[Any]:
        pairs = pairs_of_elements(fill(expected, self.variables, self.where), actual, path)
        kept = {j: self.refreshed(expected[i], actual[j], masked[j]) for i, j in pairs.items()}
        new = {j: trimmed(masked[j]) for j in range(len(actual)) if j not in kept}
        if sorted(pairs) == sorted(pairs, key=lambda i: pairs[i]):
            return [kept[j] if j in kept else new[j] for j in range(len(actual))]
        return [*(kept[pairs[i]] for i in sorted(pairs)), *new.values()]


def _write(path: Path, text: str, drafts: Drafts, versions: Mapping[str, str], kept: Collection[str]) -> None:
    """Write the file, unless the same events would not match it."""
    expected = Expected.of_tree(keys_of(text, path), str(path), "dags")
    for item in _contradictions(expected, drafts, versions, kept):
        raise BadInputError(
            f"{path}: left alone, as `{item.key}` cannot be written: {item.path} {item.reason}."
        )
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Under another name first, so that no reader sees half a file.
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            new = Path(folder) / target.name
            new.write_bytes(text.encode())
            if target.exists():
                new.chmod(target.stat().st_mode)
            os.replace(new, target)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written ({error.strerror or error}).") from None


def _contradictions(
    expected: Expected, drafts: Drafts, versions: Mapping[str, str], kept: Collection[str]
) -> list[Difference]:
    """Return what a comparison with the same events finds, without relations and kept keys."""
    report = compare(
        expected, drafts.events, variables=drafts.variables, versions=versions, without=RELATIONS
    )
    return [item for item in report.differences if item.kind is not Kind.MISSING or item.key not in kept]
