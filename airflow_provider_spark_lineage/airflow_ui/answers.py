"""The answers of the routes: view documents of what tasks stored, or why there are none.

What is stored may have been written by anyone who can write XComs: names and ids are Airflow's in every
answer, and so are state and times of the try that Airflow knows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy.orm import Session

from airflow_provider_spark_lineage import stored
from airflow_provider_spark_lineage.airflow_ui import reasons
from airflow_provider_spark_lineage.airflow_ui.database import (
    RunFacts,
    TaskFacts,
    earlier_runs,
    newest_runs,
    run_facts,
    task_facts,
)
from airflow_provider_spark_lineage.airflow_ui.stores import MAX_INSTANCES, Store
from airflow_provider_spark_lineage.errors import StoredLineageError
from airflow_provider_spark_lineage.events.model import Events
from airflow_provider_spark_lineage.stored import Instance
from airflow_provider_spark_lineage.viewer.composed import NO_LINEAGE, compose
from airflow_provider_spark_lineage.viewer.document import document_of
from airflow_provider_spark_lineage.words import counted

Json = dict[str, Any]

_ENDED = ("success", "failed")

CANNOT_BE_READ = "its lineage cannot be read"
NOT_SHOWN = "not shown: the run has too much lineage for one page"

MAX_STORED_BYTES = 16_000_000
"""Limit of what is unpacked for one answer, as it is stored."""


def of_task(
    store: Store | None, session: Session, ids: tuple[str, str, str, int], try_number: int | None
) -> Json | None:
    """Return the answer about one task instance; None if it does not exist."""
    instance = Instance(*ids)
    tasks = task_facts(session, instance.dag_id, [instance.run_id], instance.task_id, instance.map_index)
    if not tasks:
        return None
    answer, task = _answer("task_instance"), tasks[0]
    if store is None:
        return answer | {"reason": reasons.reason(reasons.NO_STORE, "")}
    answer["tries"] = [*store.tries(instance)]
    try:
        value = store.of_task(instance, try_number)
        stored_try = stored.summary_in(value)["try"] if value is not None else None
        if value is None or (try_number is not None and stored_try not in (None, try_number)):
            answer["reason"] = reasons.of_task(task, try_number, stored_try)
        else:
            answer |= {"document": _document(value, task), "try": stored_try}
        if stored_try is not None and not answer["tries"]:
            answer["tries"] = [stored_try]
    except StoredLineageError as error:
        answer["reason"] = reasons.reason(str(error))
    runs = earlier_runs(session, instance.dag_id, instance.run_id, instance.task_id, instance.map_index)
    answer["previous"] = _with_lineage(store, instance.dag_id, runs, instance.task_id, instance.map_index)
    return answer


def of_run(store: Store | None, session: Session, dag_id: str, run_id: str) -> Json | None:
    """Return the answer about a DAG run; None if it does not exist."""
    run = run_facts(session, dag_id, run_id)
    if run is None:
        return None
    answer = _answer("dag_run")
    if store is None:
        return answer | {"reason": reasons.reason(reasons.NO_STORE, "")}
    answer |= _composed(store, session, dag_id, run)
    answer["previous"] = _with_lineage(store, dag_id, earlier_runs(session, dag_id, run_id))
    return answer


def latest(store: Store | None, session: Session, dag_id: str) -> Json | None:
    """Return the answer about a DAG: its newest run that has lineage; None if it has no run."""
    runs = newest_runs(session, dag_id)
    if not runs:
        return None
    answer = _answer("dag")
    if store is None:
        return answer | {"reason": reasons.reason(reasons.NO_STORE, "")}
    known = _with_lineage(store, dag_id, runs)
    if not known:
        return answer | {"reason": reasons.reason(reasons.NOTHING_IN_RUNS)}
    run = next(each for each in runs if each.run_id == known[0]["id"])
    answer |= _composed(store, session, dag_id, run)
    which = "the newest run" if run is runs[0] else "the newest run with lineage"
    answer["notes"] = [f"This is {which}: {run.run_id} ({run.label}).", *answer["notes"]]
    answer["previous"] = known[1:]
    return answer


def history(store: Store | None, session: Session, dag_id: str, task_id: str, map_index: int) -> Json | None:
    """Return the answer about a task: its newest runs, and its newest lineage; None if it has no run.

    A `map_index` of -1 means all instances of a mapped task.
    """
    runs = newest_runs(session, dag_id, task_id, map_index)
    if not runs:
        return None
    answer = _answer("task")
    if store is None:
        return answer | {"reason": reasons.reason(reasons.NO_STORE, "")}
    run_ids = [run.run_id for run in runs]
    index = map_index if map_index >= 0 else None
    tasks = _by_run(task_facts(session, dag_id, run_ids, task_id, index))
    summaries: dict[str, list[Json]] = {}
    notes: dict[str, None] = {}
    for instance, value in store.summaries(dag_id, run_ids, task_id, map_index):
        try:
            summaries.setdefault(instance.run_id, []).append(stored.summary_in(value))
        except StoredLineageError as error:
            notes[f"A run is left out of the figures. {error}"] = None
    answer["notes"] = list(notes)
    answer["history"] = _entries(runs, tasks, summaries)
    newest = next((run for run in runs if run.run_id in summaries), None)
    if newest is None:
        last = tasks.get(runs[0].run_id) or []
        answer["reason"] = reasons.of_task(last[0], None, None) if last else reasons.reason("It never ran.")
        return answer
    if map_index < 0 and all(task.instance.map_index >= 0 for task in tasks.get(newest.run_id, ())):
        composed = _composed(store, session, dag_id, newest, task_id)
        return answer | composed | {"notes": [*notes, *composed["notes"]]}
    of_newest = of_task(store, session, (dag_id, newest.run_id, task_id, map_index), None) or answer
    return answer | {name: of_newest[name] for name in ("document", "reason", "tries", "try", "previous")}


def _answer(kind: str) -> Json:
    """Return an answer without content."""
    return {
        "version": 1,
        "kind": kind,
        "document": None,
        "reason": None,
        "notes": [],
        "tries": [],
        "try": None,
        "previous": [],
        "history": [],
    }


def _document(value: Any, task: TaskFacts) -> Json:
    """Return the view document of a stored value; raises StoredLineageError if it cannot be read."""
    item = stored.unpack(value)
    events = Events.of(item.events)
    problem = next((event.problem for event in events if event.problem), "")
    if problem:
        raise StoredLineageError(f"The stored lineage is not an OpenLineage event: {problem}.")
    try:
        document = document_of(events)
    # A forged event may have any type anywhere.
    except Exception as error:
        raise StoredLineageError(
            f"The stored lineage cannot be drawn: its event is damaged ({type(error).__name__})."
        ) from None
    instance, run = task.instance, document["run"]
    run.update(
        dag_id=instance.dag_id,
        task_id=instance.task_id,
        dag_run_id=instance.run_id,
        map_index=instance.map_index if instance.map_index >= 0 else None,
        began=run.get("began") or item.summary["began"],
        ended=run.get("ended") or item.summary["ended"],
    )
    document["title"] = f"{instance.dag_id}.{_title(task)}"
    run["try"] = item.summary["try"]
    # A task that deferred itself, or was killed, has not stored how it ended.
    if task.state in _ENDED and task.try_number == run["try"]:
        times = {"began": task.began, "ended": task.ended}
        run.update({name: time for name, time in times.items() if time}, state=task.document_state)
    return document


def _composed(store: Store, session: Session, dag_id: str, run: RunFacts, task_id: str = "") -> Json:
    """Return document, reason and notes of a run's tasks, or of the instances of one task."""
    tasks = {task.instance: task for task in task_facts(session, dag_id, [run.run_id], task_id)}
    documents: list[Json] = []
    notes: list[str] = []
    without = dict.fromkeys(tasks, NO_LINEAGE)
    seen: set[Instance] = set()
    read_bytes = 0
    for instance, value in store.of_run(dag_id, run.run_id, task_id):
        if instance not in tasks:
            continue
        if len(documents) == MAX_INSTANCES or read_bytes > MAX_STORED_BYTES:
            without |= dict.fromkeys(without.keys() - seen, NOT_SHOWN)
            break
        seen.add(instance)
        read_bytes += len(json.dumps(value, default=str))
        task = tasks[instance]
        try:
            document = _document(value, task)
        except StoredLineageError as error:
            notes.append(f"{_title(task)}: {error}")
            without[instance] = CANNOT_BE_READ
            continue
        if document["run"]["try"] in (None, task.try_number):
            documents.append(document)
            del without[instance]
        else:
            without[instance] = f"lineage of try {document['run']['try']} only"
    if NOT_SHOWN in without.values():
        notes.append(f"Only {len(documents)} of {counted(len(tasks), 'task instance')} are shown.")
    if not documents:
        return {"document": None, "reason": reasons.reason(reasons.NOTHING_IN_RUN), "notes": notes}
    document = compose(documents, title=f"{task_id or dag_id} · {run.run_id}")
    document["run"].update(dag_id=dag_id, dag_run_id=run.run_id, task_id=task_id)
    document["run"]["state"] = _state_of(list(tasks.values())) if task_id else run.state
    document["tasks"] += [_bare(tasks[each], note) for each, note in islice(without.items(), MAX_INSTANCES)]
    document["reports_gaps"] = document["reports_gaps"] and not without
    return {"document": document, "reason": None, "notes": notes}


def _bare(task: TaskFacts, note: str) -> Json:
    """Return the entry of a task without lineage in a composed document."""
    index = task.instance.map_index
    return {
        "title": _title(task),
        "task_id": task.instance.task_id,
        "map_index": index if index >= 0 else None,
        "state": task.document_state,
        "reads": [],
        "writes": [],
        "note": note,
    }


def _title(task: TaskFacts) -> str:
    index = task.instance.map_index
    return task.instance.task_id + (f" [{index}]" if index >= 0 else "")


def _with_lineage(
    store: Store, dag_id: str, runs: Sequence[RunFacts], task_id: str = "", map_index: int = -1
) -> list[Json]:
    """Return those runs that have lineage, as an answer names them."""
    run_ids = [run.run_id for run in runs]
    with_lineage = store.runs_with_lineage(dag_id, run_ids, task_id, map_index)
    return [{"id": run.run_id, "label": run.label} for run in runs if run.run_id in with_lineage]


def _by_run(tasks: Sequence[TaskFacts]) -> Mapping[str, list[TaskFacts]]:
    by_run: dict[str, list[TaskFacts]] = {}
    for task in tasks:
        by_run.setdefault(task.instance.run_id, []).append(task)
    return by_run


def _entries(
    runs: Sequence[RunFacts],
    tasks: Mapping[str, list[TaskFacts]],
    summaries: Mapping[str, list[Json]],
) -> list[Json]:
    """Return the history, newest first; a change is one since the run before that has lineage."""
    entries: list[Json] = []
    before: dict[str, list[str]] = {}
    for run in reversed(runs):
        known, of_run = summaries.get(run.run_id, []), tasks.get(run.run_id, [])
        entry = {
            "id": run.run_id,
            "label": run.label,
            "state": _state_of(of_run),
            "began": min((task.began for task in of_run if task.began), default=run.began),
            "rows": _sum(known, "rows"),
            "size_bytes": _sum(known, "size_bytes"),
            "try": max((task.try_number for task in of_run), default=None),
        }
        for name in ("schema", "edges"):
            # A failed task has fewer outputs, which is not a change of its code.
            digests = sorted({summary[name] for summary in known if summary["state"] == "complete"})
            if "" in digests:
                # What was left out because of its size is no change.
                digests = []
            entry[f"{name}_changed"] = bool(digests and before.get(name) and digests != before[name])
            before[name] = digests or before.get(name, [])
        entries.append(entry)
    return entries[::-1]


def _state_of(tasks: Sequence[TaskFacts]) -> str:
    """Return one state for several task instances: of the one that most needs a look."""
    states = {task.document_state for task in tasks}
    order = ("fail", "running", "start", "other", "complete")
    return next((state for state in order if state in states), "other")


def _sum(summaries: Sequence[Json], count: str) -> int | None:
    """Return the sum over all outputs; None if one is unknown, or if there is no output."""
    counts = [output[count] for summary in summaries for output in summary["outputs"]]
    return sum(counts) if counts and None not in counts else None
