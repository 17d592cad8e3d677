"""Run the example DAGs in real Airflow on real Spark, and show a person the lineage that their events carry.

    make demo

Everything is written under `.demo/` of the checkout. The last lines say how many events are as expected, and
where the page with the picture of the lineage is; the exit code is 1 when an event is not as expected.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

CHECKOUT = Path(__file__).resolve().parent.parent
# `system_tests` is a folder of the checkout and not an installed package.
sys.path.insert(0, str(CHECKOUT))

from airflow_provider_spark_lineage.cli.traced import (  # noqa: E402
    short_names_of,
    traces_of,
    tree,
    writers_of,
)
from airflow_provider_spark_lineage.errors import BadInputError  # noqa: E402
from airflow_provider_spark_lineage.openlineage.events.checks import has_failed_check, lines_of, results_of  # noqa: E402
from airflow_provider_spark_lineage.openlineage.events.model import Events  # noqa: E402
from airflow_provider_spark_lineage.openlineage.graph.current import Current  # noqa: E402
from airflow_provider_spark_lineage.openlineage.graph.trace import Column  # noqa: E402
from airflow_provider_spark_lineage.openlineage.viewer.listing import listing  # noqa: E402
from airflow_provider_spark_lineage.openlineage.viewer.page import page_of  # noqa: E402
from airflow_provider_spark_lineage.testing import (  # noqa: E402
    DagRun,
    RunError,
    compare,
    make_metadata,
    read_expected,
    run_dag,
)
from system_tests.examples import DAGS, EXPECTED, settings_of, variables_of  # noqa: E402

HOME = CHECKOUT / ".demo"
DATA = HOME / "data"
PAGE = HOME / "lineage.html"

TRACED = Column("file", str(DATA / "warehouse" / "gold.db" / "delays_by_weather"), "conditions")
"""The column that is traced back to the CSV files: identity, transformation and conditions are on its way."""

console = Console(highlight=False)

Document = Mapping[str, Any]


def main() -> int:
    """Run, show, compare; return the exit code."""
    console.rule("Airflow and Spark at work")
    with console.status("Airflow's metadata"):
        metadata = make_metadata(HOME / "airflow" / f"metadata-{version('apache-airflow-core')}")
    pipeline = run("nycflights", metadata)
    report = run("nycflights_report", metadata)
    failure = run("nycflights_fails", metadata)
    checks = run("nycflights_checks", metadata)

    console.rule("What each task read and wrote")
    show_tasks(documents(pipeline))
    console.rule("A task whose application `spark-submit` runs")
    show_tasks(documents(report))
    console.rule("A task that failed between two writes")
    show_tasks(documents(failure))
    console.rule("Checks that pass, and a check that finds an error")
    show_tasks(documents(checks))

    console.rule(f"Where {relative(TRACED.dataset)} . {TRACED.field} comes from")
    show_trace(pipeline)

    console.rule("The lineage of all runs as tables")
    show_tables([pipeline, report, failure, checks], metadata)

    console.rule("Events compared with system_tests/expected")
    code = compare_all([pipeline, report, failure, checks])
    console.print(f"The lineage as a picture: {draw([pipeline, report, failure, checks])}", soft_wrap=True)
    return code


def run(dag_id: str, metadata: Path) -> DagRun:
    """Run a DAG, and print a line for every task."""
    console.print(f"[bold]{dag_id}[/bold]")
    home = HOME / "airflow" / dag_id
    with console.status("Airflow runs it"):
        done = run_dag(DAGS / f"{dag_id}.py", home=home, metadata=metadata, settings=settings_of(DATA, home))
    for task, state in done.tasks.items():
        colour = "green" if state == "success" else "red"
        console.print(f"  [{colour}]{state:<8}[/{colour}]{escape(task)}")
    return done


def documents(run: DagRun) -> list[Document]:
    """The events of a run, as they were emitted."""
    return [event.document for event in run.read()]


def show_tasks(events: Iterable[Document]) -> None:
    """Print the datasets of every task that ended, in that order, and the error of those that failed."""
    for event in events:
        facets = event["run"]["facets"]
        if event["eventType"] not in ("COMPLETE", "FAIL") or "taskInstance" not in facets.get("airflow", {}):
            continue
        console.print(f"[bold]{escape(facets['airflow']['task']['task_id'])}[/bold]")
        for dataset in event["inputs"]:
            show_dataset("reads", dataset, dataset.get("inputFacets", {}).get("inputStatistics", {}))
        for dataset in event["outputs"]:
            show_dataset("writes", dataset, dataset.get("outputFacets", {}).get("outputStatistics", {}))
        # The message of a check operator repeats the failed checks.
        if event["eventType"] == "FAIL" and not has_failed_check(event):
            message = facets.get("errorMessage", {}).get("message", "no reason given")
            # Spark's advice follows the first sentence.
            console.print(
                f"  [red]failed[/red]  {escape(message.splitlines()[0].split('. ')[0])}", soft_wrap=True
            )


def show_dataset(heading: str, dataset: Document, statistics: Document) -> None:
    """Print a line for a dataset, with the number of rows where the event has it."""
    rows, name = statistics.get("rowCount"), escape(relative(dataset["name"]))
    line = name if rows is None else f"{name:<40}[dim]{f'{rows:,} rows':>15}[/dim]"
    console.print(f"  {heading:<8}{line}", soft_wrap=True)
    for line in lines_of(results_of(dataset)):
        colour = "green" if line.startswith("passed") else "red"
        console.print(f"    [{colour}]{escape(line)}[/{colour}]", soft_wrap=True)


def show_trace(run: DagRun) -> None:
    """Print the traced column as `spark-lineage explain --events FILE --column NAME` does."""
    events = run.read()
    current = Current.of(events)
    (trace,) = traces_of(events, current, f"{TRACED.dataset}.{TRACED.field}")
    _, names = short_names_of([trace])
    text = tree(trace, writers_of(events, current), names=names)
    console.print(text, markup=False, soft_wrap=True, end="")


def show_tables(runs: Iterable[DagRun], metadata: Path) -> None:
    """Load the events of the runs by the DAG that does so every night; print where the tables are."""
    events = DATA / "events"
    events.mkdir(exist_ok=True)
    for done in runs:
        shutil.copy(done.events, events / f"{done.dag_id}.jsonl")
    run("lineage_warehouse", metadata)
    tables = DATA.relative_to(CHECKOUT) / "lineage"
    console.print(f"spark-lineage warehouse views --warehouse {tables} | duckdb lineage.db", soft_wrap=True)


def draw(runs: Iterable[DagRun]) -> Path:
    """Write the page of `spark-lineage show`; return its path."""
    events = [event for run in runs for event in run.read()]
    PAGE.write_text(page_of(listing(Events(tuple(events)), title="Lineage of the demo")), encoding="utf-8")
    return PAGE


def compare_all(runs: Iterable[DagRun]) -> int:
    """Compare every event, print what differs, and end with the sum of both; return the exit code."""
    matched = differing = 0
    readable = True
    for run in runs:
        expected = read_expected(EXPECTED / f"{run.dag_id}.yaml")
        report = compare(expected, run.read(), variables=variables_of(DATA), scope="all")
        matched += report.matched
        differing += report.differing
        readable = readable and not report.problems
        console.print(
            f"{run.dag_id}: {report.summary}; log in {run.log.relative_to(CHECKOUT)}", soft_wrap=True
        )
        if not report.ok:
            console.print(report.text(), markup=False, soft_wrap=True)
    console.print(
        f"{matched} events match, {differing} differ", style="bold red" if differing else "bold green"
    )
    return 0 if matched and readable and not differing else 1


def relative(name: str) -> str:
    """Shorten the name of a dataset under the data folder."""
    return name.removeprefix(f"{DATA}/")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RunError, BadInputError) as error:
        console.print(str(error), markup=False, style="red", soft_wrap=True)
        sys.exit(1)
