"""`spark-lineage run`: runs an unchanged PySpark script with capture on, as `python SCRIPT` would."""

from __future__ import annotations

import builtins
import importlib.machinery
import io
import json
import os
import sys
import threading
from pathlib import Path
from types import ModuleType

import click

from airflow_provider_spark_lineage.cli.recorded import RUN_FILE
from airflow_provider_spark_lineage.cli.refusal import refuse, say
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.records.record import SUFFIX
from airflow_provider_spark_lineage.spark.records.sql_text import SQL_TEXTS
from airflow_provider_spark_lineage.spark.records.status import SUFFIX as NOTE_SUFFIX
from airflow_provider_spark_lineage.spark.runs.captured import Captured

DEFAULT_RECORDS = "spark-lineage-records"
INTERRUPTED = 130
"""Exit code that a shell reports for a program ended by Ctrl-C."""


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: spark-lineage run --records records job.py --day 2026-01-31",
)
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    default=DEFAULT_RECORDS,
    show_default=True,
    help="Folder for the records; records of an earlier run are replaced.",
)
@click.option(
    "--sql-text",
    type=click.Choice(SQL_TEXTS),
    help="How much of statements and error messages to record  [default: Airflow's option, or full]",
)
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(records: Path, sql_text: str | None, script: Path, args: tuple[str, ...]) -> None:
    """Run SCRIPT with its ARGS, write a record of each Spark execution, and exit with the script's code."""
    if script.is_dir():
        refuse(f"{script} is a folder: give the path of a PySpark script")
    if not script.is_file():
        refuse(f"{script} does not exist: give the path of a PySpark script")
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        refuse(f"pyspark cannot be imported ({error}): install it in {sys.prefix}")
    # The script may change its working directory.
    folder = records.absolute()
    _prepare(folder, shown=records)
    # PySpark looks for the Python of its workers on PATH; an activated environment has it there.
    path = [str(Path(sys.executable).parent), *filter(None, [os.environ.get("PATH")])]
    os.environ["PATH"] = os.pathsep.join(path)

    captured = Captured(directory=folder, sql_text=sql_text)
    captured.start()
    code = _run_script(script, args)
    try:
        # As Python does before it exits, wait for the script's threads and thread pools: they may use Spark.
        # Joining `threading.enumerate()` would wait for ever for idle workers of thread pools, which end by
        # hooks that only this function runs. A second call, by Python at exit, does nothing.
        threading._shutdown()  # type: ignore[attr-defined]
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.stdout.flush()
    captured.stop()
    about = {"job": script.stem, "script": script.name, "exit_code": code, "problems": captured.problems}
    count = len(list(folder.glob("*" + SUFFIX)))
    if code and not count and not captured.problems and _removed(folder):
        say("the script failed before it executed anything on Spark, so nothing was recorded")
        raise SystemExit(code)
    with harmless(f"{RUN_FILE} could not be written beside the records"):
        (folder / RUN_FILE).write_text(json.dumps(about), encoding="utf-8")
    hint = f": see `spark-lineage explain {records}`" if count else ": the script executed nothing on Spark"
    say(f"{counted(count, 'record')} in {records}{hint}")
    raise SystemExit(code)


def _prepare(folder: Path, shown: Path) -> None:
    """Create the folder, and remove the records of an earlier run."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in [*folder.glob("*" + SUFFIX), *folder.glob("*" + NOTE_SUFFIX), *folder.glob(RUN_FILE)]:
            path.unlink()
        (folder / RUN_FILE).write_text("{}", encoding="utf-8")
    except OSError as error:
        refuse(f"{shown} cannot be used for records: {error.strerror or error}")


def _removed(folder: Path) -> bool:
    """Remove a folder that has no record, and return whether that was possible; other files stay."""
    try:
        (folder / RUN_FILE).unlink()
        folder.rmdir()
    except OSError:
        return False
    return True


def _run_script(script: Path, args: tuple[str, ...]) -> int:
    """Run a script as the main program, print its traceback as Python would, and return its exit code."""
    file = os.path.abspath(script)  # keeps symbolic links, as Python does
    sys.argv = [str(script), *args]
    # Replaces the folder of this command, which Python put there.
    sys.path[0] = str(script.resolve().parent)
    main = ModuleType("__main__")
    main.__dict__.update(
        __file__=file,
        __builtins__=builtins,
        __loader__=importlib.machinery.SourceFileLoader("__main__", file),
        __cached__=None,
    )
    # Not undone: the script's threads, exit handlers and pickles look their module up later.
    sys.modules["__main__"] = main
    try:
        with io.open_code(file) as source:
            code = compile(source.read(), file, "exec", dont_inherit=True)
        exec(code, main.__dict__)  # noqa: S102  running the user's script is what this command is for
    except SystemExit as exit_:
        if exit_.code is None or isinstance(exit_.code, int):
            return exit_.code or 0
        sys.stdout.flush()
        click.echo(exit_.code, err=True)
        return 1
    except BaseException as error:
        # The script's own failure, shown by `sys.excepthook`, without the frames that ran the script.
        sys.stdout.flush()
        _without_our_frames(error, file)
        sys.excepthook(type(error), error, error.__traceback__)
        return INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _without_our_frames(error: BaseException, file: str) -> None:
    """Remove the frames before the script from the tracebacks of an error and its causes.

    A script that could not be compiled has no frames.
    """
    chain: list[BaseException | None] = [error]
    visited: set[int] = set()
    while chain:
        current = chain.pop()
        if current is None or id(current) in visited:
            continue
        visited.add(id(current))
        trace = current.__traceback__
        if trace is not None and trace.tb_frame.f_code is _run_script.__code__:
            while trace is not None and trace.tb_frame.f_code.co_filename != file:
                trace = trace.tb_next
            current.__traceback__ = trace
        chain += [current.__cause__, current.__context__]
