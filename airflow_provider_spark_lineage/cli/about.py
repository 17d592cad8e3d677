"""Lines of the page about a run: tests of no single dataset; where its applications ran, what they used.

They are read from run facets, in OpenLineage's own form: a value whose type is not the schema's is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from airflow_provider_spark_lineage.events.checks import lines_of, tests_of
from airflow_provider_spark_lineage.events.shapes import object_at, objects, text
from airflow_provider_spark_lineage.lineage.text import printable
from airflow_provider_spark_lineage.words import counted, duration, size


def about(facets: Mapping[str, Any]) -> str:
    """Return a block of lines below a page, for the facets of a run; empty without any."""
    tests = [f"test    {line}" for line in lines_of(tests_of(facets))]
    lines = [*tests, *_applications(facets), *_resources(facets), *_streams(facets), *_bottlenecks(facets)]
    return "".join(["\n", *(f"{printable(line)}\n" for line in lines)]) if lines else ""


def _applications(facets: Mapping[str, Any]) -> Iterator[str]:
    details = object_at(facets, "spark_applicationDetails")
    if not details:
        return
    for entry in objects(object_at(facets, "sparkLineage_application").get("applications")):
        if text(entry.get("applicationId")) != text(details.get("applicationId")):
            continue
        links = entry.get("links")
        yield _line(
            "app",
            text(entry.get("name")),
            text(entry.get("applicationId")),
            f"Spark {text(entry.get('sparkVersion'))} on {text(details.get('master'))}",
            text(links[0]) if isinstance(links, list) and links else "",
        )


def _resources(facets: Mapping[str, Any]) -> Iterator[str]:
    for entry in objects(object_at(facets, "sparkLineage_resources").get("applications")):
        numbers = {name: value for name, value in entry.items() if type(value) is int}
        if not numbers.get("tasks"):
            continue
        cores, spilled = numbers.get("cores", 0), numbers.get("diskSpilledBytes", 0)
        yield _line(
            "used",
            f"{counted(numbers['tasks'], 'task')}, {duration(numbers.get('runMs', 0))}"
            + (f" on {counted(cores, 'core')}" if cores else ""),
            f"read {size(numbers.get('inputBytes', 0))}, wrote {size(numbers.get('outputBytes', 0))}",
            f"shuffled {size(numbers.get('shuffleWrittenBytes', 0))}",
            f"spilled {size(spilled)}" if spilled else "",
        )


def _streams(facets: Mapping[str, Any]) -> Iterator[str]:
    for entry in objects(object_at(facets, "sparkLineage_streams").get("queries")):
        batches, rows = entry.get("batches"), entry.get("rows")
        if type(batches) is not int or type(rows) is not int:
            continue
        speed = _amount(entry.get("processedRowsPerSecond"))
        yield _line(
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
    is_number = type(value) in (int, float) and abs(value) < 1e18
    return f"{value:,.0f}" if is_number else ""


def _bottlenecks(facets: Mapping[str, Any]) -> Iterator[str]:
    for entry in objects(object_at(facets, "sparkLineage_bottlenecks").get("bottlenecks")):
        yield _line("slow", text(entry.get("kind")), text(entry.get("message")))


def _line(word: str, *parts: str) -> str:
    return f"{word:<7} " + "   ".join(filter(None, parts))
