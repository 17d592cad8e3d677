"""Draft an expected file from actual events, to be read and corrected by eye.

    python -m system_tests.expect DAG_ID EVENTS DATA > system_tests/expected/DAG_ID.yaml

A draft repeats what was emitted, right or wrong: it saves the typing and not the thinking. Folders under
`DATA` become `${DATA}`; what differs from run to run becomes a matcher; what Airflow's own provider says of a
run is left out. Facets of datasets are kept where a task has ended, and only names elsewhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from airflow_provider_spark_lineage.events import Event, read_events

LEFT_OUT = frozenset({"_producer", "_schemaURL", "_deleted", "stackTrace", "tasksDuration", "description"})
"""Keys that vary with versions or say nothing about lineage."""

KEPT_RUN_FACETS = ("airflowState", "errorMessage")
"""What is kept of the facets that Airflow's provider adds to a run; all of other producers is kept."""

PROVIDER = "providers-openlineage"
"""Part of the `_producer` of facets that Airflow's provider makes."""

VARYING: tuple[tuple[re.Pattern[str], tuple[str, str]], ...] = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), ("uuid", "")),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"), ("datetime", "")),
    (re.compile(r"(app|local)-[0-9-]+"), ("regex", r"(app|local)-[0-9-]+")),
)
"""Strings that differ from run to run, and the matcher that stands for them."""

MEASURED = frozenset({"size", "bytes", "fileCount", "files", "durationMs", "duration_ms"})
"""Numbers that depend on the machine; row counts do not."""


class Tag(tuple[str, str]):
    """A matcher to be written as YAML tag: its name and its argument."""

    __slots__ = ()


class Dumper(yaml.SafeDumper):
    """Writes matchers as tags and everything in full."""

    def ignore_aliases(self, data: Any) -> bool:
        """A person reads this."""
        return True


Dumper.add_representer(Tag, lambda dumper, tag: dumper.represent_scalar(f"!{tag[0]}", tag[1]))


def draft(dag_id: str, events: list[Event], data: str) -> str:
    """Return the text of an expected file."""
    events = sorted((event for event in events if event.dag_id == dag_id), key=_order)
    retried = {_subject(event) for event in events if _instance(event).get("try_number", 1) > 1}
    by_key: dict[str, list[Any]] = {}
    for event in events:
        document = _document(event, tries=_subject(event) in retried)
        by_key.setdefault(event.key, []).append(_masked(document, data))
    tree = {key: found[0] if len(found) == 1 else found for key, found in sorted(by_key.items())}
    text = yaml.dump(tree, Dumper=Dumper, sort_keys=False, default_flow_style=None, width=110)
    # PyYAML writes an empty argument as '', which would be one.
    return re.sub(r"(!(?:uuid|datetime|string)) ''", r"\1", text)


def _order(event: Event) -> tuple[int, int, str]:
    return event.map_index or 0, _instance(event).get("try_number", 0), str(event.document.get("eventTime"))


def _subject(event: Event) -> str:
    return event.key.rpartition(".event.")[0]


def _instance(event: Event) -> Mapping[str, Any]:
    return _at(event.document, "run", "facets", "airflow", "taskInstance")


def _document(event: Event, *, tries: bool) -> dict[str, Any]:
    """What is worth expecting of one event; with `tries`, also which try it is about."""
    document = event.document
    told = {} if event.map_index is None else {"map_index": event.map_index}
    if tries:
        told["try_number"] = _instance(event)["try_number"]
    ended = bool(_instance(event)) and document["eventType"] in ("COMPLETE", "FAIL")

    facets: dict[str, Any] = {"airflow": {"taskInstance": told}} if told else {}
    for name, facet in _at(document, "run", "facets").items():
        if name in KEPT_RUN_FACETS or PROVIDER not in facet.get("_producer", PROVIDER):
            facets[name] = facet
    job_facets = {
        name: facet
        for name, facet in _at(document, "job", "facets").items()
        if PROVIDER not in facet.get("_producer", PROVIDER) and ended
    }
    return {
        **({"run": {"facets": facets}} if facets else {}),
        **({"job": {"facets": job_facets}} if job_facets else {}),
        "inputs": _datasets(document.get("inputs"), whole=ended),
        "outputs": _datasets(document.get("outputs"), whole=ended),
    }


def _datasets(datasets: Any, *, whole: bool) -> list[dict[str, Any]]:
    kept = ("namespace", "name", *(("facets", "inputFacets", "outputFacets") if whole else ()))
    return [
        {key: dataset[key] for key in kept if dataset.get(key)}
        for dataset in sorted(datasets or (), key=lambda dataset: (dataset["namespace"], dataset["name"]))
    ]


def _at(value: Any, *path: str) -> Mapping[str, Any]:
    for part in path:
        value = (value or {}).get(part)
    return value or {}


def _masked(value: Any, data: str, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {name: _masked(item, data, name) for name, item in value.items() if name not in LEFT_OUT}
    if isinstance(value, list):
        return [_masked(item, data, key) for item in value]
    if key in MEASURED and isinstance(value, int):
        return Tag(("integer", ">= 0"))
    if not isinstance(value, str):
        return value
    error_class = re.match(r"\[[A-Z_.]+\]", value)
    if key == "message" and error_class:
        # Spark's advice after the class changes with its version.
        return Tag(("regex", f"(?s){re.escape(error_class[0])}.*"))
    for pattern, matcher in VARYING:
        if pattern.fullmatch(value):
            return Tag(matcher)
    return value.replace(data, "${DATA}")


def main(dag_id: str, events: str, data: str) -> None:
    """Print the draft."""
    sys.stdout.write(draft(dag_id, list(read_events(events)), data))


if __name__ == "__main__":
    main(*sys.argv[1:])
