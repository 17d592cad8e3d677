"""Lists the tasks that must run again after data was wrong, each after the tasks whose outputs it reads."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from airflow_provider_spark_lineage.openlineage.graph.impact import Impact
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName, JobRun


@dataclass(frozen=True)
class Again:
    """A job that must run again."""

    job: JobName
    run: JobRun
    after: tuple[JobName, ...]
    """The jobs of the list whose outputs it reads."""
    cycle: int | None
    """Number of the circle that it is in, of jobs that read what each other writes; None if it is in none."""


def rerun_of(impact: Impact) -> list[Again]:
    """Return the jobs whose outputs depend on the selection, each after those whose outputs it reads.

    Jobs in a circle stand beside each other, once.
    """
    current = impact.current
    writes = [current.writes[place] for place in impact.writes]
    made_by: dict[tuple[str, str], list[JobName]] = {}
    for write in writes:
        made_by.setdefault(write.output, []).append(write.job)
    after: dict[JobName, dict[JobName, None]] = {write.job: {} for write in writes}
    for write in writes:
        for source in current.sources_of(write):
            after[write.job].update(dict.fromkeys(made_by.get(source, ())))
    jobs = []
    circles = 0
    for together in _in_order(after):
        is_circle = len(together) > 1 or together[0] in after[together[0]]
        circles += is_circle
        for job in together:
            number = circles if is_circle else None
            jobs.append(Again(job, current.runs[job], tuple(sorted(after[job])), number))
    return jobs


def _in_order(after: Mapping[JobName, Iterable[JobName]]) -> list[list[JobName]]:
    """Return the strongly connected parts of a graph, each after what its nodes come after (Tarjan)."""
    order: list[list[JobName]] = []
    numbers: dict[JobName, int] = {}
    lowest: dict[JobName, int] = {}
    open_: dict[JobName, None] = {}
    for root in sorted(after):
        if root in numbers:
            continue
        stack = [(root, iter(sorted(after[root])))]
        numbers[root] = lowest[root] = len(numbers)
        open_[root] = None
        while stack:
            job, rest = stack[-1]
            for before in rest:
                if before not in numbers:
                    numbers[before] = lowest[before] = len(numbers)
                    open_[before] = None
                    stack.append((before, iter(sorted(after[before]))))
                    break
                if before in open_:
                    lowest[job] = min(lowest[job], numbers[before])
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    lowest[above] = min(lowest[above], lowest[job])
                if lowest[job] == numbers[job]:
                    together = []
                    while job not in together:
                        together.append(open_.popitem()[0])
                    order.append(sorted(together))
    return order


def commands_of(jobs: Sequence[Again]) -> list[str]:
    """Return the commands of Airflow that clear the tasks, in order; those of one DAG run beside each other.

    Airflow selects runs by their logical date. A run without one has no command, as jobs of other schedulers.
    """
    commands = []
    for (dag_id, date), some in groupby(jobs, key=lambda each: (each.run.dag_id, each.run.logical_date)):
        if dag_id and date:
            tasks = "|".join(dict.fromkeys(re.escape(each.run.task_id) for each in some))
            words = ("airflow", "tasks", "clear", dag_id, "--task-regex", f"^({tasks})$")
            commands.append(shlex.join((*words, "--start-date", date, "--end-date", date)))
    return commands


def document_of(impact: Impact, jobs: Sequence[Again]) -> dict[str, Any]:
    """Return the jobs as a JSON object: `rerun` in order, `commands`, and `written_by` what makes it."""
    writers = {
        "/".join(write.job)
        for dataset in sorted(impact.start_datasets)
        for write in impact.current.writers.get(dataset, ())
    }
    return {
        "selection": [str(each) for each in impact.selection],
        "written_by": sorted(writers),
        "rerun": [
            {
                **each.job._asdict(),
                "dag_id": each.run.dag_id or None,
                "task_id": each.run.task_id or None,
                "logical_date": each.run.logical_date or None,
                "last_run": {"id": each.run.id, "state": each.run.state, "time": each.run.time},
                "owners": list(each.run.owners),
                "after": ["/".join(job) for job in each.after],
                "cycle": each.cycle,
            }
            for each in jobs
        ],
        "commands": commands_of(jobs),
    }
