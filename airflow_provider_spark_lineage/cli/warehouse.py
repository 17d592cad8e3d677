"""`spark-lineage warehouse`: tables of lineage in a folder, made from OpenLineage events by Spark."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from airflow_provider_spark_lineage.cli.refusal import refuse, say
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.engines import ENGINES, statements
from airflow_provider_spark_lineage.openlineage.warehouse.impact_tables import write_impact
from airflow_provider_spark_lineage.openlineage.warehouse.invariants import cure_of, findings_of
from airflow_provider_spark_lineage.openlineage.warehouse.load import LoadSummary, load
from airflow_provider_spark_lineage.openlineage.warehouse.retention import compact, retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import FORMATS
from airflow_provider_spark_lineage.openlineage.warehouse.storage import folder_of
from airflow_provider_spark_lineage.openlineage.words import counted

_WAREHOUSE = click.option(
    "--warehouse",
    "target",
    type=click.Path(path_type=Path),
    required=True,
    metavar="PATH",
    help="Folder of the tables, or an address such as s3a://bucket/lineage; the first load makes it.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="The summary as one JSON object.")


@click.group("warehouse", epilog="Example: spark-lineage warehouse load --events events --warehouse lineage")
def command() -> None:
    """Load OpenLineage events into tables of parquet, Delta or Iceberg: docs/warehouse.md."""


@command.command(
    "load", epilog="\b\nExample: spark-lineage warehouse load --events events --warehouse lineage"
)
@click.option(
    "--events",
    "source",
    required=True,
    metavar="PATH_OR_TOPIC",
    help="A file of events of any producer, one in a line, also compressed (.gz), a folder of such files,"
    " also in object storage, or kafka://host:port/topic.",
)
@_WAREHOUSE
@click.option(
    "--format",
    "stored_as",
    type=click.Choice(FORMATS),
    help="Format of the tables, chosen by the first load: parquet, if it does not say. Delta and Iceberg need"
    " their jars and settings in Spark.",
)
@click.option(
    "--kafka-option",
    "kafka_options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of Spark's reader of Kafka, such as kafka.security.protocol=SSL; it is not stored. May be"
    " repeated.",
)
@click.option(
    "--drop-facets",
    multiple=True,
    metavar="NAME,...",
    help="Leave facets of these names out of events; give the same names in every load.",
)
@_JSON
def load_command(
    *,
    source: str,
    target: Path,
    stored_as: str | None,
    kafka_options: tuple[str, ...],
    drop_facets: tuple[str, ...],
    as_json: bool,
) -> None:
    """Load the events of files that are new, or that have changed, since the last load, or of a topic.

    Exits with 2 if a line is not an event; all other lines are loaded.
    """
    options = dict(map(_option, kafka_options))
    # Before Spark starts, which takes seconds.
    folder_of(target)
    tell = say if sys.stderr.isatty() and not as_json else _silent
    with _running_session() as spark:
        summary = load(
            spark,
            source,
            target,
            dropped_facets=[name.strip() for names in drop_facets for name in names.split(",")],
            stored_as=stored_as,
            kafka_options=options,
            tell=tell,
        )
    _echo(summary.document(), _sentence(summary), as_json=as_json)
    if summary.bad_lines:
        say(f"{counted(summary.bad_lines, 'line')} could not be loaded: see {summary.rejected}")
        raise SystemExit(2)


def _option(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not key or not equals:
        # It may be a password, so the text is not repeated.
        raise click.UsageError("--kafka-option has no KEY=VALUE.")
    return key, value


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        refuse(f"pyspark cannot be imported ({error}): install it in {sys.prefix}")
    builder = SparkSession.builder.appName("spark-lineage warehouse")
    for key in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
        builder = builder.config(key, "false")
    try:
        spark = builder.config("spark.pyspark.python", sys.executable).getOrCreate()
    except Exception as error:
        # Java is missing, no such master ...: the errors are of many classes, and Spark prints the cause.
        cause = str(error).partition("\n")[0]
        refuse(f"Spark does not start: {cause} See above; Spark needs Java, in JAVA_HOME or on PATH.")
    # The sentence about a load that ended early has the cause.
    spark.sparkContext.setLogLevel("OFF")
    return spark


@contextlib.contextmanager
def _running_session() -> Iterator[Any]:
    spark = _session()
    try:
        yield spark
    finally:
        # A JVM that has died cannot be stopped, and the error says so already.
        with contextlib.suppress(Exception):
            spark.stop()


def _silent(_: str) -> None:
    """Say nothing: standard error is not a terminal."""


def _echo(summary: Mapping[str, Any], sentence: str, *, as_json: bool) -> None:
    click.echo(json.dumps(summary, indent=2, ensure_ascii=False) if as_json else sentence)


def _sentence(summary: LoadSummary) -> str:
    parts = [
        counted(summary.files, "file"),
        f"{counted(summary.events, 'event')}, {summary.new_events:,} new",
        counted(summary.runs, "run"),
        counted(summary.new_versions, "new version"),
        counted(summary.bad_lines, "bad line"),
    ]
    return f"{'; '.join(parts)}; {summary.seconds:.1f} s"


@command.command(
    "retain",
    epilog="\b\nExample: spark-lineage warehouse retain --warehouse lineage --events-days 90 --runs-days 395",
)
@_WAREHOUSE
@click.option(
    "--events-days",
    type=click.IntRange(min=0),
    default=90,
    show_default=True,
    metavar="DAYS",
    help="Keep the events of so many days, with today; 0 keeps none.",
)
@click.option(
    "--runs-days",
    type=click.IntRange(min=0),
    default=395,
    show_default=True,
    metavar="DAYS",
    help="Keep the rows of so many days in `runs` and the other tables with dates.",
)
@_JSON
def retain_command(*, target: Path, events_days: int, runs_days: int, as_json: bool) -> None:
    """Drop events and rows of runs that are old, without Spark.

    Edges, versions, jobs and datasets stay, and so do the runs that decide the current lineage.
    """
    summary = retain(target, events_days=events_days, runs_days=runs_days)
    sentence = (
        f"{counted(summary.event_dates, 'date')} of events and {counted(summary.run_dates, 'date')} of runs"
        f" dropped; {counted(summary.current_runs, 'current run')} of these dates kept"
    )
    _echo(summary.document(), sentence, as_json=as_json)


@command.command("compact", epilog="\b\nExample: spark-lineage warehouse compact --warehouse lineage")
@_WAREHOUSE
@_JSON
def compact_command(*, target: Path, as_json: bool) -> None:
    """Write the rows of each date that has several files into one file, without Spark."""
    summary = compact(target)
    files = counted(summary.files_before, "file")
    sentence = f"{files} joined into {summary.dates:,}" if summary.dates else "No date has several files."
    _echo(summary.document(), sentence, as_json=as_json)


@command.command("check", epilog="\b\nExample: spark-lineage warehouse check --warehouse lineage")
@_WAREHOUSE
def check_command(*, target: Path) -> None:
    """Check that the tables of a warehouse fit together, without Spark.

    Exits with 1 if they do not.
    """
    findings = findings_of(target)
    for finding in findings:
        click.echo(finding)
    click.echo(cure_of(target) if findings else "The tables fit together.")
    raise SystemExit(int(bool(findings)))


@command.command(
    "views",
    epilog="\b\nExample: spark-lineage warehouse views --warehouse lineage | duckdb lineage.db",
)
@_WAREHOUSE
@click.option(
    "--engine",
    type=click.Choice([*ENGINES]),
    default="duckdb",
    show_default=True,
    help="Who runs the statements.",
)
def views_command(*, target: Path, engine: str) -> None:
    """Print the SQL that makes the tables of the last load, and the views over them, in another engine.

    Run it again after each load: a load writes other files.
    """
    for statement in statements(target, engine):
        click.echo(f"{statement};")


@command.command("impact", epilog="\b\nExample: spark-lineage warehouse impact --warehouse lineage")
@_WAREHOUSE
@click.option("--direct-only", is_flag=True, help="Follow values alone, not what decides about rows.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Follow paths of so many jobs.")
@_JSON
def impact_command(*, target: Path, direct_only: bool, depth: int | None, as_json: bool) -> None:
    """Write what depends on each column, as of the last load, into the tables column_impact and blast_radius.

    Run it after each load: a load leaves these tables as they are.
    """
    # Before Spark starts, which takes seconds.
    loaded_tables(target)
    with _running_session() as spark:
        summary = write_impact(spark, target, direct_only=direct_only, depth=depth)
    sentence = (
        f"{counted(summary.rows, 'row')} of column_impact, for {counted(summary.columns, 'column')};"
        f" {summary.seconds:.1f} s"
    )
    _echo(summary.document(), sentence, as_json=as_json)
