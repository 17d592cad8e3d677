"""`spark-lineage compare`: the test harness on the command line; it only passes on and prints."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Report,
    Scope,
    compare,
    read_events,
    read_expected,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@click.command(name="compare")
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
    help="What FileTransport wrote: a file, a folder, or its log_file_path.",
)
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Replaces ${NAME}; repeatable.")
@click.option(
    "--scope",
    type=click.Choice(["all", "dags"]),
    help="Compare all events or those of the expected DAGs. Default: dags for a file, all for a folder.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="RULE",
    help=f"Do not check this relation between events; repeatable. Rules: {', '.join(RELATIONS)}.",
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
    as_json: bool,
) -> None:
    """Compare emitted OpenLineage events with the expected ones.

    Exit code 0: all match. 1: some differ. 2: something could not be read.
    """
    try:
        report = compare(
            read_expected(expected),
            read_events(events),
            variables=dict(_variable(text) for text in variables),
            scope=scope,
            without=without,
        )
    except BadInputError as error:
        click.echo(f"Error: {error}", err=True)
        ctx.exit(2)
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2, ensure_ascii=False))
    else:
        _show(report)
    ctx.exit(_exit_code(report))


def _variable(text: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign or not _NAME.fullmatch(name):
        raise BadInputError(f"--var {text}: not NAME=VALUE.")
    return name, value


def _exit_code(report: Report) -> int:
    """Differences found among what could be read win over what could not."""
    if report.differences and not (report.problems and not report.emitted):
        return 1
    return 2 if report.problems else 0


def _show(report: Report) -> None:
    # Imported late: rich costs more time than a whole comparison, and a pipe never sees it.
    if not sys.stdout.isatty():
        click.echo(report.text())
        return
    from rich.console import Console
    from rich.text import Text

    from airflow_provider_spark_lineage.testing.render import lines

    console = Console(highlight=False)
    for line in lines(report):
        console.print(Text(line.text, style=line.style), soft_wrap=True)
