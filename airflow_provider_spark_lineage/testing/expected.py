"""Expected events by key, from `system_tests/expected/<dag_id>.yaml`, a JSON file or a folder of both.

A file that cannot mean anything is refused here, before a comparison could pass or fail for the wrong reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import EVENT_TYPES
from airflow_provider_spark_lineage.testing.matchers import Matcher, nearest
from airflow_provider_spark_lineage.testing.notation import read_tree

Scope = Literal["all", "dags"]
"""Which emitted events are compared: all, or those of the DAGs that the expected keys name."""

SUFFIXES = (".yaml", ".yml", ".json")

_KEY = re.compile(r"(.+)\.event\.([^.]+)")


@dataclass(frozen=True)
class ExpectedEvent:
    """One event that must be emitted: its key, the values it must have, and the file that says so."""

    key: str
    document: Mapping[str, Any]
    source: str


@dataclass(frozen=True)
class Expected:
    """Every expected event of one file, or of all files in a folder, in the order of the files."""

    events: tuple[ExpectedEvent, ...]

    scope: Scope = "all"
    """One file speaks for its own DAGs; a folder, or a mapping in code, for everything that is emitted."""

    @classmethod
    def of(cls, keys: Mapping[str, Any], source: str = "expected", scope: Scope = "all") -> Expected:
        """From a mapping of key to one expected event or a list; BadInputError names what is wrong."""
        found = []
        for key, value in keys.items():
            _check_key(key, source)
            documents = value if isinstance(value, list) else [value]
            if not documents:
                raise BadInputError(f"{source}: `{key}` has an empty list, so no event is expected for it.")
            for document in documents:
                _check_document(document, key, source)
                found.append(ExpectedEvent(key, document, source))
        return cls(tuple(found), scope)


def read_expected(path: Path | str) -> Expected:
    """Expected events of a file or of a folder; BadInputError names file, line and cause."""
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise BadInputError(f"{path}: no such file or folder of expected events.")
    return Expected.of(_keys(path), str(path), scope="dags")


def _read_folder(folder: Path) -> Expected:
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise BadInputError(f"{folder}: holds no file of expected events ({', '.join(SUFFIXES)}).")
    first: dict[str, Path] = {}
    events: tuple[ExpectedEvent, ...] = ()
    for file in files:
        keys = _keys(file)
        for key in keys:
            if first.setdefault(key, file) is not file:
                raise BadInputError(f"{file}: `{key}` is expected in {first[key].name} already.")
        events += Expected.of(keys, str(file)).events
    return Expected(events, scope="all")


def _keys(file: Path) -> dict[str, Any]:
    tree = read_tree(file)
    if not isinstance(tree, dict):
        raise BadInputError(f"{file}: not a mapping of `<dag_id>.<task_id>.event.<type>` to events.")
    if not tree:
        raise BadInputError(f"{file}: expects no event at all.")
    return tree


def _check_key(key: str, source: str) -> None:
    match = _KEY.fullmatch(key)
    if not match:
        raise BadInputError(f"{source}: the key `{key}` is not `<dag_id>.<task_id>.event.<type>`.")
    if match[2] not in EVENT_TYPES:
        help_ = nearest(match[2], EVENT_TYPES)
        raise BadInputError(f"{source}: the key `{key}` ends in no event type; {help_}")


def _check_document(document: Any, key: str, source: str) -> None:
    if not isinstance(document, Mapping):
        raise BadInputError(f"{source}: `{key}` is neither an event (a mapping) nor a list of events.")
    if _absent_in_list(document):
        raise BadInputError(f"{source}: `{key}` has `!absent` as an element of a list; it is for keys only.")


def _absent_in_list(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_absent_in_list(item) for item in value.values())
    if isinstance(value, list):
        return any(_absent_in_list(item) or _is_absent(item) for item in value)
    return False


def _is_absent(value: Any) -> bool:
    return isinstance(value, Matcher) and value.accepts_absence
