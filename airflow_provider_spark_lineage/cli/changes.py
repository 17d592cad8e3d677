"""`spark-lineage changes`: what changed in the data flow between two times, from a warehouse."""

from __future__ import annotations

import time
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.diff import FAIL_ON, FORM, print_changes, status_of
from airflow_provider_spark_lineage.cli.graph_inputs import instant_option
from airflow_provider_spark_lineage.cli.refusal import refuse, say
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_between

_MOST_JOBS = 10


@click.command("changes", epilog="Example: spark-lineage changes --warehouse lineage 2026-05-01 2026-06-01")
@click.argument("begin", metavar="FROM")
@click.argument("end", metavar="[TO]", required=False)
@click.option(
    "--warehouse",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="Folder that `spark-lineage warehouse load` has filled.",
)
@FORM
@FAIL_ON
def command(begin: str, end: str | None, warehouse: Path, form: str, fail_on: str) -> None:
    """Print what changed in the data flow from FROM to TO, or to now.

    Both are a date (2026-05-01) or a time (2026-05-01T06:00:00Z). A date is its first moment in UTC:
    `2026-05-01 2026-06-01` is what changed in May. The lineage at a time is that of all events until then.
    Kinds, severities and forms are those of `spark-lineage diff`.
    """
    begin_ns, end_ns = instant_option("FROM", begin), instant_option("TO", end)
    if begin_ns is None or end_ns is None:
        begin_ns, end_ns = begin_ns or 0, time.time_ns()
    if begin_ns > end_ns:
        refuse(f"FROM ({begin}) is after TO ({end or 'now'}): give the earlier time first")
    found = changes_between(warehouse, begin_ns, end_ns)
    print_changes(found.changes, found.contradictions, form)
    problems = [_left_out(found.left_out)] if found.left_out else []
    for sentence in problems:
        say(sentence)
    raise SystemExit(status_of(found.changes, fail_on, problems))


def _left_out(jobs: list[JobName]) -> str:
    names = ", ".join(job.name for job in jobs[:_MOST_JOBS])
    more = f" and {len(jobs) - _MOST_JOBS:,} more" if len(jobs) > _MOST_JOBS else ""
    return (
        "Not compared, because `warehouse retain` has dropped runs or events that tell the lineage that they"
        f" had at FROM or TO: {names}{more}."
    )
