"""`spark-lineage run`: runs an unchanged PySpark script with capture on, as `python SCRIPT` would."""

from __future__ import annotations

import json
import os
import runpy
import sys
import traceback
from pathlib import Path
from types import TracebackType

import click

from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.cli.recorded import RUN_FILE, refuse
from airflow_provider_spark_lineage.record import SUFFIX

DEFAULT_RECORDS = "spark-lineage-records"


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    default=DEFAULT_RECORDS,
    show_default=True,
    help="Folder for the records; those of an earlier run are replaced.",
)
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(records: Path, script: Path, args: tuple[str, ...]) -> None:
    """Run SCRIPT with its ARGS, write a record for every Spark execution, and exit with the script's code."""
    if not script.is_file():
        refuse(f"{script} does not exist: give the path of a PySpark script")
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        refuse(f"pyspark cannot be imported ({error}): install it in {sys.prefix}")
    # The script may change the folder that it works in.
    place = records.absolute()
    _prepare(place)
    # PySpark starts its Python workers from PATH, as an activated environment would have it.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

    from airflow_provider_spark_lineage.captured import Captured

    captured = Captured(directory=place)
    captured.start()
    code = _run_script(script, args)
    captured.finish()
    about = {"job": script.stem, "script": script.name, "exit_code": code}
    with harmless("the script's exit code could not be kept"):
        (place / RUN_FILE).write_text(json.dumps(about), encoding="utf-8")
    count = len(list(place.glob("*" + SUFFIX)))
    hint = f": see `spark-lineage explain {records}`" if count else ": the script executed nothing on Spark"
    click.echo(f"spark-lineage: {count} records in {records}{hint}", err=True)
    sys.stdout.flush()
    raise SystemExit(code)


def _prepare(records: Path) -> None:
    """Make the folder, and take away the records of an earlier run."""
    try:
        records.mkdir(parents=True, exist_ok=True)
        old = [*records.glob("*" + SUFFIX), *records.glob(RUN_FILE)]
        for path in old:
            path.unlink()
        (records / RUN_FILE).write_text("{}", encoding="utf-8")
    except OSError as error:
        refuse(f"{records} cannot be used for records: {error.strerror or error}")


def _run_script(script: Path, args: tuple[str, ...]) -> int:
    """Run a script as the main program; return its exit code, its traceback printed as Python would."""
    sys.argv = [str(script), *args]
    sys.path.insert(0, str(script.absolute().parent))
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return exit_.code or 0
        click.echo(exit_.code, err=True)
        return 1
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        # The script's own failure, shown without the frames that ran it.
        traceback.print_exception(type(error), error, _from_script(error.__traceback__, script))
        return 1
    return 0


def _from_script(trace: TracebackType | None, script: Path) -> TracebackType | None:
    """Cut a traceback to start in the script."""
    current = trace
    while current is not None and current.tb_frame.f_code.co_filename != str(script):
        current = current.tb_next
    return current or trace
