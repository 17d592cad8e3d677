"""`spark-lineage expect`: expected files from emitted events, on the command line."""

from __future__ import annotations

from pathlib import Path

import click

from airflow_provider_spark_lineage.airflow.draft_rules import RULES
from airflow_provider_spark_lineage.cli.refusal import pairs
from airflow_provider_spark_lineage.openlineage.testing import draft_expected, read_events, update_expected


@click.command(
    name="expect",
    epilog="Example: spark-lineage expect my_dag --events events.jsonl --update my_dag.events.yaml",
)
@click.argument("dag_id", required=False)
@click.option(
    "--events",
    required=True,
    type=click.Path(path_type=Path),
    help="Events written by FileTransport: a file, a folder, or its log_file_path.",
)
@click.option(
    "--update",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write or update this expected file, in YAML. Default: print a draft.",
)
@click.option(
    "--var",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Write ${NAME} in place of the value; repeatable.",
)
@click.option(
    "--version",
    "versions",
    multiple=True,
    metavar="NAME=VERSION",
    help="Version for `when:` in an expected file, for example spark=4.1; repeatable.",
)
@click.pass_context
def command(
    ctx: click.Context,
    *,
    dag_id: str | None,
    events: Path,
    update: Path | None,
    variables: tuple[str, ...],
    versions: tuple[str, ...],
) -> None:
    """Write expected events from the emitted ones, of all DAGs or of DAG_ID alone.

    Values that vary between runs become matchers. In an existing file, only expectations that the events
    contradict are changed: matchers that still hold stay, and comments outside the changed keys stay; lost
    comments are listed. Read the file before you commit it: it repeats the emitted events, right or wrong.

    \b
    Exit codes:
      0  the draft was printed, or the file is unchanged
      1  the file was written or changed
      2  bad input; the file is unchanged
    """
    read, named = read_events(events), pairs("--var", variables)
    if update is None:
        click.echo(draft_expected(read, variables=named, dag_id=dag_id, rules=RULES), nl=False)
        return
    result = update_expected(
        update, read, variables=named, versions=pairs("--version", versions), dag_id=dag_id, rules=RULES
    )
    click.echo(result.text())
    ctx.exit(1 if result.changed else 0)
