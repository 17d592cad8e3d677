"""Reads applications, resources, streams and bottlenecks from the run facets of an event.

The facets may come from any producer: a value whose type is not the schema's is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.checks import lines_of, tests_of
from airflow_provider_spark_lineage.openlineage.events.shapes import object_at, objects, text
from airflow_provider_spark_lineage.openlineage.words import counted, duration, size

Fact = tuple[str, tuple[str, ...]]
"""A word for its kind, and the parts of a line of text."""


def lines_about(facets: Mapping[str, Any], *, has_ended: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the lines about a run, each with a word: checks of no single dataset, then what `facts_of` has.

    >>> [*lines_about({"sparkLineage_streams": {"queries": [{"name": "copy", "batches": 2, "rows": 5}]}})]
    [('stream', 'copy   2 batches, 5 rows')]
    """
    for line in lines_of(tests_of(facets)):
        yield "test", line
    for word, parts in facts_of(facets, has_ended=has_ended):
        yield word, "   ".join(parts)


def facts_of(facets: Mapping[str, Any], *, has_ended: bool = False) -> Iterator[Fact]:
    """Yield facts about the applications of a run: names, versions, resources, streams.

    If the run `has_ended`, pages that its applications had while they ran are left out.
    """
    yield from _launched(facets)
    yield from _applications(facets, has_ended)
    yield from _resources(facets)
    yield from _streams(facets)


def bottlenecks_of(facets: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the kind and the message of each bottleneck."""
    entries = objects(object_at(facets, "sparkLineage_bottlenecks").get("bottlenecks"))
    return [{"kind": text(entry.get("kind")), "message": text(entry.get("message"))} for entry in entries]


def links_of(facets: Mapping[str, Any], *, has_ended: bool = False) -> list[str]:
    """Return the addresses of the applications' pages, without those that are not of the web.

    If the run `has_ended`, also without the pages of its drivers, which are gone.
    """
    entries = objects(object_at(facets, "sparkLineage_application").get("applications"))
    links = dict.fromkeys(link for entry in entries for link in _links(entry, has_ended))
    return [link for link in links if link.startswith(("http://", "https://"))]


def _links(application: Mapping[str, Any], has_ended: bool) -> list[str]:
    links = [text(link) for link in _list(application.get("links"))]
    return [link for link in links if not (has_ended and _OF_DRIVER.fullmatch(link))]


_OF_DRIVER = re.compile(r"https?://[^/?#]+/?")
"""Address of a driver's own page; those of a history server or a proxy have a path."""


def engine_of(facets: Mapping[str, Any]) -> str:
    """Return the engine that did the work and its version; empty if no facet has both.

    A task of Airflow has Airflow itself in `processing_engine`, so an application's version comes first.
    """
    for entry in objects(object_at(facets, "sparkLineage_application").get("applications")):
        if version := text(entry.get("sparkVersion")):
            return f"Spark {version}"
    engine = object_at(facets, "processing_engine")
    name, version = text(engine.get("name")), text(engine.get("version"))
    if name.lower() == "airflow":
        return ""
    return " ".join(filter(None, ["Spark" if name == "spark" else name, version]))


def _launched(facets: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the applications that a task launched by another system, as its operator names them."""
    launch = object_at(facets, "sparkLineage_launch")
    for entry in objects(launch.get("applications")):
        words = ("type", "name", "mainClass", "main", "arguments")
        yield _fact("started", *(text(entry.get(word)) for word in words), text(launch.get("runId")))


def _applications(facets: Mapping[str, Any], has_ended: bool) -> Iterator[Fact]:
    details = object_at(facets, "spark_applicationDetails")
    if not details:
        return
    for entry in objects(object_at(facets, "sparkLineage_application").get("applications")):
        if text(entry.get("applicationId")) != text(details.get("applicationId")):
            continue
        links = _links(entry, has_ended)
        yield _fact(
            "app",
            text(entry.get("name")),
            text(entry.get("applicationId")),
            f"Spark {text(entry.get('sparkVersion'))} on {text(details.get('master'))}",
            links[0] if links else "",
        )


def _resources(facets: Mapping[str, Any]) -> Iterator[Fact]:
    for entry in objects(object_at(facets, "sparkLineage_resources").get("applications")):
        numbers = {name: value for name, value in entry.items() if type(value) is int and _is_moderate(value)}
        if not numbers.get("tasks"):
            continue
        cores, spilled = numbers.get("cores", 0), numbers.get("diskSpilledBytes", 0)
        yield _fact(
            "used",
            f"{counted(numbers['tasks'], 'task')}, {duration(numbers.get('runMs', 0))}"
            + (f" on {counted(cores, 'core')}" if cores else ""),
            f"read {size(numbers.get('inputBytes', 0))}, wrote {size(numbers.get('outputBytes', 0))}",
            f"shuffled {size(numbers.get('shuffleWrittenBytes', 0))}",
            f"spilled {size(spilled)}" if spilled else "",
        )


def _streams(facets: Mapping[str, Any]) -> Iterator[Fact]:
    for entry in objects(object_at(facets, "sparkLineage_streams").get("queries")):
        batches, rows = entry.get("batches"), entry.get("rows")
        if type(batches) is not int or type(rows) is not int:
            continue
        speed = _amount(entry.get("processedRowsPerSecond"))
        yield _fact(
            "stream",
            text(entry.get("name")) or text(entry.get("id")),
            " ".join(filter(None, [text(entry.get("outcome")), text(entry.get("errorClass"))])),
            f"{batches:,} batch{'' if batches == 1 else 'es'}, {counted(rows, 'row')}",
            f"{speed} rows/s in the last batch" if speed else "",
            *(
                f"{name} {_amount(value)}"
                for source in objects(entry.get("sources"))
                for name, value in object_at(source, "lag").items()
            ),
        )


def _amount(value: Any) -> str:
    """Return a number without a fraction; empty if it is none."""
    return f"{value:,.0f}" if type(value) in (int, float) and _is_moderate(value) else ""


def _is_moderate(number: float) -> bool:
    """Return whether a number can be a measured one: others may be too large to print."""
    return abs(number) < 1e18


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _fact(word: str, *parts: str) -> Fact:
    return word, tuple(filter(None, parts))
