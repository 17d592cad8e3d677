"""One expected file that is there, and the text that it has when the events are taken for right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event
from airflow_provider_spark_lineage.testing.comparison import dag_ids_of, paired
from airflow_provider_spark_lineage.testing.expected import WHEN, read_expected
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.notation import BOM, parse_tree, read_text
from airflow_provider_spark_lineage.testing.places import (
    Place,
    json_places,
    yaml_comments,
    yaml_places,
)
from airflow_provider_spark_lineage.testing.updates.draft_file import Drafting, fixed, order, value_of
from airflow_provider_spark_lineage.testing.updates.edits import Edits
from airflow_provider_spark_lineage.testing.updates.refresh_event import Refresher, Slot
from airflow_provider_spark_lineage.testing.updates.writing import Json, Notation, Yaml, whole_text
from airflow_provider_spark_lineage.testing.versions import Versions

_INDENTATION = re.compile(r"\n([ \t]+)\S")


@dataclass
class Refreshed:
    """What a file expects now; the keys of the events that changed, one for each."""

    tree: dict[str, Any] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    refreshed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    """Not emitted, and not removed because nothing at all was emitted by their DAG."""

    in_place: bool = True
    """The edits say all of it."""

    @property
    def changed(self) -> frozenset[str]:
        """The keys under which anything changed."""
        return frozenset([*self.added, *self.refreshed, *self.removed])


class RefreshFile:
    """Reads the file, and compares it with the events; `text` is the new text."""

    def __init__(self, path: Path, drafting: Drafting, versions: Mapping[str, str]) -> None:
        whole = read_text(path)
        self._path, self._drafting = path, drafting
        self._versions = Versions(drafting.events, versions)
        self._text = whole.removeprefix(BOM)
        self._mark = BOM if whole != self._text else ""
        self._tree = parse_tree(self._text, path)
        if isinstance(self._tree, list):
            raise BadInputError(
                f"{path}: a list of events, as Airflow's own system tests have them, is not updated."
            )
        expected = read_expected(path)
        self._expected = expected.events
        is_json = path.suffix == ".json"
        self._top = json_places(self._text) if is_json else yaml_places(self._text)
        self._notation = _json_notation(self._text) if is_json else _yaml_notation(self._text, self._top)
        self._dag_ids = frozenset(map(drafting.events.dag_id_of, drafting.events))
        self._actual: dict[int, Event | None] = {}
        self._new: dict[str, list[Event]] = {}
        for position, event in paired(
            expected, drafting.events, variables=drafting.variables, versions=versions
        ):
            if position is not None:
                self._actual[position] = event
            elif event is not None:
                self._new.setdefault(drafting.key_of(event, self._tree), []).append(event)
        self._edits = Edits(self._text, self._notation)
        self.result = self._apply(frozenset())

    def lost_comments(self, new: str) -> list[str]:
        """Every comment that the new text no longer has, with the line where it stood."""
        if self._path.suffix == ".json":
            return []
        left = Counter(comment for _, comment in yaml_comments(new.removeprefix(BOM)))
        lost = []
        for line, comment in yaml_comments(self._text):
            left[comment] -= 1
            if left[comment] < 0:
                lost.append(f"line {line}: {comment}")
        return lost

    def text(self) -> str:
        """The text with the changes.

        Where an anchor or a merge key ties values together, the events that they are in are written out; if
        that does not do, the whole file is, without its comments.
        """
        found = self._edited()
        if found is None:
            tied = {
                key.text for key, place in zip(self._top.keys, self._top.items, strict=True) if place.shared()
            }
            self._edits = Edits(self._text, self._notation)
            self.result = self._apply(self.result.changed | tied)
            found = self._edited()
        return self._mark + (whole_text(self.result.tree, self._notation) if found is None else found)

    def _edited(self) -> str | None:
        """The edited text, if it means what it should."""
        text = self._edits.applied()
        try:
            right = self.result.in_place and parse_tree(text, self._path) == self.result.tree
        except BadInputError:
            right = False
        return text if right else None

    def _apply(self, written_out: Collection[str]) -> Refreshed:
        """Edit every key; those in `written_out` as a whole."""
        result = Refreshed()
        gone = []
        expected = iter(enumerate(self._expected))
        for number, (key, value) in enumerate(self._tree.items()):
            if key == WHEN:
                result.tree[key] = value
                continue
            # One object for each expected event, in the order in which they were read.
            events = [next(expected) for _ in (value if isinstance(value, list) else [value])]
            if not self._apply_key(number, key, [position for position, _ in events], result, written_out):
                gone.append(number)
        left = [number for number in range(len(self._top.items)) if number not in gone]
        self._insert_keys(left, result)
        if not left:
            result.in_place = False
        elif gone:
            self._edits.remove(self._top, gone)
        result.in_place &= not self._edits.stuck
        return result

    def _apply_key(
        self,
        number: int,
        key: str,
        positions: list[int],
        result: Refreshed,
        written_out: Collection[str],
    ) -> bool:
        """Bring all events of one key up to date; False where none is left."""
        mark, is_list = self._edits.mark(), isinstance(self._tree[key], list)
        place = self._top.items[number]
        elements = place if place.kind == "list" else None
        documents: dict[int, Any] = {}
        for i, position in enumerate(positions):
            slot = Slot(elements, i) if is_list else Slot(self._top, number)
            self._apply_event(i, position, slot, documents, result)
        new = self._new.get(key, ())
        when = self._apart(positions) if new else {}
        drafts = [{**when, **self._drafting.of(event, key)} for event in new]
        result.added += [key] * len(drafts)
        kept = sorted(documents)
        values = [*(documents[i] for i in kept), *drafts]
        if not values:
            self._edits.rewind(mark)
            return False
        result.tree[key] = values if is_list else value_of(values)
        removed = [i for i in range(len(positions)) if i not in documents]
        if kept and is_list and elements is not None:
            self._edits.remove(elements, removed)
            if drafts:
                self._edits.insert(elements, kept[-1], [("", draft) for draft in drafts])
        elif kept and not is_list:
            if drafts:
                self._edits.make_list(self._top, number, drafts)
        elif removed or drafts:
            self._edits.stuck = True
        if self._edits.stuck or key in written_out:
            self._edits.rewind(mark)
            self._edits.replace(self._top, number, result.tree[key])
        return True

    def _apply_event(
        self, i: int, position: int, slot: Slot, documents: dict[int, Any], result: Refreshed
    ) -> None:
        wanted = self._expected[position]
        written = self._written(wanted.key, i)
        if position not in self._actual:  # it is meant for other versions
            documents[i] = written
            return
        event = self._actual[position]
        if event is None:
            if self._speaks_of(wanted.key):
                result.removed.append(wanted.key)
            else:
                result.kept.append(wanted.key)
                documents[i] = written
            return
        refresher = Refresher(self._edits, self._drafting.variables, f"{wanted.source}: `{wanted.key}`")
        draft = self._drafting.of(event, wanted.key)
        masked = self._drafting.drafts.masked(event.document)
        new = refresher.event(wanted.document, event.document, masked, draft, slot)
        if new is wanted.document:
            documents[i] = written
            return
        result.refreshed.append(wanted.key)
        documents[i] = {WHEN: written[WHEN], **new} if WHEN in written else new

    def _written(self, key: str, i: int) -> Any:
        value = self._tree[key]
        return value[i] if isinstance(value, list) else value

    def _apart(self, positions: list[int]) -> dict[str, Any]:
        """The condition for what is new beside events that are meant for other versions."""
        others = [self._expected[position] for position in positions if position not in self._actual]
        when = self._versions.apart_from(other.when for other in others)
        return {WHEN: when} if when else {}

    def _speaks_of(self, key: str) -> bool:
        """Whether there are events of the DAG that the key is about."""
        return bool(dag_ids_of(parse_key(key).plain, self._dag_ids))

    def _insert_keys(self, left: list[int], result: Refreshed) -> None:
        """Put new keys where the alphabet wants them, if the file keeps to it; at the end if not."""
        written = [self._top.keys[number].text for number in left]
        keys = [key for key in written if key != WHEN]
        ordered = keys == sorted(keys, key=order)
        behind: dict[int, list[tuple[str, Any]]] = {}
        for key in sorted(self._new.keys() - self._tree.keys(), key=order):
            drafts = sorted((self._drafting.of(event, key) for event in self._new[key]), key=fixed)
            result.added += [key] * len(drafts)
            result.tree[key] = value_of(drafts)
            before = [
                number
                for number, other in zip(left, written, strict=True)
                if other == WHEN or not ordered or order(other) < order(key)
            ]
            behind.setdefault(before[-1] if before else -1, []).append((key, value_of(drafts)))
        for number, entries in behind.items() if left else ():
            self._edits.insert(self._top, number, entries)


def _json_notation(text: str) -> Notation:
    found = _INDENTATION.search(text)
    return Json(found[1]) if found else Json()


def _yaml_notation(text: str, top: Place) -> Notation:
    """The layout that most of the file has."""
    lists, mappings = Counter[int](), Counter[int]()
    for key, value in _entries(top):
        if value.block and not value.anchored:
            deeper = _column(text, value.start) - _column(text, key)
            (lists if value.kind == "list" else mappings)[deeper] += 1
    list_indent = lists.most_common(1)[0][0] if lists else 0
    nested = mappings.most_common(1)[0][0] if mappings else 2
    return Yaml(max(list_indent, 0), max(nested, 1))


def _entries(place: Place) -> Iterator[tuple[int, Place]]:
    """Where a key begins, with its value, in every block of the text."""
    for position, item in enumerate(place.items):
        if place.block and place.kind == "mapping":
            yield place.keys[position].start, item
        yield from _entries(item)


def _column(text: str, position: int) -> int:
    return position - text.rfind("\n", 0, position) - 1
