"""`spark-lineage doctor`: checks whether lineage can work here, and says what to fix. It changes nothing."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import asdict
from typing import Any

import click

from airflow_provider_spark_lineage.cli import doctor_machine
from airflow_provider_spark_lineage.cli.finding import Finding


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON object.")
def command(*, as_json: bool) -> None:
    """Check whether lineage can work here, and say what to fix.

    Exit code 0 when it can, 1 when something must be fixed first.
    """
    findings = examine()
    problems = [finding for finding in findings if finding.level == "problem"]
    if as_json:
        report = {"healthy": not problems, "findings": [asdict(finding) for finding in findings]}
        click.echo(json.dumps(report, indent=2))
    else:
        _print(findings, problems)
    raise SystemExit(1 if problems else 0)


def examine() -> list[Finding]:
    """Return every finding; raise in no state of the machine."""
    # Importing Airflow prints warnings on both streams; those that matter become findings.
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        findings = list(doctor_machine.findings())
        installed = {finding.topic for finding in findings if finding.value != "missing"}
        if {"apache-airflow", "apache-airflow-providers-openlineage"} <= installed:
            # Only now: reading its options imports Airflow, which takes seconds.
            from airflow_provider_spark_lineage.cli import doctor_openlineage

            findings += doctor_openlineage.findings()
    return findings


def _print(findings: list[Finding], problems: list[Finding]) -> None:
    """Print a table of the findings, then a sentence for each note and each problem."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    styles: dict[str, Any] = {
        "ok": ("ok", "green"),
        "note": ("note", "yellow"),
        "problem": ("fix", "bold red"),
    }
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("looked at", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("", no_wrap=True)
    for finding in findings:
        # Text, because `[openlineage]` would be taken for markup.
        table.add_row(finding.topic, Text(finding.value), Text(*styles[finding.level]))
    Console().print(table)
    click.echo()
    for finding in findings:
        if finding.level == "note":
            click.echo(f"Note: {finding.advice}")
    if not problems:
        click.echo("Lineage can work here.")
        return
    click.echo("To fix:")
    for number, finding in enumerate(problems, start=1):
        click.echo(f"{number}. {finding.advice}")
