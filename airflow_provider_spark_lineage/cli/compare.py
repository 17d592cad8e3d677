"""`spark-lineage compare`: the test harness on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.refusal import pairs
from airflow_provider_spark_lineage.openlineage.testing import (
    RELATIONS,
    Report,
    Scope,
    compare,
    read_events,
    read_expected,
)


@click.command(
    name="compare",
    epilog="Example: spark-lineage compare --expected my_dag.events.yaml --events events.jsonl",
)
@click.option(
    "--expected",
    required=True,
    type=click.Path(path_type=Path),
    help="An expected file, YAML or JSON, or a folder of them.",
)
@click.option(
    "--events",
    required=True,
    type=click.Path(path_type=Path),
    help="Events written by FileTransport: a file, a folder, or its log_file_path.",
)
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Replaces ${NAME}; repeatable.")
@click.option(
    "--scope",
    type=click.Choice(["all", "dags", "keys"]),
    help="Compare all events, events of the expected DAGs, or events of the expected keys. Default: dags for"
    " a file, all for a folder, keys for a JSON array in the format of Airflow's own tests.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="RULE",
    help=f"Do not check this relation between events; repeatable. Rules: {', '.join(RELATIONS)}.",
)
@click.option(
    "--version",
    "versions",
    multiple=True,
    metavar="NAME=VERSION",
    help="Version for `when:` in an expected file, for example spark=4.1; repeatable."
    " Default: the version in the events, else the installed one.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    expected: Path,
    events: Path,
    variables: tuple[str, ...],
    scope: Scope | None,
    without: tuple[str, ...],
    versions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare emitted OpenLineage events with the expected ones.

    \b
    Exit codes:
      0  all events match, and no relation between them is broken
      1  some differ, are missing or unexpected, or a relation is broken
      2  bad input: something cannot be read or is not valid
    """
    report = compare(
        read_expected(expected),
        read_events(events),
        variables=pairs("--var", variables),
        scope=scope,
        versions=pairs("--version", versions),
        without=without,
    )
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
    else:
        _show(report)
    if report.problems and not (report.differences and report.emitted):
        ctx.exit(2)
    ctx.exit(0 if report.ok else 1)


def _show(report: Report) -> None:
    # Imported late: importing rich takes longer than a comparison, and output to a pipe does not use it.
    if not sys.stdout.isatty():
        click.echo(report.text())
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in report.lines():
        console.print(Text(line.text, style=line.style), soft_wrap=True)
