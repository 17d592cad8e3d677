"""`spark-lineage impact`: what depends on a column, a dataset or a job, and what must run again."""

from __future__ import annotations

import csv
import io
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from airflow_provider_spark_lineage.cli.graph_inputs import (
    AS_OF,
    EVENTS,
    SINCE,
    WAREHOUSE,
    first_saying,
    lineage_of_options,
)
from airflow_provider_spark_lineage.cli.output import echo, print_json
from airflow_provider_spark_lineage.cli.refusal import complain, refuse, say
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph import rerun
from airflow_provider_spark_lineage.openlineage.graph.impact import (
    LOWER,
    UNKNOWN,
    Impact,
    Reached,
    document_of,
)
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName, JobRun
from airflow_provider_spark_lineage.openlineage.graph.selection import select
from airflow_provider_spark_lineage.openlineage.viewer.datasets import labels_of
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.lineage.text import printable

_MOST_NAMED = 12
"""Limit of the columns that one line names."""

_WIDTH = 110
"""Columns of a page that is not for a terminal."""

_MOST_LEVELS = 5
"""Limit of the jobs between a root of a tree and its datasets: the page is not wide enough for more."""

_MOST_GAPS = 20
"""Limit of the gaps that the page lists; `--json` has them all."""


@click.command("impact", epilog="Example: spark-lineage impact gold/orders.amount --events events.jsonl")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@EVENTS
@WAREHOUSE
@click.option("--direct-only", is_flag=True, help="Follow values alone, not what decides rows or conditions.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Follow at most N jobs.")
@SINCE
@AS_OF
@click.option(
    "--rerun",
    "reruns",
    is_flag=True,
    help="Print which tasks must run again after the data was wrong, in their order.",
)
@click.option("--json", "as_json", is_flag=True, help="The answer as one JSON object.")
@click.option("--csv", "as_csv", is_flag=True, help="The columns as CSV, a line for each.")
def command(
    *,
    names: tuple[str, ...],
    places: tuple[Path, ...],
    warehouse: Path | None,
    direct_only: bool,
    depth: int | None,
    since: str | None,
    as_of: str | None,
    reruns: bool,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Print what depends on NAME, downstream through all jobs whose events are given, or loaded.

    NAME is a column (gold/orders.amount), a dataset, or a job (DAG.TASK); the end of a name is enough where
    only one has it. A column depends on NAME by value, or by rows: where NAME decides which rows there are,
    how they are joined, grouped or ordered, or which value is taken.
    """
    if as_json + as_csv > 1 or (as_csv and reruns):
        refuse("--csv goes without --json and --rerun: choose one form")
    lineage = lineage_of_options(places, warehouse, since, as_of)
    current, graph = lineage.current, lineage.graph
    with first_saying(lineage.problems):
        selection = [select(current, graph, name) for name in names]
    impact = Impact(current, graph, selection, direct_only=direct_only, depth=depth)
    if reruns:
        again = rerun.rerun_of(impact)
        if as_json:
            print_json(rerun.document_of(impact, again) | lineage.document())
        else:
            _print_rerun(impact, again)
    elif as_json:
        print_json(document_of(impact) | lineage.document())
    elif as_csv:
        echo(_csv_of(impact))
    else:
        _print_tree(impact)
    if lineage.left_out:
        say(lineage.left_out)
    complain(lineage.problems)


def _csv_of(impact: Impact) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        ("namespace", "name", "field", "how", "depth", "pass_through", "job", "from_name", "from_field")
    )
    for (dataset, field), reached in impact.columns.items():
        step = impact.step_to(dataset, field)
        job = "/".join(step.write.job) if step and step.write else ""
        source = (step.source.name, step.source.field or "") if step else ("", "")
        is_copy = str((dataset, field) in impact.passed_through).lower()
        lines.writerow((*dataset, field, " ".join(reached.how), reached.depth, is_copy, job, *source))
    return text.getvalue()


def _names(impact: Impact) -> str:
    return printable(", ".join(map(str, impact.selection)))


def _console() -> Console:
    width = None if sys.stdout.isatty() else _WIDTH
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, width=width)


def _print_tree(impact: Impact) -> None:
    console = _console()
    console.print(_summary(impact))
    labels = labels_of({*impact.datasets, *impact.start_datasets})
    shown = {dataset: printable(label) for dataset, label in labels.items()}
    if impact.columns or impact.datasets:
        for tree in _trees(impact, shown):
            console.print(tree)
    idle = [job for job, reached in impact.jobs.items() if not reached.how]
    if idle:
        console.print("\nalso read one of these datasets, and nothing known depends on it there:")
        for job in idle:
            console.print(Text("  ").append_text(_job_line(job, impact.current.runs[job])))
    _print_gaps(console, impact, shown)


def _trees(impact: Impact, shown: Mapping[Id, str]) -> list[Tree]:
    """Return a tree of all that depends on the selection; a path of many jobs goes on in another tree."""
    tree = Tree(Text(_names(impact), style="bold"))
    trees = [tree]
    columns: dict[Id, dict[str, Reached]] = defaultdict(dict)
    for (dataset, field), reached in impact.columns.items():
        columns[dataset][field] = reached
    below: dict[Id, Tree] = dict.fromkeys(impact.start_datasets, tree)
    levels: dict[Id, int] = {}
    of_job: dict[tuple[Id, JobName], Tree] = {}
    origins = _Origins(impact)
    for dataset in sorted(impact.start_datasets & columns.keys()):
        _add_dataset(tree, impact, dataset, shown, columns[dataset])
    for dataset in impact.datasets:
        origin, job = origins.of(dataset)
        if levels.get(origin) == _MOST_LEVELS:
            levels[origin] = 0
            below[origin] = Tree(Text(f"\n{shown[origin]}", style="bold"))
            trees.append(below[origin])
        if (origin, job) not in of_job:
            parent = below.get(origin, tree)
            of_job[origin, job] = parent.add(_job_line(job, impact.current.runs[job]))
        levels[dataset] = levels.get(origin, 0) + 1
        below[dataset] = _add_dataset(of_job[origin, job], impact, dataset, shown, columns[dataset])
    return trees


def _add_dataset(
    tree: Tree, impact: Impact, dataset: Id, shown: Mapping[Id, str], columns: Mapping[str, Reached]
) -> Tree:
    label = Text(shown[dataset], style="cyan")
    if dataset in impact.datasets and impact.datasets[dataset].how == [UNKNOWN]:
        label.append("   made from it, nothing is known of its columns", style="yellow")
    elif not impact.current.readers.get(dataset):
        label.append("   nobody reads it", style="dim")
    node = tree.add(label)
    copied = {field for field in columns if (dataset, field) in impact.passed_through}
    for line in _column_lines(columns, impact.graph.fields_of(dataset), copied):
        node.add(line)
    return node


def _summary(impact: Impact) -> str:
    name = _names(impact)
    if not impact.datasets and not impact.columns:
        return f"Nothing depends on {name}, as far as these events say."
    by_value = sum("value" in reached.how for reached in impact.columns.values())
    by_rows = sum(reached.how == ["rows"] for reached in impact.columns.values())
    users = [job for job, reached in impact.jobs.items() if reached.how]
    dags = {impact.current.runs[job].dag_id for job in users} - {""}
    ways = [f"{counted(by_value, 'column')} by value", f"{by_rows:,} by rows alone"]
    return (
        f"Downstream of {name}: {', '.join(ways[: 1 if impact.direct_only else 2])};"
        f" {counted(len(impact.datasets), 'dataset')}, {counted(len(users), 'job')}"
        + (f" of {counted(len(dags), 'DAG')}" if dags else "")
        + "."
    )


class _Origins:
    """The source of the first path to each dataset, and its job."""

    def __init__(self, impact: Impact) -> None:
        self._impact = impact
        self._known = {*impact.start_datasets, *impact.datasets}

    def of(self, dataset: Id) -> tuple[Id, JobName]:
        """Return both for a dataset of the answer."""
        impact, graph = self._impact, self._impact.graph
        nodes = [number for number in graph.nodes_of(dataset) if impact.reach.depth(number) > 0]
        if nodes:
            first = min(nodes, key=impact.reach.depth)
            step = impact.step_to(dataset, graph.node(first).field)
            if step is not None and step.write is not None:
                return step.source.dataset, step.write.job
        for write in impact.current.writers[dataset]:
            for source in impact.current.sources_of(write):
                if source in self._known:
                    return source, write.job
        raise LookupError(f"{dataset} is not in the answer")


def _column_lines(
    columns: Mapping[str, Reached], own: Collection[str], copied: Collection[str]
) -> Iterable[Text]:
    """Yield a line for each kind of path to columns of a dataset; `own` are all of its columns."""
    by_value = [field for field, reached in columns.items() if "value" in reached.how]
    for title, names in (
        ("copied  ", [field for field in by_value if field in copied]),
        ("computed", [field for field in by_value if field not in copied]),
        ("by rows ", [field for field, reached in columns.items() if reached.how == ["rows"]]),
    ):
        if names:
            is_all = len(names) == len(own) and len(names) > 1
            named = "every column" if is_all else ", ".join(sorted(names)[:_MOST_NAMED])
            more = "" if is_all or len(names) <= _MOST_NAMED else f" and {len(names) - _MOST_NAMED:,} more"
            yield Text(f"{title}   ", style="dim").append(printable(f"{named}{more}"))


def _job_line(job: JobName, run: JobRun) -> Text:
    line = Text(printable(job.name), style="magenta").append(
        printable(f"   {run.state} {run.time[:16].replace('T', ' ')}"), style="dim"
    )
    if run.owners:
        line.append(printable(f"   owner {', '.join(run.owners)}"), style="dim")
    return line


def _print_gaps(console: Console, impact: Impact, shown: dict[Id, str]) -> None:
    if impact.current.contradictions:
        names = printable(", ".join(name for _, name in impact.current.contradictions))
        console.print(f"\nnot followed, because the events use it for several datasets in turn: {names}")
    if not impact.hidden:
        return
    console.print("\nnot known, so that the answer may lack something:", style="yellow")
    for hidden in impact.hidden[:_MOST_GAPS]:
        name = shown.get(hidden.write.output, hidden.write.output[1])
        place = name if hidden.gap["column"] is None else f"{name}.{hidden.gap['column']}"
        bound = "" if hidden.bound == LOWER else " (listed as a whole)"
        reason = f"{hidden.gap['reason']}   ({hidden.write.job.name})"
        console.print(f"  {printable(f'{place}{bound}: {reason}')}")
    if len(impact.hidden) > _MOST_GAPS:
        console.print(f"  and {len(impact.hidden) - _MOST_GAPS:,} more: see --json")


def _print_rerun(impact: Impact, again: list[rerun.Again]) -> None:
    console = _console()
    name = _names(impact)
    if not again:
        console.print(f"Nothing must run again after {name} was wrong, as far as these events say.")
        return
    console.print(f"After {name} was wrong, {counted(len(again), 'job')} must run again, in this order:\n")
    for number, each in enumerate(again, 1):
        line = Text(f"{number:>4}  ").append_text(_job_line(each.job, each.run))
        if each.cycle is not None:
            line.append(f"   circle {each.cycle}: its jobs read their own outputs", style="yellow")
        console.print(line)
    commands = rerun.commands_of(again)
    if commands:
        console.print("\nin Airflow:")
        for text in commands:
            echo(f"  {printable(text)}\n")
    without = [each for each in again if each.run.dag_id and not each.run.logical_date]
    if without:
        console.print(
            "\nto be cleared in Airflow's UI: the command selects by logical date, which their runs lack:"
        )
        for each in without:
            console.print(f"  {printable(each.job.name)}")
    others = [each for each in again if not each.run.dag_id]
    if others:
        console.print("\nto be run by their own schedulers, because Airflow does not run them:")
        for each in others:
            console.print(f"  {printable('/'.join(each.job))}")
