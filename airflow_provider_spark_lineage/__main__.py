"""The program `spark-lineage`: runs the command line, or names the extra that it needs."""

from __future__ import annotations

import sys

from airflow_provider_spark_lineage.errors import MissingExtraError, extra


def main() -> None:
    """Run the command line; exit with 2 where a package that an extra brings is not installed."""
    try:
        with extra("cli"):
            from airflow_provider_spark_lineage.cli import main as command

            command(prog_name="spark-lineage")
    except MissingExtraError as error:
        print(f"spark-lineage: {error}", file=sys.stderr)  # noqa: T201  there may be no click
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
