"""Draft an expected file from actual events, to be read and corrected by eye.

    python -m system_tests.expect DAG_ID EVENTS DATA > system_tests/expected/DAG_ID.yaml

A draft repeats what was emitted, right or wrong: it saves the typing and not the thinking. Folders under
`DATA` become `${DATA}`; what differs from run to run becomes a matcher; what Airflow's own provider says of a
run is left out. Facets of datasets are kept where a task has ended, and only names elsewhere.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

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


YAML = "tag:yaml.org,2002:"

LONGEST_LINE = 170
"""Of what is written on one line, as JSON, which is longer than YAML; an edge with a path fits."""


class Tag(tuple[str, str]):
    """A matcher to be written as YAML tag: its name and its argument."""

    __slots__ = ()


ABSENT = Tag(("absent", ""))


class Dumper(yaml.SafeDumper):
    """Writes matchers as tags, what is short on one line, and everything in full."""

    def ignore_aliases(self, data: Any) -> bool:
        """A person reads this."""
        return True

    def represent_tag(self, tag: Tag) -> yaml.Node:
        """`!integer ">= 0"`."""
        return self.represent_scalar(f"!{tag[0]}", tag[1])

    def represent_short_mapping(self, value: dict[str, Any]) -> yaml.Node:
        """Keep an edge or a field on its line, for a file that is read column by column."""
        return self.represent_mapping(f"{YAML}map", value, flow_style=is_short(value))

    def represent_short_list(self, value: list[Any]) -> yaml.Node:
        """Keep a list of scalars on its line."""
        return self.represent_sequence(f"{YAML}seq", value, flow_style=is_short(value))


Dumper.add_representer(Tag, Dumper.represent_tag)
Dumper.add_representer(dict, Dumper.represent_short_mapping)
Dumper.add_representer(list, Dumper.represent_short_list)


def is_short(value: Any) -> bool:
    """Whether it has no datasets of its own and fits on a line."""
    return len(json.dumps(value)) <= LONGEST_LINE


def draft(dag_id: str, events: list[Event], data: str) -> str:
    """Return the text of an expected file."""
    events = [event for event in events if event.dag_id == dag_id]
    retried = {_subject(event) for event in events if _instance(event).get("try_number", 1) > 1}
    by_key: dict[str, list[Any]] = {}
    # Events of mapped tasks arrive in any order; their draft is the same every time.
    for event in sorted(
        events, key=lambda event: (event.map_index or 0, _instance(event).get("try_number", 0))
    ):
        document = _document(event, tries=_subject(event) in retried)
        by_key.setdefault(event.key, []).append(_masked(document, data))
    for key, found in by_key.items():
        if ".execution." in key:
            found.sort(key=json.dumps)
    tree = {key: found[0] if len(found) == 1 else found for key, found in sorted(by_key.items())}
    text = yaml.dump(tree, Dumper=Dumper, sort_keys=False, width=1000)
    # PyYAML writes an empty argument as '', which would be one. Where a comma or a bracket follows, the tag
    # needs a space after it.
    return re.sub(
        r"(!(?:uuid|datetime|absent)) ''(?=(\n)?)", lambda tag: tag[1] + ("" if tag[2] else " "), text
    )


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
            facets[name] = TRIMMED.get(name, lambda whole: whole)(facet)
    if ended:
        # A lineage without gaps claims to be complete.
        facets.setdefault("sparkLineage_gaps", ABSENT)
    job_facets = {
        name: TRIMMED.get(name, lambda whole: whole)(facet)
        for name, facet in _at(document, "job", "facets").items()
        if PROVIDER not in facet.get("_producer", PROVIDER) and ended
    }
    return {
        **({"run": {"facets": facets}} if facets else {}),
        **({"job": {"facets": job_facets}} if job_facets else {}),
        "inputs": _datasets(document.get("inputs"), whole=ended),
        "outputs": _datasets(document.get("outputs"), whole=ended),
    }


TRIMMED: Mapping[str, Callable[[Any], Any]] = {
    "parent": lambda facet: {
        "job": {"name": facet["job"]["name"]},
        "root": {"job": {"name": _at(facet, "root", "job").get("name")}},
    },
    "processing_engine": lambda facet: {"name": facet["name"]},
    # The edges of single fields are in `columnLineage`, once more.
    "lineage": lambda facet: {
        "entries": [{key: entry[key] for key in ("namespace", "name")} for entry in facet["entries"]]
    },
}
"""What is kept of a facet that says more than a test should depend on."""


def _datasets(datasets: Any, *, whole: bool) -> list[dict[str, Any]]:
    kept = ("namespace", "name", *(("facets", "inputFacets", "outputFacets") if whole else ()))
    return [
        {key: _without_more_edges(dataset[key]) for key in kept if dataset.get(key)}
        for dataset in sorted(datasets or (), key=lambda dataset: (dataset["namespace"], dataset["name"]))
    ]


def _without_more_edges(facets: Any) -> Any:
    """Say of columns without edges that they have none: what is not mentioned may be there."""
    if not isinstance(facets, Mapping) or "columnLineage" not in facets:
        return facets
    facet = facets["columnLineage"]
    names = [field["name"] for field in _at(facets, "schema").get("fields", ())]
    edges = {**dict.fromkeys(names, ABSENT), **facet.get("fields", {})}
    return {**facets, "columnLineage": {"fields": edges, "dataset": facet.get("dataset", ABSENT)}}


def _at(value: Any, *path: str) -> Mapping[str, Any]:
    for part in path:
        value = (value or {}).get(part)
    return value or {}


def _masked(value: Any, data: str, key: str = "") -> Any:
    if isinstance(value, Mapping):
        return {
            name: _masked(item, data, name)
            for name, item in value.items()
            if name not in LEFT_OUT and (name != "masking" or item)
        }
    if isinstance(value, list):
        return [_masked(item, data, key) for item in value]
    if key in MEASURED and isinstance(value, int):
        return Tag(("integer", ">= 0"))
    if not isinstance(value, str):
        return value
    if key == "sparkVersion":
        return Tag(("regex", r"[0-9]+\.[0-9.]+"))
    told = re.match(r"[^\[\n]*\[[A-Z_.]+\]", value)
    if key == "message" and told:
        # Spark's advice after the class changes with its version.
        return Tag(("regex", f"(?s){re.escape(told[0])}.*".replace("\\ ", " ")))
    for pattern, matcher in VARYING:
        if pattern.fullmatch(value):
            return Tag(matcher)
    if key == "uri":
        return value.replace(quote(data), "${DATA_URI}")
    return value.replace(data, "${DATA}")


def main(dag_id: str, events: str, data: str) -> None:
    """Print the draft."""
    sys.stdout.write(draft(dag_id, list(read_events(events)), data))


if __name__ == "__main__":
    main(*sys.argv[1:])
