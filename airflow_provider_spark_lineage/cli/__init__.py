"""The `spark-lineage` command: one module per command, imported only when that command runs."""

from __future__ import annotations

import contextlib
import difflib
import importlib
from collections.abc import Iterator
from typing import Any

import click

from airflow_provider_spark_lineage.cli.refusal import Refusal
from airflow_provider_spark_lineage.errors import BadInputError, MissingExtraError, extra

COMMANDS = {
    "run": "Run an unchanged PySpark script with capture on.",
    "agent": "Write the zip that records the lineage of a submitted application.",
    "explain": "Print the datasets and columns of a recorded run or of OpenLineage events.",
    "show": "Draw the lineage of events or of a recorded run, as one HTML page.",
    "impact": "Print what depends on a column, dataset or job, and what must run again.",
    "diff": "Print what changed in the data flow between two versions of a pipeline.",
    "changes": "Print what changed in the data flow between two dates, from a warehouse.",
    "events": "Print a recorded run as OpenLineage events, JSON Lines.",
    "planned": "Print the datasets that a script or SQL file names, without running it.",
    "compare": "Compare emitted events with expected ones.",
    "expect": "Write expected events from emitted ones, or update them.",
    "policy": "Check rules about the lineage of many runs, as that no personal data reach a dataset.",
    "warehouse": "Load events of many runs into tables of your own, by Spark.",
    "doctor": "Check whether lineage can work here, and say what to fix.",
}
"""Command name -> its line in `--help`; each lives in `cli/<name>.py` as `command`."""

OTHER_NAMES = {"text": "explain", "static": "planned"}
"""Former name of a command -> its name; `--help` lists only the latter."""

OF_THE_HARNESS = frozenset({"compare", "expect"})
"""Commands that need the extra `testing`."""


@contextlib.contextmanager
def _mistakes_as_sentences() -> Iterator[None]:
    """Print a mistake in options or in the input as one sentence; click would print three lines."""
    try:
        yield
    except BadInputError as error:
        raise Refusal(str(error)) from None
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        path = error.ctx.command_path if error.ctx else "spark-lineage"
        message = error.format_message().rstrip(".")
        see = " See" if message.endswith("?") else ": see"
        raise Refusal(f"{message}{see} `{path} --help`") from None


def _unbroken(epilog: str | None) -> str | None:
    """Return an example that click does not break into lines, so that it can be copied as it is."""
    return epilog if not epilog or epilog.startswith("\b") else f"\b\n{epilog}"


class _LazyGroup(click.Group):
    """Imports a command's module when it is asked for, so that `compare` needs no pyspark."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = OTHER_NAMES.get(cmd_name, cmd_name)
        if cmd_name not in COMMANDS:
            return None
        try:
            with extra("testing" if cmd_name in OF_THE_HARNESS else "cli"):
                module = importlib.import_module(f"airflow_provider_spark_lineage.cli.{cmd_name}")
        except MissingExtraError as error:
            raise Refusal(str(error)) from None
        command: click.Command = module.command
        command.epilog = _unbroken(command.epilog)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0].lower(), [*COMMANDS, *OTHER_NAMES], n=1)
            if not near or "did you mean" in error.message.lower():
                raise
            message = f"{error.message.rstrip('.')}; did you mean `{near[0]}`?"
            raise click.UsageError(message, ctx=error.ctx) from None

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.epilog = _unbroken(self.epilog)
        super().format_epilog(ctx, formatter)

    def make_context(self, *args: Any, **more: Any) -> click.Context:
        with _mistakes_as_sentences():
            return super().make_context(*args, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _mistakes_as_sentences():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_LazyGroup,
    epilog="Example: spark-lineage run job.py, and then spark-lineage explain spark-lineage-records",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="airflow-provider-spark-lineage")
def main(**_: Any) -> None:
    """Lineage of Spark jobs: datasets read and written, and the source of each column."""
