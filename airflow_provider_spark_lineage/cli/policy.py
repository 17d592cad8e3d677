"""`spark-lineage policy`: checks rules about the lineage of many runs."""

from __future__ import annotations

from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.graph_inputs import AS_OF, EVENTS, SINCE, events_at, instant_option
from airflow_provider_spark_lineage.cli.output import print_json
from airflow_provider_spark_lineage.cli.page import show
from airflow_provider_spark_lineage.cli.refusal import complain, refuse, say
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.policy.checking import check
from airflow_provider_spark_lineage.openlineage.policy.findings import PolicyReport
from airflow_provider_spark_lineage.openlineage.policy.reading import SCHEMA, read_policy
from airflow_provider_spark_lineage.openlineage.policy.rules import Policy
from airflow_provider_spark_lineage.openlineage.policy.tags import tags_in
from airflow_provider_spark_lineage.openlineage.policy.texts import lines_of
from airflow_provider_spark_lineage.spark.lineage.text import printable


def _print_schema(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        click.echo(SCHEMA.read_text(encoding="utf-8"), nl=False)
        ctx.exit()


@click.command("policy", epilog="Example: spark-lineage policy policy.yaml --events events.jsonl")
@click.argument("file", type=click.Path(path_type=Path))
@EVENTS
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
    file: Path, places: tuple[Path, ...], since: str | None, as_of: str | None, as_json: bool
) -> None:
    """Check the rules in FILE, a policy in YAML, against the lineage of all runs in some events.

    Exits with 1 if a rule is broken, and with 2 for input that cannot be used.
    """
    policy = _policy(file)
    if not places:
        refuse("give the lineage to check: --events PATH")
    events = events_at(places)
    limits = instant_option("--since", since), instant_option("--as-of", as_of)
    current = Current.of(events, since=limits[0], as_of=limits[1])
    known = [event for event in events if limits[1] is None or (event.time_ns or 0) <= limits[1]]
    report = check(policy, current, tags_in(known, current.aliases))
    _print(report, as_json=as_json)
    if not report.ok:
        for problem in events.problems:
            say(problem)
        raise SystemExit(1)
    complain(events.problems)


def _policy(file: Path) -> Policy:
    try:
        return read_policy(file)
    except BadInputError as error:
        complain(str(error).splitlines())


def _print(report: PolicyReport, *, as_json: bool) -> None:
    if as_json:
        print_json(report.document())
    else:
        show("".join(f"{printable(line)}\n" for line in lines_of(report)))
