"""`spark-lineage changes`: what changed in the data flow between two times, from a warehouse."""

from __future__ import annotations

import time
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.diff import FAIL_ON, FORM, print_changes, status_of
from airflow_provider_spark_lineage.cli.graph_inputs import dropped, instant_of
from airflow_provider_spark_lineage.cli.refusal import refuse, say
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_between


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
    `2026-05-01 2026-06-01` is what changed in May. The lineage at a time follows from all events until then.
    Kinds, severities and forms are as in `spark-lineage diff`.
    """
    begin_ns = instant_of("FROM", begin)
    end_ns = time.time_ns() if end is None else instant_of("TO", end)
    if begin_ns > end_ns:
        refuse(f"FROM ({begin}) is after TO ({end or 'now'}): give the earlier time first")
    comparison = changes_between(warehouse, begin_ns, end_ns)
    problems = [dropped("Not compared", comparison.left_out, "FROM or TO")] if comparison.left_out else []
    print_changes(
        comparison.changes,
        comparison.contradictions,
        form,
        left_out=comparison.left_out,
        notes=problems,
    )
    for sentence in problems:
        say(sentence)
    raise SystemExit(status_of(comparison.changes, fail_on, problems))
