"""The keys and drafts of all events of a file: what a new one says, and what is added to an old one."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Event, Events
from airflow_provider_spark_lineage.testing.keys import Addresses, ExpectedKey, parse_key
from airflow_provider_spark_lineage.testing.updates.drafts import Drafts, is_ours
from airflow_provider_spark_lineage.testing.updates.writing import plain_json


class Drafting:
    """The events of one file, with the keys and drafts that they get where nothing is expected yet."""

    def __init__(self, events: Events, variables: Mapping[str, str]) -> None:
        self.events = events
        self.variables = variables
        self.drafts = Drafts(variables, ours=any(is_ours(event.document) for event in events))
        addresses = Addresses(events)
        found = [(event, addresses.key_of(event)) for event in events]
        again = {(key.subject, key.map_index) for _, key in found if (key.try_number or 1) > 1}
        self._retried = {id(event) for event, key in found if (key.subject, key.map_index) in again}
        # An instance without an index, as of a task that was never expanded, would have a key that names the
        # others as well: then none of them has an address.
        self._plain = {key.plain for event, key in found if not self._address(event, key).addressed}
        self._keys = {id(event): self._address(event, key) for event, key in found}
        self._full = {id(event): key for event, key in found}

    def tree(self) -> dict[str, Any]:
        """A whole new file; what arrived in any order is in one that is always the same."""
        groups: dict[str, list[Any]] = {}
        for event in self.events:
            key = self.key_of(event, ())
            groups.setdefault(key, []).append(self.of(event, key))
        return {key: value_of(sorted(groups[key], key=fixed)) for key in sorted(groups, key=order)}

    def key_of(self, event: Event, known: Collection[str]) -> str:
        """The key for an event: one of the file's that names it, else one that tells it from others.

        A new key beside one that names the event already would leave that with an event too many. Raises
        BadInputError for an event that no key can name.
        """
        new = event.key if event.key in self._plain else str(self._keys[id(event)])
        key = next((one for one in self._names(event) if one in known), new)
        try:
            parse_key(key)
        except ValueError as error:
            raise BadInputError(f"{event.source}: no expected file can name this event: {error}") from None
        return key

    def of(self, event: Event, key: str) -> dict[str, Any]:
        """The draft of an event under a key, with what the key does not tell of the task's instance."""
        told: dict[str, int] = {}
        says = parse_key(key)
        if says.map_index is None and event.map_index is not None:
            told["map_index"] = event.map_index
        if says.try_number is None and event.try_number is not None and id(event) in self._retried:
            told["try_number"] = event.try_number
        return self.drafts.of(event, told)

    def _names(self, event: Event) -> Iterator[str]:
        """Every key that an expected file may have for an event, those first that name others as well."""
        full = self._full[id(event)]
        yield event.key
        yield str(replace(full, try_number=None))
        yield str(replace(full, map_index=None))
        yield str(full)

    def _address(self, event: Event, key: ExpectedKey) -> ExpectedKey:
        """The index of a mapped task, and the try where there is more than one."""
        return key if id(event) in self._retried else replace(key, try_number=None)


def fixed(draft: Any) -> str:
    """What to sort drafts by that arrived in any order."""
    return json.dumps(plain_json(draft), sort_keys=True)


def order(key: str) -> tuple[str, int, int, str]:
    """What to sort keys by: the alphabet, but instances and tries by their numbers."""
    parsed = parse_key(key)
    index = -1 if parsed.map_index is None else parsed.map_index
    return f"{parsed.subject}.event.", index, parsed.try_number or 0, parsed.type


def value_of(documents: Sequence[Any]) -> Any:
    """What stands behind a key: an event, or a list of several."""
    return documents[0] if len(documents) == 1 else list(documents)


def keys_of(tree: Mapping[str, Any]) -> list[str]:
    """The keys of a file, as often as each has events."""
    return [key for key, value in tree.items() for _ in (value if isinstance(value, list) else [value])]
