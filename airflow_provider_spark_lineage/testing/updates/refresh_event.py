"""Brings one expected event up to date: what accepts the actual value stays as it is written.

Every step gives the new value and, beside it, the edits that make the text say so. The value is what counts:
where the text cannot be edited in place, the caller writes the value out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_provider_spark_lineage.testing.composite import make
from airflow_provider_spark_lineage.testing.differences import Composite, differences, pairs_of_elements
from airflow_provider_spark_lineage.testing.matchers import Matcher
from airflow_provider_spark_lineage.testing.places import Place
from airflow_provider_spark_lineage.testing.updates.drafts import ABSENT, trimmed
from airflow_provider_spark_lineage.testing.updates.edits import Edits
from airflow_provider_spark_lineage.testing.variables import fill

_DATASET_DEPTH = 2
"""A new dataset says as much as its neighbours down to the names of their facets."""


_HOLDERS = frozenset({"exact", "optional"})
"""Matchers that stay around whatever value is put into them."""


@dataclass(frozen=True)
class Slot:
    """The position of a value in a collection of the text; without `place`, the text does not show it."""

    place: Place | None
    position: int

    @property
    def value(self) -> Place | None:
        """Where the value itself stands; nowhere where an alias stands for it."""
        found = self.place.items[self.position] if self.place else None
        return None if found is None or found.kind == "alias" else found

    @property
    def is_alias(self) -> bool:
        """Whether the text repeats a value that it shows elsewhere."""
        return self.place is not None and self.place.items[self.position].kind == "alias"


class Refresher:
    """Refreshes the events of one file."""

    def __init__(self, edits: Edits, variables: Mapping[str, str], where: str) -> None:
        self._edits = edits
        self._variables = variables
        self._where = where

    def event(
        self, expected: Mapping[str, Any], actual: Any, masked: Any, draft: Mapping[str, Any], slot: Slot
    ) -> Mapping[str, Any]:
        """What is expected of a whole event; its draft, where nothing that is expected is left."""
        mark = self._edits.mark()
        new: Mapping[str, Any] = self.refreshed(expected, actual, masked, slot)
        if new is expected or new.keys() <= expected.keys():
            return new
        self._edits.rewind(mark)
        self._replace(slot, draft)
        return draft

    def refreshed(
        self, expected: Any, actual: Any, masked: Any, slot: Slot, path: tuple[str, ...] = ()
    ) -> Any:
        """The expected value that accepts `actual`, whose masked form is `masked`, with the least changes."""
        if self._accepts(expected, actual, path):
            return expected
        mark = self._edits.mark()
        new: Any = None
        if isinstance(expected, Mapping) and isinstance(actual, Mapping):
            new = self._object(expected, actual, masked, slot, path)
        elif isinstance(expected, list) and isinstance(actual, list):
            new = self._list(expected, actual, masked, slot, path)
        elif isinstance(expected, Composite) and expected.name in _HOLDERS:
            return self._held(expected, actual, masked, slot, path)
        if new and self._accepts(new, actual, path) and not slot.is_alias:
            return new
        # An alias is written out; the text that it repeats is for others, too.
        self._edits.rewind(mark)
        kept = bool(new) and self._accepts(new, actual, path)
        return self._replace(slot, new if kept else trimmed(masked, *path))

    def _held(self, expected: Composite, actual: Any, masked: Any, slot: Slot, path: tuple[str, ...]) -> Any:
        """A matcher that holds what it is about stays, with another value."""
        held, mark = expected.argument, self._edits.mark()
        new: Any = None
        if isinstance(held, Mapping) and isinstance(actual, Mapping):
            new = self._object(held, actual, masked, _inside(slot), path)
        elif isinstance(held, list) and isinstance(actual, list) and expected.name == "optional":
            new = self._list(held, actual, masked, _inside(slot), path)
        if new and not slot.is_alias:
            matcher = make(expected.name, new)
            if self._accepts(matcher, actual, path):
                return matcher
        self._edits.rewind(mark)
        # `exact` is about all keys, `optional` about what is worth expecting.
        whole = masked if expected.name == "exact" else trimmed(masked, *path)
        fits = isinstance(whole, Mapping) if expected.name == "exact" else whole is not None
        return self._replace(slot, make(expected.name, whole) if fits else trimmed(masked, *path))

    def _accepts(self, expected: Any, actual: Any, path: tuple[str, ...]) -> bool:
        # The path says of some lists that their order means nothing.
        return next(differences(fill(expected, self._variables, self._where), actual, path), None) is None

    def _replace(self, slot: Slot, value: Any) -> Any:
        if slot.place is None:
            self._edits.stuck = True
        else:
            self._edits.replace(slot.place, slot.position, value)
        return value

    def _object(
        self,
        expected: Mapping[str, Any],
        actual: Mapping[str, Any],
        masked: Any,
        slot: Slot,
        path: tuple[str, ...],
    ) -> dict[str, Any]:
        new: dict[str, Any] = {}
        gone = []
        for key, wanted in expected.items():
            inner = self._slot_of(slot, key)
            if key in actual:
                new[key] = self.refreshed(wanted, actual[key], masked.get(key), inner, (*path[-1:], key))
            elif isinstance(wanted, Matcher) and wanted.accepts_absence:
                new[key] = wanted
            elif masked.get(key) == ABSENT:
                new[key] = self._replace(inner, ABSENT)
            else:
                gone.append(inner)
        if new:
            self._remove(slot, gone)
            self._add_edges(expected, new, masked, slot)
        return new

    def _add_edges(
        self, expected: Mapping[str, Any], new: dict[str, Any], masked: Mapping[str, Any], slot: Slot
    ) -> None:
        """Say where the columns come from that are new in a schema, where that is said of the others."""
        edges, actual = _edges(new), _edges(masked)
        added = [
            name
            for name in _columns(new)
            if name in actual and name not in edges and name not in _columns(expected)
        ]
        if not edges or not added:
            return
        more = {name: trimmed(actual[name]) for name in added}
        place = self._slot_of(self._slot_of(slot, "columnLineage"), "fields").value
        last = (
            None
            if place is None
            else next((i for i in reversed(range(len(place.keys))) if place.keys[i].text in edges), None)
        )
        if place is None or last is None:
            self._edits.stuck = True
        else:
            self._edits.insert(place, last, list(more.items()))
        new["columnLineage"] = {**new["columnLineage"], "fields": {**edges, **more}}

    def _slot_of(self, slot: Slot, key: str) -> Slot:
        position = slot.value.at(key) if slot.value else None
        return Slot(None, 0) if position is None else Slot(slot.value, position)

    def _remove(self, slot: Slot, gone: Sequence[Slot]) -> None:
        if slot.value is None or any(one.place is None for one in gone):
            self._edits.stuck |= bool(gone)
        else:
            self._edits.remove(slot.value, [one.position for one in gone])

    def _list(
        self, expected: list[Any], actual: list[Any], masked: list[Any], slot: Slot, path: tuple[str, ...]
    ) -> list[Any]:
        filled = fill(expected, self._variables, self._where)
        pairs = pairs_of_elements(filled, actual, path)
        expected_of = {j: i for i, j in pairs.items()}
        kept: dict[int, Any] = {}
        for i, j in sorted(pairs.items()):
            kept[i] = self.refreshed(expected[i], actual[j], masked[j], self._element(slot, i))
        # By the last kept element before them: what is no longer there, and what is new.
        old_behind: dict[int, list[int]] = {}
        new_behind: dict[int, list[int]] = {}
        anchor = -1
        for i in range(len(expected)):
            anchor = i if i in kept else anchor
            old_behind.setdefault(anchor, []).extend([] if i in kept else [i])
        anchor = -1
        for j in range(len(actual)):
            anchor = expected_of.get(j, anchor)
            new_behind.setdefault(anchor, []).extend([] if j in expected_of else [j])
        added: dict[int, list[Any]] = {}
        for anchor, new in new_behind.items():
            old = old_behind.get(anchor, [])
            # One for one it is taken for renamed, so that comments and matchers stay.
            for i, j in zip(old, new, strict=False):
                kept[i] = self.refreshed(expected[i], actual[j], masked[j], self._element(slot, i))
            more = [_like(trimmed(masked[j]), expected) for j in new[len(old) :]]
            if more:
                added[old[-1] if old else anchor] = more
        gone = [i for i in range(len(expected)) if i not in kept]
        if kept:
            self._remove(slot, [self._element(slot, i) for i in gone])
            for position, values in added.items():
                self._insert(slot, position, values)
        result = added.get(-1, [])[:]
        for i in sorted(kept):
            result += [kept[i], *added.get(i, ())]
        return result if kept else []

    def _element(self, slot: Slot, position: int) -> Slot:
        return Slot(slot.value, position)

    def _insert(self, slot: Slot, behind: int, values: list[Any]) -> None:
        if slot.value is None:
            self._edits.stuck = True
        else:
            self._edits.insert(slot.value, behind, [("", value) for value in values])


def _inside(slot: Slot) -> Slot:
    """Where the value of a matcher is: with its tag in YAML, under a key of its own in JSON's form."""
    names = [key.text for key in slot.value.keys] if slot.value else []
    return Slot(slot.value, names.index("value")) if "$match" in names and "value" in names else slot


def _like(new: Any, neighbours: Sequence[Any], depth: int = _DATASET_DEPTH) -> Any:
    """As much of a new element as is said of those beside it."""
    beside = [one for one in neighbours if isinstance(one, Mapping)]
    if not depth or not beside or not isinstance(new, Mapping):
        return new
    names = {name for one in beside for name in one}
    found = {
        name: _like(value, [one[name] for one in beside if name in one], depth - 1)
        for name, value in new.items()
        if name in names
    }
    return found or new


def _columns(facets: Mapping[str, Any]) -> list[str]:
    """The columns that a dataset's facets name, as far as they do it literally."""
    schema = facets.get("schema")
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    return [
        field["name"]
        for field in (fields if isinstance(fields, list) else ())
        if isinstance(field, Mapping) and isinstance(field.get("name"), str)
    ]


def _edges(facets: Any) -> Mapping[str, Any]:
    """The edges of a dataset's columns, by column."""
    facet = facets.get("columnLineage") if isinstance(facets, Mapping) else None
    fields = facet.get("fields") if isinstance(facet, Mapping) else None
    return fields if isinstance(fields, Mapping) else {}
