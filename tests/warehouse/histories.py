"""Seeded histories: events of some days of a small platform, with all that goes wrong on one."""

from __future__ import annotations

import json
import random
from typing import Any

from graph.estate import NAMESPACE, dataset, edges, run, task

from airflow_provider_spark_lineage.openlineage.events.model import Event, Events
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.warehouse.derive import event_id_of, in_order, raw_of

Document = dict[str, Any]


class _History:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  a history that can be repeated
        self.events: list[Document] = []

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _written(self, name: str, source: str, *, version: int) -> Document:
        columns = ["id", "amount", "note", "day"][: 2 + version % 3]
        texts = [f"{column} <- {source}.{column}" for column in columns]
        if version % 2:
            texts[0] += " DIRECT TRANSFORMATION masked"
            texts.append(f"* <- {source}.day INDIRECT FILTER")
        facets: Document = edges(*texts) if version % 5 != 4 else {}
        if self._chance(0.3):
            facets["symlinks"] = {"identifiers": [self._symlink(name)]}
        if self._chance(0.1):
            facets["lifecycleStateChange"] = {
                "lifecycleStateChange": "RENAME",
                "previousIdentifier": {"namespace": NAMESPACE, "name": f"old/{name}"},
            }
        if self._chance(0.1):
            facets["lifecycleStateChange"] = {"lifecycleStateChange": "DROP"}
        if self._chance(0.2):
            check = {"assertion": "id.min", "column": "id", "success": self._chance(0.5)}
            facets["dataQualityAssertions"] = {"assertions": [check]}
        written = dataset(name, " ".join(columns) if self._chance(0.9) else "", **facets)
        return {**written, "outputFacets": {"outputStatistics": {"rowCount": 10 + version, "size": 1 << 40}}}

    def _symlink(self, name: str) -> Document:
        # The tables of a name move now and then; one goes back and forth.
        table = self._random.choice([f"db.{name}", "db.shared"] if self._chance(0.1) else [f"db.{name}"])
        return {"namespace": "hive", "name": table, "type": "TABLE"}

    def day(self, day: int, *, jobs: int) -> None:
        dag_run = f"dag-{day}"
        parent = {"parent": {"run": {"runId": dag_run}, "job": {"namespace": "jobs", "name": "etl"}}}
        for number in range(jobs):
            is_ours, name = number % 3 != 2, f"etl.t{number}"
            version = self._random.choice([0, 0, 0, day, number])
            source = f"raw{number}" if number < 2 else f"out{number - 1}"
            read = dataset(source, "id amount note day")
            if self._chance(0.15):
                read |= {"namespace": "hive", "name": f"db.{source}"}
            if self._chance(0.1) and number >= 2:
                source = "moved"
            output = self._written(
                f"out{number}" if not self._chance(0.1) else "moved", source, version=version
            )
            airflow = task("etl", f"t{number}", date=f"2026-01-{day:02}T00:00:00+00:00")
            for attempt in range(self._random.choice([1, 1, 1, 2])):
                more: Document = {
                    "day": day,
                    "id": f"{name}-{day}-{attempt}",
                    "ours": is_ours,
                    "facets": {**airflow, **parent} if number != 3 else {},
                }
                states = self._random.choice("SC SC SC SF SRC SRF C S SCC SA FC".split())
                for place, state in enumerate(states):
                    hour = place + 3 * number % 20
                    event = run(name, [read], [output], state=_STATES[state], hour=hour, **more)
                    event["run"]["facets"] |= _facets(state, day)
                    self._add(event)
                if self._chance(0.3):
                    self._children(name, read, output, more)
            if self._chance(0.3):
                self._mapped(number, day, parent)

    def _add(self, event: Document) -> None:
        if self._chance(0.1):
            event["eventTime"] = self._random.choice(["", "soon", f"{event['eventTime'][:-1]}.5+02:00"])
        self.events.append(event)

    def _children(self, name: str, read: Document, output: Document, more: Document) -> None:
        parent = {"parent": {"run": {"runId": more["id"]}, "job": {"namespace": "jobs", "name": name}}}
        extra = dataset("side", "id", **edges("id <- raw0.id")) if self._chance(0.3) else output
        self.events.append(
            run(
                f"{name}.execution",
                [read],
                [extra],
                hour=self._random.randrange(24),
                **{**more, "facets": parent, "id": f"{more['id']}-x"},
            )
        )

    def _mapped(self, number: int, day: int, parent: Document) -> None:
        for index in range(2):
            facets = {**task("etl", f"m{number}", map_index=index), **parent}
            output = dataset(f"mapped{number}", f"c{index}", **edges(f"c{index} <- raw0.id"))
            self.events.append(
                run(
                    f"etl.m{number}",
                    [dataset("raw0", "id")],
                    [output],
                    # The instances of one day may end on the next.
                    day=day + (index if self._chance(0.3) else 0),
                    hour=self._random.randrange(24),
                    id=f"m{number}-{day}-{index}",
                    facets=facets,
                )
            )


_STATES = {"S": "START", "R": "RUNNING", "C": "COMPLETE", "F": "FAIL", "A": "ABORT"}


def _facets(state: str, day: int) -> Document:
    """Return what schedulers say of a run besides its datasets."""
    failed = {"errorMessage": {"message": f"No space left on day {day}.", "programmingLanguage": "JVM"}}
    return {"nominalTime": {"nominalStartTime": f"2026-01-{day:02}T00:00:00Z"}} | (
        failed if state in "FA" else {}
    )


def history(seed: int, *, days: int = 3, jobs: int = 5) -> list[Document]:
    """Return the events of some days; also events of no run."""
    made = _History(seed)
    for day in range(1, days + 1):
        made.day(day, jobs=jobs)
    job = {
        "eventTime": "2026-01-02T00:00:00Z",
        "producer": "x",
        "job": {"namespace": "jobs", "name": "etl.t0"},
    }
    named = {"namespace": NAMESPACE, "name": "out1", "facets": {"symlinks": {"identifiers": []}}}
    return [*made.events, {**job, "outputs": [named]}, _tagged("01", "pii"), _tagged("03", "internal")]


def _tagged(day: str, key: str) -> Document:
    """Return an event of a catalog, which tags a column."""
    tags = {"tags": [{"key": key, "value": "", "field": "id"}]}
    return {
        "eventTime": f"2026-01-{day}T00:00:00Z",
        "producer": "x",
        "dataset": {"namespace": NAMESPACE, "name": "raw0", "facets": {"tags": tags}},
    }


def events_in(documents: list[Document]) -> Events:
    """Return events, each once; of events at one time the order is that of their ids."""
    texts = {raw_of(document) for document in documents}
    return Events(tuple(in_order(Event(json.loads(raw), event_id_of(raw)) for raw in texts)))


def graph_of(documents: list[Document], as_of: int | None = None) -> Current:
    """Return what the graph says of events."""
    return Current.of(events_in(documents), as_of=as_of)


def comparable(current: Current) -> list[Any]:
    """Return all that is current, without the order of edges and sources."""
    writes = [
        (
            write.job,
            write.output,
            write.run,
            write.fields,
            sorted(write.edges, key=repr),
            sorted(write.sources),
            write.mode,
            sorted(map(repr, write.gaps)),
            write.is_planned,
        )
        for write in current.writes
    ]
    reads = [(read.job, read.input, read.run, read.fields) for read in current.reads]
    names = sorted(current.aliases.items()), current.contradictions
    return [sorted(writes, key=repr), sorted(reads, key=repr), sorted(current.runs.items()), *names]
