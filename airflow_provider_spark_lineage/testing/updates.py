"""Writes expected files from emitted events, and brings existing ones up to date.

Expected values and matchers that accept what was emitted stay. In YAML, only the keys whose events changed
are written anew; the text of all other keys stays as it is. Comments inside a rewritten key are lost, and
named. Nothing is written before the new text has been read back and compared with the events.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.comparison import (
    ByKey,
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
    one_or_list,
    stable_text,
    trimmed,
)
from airflow_provider_spark_lineage.testing.expected import (
    SUFFIXES,
    Expected,
    ExpectedEvent,
    fill,
    keys_of,
    parse,
    read_text,
)
from airflow_provider_spark_lineage.testing.keys import WHEN, Versions, key_order, parse_key
from airflow_provider_spark_lineage.testing.matchers import ABSENT_KEY, Matcher, json_text
from airflow_provider_spark_lineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.testing.report import Kind


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

    lost_comments: list[str] = field(default_factory=list)
    """Comments inside rewritten keys: `line 3: # why`."""

    @property
    def changed(self) -> bool:
        """Whether the file was written."""
        return bool(self.added or self.refreshed or self.removed)

    def text(self) -> str:
        """Return everything for a person; the last line is the summary."""
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
    an event cannot be read, if there are no events, and if the new text would not match them.
    """
    path = Path(path)
    if path.is_dir() or path.suffix not in SUFFIXES:
        raise BadInputError(f"{path}: expected events are written to one file, {', '.join(SUFFIXES)}.")
    update = Update(path, created=not path.exists())
    try:
        drafts = Drafts(_of_dag(events, dag_id), variables or {}, rules)
        if update.created:
            tree = drafts.tree()
            update.added = [key for key, _ in _documents(tree)]
            text = new_text = file_text(tree) if path.suffix == ".json" else yaml_text(tree)
        else:
            text = read_text(path)
            if isinstance(parsed := parse(text, path), list):
                raise BadInputError(
                    f"{path}: a list of events, as in Airflow's own system tests, is not updated."
                )
            tree = keys_of(parsed, path)
            new_tree = _updated_tree(tree, path, drafts, Versions(drafts.events, versions or {}), update)
            new_text = _updated_text(text, path, tree, new_tree) if update.changed else text
        _check(new_text, drafts, versions, update)
        if update.changed:
            _write(path, new_text)
    except RecursionError:
        raise BadInputError(f"{path}: left alone, because an event is nested too deeply.") from None
    update.lost_comments = _lost_comments(text, new_text) if path.suffix != ".json" else []
    return update


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


def _check(text: str, drafts: Drafts, versions: Mapping[str, str] | None, update: Update) -> None:
    """Raise BadInputError if the events would not match this text."""
    expected = Expected.of_tree(keys_of(parse(text, update.path), update.path), str(update.path), "dags")
    report = compare(
        expected, drafts.events, variables=drafts.variables, versions=versions, without=RELATIONS
    )
    for item in report.differences:
        if item.kind is not Kind.MISSING or item.key not in update.kept:
            raise BadInputError(
                f"{update.path}: left alone, as `{item.key}` cannot be written: {item.path} {item.reason}."
            )


def _write(path: Path, text: str) -> None:
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Under another name first, so that no reader sees half a file.
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            new = Path(folder) / target.name
            new.write_text(text, encoding="utf-8")
            if target.exists():
                new.chmod(target.stat().st_mode)
            os.replace(new, target)
    except (OSError, UnicodeError) as error:
        raise BadInputError(f"{path}: cannot be written ({error}).") from None


# What a file says when the events are right.


def _updated_tree(
    tree: Mapping[str, Any], path: Path, drafts: Drafts, versions: Versions, update: Update
) -> dict[str, Any]:
    """Return the new value of the file, and note in `update` what changes."""
    expected = Expected.of_tree(tree, str(path), "dags")
    meant = expected.meant_for(versions)
    actual, new = _paired(expected, meant, drafts)
    dag_ids = frozenset(map(drafts.events.dag_id_of, drafts.events))
    ids_of_meant = set(map(id, meant))
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
        elif id(event) in ids_of_meant and dag_named_by(parse_key(key).plain, dag_ids):
            update.removed.append(key)
        else:
            update.kept += [key] if id(event) in ids_of_meant else []
            documents.append(document)
    for unexpected in new:
        key = drafts.key_of(unexpected, tree)
        update.added.append(key)
        values.setdefault(key, []).append(drafts.of(unexpected))
    update.added.sort(key=key_order)
    new_tree: dict[str, Any] = {WHEN: tree[WHEN]} if WHEN in tree else {}
    # New keys stand where the alphabet wants them if the file is sorted, else at its end.
    keys = [key for key in tree if key != WHEN]
    is_sorted = keys == sorted(keys, key=key_order)
    for key in sorted(values, key=key_order) if is_sorted else values:
        if values[key]:
            new_tree[key] = values[key] if isinstance(tree.get(key), list) else one_or_list(values[key])
    return new_tree


def _paired(
    expected: Expected, meant: list[ExpectedEvent], drafts: Drafts
) -> tuple[dict[int, Event], list[Event]]:
    """Return the emitted event by the id of the expected one, and the events that nothing is expected of."""
    emitted = ByKey(in_scope(drafts.events, expected, "dags").compared, drafts.events)
    filled = [event.filled(drafts.variables) for event in meant]
    original = {id(copy): id(event) for copy, event in zip(filled, meant, strict=True)}
    actual: dict[int, Event] = {}
    surplus: dict[int, Event] = {}
    for group in groups_of(filled, emitted):
        actual.update({original[id(group.wanted[i])]: group.emitted[j] for i, j in group.pairs.items()})
        surplus.update({id(event): event for event in group.surplus()})
    # A key, and the same key with an address, may both have asked for an event.
    for event in actual.values():
        surplus.pop(id(event), None)
    new = [*surplus.values(), *emitted.left()]
    return actual, sorted(new, key=lambda event: stable_text(drafts.masked(event.document)))


def _refreshed_event(event: ExpectedEvent, actual: Event, drafts: Drafts) -> Mapping[str, Any]:
    def filled(expected: Any) -> Any:
        return fill(expected, drafts.variables, f"{event.source}: `{event.key}`")

    new: Mapping[str, Any] = _refreshed(
        event.document, actual.document, drafts.masked(actual.document), filled
    )
    # Nothing of what is expected is left: the draft says more than the masked event.
    return new if new.keys() <= event.document.keys() else drafts.of(actual)


def _refreshed(
    expected: Any, actual: Any, masked: Any, filled: Callable[[Any], Any], path: tuple[str, ...] = ()
) -> Any:
    """Return the expected value, changed as little as possible so that it accepts the actual one.

    `path` are the last keys that lead to it, which say what lists have no order.
    """
    if matches(filled(expected), actual, path):
        return expected
    new: Any = None
    if isinstance(expected, dict) and isinstance(actual, Mapping):
        new = {}
        for key, wanted in expected.items():
            if key in actual:
                new[key] = _refreshed(wanted, actual[key], masked[key], filled, (*path[-1:], key))
            elif isinstance(wanted, Matcher) and wanted.accepts_absence:
                new[key] = wanted
            elif masked.get(key) == ABSENT_KEY:
                new[key] = ABSENT_KEY
    elif isinstance(expected, list) and isinstance(actual, list):
        pairs = pairs_of_elements(filled(expected), actual, path)
        elements = {j: _refreshed(expected[i], actual[j], masked[j], filled) for i, j in pairs.items()}
        added = {j: trimmed(masked[j]) for j in range(len(actual)) if j not in elements}
        # A set keeps the order that it has in the file.
        is_ordered = sorted(pairs) == sorted(pairs, key=lambda i: pairs[i])
        order = range(len(actual)) if is_ordered else [*(pairs[i] for i in sorted(pairs)), *added]
        new = [{**elements, **added}[j] for j in order]
    return new if new and matches(filled(new), actual, path) else trimmed(masked, *path)


# The text of a file.

LONGEST_LINE = 170
"""Characters of a value on one line, counted as JSON, which is longer than YAML; an edge fits."""


def file_text(tree: Any, indent: str = "  ") -> str:
    """Return the text of a JSON file: matchers as objects, keys that start with `$` escaped."""

    def value_of(value: Any) -> Any:
        if isinstance(value, Matcher):
            held = {} if value.argument is None else {"value": value_of(value.argument)}
            return {"$match": value.name, **held}
        if isinstance(value, Mapping):
            return {_escaped(key): value_of(item) for key, item in value.items()}
        return [value_of(item) for item in value] if isinstance(value, list) else value

    return json.dumps(value_of(tree), indent=indent, ensure_ascii=False) + "\n"


def _escaped(key: str) -> str:
    return f"${key}" if key.startswith("$") else key


def yaml_text(tree: Mapping[str, Any]) -> str:
    """Return the text of a YAML file; what is short is on one line.

    >>> yaml_text({"a": ["x", "12", None], "$b": "${DATA}/in"})
    "a: [x, '12', null]\\n$$b: ${DATA}/in\\n"
    """
    text = yaml.dump(_File(tree), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    # Behind a tag without value, a space is needed only before a comma or bracket.
    return re.sub(r"(![a-z_]+) +$", r"\1", str(text), flags=re.MULTILINE)


class _File(dict[str, Any]):
    """The value of a whole file: every key starts a line."""


class _Dumper(yaml.SafeDumper):
    """Writes matchers as tags, short objects and lists on one line, and texts of several lines as blocks."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def choose_scalar_style(self) -> Any:
        # PyYAML would put quotes behind a tag: `!uuid ''`, `!optional '5'`.
        event: Any = self.event
        is_matcher = (event.tag or "").startswith("!")
        return "" if is_matcher and not event.style else super().choose_scalar_style()

    def write_plain(self, text: str, split: bool = True) -> None:
        if text:
            super().write_plain(text, split)
        else:  # YAML takes a comma or a bracket right behind a tag for a part of its name
            self.write_indicator("", True)


def _represent_matcher(dumper: yaml.SafeDumper, matcher: Matcher) -> yaml.Node:
    argument, tag = matcher.argument, f"!{matcher.name}"
    if argument is None:
        return dumper.represent_scalar(tag, "")
    if isinstance(argument, str):
        return dumper.represent_scalar(tag, argument, style="'" if argument.isprintable() else '"')
    if isinstance(argument, Matcher):  # YAML takes no tag behind a tag
        held = {} if argument.argument is None else {"value": argument.argument}
        return dumper.represent_mapping(tag, {"$match": argument.name, **held}, flow_style=True)
    node = dumper.represent_data(argument)
    node.tag = tag
    return node


def _represent_mapping(dumper: yaml.SafeDumper, mapping: Mapping[str, Any]) -> yaml.Node:
    items = {_escaped(key): value for key, value in mapping.items()}
    is_flow = not isinstance(mapping, _File) and _is_short(mapping)
    return dumper.represent_mapping("tag:yaml.org,2002:map", items, flow_style=is_flow)


def _represent_list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=_is_short(items))


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    is_printable = all(line.isprintable() for line in text.split("\n"))
    style = ("|" if "\n" in text else None) if is_printable else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_short(value: Any) -> bool:
    text = json_text(value)
    return len(text) <= LONGEST_LINE and "\\n" not in text


_Dumper.add_representer(Matcher, _represent_matcher)
_Dumper.add_representer(dict, _represent_mapping)
_Dumper.add_representer(_File, _represent_mapping)
_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)
# `expected` reads `1e3` as a number, and PyYAML does not: quote it.
_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"), list("-0123456789")
)


def _updated_text(text: str, path: Path, tree: Mapping[str, Any], new_tree: Mapping[str, Any]) -> str:
    """Return the new text; in YAML with the unchanged keys as they were written, if that is possible."""
    if path.suffix == ".json":
        indent = re.search(r"\n([ \t]+)\S", text)
        return file_text(new_tree, indent[1] if indent else "  ")
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
    # An anchor may tie a key that is kept to one that was rewritten.
    return new_text if is_right else yaml_text(new_tree)


def _chunks(text: str) -> dict[str, str]:
    """Return the lines of each top-level key with the comments above it; `""` has those above the first."""
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
    """Return every comment that the new text no longer has, with the line where it was."""
    comment = re.compile(r"(?<!\S)#.*")
    left = Counter(comment.findall(new))
    lost = []
    for number, line in enumerate(old.splitlines(), 1):
        for text in comment.findall(line):
            left[text] -= 1
            lost += [f"line {number}: {text}"] if left[text] < 0 else []
    return lost
