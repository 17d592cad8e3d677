"""Draws the current lineage of many runs: all of it, or the part around some datasets.

It needs no events, so a warehouse is drawn like a folder of events. Amounts, checks and executions are of
single runs, and are not in the picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.current import Current, JobWrite
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.viewer.all_jobs import ALL_JOBS
from airflow_provider_spark_lineage.openlineage.viewer.composed import NO_DATASET, compose, worst_state
from airflow_provider_spark_lineage.openlineage.viewer.datasets import bare_document, labels_of
from airflow_provider_spark_lineage.openlineage.viewer.document import STATES, Document, order_of_edge
from airflow_provider_spark_lineage.openlineage.viewer.listing import answer_of
from airflow_provider_spark_lineage.openlineage.words import counted

MOST_BOXES = 1_000
"""Limit of the datasets and jobs in a picture."""

MOST_EDGES = 50_000
"""Limit of the column edges in a picture."""

DEPTH = 2
"""Limit of the jobs between a chosen dataset and another, unless the user gives one."""

_MOST_NAMED = 3
"""Limit of the datasets in a title."""


def picture_of_all(current: Current, place: str) -> dict[str, Any]:
    """Return the content of a page with all lineage; raise `BadInputError` if it is too much to draw."""
    datasets, jobs = len(current.datasets), len(current.runs)
    # The edges of a large warehouse are not counted: that would make all of its writes.
    edges = sum(len(write.edges) for write in current.writes) if datasets + jobs <= MOST_BOXES else 0
    if datasets + jobs > MOST_BOXES or edges > MOST_EDGES:
        counts = [counted(datasets, "dataset"), counted(jobs, "job")]
        counts += [counted(edges, "column edge")] if edges else []
        raise BadInputError(
            f"{place} has {', '.join(counts)}: too many for one picture. Choose a dataset (--dataset NAME)."
        )
    return _page(current, current.datasets, current.runs, ALL_JOBS)


def picture_around(
    current: Current, columns: Sequence[tuple[Id, str | None]], depth: int = DEPTH
) -> dict[str, Any]:
    """Return the content of a page with some datasets, what leads to them, and what follows from them.

    `columns` has each dataset with None, or with a column. `depth` limits the number of jobs between. What a
    picture has no room for is left out, the farthest first, and a sentence says how much. The page begins
    with the first dataset, and with the trace of its column.
    """
    around = _Around(current, [dataset for dataset, _ in columns])
    around.search(depth)
    labels = labels_of(around.datasets)
    names = [labels[dataset] for dataset in around.chosen[:_MOST_NAMED]]
    more = len(around.chosen) - len(names)
    title = f"Around {', '.join(names)}{f' and {more:,} more' if more else ''}"
    page = _page(current, around.datasets, around.jobs, title, around.without_edges)
    whom = "it" if len(around.chosen) == 1 else "them"
    [run] = page["runs"]
    run["answer"] |= {
        "about": f"What leads to {whom} and follows from {whom}, through {counted(depth, 'job')} at most.",
        "notes": around.left_out(),
    }
    (namespace, name), column = columns[0]
    return page | {"chosen": {"namespace": namespace, "name": name, "column": column}}


def text_of(page: Mapping[str, Any]) -> str:
    """Return a page of this module as text: the datasets that each job reads and writes."""
    document = page["runs"][0]["answer"]["document"]
    if document is None:
        return "no lineage"
    labels = [dataset["label"] for dataset in document["datasets"]]
    names = [
        (
            task["title"],
            *(", ".join(sorted(labels[each] for each in task[key])) for key in ("reads", "writes")),
        )
        for task in document["tasks"]
    ]
    jobs = [f"{title}: {reads or 'nothing'} -> {writes or 'nothing'}" for title, reads, writes in names]
    return "\n".join([page["title"], *(f"  {job}" for job in jobs)])


class _Around:
    """Datasets and jobs around some datasets, as many as a picture has room for, the nearest first."""

    def __init__(self, current: Current, datasets: Sequence[Id]) -> None:
        self._current = current
        self.chosen = [*dict.fromkeys(datasets)]
        self.datasets = dict.fromkeys(self.chosen)
        self.jobs: dict[JobName, None] = {}
        self._writes: set[tuple[JobName, Id]] = set()
        self._edges = 0
        self._hidden: tuple[set[Id], set[JobName]] = set(), set()
        """Datasets and jobs that had no room."""
        self.without_edges: set[tuple[JobName, Id]] = set()
        """Writes between jobs and datasets of the picture whose column edges had no room."""

    def search(self, depth: int) -> None:
        """Add the datasets within so many jobs upstream, and downstream."""
        reached = dict(self.datasets), dict(self.datasets)
        frontiers = self.chosen, self.chosen
        for _ in range(depth):
            following: tuple[list[Id], list[Id]] = [], []
            # Step by step in turn, so that neither direction takes all the room.
            for ends in zip_longest(self._upstream(frontiers[0]), self._downstream(frontiers[1])):
                for known, new, end in zip(reached, following, ends, strict=True):
                    if end is not None and end not in known:
                        known[end] = None
                        new.append(end)
            frontiers = following
        for output in self.datasets:
            for write in _sorted(self._current.writers.get(output, ())):
                if write.job in self.jobs and not self._has_room_for_edges(write):
                    self.without_edges.add((write.job, output))

    def left_out(self) -> list[str]:
        """Return a sentence about the datasets and jobs that had no room, or nothing."""
        datasets, jobs = self._hidden[0] - self.datasets.keys(), self._hidden[1] - self.jobs.keys()
        parts = ((datasets, "dataset"), (jobs, "job"))
        counts = [counted(len(some), noun) for some, noun in parts if some]
        if self.without_edges:
            counts.append(f"the column edges of {counted(len(self.without_edges), 'write')}")
        if not counts:
            return []
        what = " and ".join(counts)
        return [f"Left out for want of room: {what}. Choose a smaller depth, or one of the other datasets."]

    def _upstream(self, datasets: Iterable[Id]) -> Iterator[Id | None]:
        for dataset in datasets:
            for write in _sorted(self._current.writers.get(dataset, ())):
                yield from self._add(write, sorted(set(self._current.sources_of(write))))

    def _downstream(self, datasets: Iterable[Id]) -> Iterator[Id | None]:
        for dataset in datasets:
            writes = _sorted(self._current.fed.get(dataset, ()))
            for write in writes:
                yield from self._add(write, [write.output])
            writers = {write.job for write in writes}
            for read in sorted(self._current.readers.get(dataset, ()), key=lambda each: each.job):
                if read.job not in writers:
                    self._take_job(read.job)
                    yield None

    def _add(self, write: JobWrite, ends: Iterable[Id]) -> Iterator[Id | None]:
        """Add a job with some datasets that it reads or writes; yield those that are in the picture."""
        if not self._has_room_for_edges(write) or not self._take_job(write.job):
            self._hidden[0].update(ends)
            return
        for end in ends:
            if end in self.datasets or self._has_room():
                self.datasets[end] = None
                yield end
            else:
                self._hidden[0].add(end)

    def _take_job(self, job: JobName) -> bool:
        if job not in self.jobs and not self._has_room():
            self._hidden[1].add(job)
            return False
        self.jobs[job] = None
        return True

    def _has_room(self) -> bool:
        return len(self.datasets) + len(self.jobs) < MOST_BOXES

    def _has_room_for_edges(self, write: JobWrite) -> bool:
        key = write.job, write.output
        if key not in self._writes:
            if self._edges + len(write.edges) > MOST_EDGES:
                self._hidden[1].add(write.job)
                return False
            self._writes.add(key)
            self._edges += len(write.edges)
        return True


def _sorted(writes: Iterable[JobWrite]) -> list[JobWrite]:
    return sorted(writes, key=lambda write: (write.job, write.output))


def _page(
    current: Current,
    datasets: Iterable[Id],
    jobs: Iterable[JobName],
    title: str,
    without_edges: Container[tuple[JobName, Id]] = (),
) -> dict[str, Any]:
    document = _document(current, datasets, jobs, title, without_edges)
    run = {
        "key": title,
        "group": title,
        "label": title,
        "time": "",
        "state": document["run"]["state"],
        "answer": answer_of(document, "dag_run"),
    }
    return {"version": 1, "title": title, "notes": [], "start": title, "runs": [run]}


def _document(
    current: Current,
    datasets: Iterable[Id],
    jobs: Iterable[JobName],
    title: str,
    without_edges: Container[tuple[JobName, Id]],
) -> Document:
    """Return the view document of some datasets, and of the jobs that read or write them.

    The column edges of the writes in `without_edges` are left out.
    """
    places = {dataset: place for place, dataset in enumerate(datasets)}
    tasks = _tasks(current, places, jobs)
    numbers = {job: number for number, job in enumerate(tasks)}
    writes = [
        write for output in places for write in _sorted(current.writers.get(output, ())) if write.job in tasks
    ]
    edges = [
        {
            "from": places[edge.source],
            "field": edge.field,
            "to": places[write.output],
            "column": edge.column,
            "type": edge.type,
            "subtype": edge.subtype,
            "masking": edge.masking,
            "task": numbers[write.job],
        }
        for write in writes
        if (write.job, write.output) not in without_edges
        for edge in write.edges
        if edge.source in places
    ]
    pairs = {
        (places[source], places[write.output])
        for write in writes
        for source in write.sources
        if source in places
    }
    document = compose([], title)
    return {
        **document,
        "run": document["run"] | {"state": worst_state(task["state"] for task in tasks.values())},
        "datasets": _datasets(current, places, writes, tasks),
        "flows": [],
        "rows": [{"from": source, "to": to} for source, to in sorted(pairs)],
        "edges": sorted(edges, key=order_of_edge),
        "tasks": [*tasks.values()],
        "gaps": [
            {
                "where": gap["where"],
                "kind": gap["kind"],
                "reason": gap["reason"],
                "dataset": places[write.output],
                "column": gap["column"],
                "task": numbers[write.job],
            }
            for write in writes
            for gap in write.gaps
        ],
        "planned": any(write.is_planned for write in writes),
    }


def _tasks(current: Current, places: Mapping[Id, int], jobs: Iterable[JobName]) -> dict[JobName, Any]:
    """Return jobs as the tasks of a view document, with the datasets of it that they read and write."""
    ordered = sorted(jobs)
    names = Counter(job.name for job in ordered)
    reads: dict[JobName, dict[int, None]] = {job: {} for job in ordered}
    writes: dict[JobName, dict[int, None]] = {job: {} for job in ordered}
    for dataset, place in places.items():
        for read in current.readers.get(dataset, ()):
            if read.job in reads:
                reads[read.job][place] = None
        for write in current.writers.get(dataset, ()):
            if write.job in writes:
                writes[write.job][place] = None
                known = (places[source] for source in current.sources_of(write) if source in places)
                reads[write.job] |= dict.fromkeys(known)
    return {
        job: {
            "title": job.name if names[job.name] == 1 else "/".join(job),
            "task_id": "",
            "map_index": None,
            "state": _state_of(current, job),
            "reads": sorted(reads[job]),
            "writes": sorted(writes[job]),
            "note": "" if reads[job] or writes[job] else NO_DATASET,
        }
        for job in ordered
    }


def _state_of(current: Current, job: JobName) -> str:
    state = current.runs[job].state if job in current.runs else ""
    return state if state in STATES else "other"


def _datasets(
    current: Current,
    places: Mapping[Id, int],
    writes: Iterable[JobWrite],
    jobs: Container[JobName],
) -> list[dict[str, Any]]:
    labels = labels_of(places)
    columns: dict[Id, dict[str, str]] = {dataset: dict(current.fields.get(dataset, ())) for dataset in places}
    modes: dict[Id, tuple[int, str]] = {}
    for write in writes:
        for edge in write.edges:
            if edge.source in places:
                columns[edge.source].setdefault(edge.field, "")
            if edge.column is not None:
                columns[write.output].setdefault(edge.column, "")
        modes[write.output] = max(modes.get(write.output, (0, "")), (write.run.time_ns, write.mode))
    documents = []
    for dataset in places:
        writers = [write.job for write in current.writers.get(dataset, ())]
        readers = [write.job for write in current.fed.get(dataset, ())]
        readers += [read.job for read in current.readers.get(dataset, ())]
        documents.append(
            {
                **bare_document(dataset),
                "label": labels[dataset],
                "read": bool(readers),
                "written": bool(writers),
                "has_schema": dataset in current.fields,
                "columns": [{"name": name, "type": kind} for name, kind in columns[dataset].items()],
                "change": modes.get(dataset, (0, ""))[1],
                "beyond": sum(job not in jobs for job in {*writers, *readers}),
            }
        )
    return documents
