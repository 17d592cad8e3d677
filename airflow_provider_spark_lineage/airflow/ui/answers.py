"""The answers of the routes: view documents of what tasks stored, or why there are none.

What is stored may have been written by anyone who can write XComs: the names of DAG, run and task in an
answer are Airflow's, and so are the times of a task's last try, and its state after it has ended.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey
from airflow_provider_spark_lineage.airflow.ui import reasons
from airflow_provider_spark_lineage.airflow.ui.database import (
    RunFacts,
    TaskFacts,
    earlier_runs,
    newest_runs,
    run_facts,
    task_facts,
)
from airflow_provider_spark_lineage.airflow.ui.stores import MAX_SUMMARY_LENGTH, Read, Store
from airflow_provider_spark_lineage.errors import StoredLineageError
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.viewer.composed import NO_LINEAGE, compose
from airflow_provider_spark_lineage.openlineage.viewer.document import document_of
from airflow_provider_spark_lineage.openlineage.words import counted

Json = dict[str, Any]

_ENDED = ("success", "failed")

MAX_INSTANCES = 500
"""Limit of task instances whose lineage is read for one answer; mapped tasks may have thousands."""

MAX_DOCUMENT_BYTES = 16_000_000
"""Limit of the view documents of one answer, as JSON; the stored form may be a thousandth of that."""


def of_task(
    store: Store | None, session: Session, ids: tuple[str, str, str, int], try_number: int | None
) -> Json | None:
    """Return the answer about one task instance; None if it does not exist."""
    instance = InstanceKey(*ids)
    tasks = task_facts(session, instance.dag_id, [instance.run_id], instance.task_id, instance.map_index)
    if not tasks:
        return None
    answer, task = _answer("task_instance"), tasks[0]
    if store is None:
        return answer | {"reason": reasons.reason(reasons.NO_STORE, "")}
    answer["tries"] = [*store.tries(instance)]
    try:
        value = _last(store, task) if try_number is None else store.of_task(instance, try_number)
        stored_try = stored_form.summary_in(value)["try"] if value is not None else None
        if value is None or (try_number is not None and stored_try not in (None, try_number)):
            answer["reason"] = reasons.of_task(task, try_number, stored_try)
        else:
            answer |= {"document": _document(value, task), "try": stored_try}
            if try_number is None and stored_try not in (None, task.try_number):
                answer["notes"] = [f"This is the lineage of try {stored_try}, not of try {task.try_number}."]
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
    answer["about"] = f"This is {which}: {run.run_id} ({run.label})."
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
    known, summaries, notes = _summaries(store, runs, tasks, (dag_id, task_id, map_index))
    answer |= {"history": _entries(runs, tasks, summaries), "notes": notes}
    newest = next((run for run in runs if run.run_id in known), None)
    if newest is None:
        last = tasks.get(runs[0].run_id) or []
        answer["reason"] = reasons.of_task(last[0], None, None) if last else reasons.reason("It never ran.")
        return answer
    of_newest = tasks.get(newest.run_id, [])
    if map_index < 0 and of_newest and all(task.instance.map_index >= 0 for task in of_newest):
        shown = _composed(store, session, dag_id, newest, task_id)
    else:
        ids = (dag_id, newest.run_id, task_id, map_index)
        shown = of_task(store, session, ids, None) or _answer("task_instance")
    names = ("document", "reason", "tries", "try", "previous")
    answer |= {name: shown[name] for name in names if name in shown}
    answer["notes"] = [*dict.fromkeys([*notes, *shown["notes"]])]
    return answer


def _answer(kind: str) -> Json:
    """Return an answer without content."""
    return {
        "version": 1,
        "kind": kind,
        "document": None,
        "reason": None,
        "about": "",
        "notes": [],
        "tries": [],
        "try": None,
        "previous": [],
        "history": [],
    }


def _document(value: Any, task: TaskFacts) -> Json:
    """Return the view document of a stored value; raises StoredLineageError if it cannot be read."""
    item = stored_form.unpack(value)
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
        map_index=_index_of(task),
        began=run.get("began") or item.summary["began"],
        ended=run.get("ended") or item.summary["ended"],
    )
    run["try"] = item.summary["try"]
    if run["try"] in (None, task.try_number):
        run["began"] = task.began or run["began"]
        # A task that deferred itself, or was killed, has not stored how it ended.
        if task.state in _ENDED:
            run.update(state=task.document_state, ended=task.ended or run["ended"])
    job = f"{instance.dag_id}.{instance.task_id}"
    document["job"]["name"] = job
    document["title"] = job + _map_label(task)
    run["map_label"] = task.map_label
    return document


def _composed(store: Store, session: Session, dag_id: str, run: RunFacts, task_id: str = "") -> Json:
    """Return document, reason and notes of a run's tasks, or of the instances of one task."""
    tasks = task_facts(session, dag_id, [run.run_id], task_id)
    known = store.instances(dag_id, run.run_id, task_id)
    documents, without, notes = _documents(store, tasks, known)
    if not documents:
        sentence = reasons.NOTHING_SHOWN if known else reasons.NOTHING_IN_RUN
        return {"document": None, "reason": reasons.reason(sentence), "notes": notes}
    if len(without) > MAX_INSTANCES:
        first = counted(MAX_INSTANCES, "task instance")
        notes.append(f"Only the first {first} that are not shown are listed.")
        without = without[:MAX_INSTANCES]
    document = compose(documents, title=f"{task_id or dag_id} · {run.run_id}")
    document["tasks"] += [_bare(task, note) for task, note in without]
    document["run"].update(dag_id=dag_id, dag_run_id=run.run_id, task_id=task_id)
    document["run"]["state"] = _state_of(tasks) if task_id else run.state
    if without:
        document["reports_gaps"] = False
    return {"document": document, "reason": None, "notes": notes}


def _bare(task: TaskFacts, note: str) -> Json:
    """Return the entry of a task that is not shown in a composed document."""
    return {
        "title": _title(task),
        "task_id": task.instance.task_id,
        "map_index": _index_of(task),
        "state": task.shown_state,
        "reads": [],
        "writes": [],
        "note": note,
    }


def _documents(
    store: Store, tasks: Sequence[TaskFacts], known: Collection[InstanceKey]
) -> tuple[list[Json], list[tuple[TaskFacts, str]], list[str]]:
    """Return the view documents of tasks, the other tasks with the reason for each, and notes.

    One value after another is read: a run may have much lineage. `known` are the instances that have any.
    """
    documents: list[Json] = []
    without, notes = [], []
    read, left = 0, MAX_DOCUMENT_BYTES
    for task in tasks:
        if task.instance not in known:
            without.append((task, NO_LINEAGE))
        elif read >= MAX_INSTANCES:
            without.append((task, f"not shown: more than {counted(MAX_INSTANCES, 'task instance')}"))
        elif left <= 0:
            without.append((task, "not shown: the run has too much lineage for one page"))
        else:
            read += 1
            try:
                document, reason = _of_last_try(store, task)
            except StoredLineageError as error:
                document, reason = None, "its lineage cannot be read"
                notes.append(f"{_title(task)}: {error}")
            if document is None:
                without.append((task, reason))
            else:
                documents.append(document)
                left -= len(json.dumps(document))
    return documents, without, notes


def _of_last_try(store: Store, task: TaskFacts) -> tuple[Json | None, str]:
    """Return the view document of a task's last try, or why there is none."""
    value = _last(store, task)
    if value is None:
        return None, NO_LINEAGE
    stored_try = stored_form.summary_in(value)["try"]
    if stored_try not in (None, task.try_number):
        return None, f"lineage of try {stored_try} only"
    return _document(value, task), ""


def _last(store: Store, task: TaskFacts) -> Any:
    """Return the stored lineage of the last try of a task, or else of an older try; None if none has any.

    A folder may have later tries, of a deleted run that had the same id.
    """
    value = store.of_task(task.instance, task.try_number)
    return store.of_task(task.instance, None) if value is None else value


def _index_of(task: TaskFacts) -> int | None:
    index = task.instance.map_index
    return index if index >= 0 else None


def _title(task: TaskFacts) -> str:
    return task.instance.task_id + _map_label(task)


def _map_label(task: TaskFacts) -> str:
    """Return what tells an instance of a mapped task from the others; empty for a task that is not mapped."""
    index = _index_of(task)
    return "" if index is None else f" [{task.map_label or index}]"


def _with_lineage(
    store: Store, dag_id: str, runs: Sequence[RunFacts], task_id: str = "", map_index: int = -1
) -> list[Json]:
    """Return those runs that have lineage, as an answer names them."""
    known = store.runs_with_lineage(dag_id, [run.run_id for run in runs], task_id, map_index)
    return [{"id": run.run_id, "label": run.label} for run in runs if run.run_id in known]


def _summaries(
    store: Store,
    runs: Sequence[RunFacts],
    tasks: Mapping[str, list[TaskFacts]],
    ids: tuple[str, str, int],
) -> tuple[set[str], Mapping[str, list[Json]], list[str]]:
    """Return the runs that have lineage of a task, the summaries of its last tries by run, and notes.

    `ids` are DAG, task and map index. Runs are read newest first up to the store's limit, and whole: the sum
    over some instances is not the run's.
    """
    dag_id, task_id, map_index = ids
    known: set[str] = set()
    summaries: dict[str, list[Json]] = {}
    notes: list[str] = []
    left = store.max_summaries
    for run in runs:
        readers = store.summaries(dag_id, run.run_id, task_id, map_index)
        if readers:
            known.add(run.run_id)
        left -= len(readers)
        if left < 0:
            limit = counted(store.max_summaries, "task instance")
            notes.append(f"Not all runs have figures: there are more than {limit}.")
            break
        tries = {task.instance: task.try_number for task in tasks.get(run.run_id, [])}
        try:
            summaries[run.run_id] = [
                summary
                for instance, summary in _read(readers)
                if summary["try"] in (None, tries.get(instance, summary["try"]))
            ]
        except StoredLineageError as error:
            notes.append(f"A run has no figures. {error}")
    return known, summaries, [*dict.fromkeys(notes)]


def _read(readers: Mapping[InstanceKey, Read]) -> Iterator[tuple[InstanceKey, Json]]:
    """Yield the summaries that are there, one after another; raises StoredLineageError."""
    for instance, read in readers.items():
        value = read()
        if value is None:
            continue
        summary = stored_form.summary_in(value)
        if len(json.dumps(summary)) > MAX_SUMMARY_LENGTH:
            raise StoredLineageError("The summary of the stored lineage is too large.")
        yield instance, summary


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
    """Return the sum over all outputs; None if one is unknown, and without outputs."""
    counts = [output[count] for summary in summaries for output in summary["outputs"]]
    return sum(counts) if counts and None not in counts else None
