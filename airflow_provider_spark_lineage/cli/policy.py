"""`spark-lineage policy`: checks rules about the lineage of many runs."""

from __future__ import annotations

from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.graph_inputs import (
    AS_OF,
    EVENTS,
    SINCE,
    WAREHOUSE,
    lineage_of_options,
)
from airflow_provider_spark_lineage.cli.output import print_json
from airflow_provider_spark_lineage.cli.page import show
from airflow_provider_spark_lineage.cli.refusal import complain, say
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.policy.checking import check
from airflow_provider_spark_lineage.openlineage.policy.reading import SCHEMA, read_policy
from airflow_provider_spark_lineage.openlineage.policy.rules import Policy
from airflow_provider_spark_lineage.openlineage.policy.texts import lines_of
from airflow_provider_spark_lineage.spark.lineage.text import printable


def _print_schema(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        click.echo(SCHEMA.read_text(encoding="utf-8"), nl=False)
        ctx.exit()


@click.command("policy", epilog="Example: spark-lineage policy policy.yaml --events events.jsonl")
@click.argument("file", type=click.Path(path_type=Path))
@EVENTS
@WAREHOUSE
@SINCE
@AS_OF
@click.option("--json", "as_json", is_flag=True, help="Violations, unknown and warnings as one JSON object.")
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON schema of a policy, for editors, and exit.",
)
def command(
    *,
    file: Path,
    places: tuple[Path, ...],
    warehouse: Path | None,
    since: str | None,
    as_of: str | None,
    as_json: bool,
) -> None:
    """Check the rules in FILE, a policy in YAML, against the lineage of all runs in events or a warehouse.

    Exits with 1 if a rule is broken, and with 2 for input that cannot be used.
    """
    policy = _policy(file)
    lineage = lineage_of_options(places, warehouse, since, as_of, with_tags=True)
    report = check(policy, lineage.current, lineage.tags, lineage.graph)
    if as_json:
        print_json({**report.document(), **lineage.document()})
    else:
        show("".join(f"{printable(line)}\n" for line in lines_of(report)))
    if lineage.left_out:
        say(lineage.left_out)
    if not report.ok:
        for problem in lineage.problems:
            say(problem)
        raise SystemExit(1)
    complain(lineage.problems)


def _policy(file: Path) -> Policy:
    try:
        return read_policy(file)
    except BadInputError as error:
        complain(str(error).splitlines())
