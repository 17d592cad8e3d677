"""Writes expected files from emitted events, and brings those that exist up to date with the least changes.

Only what the events contradict is changed: values and matchers that accept what was emitted, comments, order
and layout stay as they are, and a comment that goes with what it stood beside is named. Nothing is written
before the new text has been read back and compared.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Events
from airflow_provider_spark_lineage.testing.comparison import compare
from airflow_provider_spark_lineage.testing.expected import SUFFIXES, Expected, read_expected
from airflow_provider_spark_lineage.testing.notation import BOM, parse_tree
from airflow_provider_spark_lineage.testing.relations import RELATIONS
from airflow_provider_spark_lineage.testing.report import Difference, Kind
from airflow_provider_spark_lineage.testing.updates.draft_file import Drafting, keys_of
from airflow_provider_spark_lineage.testing.updates.refresh_file import RefreshFile
from airflow_provider_spark_lineage.testing.updates.writing import Json, Yaml, whole_text


@dataclass(frozen=True)
class Update:
    """What became of an expected file: the keys of the events that changed, one for each event."""

    path: Path

    created: bool = False
    """There was no such file before."""

    added: tuple[str, ...] = ()
    refreshed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    """Expected before, and not emitted."""

    kept: tuple[str, ...] = ()
    """Not emitted, and left in the file, because nothing at all was emitted by their DAG."""

    left: tuple[str, ...] = ()
    """What the events contradict and no update can mend, such as a captured value: `key: path reason`."""

    lost_comments: tuple[str, ...] = ()
    """What stood beside something that is gone, with the line where it stood: `line 3: # why`."""

    @property
    def changed(self) -> bool:
        """Whether the file was written."""
        return bool(self.added or self.refreshed or self.removed)

    def text(self) -> str:
        """Everything for a person; the last line is the summary."""
        parts = {"added": self.added, "refreshed": self.refreshed, "removed": self.removed, "kept": self.kept}
        lines = [f"{what:<11} {key}" for what, keys in parts.items() for key in keys]
        lines += [f"left for a person: {what}" for what in self.left]
        lines += [f"comment lost, {comment}" for comment in self.lost_comments]
        counts = [f"{len(keys)} {what}" for what, keys in parts.items() if keys and what != "kept"]
        state = "written" if self.created else "updated" if self.changed else "unchanged"
        return "\n".join([*lines, f"{self.path}: {', '.join([state, *counts])}"])


def draft_expected(
    events: Events, *, variables: Mapping[str, str] | None = None, dag_id: str | None = None
) -> str:
    """The text of a new expected file, in YAML; with `dag_id`, for that DAG alone.

    Raises BadInputError where there is nothing to expect, or not all of it could be read.

    >>> event = {"eventType": "START", "run": {}, "job": {"name": "dag.task"}, "inputs": []}
    >>> print(draft_expected(Events.of([event])), end="")
    dag.task.event.start: {inputs: []}
    """
    with events.depth_told():
        return whole_text(Drafting(_chosen(events, dag_id), variables or {}).tree(), Yaml())


def update_expected(
    path: Path | str,
    events: Events,
    *,
    variables: Mapping[str, str] | None = None,
    versions: Mapping[str, str] | None = None,
    dag_id: str | None = None,
) -> Update:
    """Write an expected file, YAML or JSON by its suffix, or refresh the one that is there.

    The value of a variable is written as `${NAME}` wherever it stands. A new file expects all events, or
    those of `dag_id`; one that exists stays with the DAGs that it names. Raises BadInputError, and leaves the
    file alone, where it or an event cannot be read, and where there is no event.
    """
    path = Path(path)
    if path.is_dir() or path.suffix not in SUFFIXES:
        raise BadInputError(f"{path}: expected events are written to one file, {', '.join(SUFFIXES)}.")
    with events.depth_told():
        drafting = Drafting(_chosen(events, dag_id), variables or {})
        if path.exists():
            return _refresh(path, drafting, versions or {})
        tree = drafting.tree()
        text = whole_text(tree, Json() if path.suffix == ".json" else Yaml())
        _write(path, text, drafting, versions or {}, ())
        return Update(path, created=True, added=tuple(keys_of(tree)))


def _refresh(path: Path, drafting: Drafting, versions: Mapping[str, str]) -> Update:
    file = RefreshFile(path, drafting, versions)
    found, lost, left = file.result, [], []
    if found.changed:
        text = file.text()
        _write(path, text, drafting, versions, found.kept)
        found, lost = file.result, file.lost_comments(text)
    else:
        differing = _contradicted(read_expected(path), drafting, versions, found.kept)
        left = [f"{one.key}: {one.path} {one.reason}" for one in differing]
    return Update(
        path,
        added=tuple(found.added),
        refreshed=tuple(found.refreshed),
        removed=tuple(found.removed),
        kept=tuple(found.kept),
        left=tuple(left),
        lost_comments=tuple(lost),
    )


def _chosen(events: Events, dag_id: str | None) -> Events:
    if events.problems:
        more = f" (and {len(events.problems) - 1} more)" if len(events.problems) > 1 else ""
        raise BadInputError(f"Not all events can be read, so some would be lost: {events.problems[0]}{more}")
    chosen = [event for event in events if dag_id in (None, events.dag_id_of(event))]
    if not len(events):
        raise BadInputError("There are no events at all to expect.")
    if not chosen:
        known = ", ".join(sorted(set(map(events.dag_id_of, events))))
        raise BadInputError(f"No event is of the DAG `{dag_id}`; there are events of: {known}.")
    return Events(tuple(chosen))


def _write(
    path: Path, text: str, drafting: Drafting, versions: Mapping[str, str], kept: Sequence[str]
) -> None:
    """Write the file, unless the same events would fail it: it is never left worse than it was."""
    expected = Expected.of_tree(parse_tree(text.removeprefix(BOM), path), str(path), "dags")
    for one in _contradicted(expected, drafting, versions, kept):
        raise BadInputError(f"{path}: left alone, as `{one.key}` cannot be written: {one.path} {one.reason}.")
    _replace(path, text)


def _contradicted(
    expected: Expected, drafting: Drafting, versions: Mapping[str, str], kept: Sequence[str]
) -> list[Difference]:
    """What a comparison with the same events would find; not what holds between events, or is kept."""
    events, variables = drafting.events, drafting.variables
    report = compare(expected, events, variables=variables, versions=versions, without=RELATIONS)
    return [one for one in report.differences if one.kind is not Kind.MISSING or one.key not in kept]


def _replace(path: Path, text: str) -> None:
    """All of it or nothing: under another name first, in a folder that no reader of expected files enters."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as folder:
            new = Path(folder) / target.name
            new.write_bytes(text.encode())
            if target.exists():
                new.chmod(target.stat().st_mode)
            os.replace(new, target)
    except OSError as error:
        raise BadInputError(f"{path}: cannot be written ({error.strerror or error}).") from None
