"""`spark-lineage agent`: writes the zip that records the lineage of a submitted application."""

from __future__ import annotations

from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.refusal import refuse
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.agent.settings import RECORDS
from airflow_provider_spark_lineage.spark.agent.zipped import write_agent


@click.command("agent", epilog="Example: spark-lineage agent --out agent.zip")
@click.option(
    "--out",
    "path",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("spark_lineage_agent.zip"),
    show_default=True,
    help="The file to write.",
)
def command(path: Path) -> None:
    """Write the zip that records the lineage of a Python application under spark-submit.

    \b
    spark-submit --py-files spark_lineage_agent.zip --conf spark.lineage.records=URI app.py

    URI is a folder, or a place in any file system that Spark can write. Read the records with
    `spark-lineage explain` and `spark-lineage events`.
    """
    if path.suffix != ".zip":
        refuse(f"{path} must end with .zip: Python imports packages only from files with that suffix")
    if not path.parent.is_dir():
        refuse(f"{path} cannot be written: the folder {path.parent} does not exist; create it first")
    try:
        write_agent(path)
        size = path.stat().st_size
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}")
    click.echo(f"{path} has {counted(size, 'byte')}; use it:")
    click.echo(f"spark-submit --py-files {path} --conf {RECORDS}=URI app.py")
