"""`spark-lineage planned`: prints the lineage that the text of a PySpark script or SQL file shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import click

from airflow_provider_spark_lineage.airflow.submitted.jobs import PY_FILES
from airflow_provider_spark_lineage.cli.page import page, show
from airflow_provider_spark_lineage.cli.refusal import complain, refuse
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind
from airflow_provider_spark_lineage.spark.lineage.document import document
from airflow_provider_spark_lineage.spark.planned.sql.statements import lines_not_parsed
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage, program_text

LANGUAGES: Mapping[str, Literal["python", "sql"]] = {".py": "python", ".sql": "sql", ".hql": "sql"}
"""Ends of file names, with the language."""


_NOTHING = "reads nothing, writes nothing\n\n"


def _pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """Return the pairs of an option given as `name=value`."""
    for value in values:
        if "=" not in value:
            refuse(f"{option} {value}: give it as name=value")
    return {name.strip(): text for name, _, text in (value.partition("=") for value in values)}


@click.command(
    "planned",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: spark-lineage planned --var day=2026-01-31 report.sql",
)
@click.option(
    "--var",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Value of ${NAME} in SQL, or of an environment variable of a script; repeatable.",
)
@click.option(
    "--conf",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A Spark setting, as for spark-submit; repeatable.",
)
@click.option(
    "--py-files",
    metavar="PATHS",
    help="Modules of a script, as for spark-submit; those beside the script are found without it.",
)
@click.option(
    "--directory",
    type=click.Path(path_type=Path),
    help="Working directory of the driver  [default: the current one]",
)
@click.option("--json", "as_json", is_flag=True, help="The lineage as one JSON object.")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    *,
    variables: tuple[str, ...],
    settings: tuple[str, ...],
    py_files: str | None,
    directory: Path | None,
    as_json: bool,
    file: Path,
    args: tuple[str, ...],
) -> None:
    """Print the datasets that FILE names: a PySpark script (.py) with its ARGS, or Spark SQL (.sql, .hql).

    Nothing is run. Whatever the text alone does not tell is reported as a gap.
    """
    language = LANGUAGES.get(file.suffix.lower())
    if language is None:
        refuse(f"{file}: give a PySpark script (.py) or a file of Spark SQL (.sql, .hql)")
    if args and language == "sql":
        refuse(f"{file} takes no arguments: put options such as --var before the file")
    text = text_of(file)
    lineage = planned_lineage(
        text,
        language=language,
        arguments=args,
        variables=_pairs(variables, "--var"),
        conf={**_pairs(settings, "--conf"), **({PY_FILES: py_files} if py_files else {})},
        directory=str((directory or Path()).absolute()),
        path=str(file.absolute()),
    )
    for gap in lineage.gaps:
        if gap.kind is GapKind.UNREAD_PROGRAM:
            refuse(f"{file}: {gap.where}: {gap.reason}")
    if as_json:
        click.echo(json.dumps(document(lineage), indent=2, ensure_ascii=False))
    else:
        is_empty = not lineage and all(gap.kind is GapKind.PLANNED for gap in lineage.gaps)
        show(f"{_NOTHING if is_empty else ''}{page(document(lineage))}")
    unparsed = lines_not_parsed(text, _pairs(variables, "--var")) if language == "sql" else []
    complain([f"{file} cannot be parsed as Spark SQL: line {line}" for line in unparsed])


def text_of(file: Path) -> str:
    """Return the text of a script or SQL file, or end the command with a sentence."""
    try:
        return program_text(file)
    except FileNotFoundError:
        refuse(f"{file} does not exist: give the path of a script or SQL file")
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        refuse(f"{file} is not UTF-8: byte {error.start} cannot be decoded; save it as UTF-8")
