"""`spark-lineage events`: a recorded run as OpenLineage events."""

from __future__ import annotations

import json
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.recorded import Opened
from airflow_provider_spark_lineage.cli.refusal import complain


@click.command("events", epilog="Example: spark-lineage events spark-lineage-records --namespace my_team")
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--namespace", default="default", show_default=True, help="OpenLineage namespace of the jobs.")
@click.option("--job", default="", help="Name of the run's job [default: the script's or the application's].")
@click.option("--repeat-dataset-edges", is_flag=True, help="Repeat dataset-level edges on every field.")
def command(directory: Path, namespace: str, job: str, repeat_dataset_edges: bool) -> None:
    """Print the run whose records are in DIRECTORY as OpenLineage events, one JSON object per line.

    DIRECTORY may also be a Spark event log: a file, or the folder of a rolling log.

    Prints START and COMPLETE or FAIL of the whole run, and of a child run for each execution with a dataset.
    """
    opened = Opened(directory)
    for event in opened.events(namespace=namespace, job=job, dataset_edges_per_field=repeat_dataset_edges):
        click.echo(json.dumps(event, ensure_ascii=False))
    complain(opened.run.problems)
