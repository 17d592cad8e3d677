"""`spark-lineage doctor`: checks whether lineage can work here, and says what to fix. It changes nothing.

`look` collects what several checks use. Each function of `CHECKS` looks at the rest, and yields findings.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from airflow_provider_spark_lineage.cli.doctor import extractors, openlineage, own, packages, spark, viewer
from airflow_provider_spark_lineage.cli.doctor.look import look
from airflow_provider_spark_lineage.cli.doctor.model import Finding, Installation, note
from airflow_provider_spark_lineage.cli.doctor.secrets import hidden, secrets_of
from airflow_provider_spark_lineage.cli.doctor.transport import transport

CHECKS: tuple[Callable[[Installation], Iterator[Finding]], ...] = (
    packages.python,
    packages.needed,
    packages.versions,
    packages.pyspark,
    packages.pyspark_connect,
    packages.py4j,
    packages.pandas,
    spark.spark_home,
    spark.java,
    spark.java_listener,
    openlineage.readable,
    openlineage.activity,
    openlineage.listener,
    openlineage.other_plugins,
    transport,
    openlineage.separators,
    openlineage.run_facets,
    openlineage.unknown_options,
    openlineage.execution,
    openlineage.namespace,
    openlineage.disabled_operators,
    openlineage.selective_enable,
    openlineage.emission_policy,
    extractors.imports,
    extractors.clashes,
    extractors.before_capture,
    own.names,
    own.variables,
    own.values,
    own.disabled,
    own.auto_capture,
    own.operators,
    own.operator_names,
    own.patterns,
    viewer.tab,
    viewer.roles,
    viewer.store,
)
"""The checks in the order of the report, the most basic first."""


@click.command(name="doctor", epilog="Example: spark-lineage doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
def command(*, as_json: bool) -> None:
    """Check whether lineage can work here, and say what to fix.

    Exit code 0 when it can, 1 when something must be fixed first.
    """
    # Importing Airflow prints warnings on both streams; relevant ones become findings.
    with (
        _progress() as progress,
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        findings = examine(look(progress))
    problems = [finding for finding in findings if finding.level == "problem"]
    if as_json:
        report = {"healthy": not problems, "findings": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(report, indent=2))
    else:
        _print(findings, problems)
    raise SystemExit(1 if problems else 0)


def examine(installation: Installation) -> list[Finding]:
    """Return every finding, without secrets."""
    findings: list[Finding] = []
    for check in CHECKS:
        try:
            findings += check(installation)
        except Exception as error:  # A configuration that no check expects must not hide the other findings.
            advice = f"The check `{check.__name__}` raised {type(error).__name__}; please report that."
            findings.append(note("check-failed", check.__name__, "not checked", advice))
    secrets = secrets_of(installation.airflow.transport)
    return [hidden(finding, secrets) for finding in findings]


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows the current step, on the error stream and only on a terminal."""
    with Console(file=sys.stderr).status("Looking ...") as status:
        yield lambda what: status.update(f"Looking at {what} ...")


_LEVELS = {"problem": ("fix", "bold red"), "note": ("note", "yellow"), "ok": ("ok", "green")}
"""Level -> its word in the table and its style, the worst level first."""


def _print(findings: list[Finding], problems: list[Finding]) -> None:
    """Print a sentence for each problem and each note, then a table of all checks, the worst level first."""
    click.echo("To fix:" if problems else "Lineage can work here.")
    for number, finding in enumerate(problems, start=1):
        click.echo(f"{number}. {finding.advice}")
    for finding in findings:
        if finding.level == "note":
            click.echo(f"Note: {finding.advice}")
    click.echo()
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("looked at", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("", no_wrap=True)
    for finding in sorted(findings, key=lambda each: list(_LEVELS).index(each.level)):
        # Text, because a string with `[openlineage]` would be parsed as markup.
        table.add_row(finding.topic, Text(finding.value), Text(*_LEVELS[finding.level]))
    if sys.stdout.isatty():
        Console().print(table)
        return
    # For a pipe, which has no width, rich assumes 80 characters.
    console = Console(width=_WIDEST)
    with console.capture() as capture:
        console.print(table)
    for line in capture.get().splitlines():
        click.echo(line.rstrip())


_WIDEST = 100_000
"""Characters of a line in a pipe: more than any finding has."""
