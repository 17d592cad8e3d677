"""`spark-lineage explain`: what a recorded run read and wrote, for a person."""

from __future__ import annotations

import difflib
import json
import re
import sys
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.recorded import Opened, refuse
from airflow_provider_spark_lineage.executions import Execution
from airflow_provider_spark_lineage.lineage.document import document
from airflow_provider_spark_lineage.lineage.model import Lineage
from airflow_provider_spark_lineage.lineage.text import render

_STYLES = {
    "reads": "green",
    "writes": "cyan",
    "to": "cyan",
    "gap": "yellow",
    "failed": "red",
}


@click.command("explain")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--column", default="", metavar="NAME", help="Only what this output column depends on.")
@click.option("--json", "as_json", is_flag=True, help="The lineage as one JSON object.")
@click.option("--each", is_flag=True, help="Every execution by itself, then the whole run.")
def command(directory: Path, column: str, as_json: bool, each: bool) -> None:
    """Print what a run read and wrote, and which column came from where.

    DIRECTORY holds the run's records, or is an event log of Spark: a file, or the folder of a rolling one.
    """
    opened = Opened(directory)
    lineage = opened.run.lineage
    if column:
        _check_column(lineage, column)
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
                for execution in opened.executions()
            ]
        click.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        if each:
            for execution in opened.executions():
                heading = f"execution {execution.number}   {_title(execution)}"
                print_lineage(f"{heading}\n{render(execution.lineage, column)}\n")
            print_lineage("whole run\n")
        print_lineage(render(lineage, column) or "Spark read and wrote no dataset.\n")
    opened.close()


def _title(execution: Execution) -> str:
    sql = " ".join(execution.record.sql.split())
    return f"{execution.record.name}   {sql[:100]}".rstrip()


def _check_column(lineage: Lineage, column: str) -> None:
    """Refuse a column that no output has, and name the nearest."""
    names = sorted({field.name for output in lineage.outputs for field in output.dataset.fields})
    if column in names:
        return
    near = difflib.get_close_matches(column, names, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"the outputs have {', '.join(names) or 'no columns'}"
    refuse(f"no output has a column `{column}`: {hint}")


def print_lineage(text: str) -> None:
    """Print text; where a person looks, with a colour for each kind of line."""
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in text.splitlines():
        word = re.match(r"\w+", line)
        style = _STYLES.get(word[0], "") if word and "<-" not in line else ""
        shown = Text(line, style="dim" if "  indirect  " in line else "")
        if style and word:
            shown.stylize(f"bold {style}", 0, word.end())
        console.print(shown, soft_wrap=True)
