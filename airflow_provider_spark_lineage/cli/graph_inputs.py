"""Reads places into OpenLineage events: files of events, records, Spark event logs, and texts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click

from airflow_provider_spark_lineage.cli.planned import LANGUAGES, text_of
from airflow_provider_spark_lineage.cli.recorded import Opened, holds_records, nothing_in
from airflow_provider_spark_lineage.cli.refusal import refuse, say
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.addresses import address_of, local_path
from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.events.reader import COPY_THEM, read_events
from airflow_provider_spark_lineage.openlineage.events.runs import without_run
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.model import LineageGraph
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.graph.selection import whole_name
from airflow_provider_spark_lineage.openlineage.policy.tags import EventTag, tags_in, tags_of_facets
from airflow_provider_spark_lineage.spark.facets.events import EventRun, events_of
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

PLACES = (
    "OpenLineage events of any producer (a file, also compressed with gzip, or a folder), records of "
    "`spark-lineage run`, a Spark event log, or a text (.py, .sql) whose planned lineage counts; repeatable."
)
"""What `--events` takes, for its help."""


def events_at(paths: Sequence[Path]) -> Events:
    """Return the events of all places; records, event logs and texts are converted to events.

    Raise `BadInputError` if a place cannot be read or has none.
    """
    items: list[Event] = []
    problems: list[str] = []
    for path in paths:
        events = _events_of(path)
        if not events.items:
            raise BadInputError(nothing_in(path, events.problems))
        items += events.items
        problems += events.problems
    return Events(tuple(items), tuple(problems))


def _events_of(path: Path) -> Events:
    path = local_path(path, COPY_THEM)
    if path.is_file() and path.suffix.lower() in LANGUAGES:
        return _planned(path)
    if holds_records(path):
        opened = Opened(path)
        return Events(Events.of(opened.events()).items, tuple(opened.run.problems))
    return read_events(path)


def _planned(path: Path) -> Events:
    """Return the planned lineage of a text, as events of a job named like its file, at its last change."""
    lineage = planned_lineage(
        text_of(path),
        language=LANGUAGES[path.suffix.lower()],
        directory=str(Path().absolute()),
        path=str(path),
    )
    changed = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    whole = EventRun(str(path), changed, changed, lineage)
    events = events_of([], whole, namespace="default", job=path.stem)
    for event in events:
        # It names the sources of each output, which a text does not tell.
        event["job"]["facets"].pop("lineage", None)
    return Events.of(events)


def instant_option(name: str, text: str | None) -> int | None:
    """Return the time of an option, a date or a date-time with an offset, in nanoseconds since 1970.

    >>> instant_option("--since", "1970-01-02")
    86400000000000
    """
    return None if text is None else instant_of(name, text)


def instant_of(name: str, text: str) -> int:
    """Return the time of an argument as `instant_option` does."""
    try:
        return instant_ns((f"{text}T00:00:00Z" if len(text) == len("2026-01-31") else text).upper())
    except ValueError as error:
        refuse(f"{name} {text} {error}: give a date (2026-01-31) or a time (2026-01-31T06:00:00Z)")


WAREHOUSE = click.option(
    "--warehouse",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="In place of events: a folder or address that `spark-lineage warehouse load` has filled.",
)
EVENTS = click.option(
    "--events", "places", type=click.Path(path_type=Path), multiple=True, metavar="PATH", help=PLACES
)
SINCE = click.option("--since", metavar="TIME", help="Only runs that ended at this time or later.")
AS_OF = click.option("--as-of", metavar="TIME", help="What was current at this time, not now.")


@contextlib.contextmanager
def first_saying(problems: Sequence[str]) -> Iterator[None]:
    """Say problems of the input before a sentence that may follow from them: that a name is not known."""
    try:
        yield
    except BadInputError:
        for problem in problems:
            say(problem)
        raise


@dataclass(frozen=True)
class GraphInput:
    """The current lineage of events, or of a warehouse."""

    current: Current
    graph: LineageGraph
    tags: tuple[EventTag, ...] = ()
    problems: tuple[str, ...] = ()
    """Sentences about events that cannot be read, and about lineage that a warehouse has lost."""
    left_out: str = ""
    """A sentence about events that are of no run; empty without any."""
    unknown_jobs: tuple[JobName, ...] | None = None
    """Jobs whose lineage a warehouse has lost; None if it was not asked for a time."""
    perhaps_tagged: tuple[Id, ...] = ()
    """Datasets whose tags a warehouse may have lost."""

    def document(self) -> dict[str, Any]:
        """Return the part of a JSON object that names the jobs and tags that a warehouse has lost."""
        if self.unknown_jobs is None:
            return {}
        tagged = [{"namespace": namespace, "name": name} for namespace, name in self.perhaps_tagged]
        lost = {"perhaps_tagged": tagged} if tagged else {}
        return {"left_out": [job._asdict() for job in self.unknown_jobs], **lost}


def lineage_of_options(
    places: Sequence[Path],
    warehouse: Path | None,
    since: str | None,
    as_of: str | None,
    *,
    with_tags: bool = False,
) -> GraphInput:
    """Return the lineage that `--events` or `--warehouse` give, whichever of them is there."""
    if bool(places) == bool(warehouse):
        refuse(
            "give one of --events PATH (a file or folder of OpenLineage events; repeatable) and"
            " --warehouse PATH (a folder of `spark-lineage warehouse load`)"
        )
    times = begin, end = instant_option("--since", since), instant_option("--as-of", as_of)
    if begin is not None and end is not None and begin > end:
        refuse(f"--since ({since}) is after --as-of ({as_of}): give the earlier time to --since")
    if warehouse is not None:
        return lineage_in_warehouse(warehouse, *times, with_tags=with_tags)
    return _of_events(places, *times, with_tags=with_tags)


def _of_events(
    places: Sequence[Path], since: int | None, as_of: int | None, *, with_tags: bool
) -> GraphInput:
    events = events_at(places)
    current = Current.of(events, since=since, as_of=as_of)
    known = [event for event in events if as_of is None or (event.time_ns or 0) <= as_of]
    tags = tags_in(known, current.aliases) if with_tags else ()
    return GraphInput(current, LineageGraph.of(current), tags, events.problems, without_run(events))


def lineage_in_warehouse(
    path: Path, since: int | None = None, as_of: int | None = None, *, with_tags: bool = False
) -> GraphInput:
    """Return the lineage of a warehouse after its last load, or at another time."""
    # pyarrow is needed for warehouses alone.
    from airflow_provider_spark_lineage.openlineage.warehouse.lineage_at import lineage_at

    known = lineage_at(path, since, as_of, with_tags=with_tags)
    problems = [dropped("Left out", known.left_out, "--as-of")] if known.left_out else []
    if known.perhaps_tagged:
        problems.append(
            "Tags may be missing, because `warehouse retain` has dropped events that may have had them at"
            f" --as-of: {_listed(map(whole_name, known.perhaps_tagged))}."
        )
    tags = tags_of_facets(known.tag_facets, known.current.aliases)
    unknown = None if since is as_of is None else tuple(known.left_out)
    return GraphInput(
        known.current,
        known.graph,
        tags,
        tuple(problems),
        unknown_jobs=unknown,
        perhaps_tagged=tuple(known.perhaps_tagged),
    )


def dropped(what: str, jobs: Sequence[JobName], times: str) -> str:
    """Return a sentence about jobs whose lineage at some times a warehouse does not know any more."""
    return (
        f"{what}, because `warehouse retain` dropped the runs or events that show their lineage at {times}:"
        f" {_listed(map('/'.join, jobs))}."
    )


_MOST_LISTED = 10


def _listed(names: Iterable[str]) -> str:
    first, rest = (some := [*names])[:_MOST_LISTED], len(some) - _MOST_LISTED
    return ", ".join(first) + (f" and {rest:,} more" if rest > 0 else "")


def is_warehouse(path: Path) -> bool:
    """Return whether a place is a warehouse: an address is one, because events are read from folders."""
    address = address_of(path)
    if address and address[0] != "file":
        return True
    return (local_path(path, COPY_THEM) / "current.json").is_file()
