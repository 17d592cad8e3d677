"""Finds which input of a run fed which output, as far as its events prove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.runs import RunEvents
from airflow_provider_spark_lineage.openlineage.events.shapes import Id, id_of, object_at, objects, text

MAX_FLOWS = 10_000
"""Limit of the flows of one kind that are products: of all that was read with all that was written."""

_MAX_REPEATS = 100
"""Limit of how often each of these flows may be repeated."""

TOO_MANY = "the events do not say which of the many inputs fed which output, so no line is drawn for them"
"""Reason of the gap if flows are left out."""

Pair = tuple[Id, Id]
"""An input and an output."""


def flows_of(
    run: RunEvents,
    written: Sequence[Mapping[str, Any]],
    executions: Sequence[Mapping[str, Any]],
    unfinished: Iterable[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]] = (),
    targets: Iterable[Id] = (),
) -> tuple[dict[Pair, None], frozenset[Id]]:
    """Return the pairs of inputs and outputs, and the outputs without all of their pairs.

    Where there are too many pairs, they are left out.

    `written` are outputs as in `RunEvents.document`, `executions` as in `executions_of`. `unfinished` are the
    outputs of failed writes, each with the inputs of its event; `targets` are those that nothing else wrote.

    The job facet `lineage` names them, also outputs without an input. Without the facet, an output comes from
    the sources of its columns, or else from the inputs of the executions that wrote it. For an output that is
    in neither, the run itself is the only evidence: it may come from every input that feeds no other output.
    """
    targets = dict.fromkeys(targets)
    entries = [
        each for event in run.ends for each in objects(event.at("job", "facets", "lineage", "entries"))
    ]
    of_targets = _limited(
        (id_of(read), id_of(output))
        for output, reads in unfinished
        if id_of(output) in targets
        for read in reads
    )
    explained = (of_targets or {}) | dict.fromkeys(
        (id_of(source), id_of(entry)) for entry in entries for source in objects(entry.get("inputs"))
    )
    done = {target for _, target in explained} | set(map(id_of, entries))
    of_columns = dict.fromkeys(
        (id_of(edge["source"]), id_of(output)) for output in written for edge in output["edges"]
    )
    pairs = explained | of_columns
    with_columns = {target for _, target in pairs}
    reads_of: dict[Id, list[Sequence[Id]]] = {}
    for execution in executions:
        for target in (*execution["writes"], *(each for each in execution["unfinished"] if each in targets)):
            reads_of.setdefault(target, []).append(execution["reads"])
    open_outputs = [each for each in (*map(id_of, written), *targets) if each not in done]
    by_executions = [each for each in open_outputs if each in reads_of and each not in with_columns]
    of_executions = _limited(
        (source, target) for target in by_executions for reads in reads_of[target] for source in reads
    )
    pairs |= of_executions or {}
    feeding = {source for source, _ in pairs}
    if of_executions is None:
        feeding.update(source for target in by_executions for reads in reads_of[target] for source in reads)
    inputs = [id_of(read) for read in run.inputs]
    unused = [each for each in inputs if each not in feeding]
    of_run = _limited(
        (source, target)
        for target in open_outputs
        if target not in reads_of
        for source in (unused if target in with_columns else unused or inputs)
    )
    cut: set[Id] = set(targets) if of_targets is None else set()
    if of_executions is None:
        cut.update(by_executions)
    if of_run is None:
        cut.update(
            each for each in open_outputs if each not in reads_of and (unused or each not in with_columns)
        )
    return pairs | (of_run or {}), frozenset(cut)


def _limited(pairs: Iterable[Pair]) -> dict[Pair, None] | None:
    """Return pairs, each once; None if they are too many."""
    distinct: dict[Pair, None] = {}
    for number, pair in enumerate(pairs):
        distinct[pair] = None
        if len(distinct) > MAX_FLOWS or number > _MAX_REPEATS * MAX_FLOWS:
            return None
    return distinct


def executions_of(facets: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the executions of a task from its run facet, with what each read, wrote and left unfinished."""
    for entry in objects(object_at(facets, "sparkLineage_executions").get("executions")):
        number, rows = entry.get("number"), entry.get("rowsWritten")
        yield {
            "number": number if type(number) is int else 0,
            "name": text(entry.get("name")),
            "began": text(entry.get("startedAt")),
            "ended": text(entry.get("endedAt")),
            "state": "fail" if entry.get("failed") is True else "complete",
            "reads": [id_of(read) for read in objects(entry.get("inputs"))],
            "writes": [id_of(write) for write in objects(entry.get("outputs"))],
            "unfinished": [id_of(write) for write in objects([entry.get("unfinishedOutput")])],
            "rows": rows if type(rows) is int else None,
            "statement": text(entry.get("statement")) or text(entry.get("codeLine")),
        }
