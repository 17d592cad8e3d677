"""The doctor's check of Airflow's metadata database, which `--airflow` queries."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_provider_spark_lineage.cli.doctor.finding import Finding, mistake
from airflow_provider_spark_lineage.cli.doctor.found import Found
from airflow_provider_spark_lineage.cli.doctor.look_database import EMPTY, SILENT

_MISSED = "so DAGs and connections were not looked at"


def database(found: Found) -> Iterator[Finding]:
    """Report whether `--airflow` could query the database."""
    reason, dags = found.plugins.database_error, found.plugins.dags
    if reason == SILENT:
        advice = (
            f"Airflow's metadata database did not answer, {_MISSED}; correct the host in `[database] "
            "sql_alchemy_conn` until `airflow db check` succeeds, or run this where the scheduler runs."
        )
        yield mistake("database-silent", "database", "no answer", advice)
    elif reason == EMPTY:
        advice = (
            f"Airflow's metadata database has no tables, {_MISSED}; run `airflow db migrate`, or set "
            "`[database] sql_alchemy_conn` to the scheduler's database."
        )
        yield mistake("database-empty", "database", "no tables", advice)
    elif reason:
        advice = (
            f"Airflow's metadata database cannot be read ({reason}), {_MISSED}; correct `[database] "
            "sql_alchemy_conn` until `airflow db check` succeeds, or run this where the scheduler runs."
        )
        yield mistake("database-unreadable", "database", "not read", advice)
    elif dags is not None:
        yield Finding("database", "1 DAG" if len(dags) == 1 else f"{len(dags)} DAGs")
