"""`spark-lineage explain`: prints the lineage of a recorded run, or of each run in OpenLineage events."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NoReturn

import click

from airflow_provider_spark_lineage.cli.about import about
from airflow_provider_spark_lineage.cli.output import print_deep_json, print_json
from airflow_provider_spark_lineage.cli.page import cut, page, show
from airflow_provider_spark_lineage.cli.recorded import Opened, holds_records, nothing_in
from airflow_provider_spark_lineage.cli.refusal import complain, refuse
from airflow_provider_spark_lineage.cli.traced import (
    no_such_column,
    short_names_of,
    trace_document,
    traces_of,
    tree,
    writers_of,
)
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.addresses import local_path
from airflow_provider_spark_lineage.openlineage.events.model import Events
from airflow_provider_spark_lineage.openlineage.events.reader import COPY_THEM, read_events
from airflow_provider_spark_lineage.openlineage.events.runs import runs_of, without_run
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.spark.lineage.document import document
from airflow_provider_spark_lineage.spark.runs.executions import Execution
from airflow_provider_spark_lineage.spark.runs.facets import facets_as_json

_MAX_SQL = 100


@click.command("explain", epilog="Example: spark-lineage explain --events events.jsonl --column revenue")
@click.argument("directory", type=click.Path(path_type=Path), required=False)
@click.option(
    "--events",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A file or folder of OpenLineage events of any tasks.",
)
@click.option(
    "--column",
    default="",
    metavar="NAME",
    help="Only the sources of this output column; in events, through all tasks. May be DATASET.COLUMN.",
)
@click.option("--json", "as_json", is_flag=True, help="The lineage as one JSON object.")
@click.option("--each", is_flag=True, help="Every execution by itself, then the whole run.")
def command(directory: Path | None, events: Path | None, column: str, as_json: bool, each: bool) -> None:
    """Print the datasets that a run read and wrote, and the sources of each column.

    DIRECTORY has the run's records, or is a Spark event log (a file, or the folder of a rolling log), or a
    file or folder of OpenLineage events.
    """
    places = [local_path(place, COPY_THEM) for place in (directory, events) if place]
    if len(places) != 1:
        refuse("give one place: DIRECTORY, or --events FILE")
    emitted: Events | None = None
    if events is not None:
        emitted = read_events(events)
        if not emitted.items:
            refuse(nothing_in(events, emitted.problems))
    elif not holds_records(places[0]):
        with contextlib.suppress(BadInputError):
            emitted = read_events(places[0])
    if emitted is not None and emitted.items:
        _explain_events(emitted, column=column, as_json=as_json, each=each)
    _explain_records(places[0], column=column, as_json=as_json, each=each)


def _explain_records(directory: Path, *, column: str, as_json: bool, each: bool) -> NoReturn:
    opened = Opened(directory)
    lineage = opened.run.lineage
    columns = {field.name for output in lineage.outputs for field in output.dataset.fields}
    if column and column not in columns:
        refuse(no_such_column(column, columns))
    if as_json:
        whole = document(lineage)
        if each:
            whole["executions"] = [
                {
                    "number": execution.number,
                    "name": execution.record.name,
                    "sql": execution.record.sql,
                    **document(execution.lineage),
                }
                for execution in opened.recorded.executions()
            ]
        print_json(whole)
    else:
        facts = "" if column else about(facets_as_json(opened.run), has_ended="exit_code" in opened.about)
        pages = [page(document(lineage), column) + facts]
        if each:
            pages = [*map(_page_of, opened.recorded.executions()), f"whole run\n{pages[0]}"]
        show("\n".join(pages))
    complain(opened.run.problems)


def _explain_events(events: Events, *, column: str, as_json: bool, each: bool) -> NoReturn:
    """Print each run, or the trace of a column through all runs, and end the command."""
    if column:
        current = Current.of(events)
        traces, writers = traces_of(events, current, column), writers_of(events, current)
        if as_json:
            columns = [trace_document(trace, writers) for trace in traces]
            print_deep_json({"columns": columns})
        else:
            place, names = short_names_of(traces)
            below = [f"names are relative to {place}\n"] if place else []
            show("\n".join([*below, *(tree(trace, writers, names=names) for trace in traces)]))
    else:
        runs = runs_of(events, each=each)
        if as_json:
            documents = [{"job": run.last.subject, "state": run.last.type, **run.document()} for run in runs]
            print_json({"runs": documents})
        else:
            texts = [
                f"run     {run.title}\n{page(run.document(), empty=_NO_DATASET)}"
                + about(run.facets, has_ended=run.is_ended)
                for run in runs
            ]
            if not texts:
                refuse(without_run(events) or "the events are of DAG runs only, not of tasks or jobs")
            show("\n".join(texts))
    complain([*events.problems, *filter(None, [without_run(events)])])


_NO_DATASET = "no dataset\n"


def _page_of(execution: Execution) -> str:
    sql = cut(execution.record.sql, _MAX_SQL)
    title = "   ".join(filter(None, [f"execution {execution.number}", execution.record.name, sql]))
    return f"{title}\n{page(document(execution.lineage), empty=_NO_DATASET)}"
