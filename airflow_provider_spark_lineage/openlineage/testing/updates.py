"""Writes expected files from emitted events, and updates existing ones.

Expected values and matchers that accept the emitted values stay. Only keys whose events changed are
rewritten; comments inside them are lost and reported. The text of all other keys stays unchanged. Nothing is
written before the new text has been parsed and compared with the events.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import Event, Events
from airflow_provider_spark_lineage.openlineage.testing.comparison import (
    ByKey,
    compare,
    dag_named_by,
    groups_of,
    in_scope,
)
from airflow_provider_spark_lineage.openlineage.testing.differences import matches, pairs_of_elements
from airflow_provider_spark_lineage.openlineage.testing.drafts import (
    NO_RULES,
    DraftRules,
    Drafts,
    one_or_list,
    stable_text,
)
from airflow_provider_spark_lineage.openlineage.testing.expected import (
    Expected,
    ExpectedEvent,
    fill,
    keys_of,
    parse,
    read_text,
)
from airflow_provider_spark_lineage.openlineage.testing.keys import WHEN, Versions, key_order, parse_key
from airflow_provider_spark_lineage.openlineage.testing.matchers import ABSENT_KEY, Matcher
from airflow_provider_spark_lineage.openlineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.openlineage.testing.report import Kind
from airflow_provider_spark_lineage.openlineage.testing.yaml_text import yaml_text


@dataclass
class Update:
    """Result of an update of an expected file; keys are listed once for each of their events."""

    path: Path

    created: bool = False
    """The file did not exist before."""

    added: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    """Expected before, but not emitted."""

    kept: list[str] = field(default_factory=list)
    """Not emitted, but left in the file, because their DAG emitted nothing at all."""

    lost_comments: list[str] = field(default_factory=list)
    """Comments inside rewritten keys: `line 3: # why`."""

    @property
    def changed(self) -> bool:
        """True if the file was written."""
        return bool(self.added or self.refreshed or self.removed)

    def text(self) -> str:
        """Return the result for people; the last line is the summary."""
        groups = {name: getattr(self, name) for name in ("added", "refreshed", "removed", "kept")}
        lines = [f"{what:<11} {key}" for what, keys in groups.items() for key in keys]
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
    """Return the text of a new expected file, in YAML; with `dag_id`, for that DAG only.

    Raises BadInputError without events, or if some could not be read.

    >>> event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}, "inputs": []}
    >>> print(draft_expected(Events.of([event])), end="")
    dag.task.event.start: {inputs: []}
    """
    return yaml_text(Drafts(_of_dag(events, dag_id), variables or {}, rules).tree())


def update_expected(
    path: Path | str,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
    dag_id: str | None = None,
    rules: DraftRules = NO_RULES,
) -> Update:
    """Write an expected file in YAML, or update an existing one.

    The value of a variable is written as `${NAME}`. A new file expects all events, or events of `dag_id`
    only; an existing file keeps the DAGs that it names. Raises BadInputError, and does not write, if the file
    or an event cannot be read, without events, and if the new text would not match the events.
    """
    path = Path(path)
    if path.is_dir() or path.suffix not in (".yaml", ".yml"):
        raise BadInputError(f"{path}: expected events are written to one file, .yaml or .yml.")
    update = Update(path, created=not path.exists())
    drafts = Drafts(_of_dag(events, dag_id), variables or {}, rules)
    if update.created:
        tree = drafts.tree()
        update.added = [key for key, _ in _documents(tree)]
        text = new_text = yaml_text(tree)
    else:
        text = new_text = read_text(path)
        tree = keys_of(parse(text, path), path)
        new_tree = _updated_tree(tree, path, drafts, Versions(drafts.events, versions or {}), update)
        if update.changed:
            new_text = _updated_text(text, path, tree, new_tree)
            update.lost_comments = _lost_comments(text, new_text)
    _check(new_text, drafts, versions, update)
    if update.changed:
        _write(path, new_text)
    return update


def _of_dag(events: Events, dag_id: str | None) -> Events:
    if events.problems:
        more = f" (and {len(events.problems) - 1} more)" if len(events.problems) > 1 else ""
        raise BadInputError(f"Not all events can be read, so some would be lost: {events.problems[0]}{more}")
    if not len(events):
        raise BadInputError("The input has no events, so nothing can be expected.")
    chosen = tuple(event for event in events if dag_id in (None, events.dag_id_of(event)))
    if not chosen:
        known = ", ".join(sorted(set(map(events.dag_id_of, events))))
        raise BadInputError(f"The DAG `{dag_id}` has no events; DAGs with events: {known}.")
    return Events(chosen)


def _documents(tree: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        for document in (value if isinstance(value, list) else [value]) if key != WHEN else ():
            yield key, document


def _check(text: str, drafts: Drafts, versions: Mapping[str, str] | None, update: Update) -> None:
    """Raise BadInputError if the events would not match this text."""
    expected = Expected.of_file(keys_of(parse(text, update.path), update.path), update.path)
    report = compare(
        expected, drafts.events, variables=drafts.variables, versions=versions, without=RELATIONS
    )
    for item in report.differences:
        if item.kind is not Kind.MISSING or item.key not in update.kept:
            reason = f"`{item.key}` cannot be written: {item.path} {item.reason}"
            raise BadInputError(f"{update.path}: unchanged, because {reason}.")


def _write(path: Path, text: str) -> None:
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Under another name first, so that no reader sees an incomplete file.
        new = target.with_name(f".{target.name}.new")
        new.write_bytes(text.encode())
        if target.exists():
            new.chmod(target.stat().st_mode)
        new.replace(target)
    except (OSError, UnicodeError) as error:
        raise BadInputError(f"{path}: cannot be written ({error}).") from None


# The updated content of a file.


def _updated_tree(
    tree: Mapping[str, Any], path: Path, drafts: Drafts, versions: Versions, update: Update
) -> dict[str, Any]:
    """Return the new content of the file, and record the changes in `update`."""
    expected = Expected.of_file(tree, path)
    applicable = expected.meant_for(versions)
    actual, new = _paired(expected, applicable, drafts)
    dag_ids = frozenset(map(drafts.events.dag_id_of, drafts.events))
    applicable_ids = set(map(id, applicable))
    values: dict[str, list[Any]] = {}
    for event, (key, document) in zip(expected.events, _documents(tree), strict=True):
        documents = values.setdefault(key, [])
        if id(event) in actual:
            new_document = _refreshed_event(event, actual[id(event)], drafts)
            if new_document is event.document:
                documents.append(document)
            else:
                update.refreshed.append(key)
                when = {WHEN: document[WHEN]} if WHEN in document else {}
                documents.append({**when, **new_document})
        elif id(event) not in applicable_ids:
            documents.append(document)
        elif dag_named_by(parse_key(key).plain, dag_ids):
            update.removed.append(key)
        else:
            update.kept.append(key)
            documents.append(document)
    for unexpected in new:
        key = drafts.key_of(unexpected, tree)
        update.added.append(key)
        values.setdefault(key, []).append(drafts.of(unexpected))
    update.added.sort(key=key_order)
    new_tree: dict[str, Any] = {WHEN: tree[WHEN]} if WHEN in tree else {}
    # If the file is sorted, new keys are inserted in order, else at its end.
    keys = [key for key in tree if key != WHEN]
    is_sorted = keys == sorted(keys, key=key_order)
    for key in sorted(values, key=key_order) if is_sorted else values:
        if values[key]:
            new_tree[key] = values[key] if isinstance(tree.get(key), list) else one_or_list(values[key])
    return new_tree


def _paired(
    expected: Expected, applicable: list[ExpectedEvent], drafts: Drafts
) -> tuple[dict[int, Event], list[Event]]:
    """Return the emitted event by the `id` of the expected one, and the unexpected events."""
    emitted = ByKey(in_scope(drafts.events, expected, "dags").compared, drafts.events)
    filled = [event.filled(drafts.variables) for event in applicable]
    original = {id(copy): id(event) for copy, event in zip(filled, applicable, strict=True)}
    actual: dict[int, Event] = {}
    surplus: dict[int, Event] = {}
    for group in groups_of(filled, emitted):
        actual.update({original[id(group.wanted[i])]: group.emitted[j] for i, j in group.pairs.items()})
        surplus.update({id(event): event for event in group.surplus()})
    # A key and the same key with an address may both select an event.
    for event in actual.values():
        surplus.pop(id(event), None)
    new = [*surplus.values(), *emitted.left()]
    return actual, sorted(new, key=lambda event: stable_text(drafts.masked(event.document)))


def _refreshed_event(event: ExpectedEvent, actual: Event, drafts: Drafts) -> Mapping[str, Any]:
    masked = drafts.masked(actual.document)
    new: Mapping[str, Any] = _refreshed(event.document, actual.document, masked, drafts)
    # No expected value matches any more: the draft is better than the masked event.
    return new if new.keys() <= event.document.keys() else drafts.of(actual)


def _refreshed(expected: Any, actual: Any, masked: Any, drafts: Drafts, path: tuple[str, ...] = ()) -> Any:
    """Return the expected value, changed as little as possible so that it accepts the actual value.

    `path` are the last keys before it, which tell if a list has an order.
    """
    filled = fill(expected, drafts.variables, "")
    if matches(filled, actual, path):
        return expected
    new: Any = None
    if isinstance(expected, dict) and isinstance(actual, Mapping):
        new = {}
        for key, wanted in expected.items():
            if key in actual:
                new[key] = _refreshed(wanted, actual[key], masked[key], drafts, (*path[-1:], key))
            elif isinstance(wanted, Matcher) and wanted.accepts_absence:
                new[key] = wanted
            elif masked.get(key) == ABSENT_KEY:
                new[key] = ABSENT_KEY
    elif isinstance(expected, list) and isinstance(actual, list):
        new = [drafts.trimmed(element) for element in masked]
        for i, j in pairs_of_elements(filled, actual, path).items():
            new[j] = _refreshed(expected[i], actual[j], masked[j], drafts)
    is_right = new and matches(fill(new, drafts.variables, ""), actual, path)
    return new if is_right else drafts.trimmed(masked, *path)


# The text of a file.


def _updated_text(text: str, path: Path, tree: Mapping[str, Any], new_tree: Mapping[str, Any]) -> str:
    """Return the new text, with the text of unchanged keys as before, if that is possible."""
    chunks = _chunks(text)
    parts = [chunks.pop("", "")]
    for key, value in new_tree.items():
        comments = re.match(r"(?:[ \t]*(?:#[^\n]*)?\n)*", chunks.get(key, ""))
        is_same = key in tree and value == tree[key]
        parts.append(chunks[key] if is_same else (comments[0] if comments else "") + yaml_text({key: value}))
    new_text = "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)
    try:
        is_right = keys_of(parse(new_text, path), path) == new_tree
    except BadInputError:
        is_right = False
    # An unchanged key may use an anchor in a rewritten one.
    return new_text if is_right else yaml_text(new_tree)


def _chunks(text: str) -> dict[str, str]:
    """Return the lines of each top-level key with the comments above it; `""`: lines above the first key."""
    root = yaml.compose(text, Loader=yaml.BaseLoader)
    lines = text.splitlines(keepends=True)
    starts: list[tuple[str, int]] = []
    for key, _ in root.value if isinstance(root, yaml.MappingNode) else ():
        line = key.start_mark.line
        while starts and line > starts[-1][1] + 1 and re.match(r"#|\s*$", lines[line - 1]):
            line -= 1
        starts.append((key.value, line))
    ends = [line for _, line in starts[1:]] + [len(lines)]
    chunks = {key: "".join(lines[line:end]) for (key, line), end in zip(starts, ends, strict=True)}
    return {"": "".join(lines[: starts[0][1]]), **chunks} if starts else {}


def _lost_comments(old: str, new: str) -> list[str]:
    """Return every comment of the old text that is not in the new one, with its line."""
    comment = re.compile(r"(?<!\S)#.*")
    left = Counter(comment.findall(new))
    lost = []
    for number, line in enumerate(old.splitlines(), 1):
        for text in comment.findall(line):
            left[text] -= 1
            lost += [f"line {number}: {text}"] if left[text] < 0 else []
    return lost
