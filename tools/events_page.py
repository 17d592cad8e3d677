"""Writes `tests/docs/events/*.json` and `docs/events.md`, which shows them.

python tools/events_page.py            writes the events and the page
python tools/events_page.py --check    names the files that would change, and exits with 1 if any would

A new event is a row of `EVENTS` in `tests/shop_events.py` and of `SECTIONS` here; a new facet is a row of
`FACETS`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from shop_events import EVENTS, GOLDEN, golden

from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "events.md"

HEAD = """\
# Events, facet by facet

This page shows events of three tasks that ran in Airflow 3.3 with Spark 4.1. `tools/events_page.py`
generates it from records of that run; the complete events are in `tests/docs/events/`.

The DAG `shop` has three tasks. `revenue` joins orders with customers, sums the amounts by country and writes
the result. `stock` is a streaming query that copies deliveries. `ratio` divides the revenue by the number of
returned orders, which is 0 for one country, so it fails.

Each task sends START when it starts, and COMPLETE or FAIL when it ends. Each Spark execution that reads or
writes a dataset is a child run of its task, with START and COMPLETE or FAIL of its own; so is each run of a
streaming query. With `progress_interval_seconds`, there are RUNNING events in between.
[consumers.md](consumers.md) says how backends show both.

In the JSON below, `"..."` replaces a part that is left out: a facet that an earlier event of this page
shows, the rest of a long list or text, or Airflow's own facet `airflow`. `_producer` and `_schemaURL`,
which every facet has, and empty objects are left out, too. `spark-lineage explain --events FILE` prints
events as readable text.
"""

SECTIONS = {
    "task_start": (
        "START of a task",
        "From Airflow's provider, before the task runs. It names datasets only if the job is a text that can"
        " be read before it runs ([submitted.md](submitted.md)).",
    ),
    "execution_start": (
        "START of an execution",
        "What Spark's plan says: inputs and outputs with their schemas, and the sources of each column."
        " Rows and versions are in the end event.",
    ),
    "execution_complete": (
        "COMPLETE of an execution",
        "What was read and written, and how much.",
    ),
    "task_complete": (
        "COMPLETE of a task",
        "The datasets of all executions together, and facets about the Spark application. The other facets of"
        " the run are Airflow's.",
    ),
    "stream_running": (
        "RUNNING of a streaming query",
        "What its batches have read and written so far.",
    ),
    "task_with_stream_complete": (
        "COMPLETE of a task with a stream",
        "`sparkLineage_streams` says how far each source was read, and how fast.",
    ),
    "execution_fail": (
        "FAIL of an execution",
        "The error, its place in the statement, and the inputs. A write that was not finished is not an"
        " output; a gap names it.",
    ),
    "task_fail": (
        "FAIL of a task",
        "Airflow's `errorMessage` has the exception and the Python traceback of the task."
        " `sparkLineage_failures` has Spark's error.",
    ),
}
"""Name of an event -> title and introduction of its section."""

FACETS = {
    "run": {
        "parent": "Which task, and which DAG run, does this run belong to?",
        "processing_engine": "Which version of Spark was it? For a task: which version of Airflow?",
        "airflow": "What are the task and the number of its try, and where is its log?",
        "nominalTime": "Which data interval was it for?",
        "tags": "Which OpenLineage client sent it?",
        "sparkLineage_application": "Which Spark applications did the task use, and where are their pages?",
        "spark_applicationDetails": "On which master did the application run, and as which user?",
        "spark_properties": "With which settings did it run?",
        "sparkLineage_resources": "How many tasks, how much time, memory and shuffled data did it need?",
        "sparkLineage_bottlenecks": "Why was it slow?",
        "sparkLineage_streams": "Does each streaming query keep up, and how far has it read?",
        "sparkLineage_executions": "What did the task do, one execution after another?",
        "sparkLineage_failures": "What failed, and at which place of the statement or of the code?",
        "errorMessage": "With which error did the run end?",
        "sparkLineage_gaps": "Where is this lineage incomplete? Without the facet, it is complete.",
        "test": "Which checks of several datasets, or of none, failed?",
        "environmentVariables": "Which values had the environment variables that `spark_environment` lists?",
    },
    "job": {
        "jobType": "Is it a task or a Spark execution, a batch or a stream?",
        "ownership": "Who owns the DAG?",
        "sql": "Which statement was it?",
        "lineage": "Which input fed which output?",
    },
    "dataset": {
        "schema": "Which columns does it have, and what are their types?",
        "dataSource": "In which system is it?",
        "storage": "In which format is it stored?",
        "symlinks": "Which other names has it, for example in a catalog?",
        "catalog": "Which catalog has it?",
        "version": "Which version of the table was read or written?",
        "columnLineage": "From which columns does each column come? Which columns decided on the rows?",
        "lifecycleStateChange": "Was it created, overwritten, changed or dropped?",
        "inputStatistics": "How much of it was read?",
        "outputStatistics": "How much of it was written?",
        "dataQualityAssertions": "Which checks of its data passed, and which failed?",
        "dataQualityMetrics": "What did these checks measure?",
    },
}
"""Part of an event -> key of a facet -> the question that it answers."""

KINDS = """\
Each gap in `sparkLineage_gaps` has a `kind`, one of these. `reason` is a sentence for a person. Its words may
change in any release, so a program should decide by the kind. Older events have no kinds."""

CUT = "..."
MAX_ITEMS = 3
MAX_TEXT = 150
WIDTH = 110


Facet = tuple[str, str, str]
"""Part of an event, key, and producer: a facet of Airflow is not the same facet of Spark."""


def facets(event: dict[str, Any]) -> Iterator[Facet]:
    """Yield the facets of an event."""
    groups = [(part, event[part]["facets"]) for part in ("run", "job")]
    groups += [
        ("dataset", dataset.get(group, {}))
        for dataset in (*event["inputs"], *event["outputs"])
        for group in ("facets", "inputFacets", "outputFacets")
    ]
    for part, group in groups:
        yield from ((part, key, facet["_producer"]) for key, facet in group.items())


def shortened(value: Any, shown: set[Facet], part: str = "") -> Any:
    """Return a part of an event as the page shows it; without the facets in `shown`."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}{CUT}"
    if isinstance(value, list):
        items = [shortened(item, shown, part) for item in value[:MAX_ITEMS]]
        return items if len(value) <= MAX_ITEMS else [*items, f"{CUT} {len(value) - MAX_ITEMS} more"]
    if not isinstance(value, dict):
        return value
    short = {}
    for key, item in value.items():
        if key in ("_producer", "_schemaURL") or item == {}:
            continue
        if key in ("facets", "inputFacets", "outputFacets") and part:
            short[key] = {
                name: CUT
                if name == "airflow" or (part, name, facet["_producer"]) in shown
                else shortened(facet, shown)
                for name, facet in item.items()
            }
        else:
            inner = {"inputs": "dataset", "outputs": "dataset", "run": "run", "job": "job"}.get(key, "")
            short[key] = shortened(item, shown, part or inner)
    return short


def text_of(value: Any, indent: str = "") -> str:
    """Return JSON where each value that fits into a line has one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, list):
        return "[\n" + ",\n".join(deeper + text_of(item, deeper) for item in value) + f"\n{indent}]"
    entries = [f"{deeper}{json.dumps(key)}: {text_of(item, deeper)}" for key, item in value.items()]
    return "{\n" + ",\n".join(entries) + f"\n{indent}}}"


def table(events: dict[str, dict[str, Any]]) -> str:
    """Return the table of all facets, with the events of this page that have them."""
    numbers: dict[tuple[str, str], list[str]] = {}
    for number, event in enumerate(events.values(), 1):
        for facet in dict.fromkeys((part, key) for part, key, _ in facets(event)):
            numbers.setdefault(facet, []).append(str(number))
    missing = numbers.keys() - {(part, key) for part, keys in FACETS.items() for key in keys}
    if missing:
        raise SystemExit(f"add to FACETS of tools/events_page.py: {sorted(missing)}")
    lines = ["| facet | of the | question | in event |", "| --- | --- | --- | --- |"]
    for part, keys in FACETS.items():
        for key, question in keys.items():
            where = ", ".join(numbers.get((part, key), [])) or "not here"
            lines.append(f"| `{key}` | {part} | {question} | {where} |")
    return "\n".join(lines)


def kinds_of_gaps() -> str:
    """Return the table of all kinds of gaps."""
    lines = ["| kind | meaning |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{kind.value}` | {kind.meaning} |" for kind in GapKind)])


def page(events: dict[str, dict[str, Any]]) -> str:
    parts = [HEAD.strip(), "## Which facet answers what", table(events)]
    parts.append("[usage.md](usage.md#run-facets) has the content of each run facet of this package.")
    parts += ["## Kinds of gaps", KINDS, kinds_of_gaps()]
    shown: set[Facet] = set()
    for number, (name, event) in enumerate(events.items(), 1):
        title, introduction = SECTIONS[name]
        json_text = text_of(shortened(event, shown))
        shown |= set(facets(event))
        parts.append(f"## {number}. {title}\n\n{introduction}\n\n```json\n{json_text}\n```")
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    texts = {GOLDEN / f"{name}.json": golden(name) for name in EVENTS}
    texts[PAGE] = page({name: json.loads(texts[GOLDEN / f"{name}.json"]) for name in EVENTS})
    other = set(GOLDEN.glob("*.json")) - texts.keys()
    changed = [
        path for path, text in texts.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    if arguments == ["--check"]:
        for path in [*changed, *sorted(other)]:
            print(f"{path.relative_to(ROOT)} differs")
        if changed or other:
            print("run python tools/events_page.py, and read what changed")
        return 1 if changed or other else 0
    GOLDEN.mkdir(exist_ok=True)
    for path in other:
        path.unlink()
    for path in changed:
        path.write_text(texts[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
