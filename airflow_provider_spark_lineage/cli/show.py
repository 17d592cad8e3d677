"""`spark-lineage show`: lineage as a picture, in one HTML file."""

from __future__ import annotations

import difflib
import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from airflow_provider_spark_lineage.cli.graph_inputs import (
    AS_OF,
    SINCE,
    WAREHOUSE,
    GraphInput,
    events_at,
    first_saying,
    is_warehouse,
    lineage_of_options,
)
from airflow_provider_spark_lineage.cli.refusal import complain, refuse
from airflow_provider_spark_lineage.openlineage.events.addresses import without_secrets
from airflow_provider_spark_lineage.openlineage.events.runs import without_run
from airflow_provider_spark_lineage.openlineage.graph.selection import dataset_columns
from airflow_provider_spark_lineage.openlineage.viewer.around import (
    DEPTH,
    picture_around,
    picture_of_all,
    text_of,
)
from airflow_provider_spark_lineage.openlineage.viewer.listing import jobs_of, listing
from airflow_provider_spark_lineage.openlineage.viewer.page import NO_SCRIPT, page_of


@click.command(
    "show",
    epilog="\b\nExample: spark-lineage show events.jsonl --open"
    "\n         spark-lineage show --warehouse lineage --dataset gold/orders --depth 2",
)
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, metavar="[PATH...]")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("spark-lineage.html"),
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option("--job", default="", metavar="NAME", help="Only this job, for example DAG.TASK, or this DAG.")
@WAREHOUSE
@click.option(
    "--dataset",
    "datasets",
    multiple=True,
    metavar="NAME",
    help="Draw what leads to this dataset or column, and what follows from it, in all jobs; repeatable.",
)
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    metavar="N",
    help=f"With --dataset: at most N jobs upstream and N downstream.  [default: {DEPTH}]",
)
@SINCE
@AS_OF
@click.option("--open", "opens", is_flag=True, help="Open the page in the web browser.")
def command(
    *,
    paths: tuple[Path, ...],
    out: Path,
    job: str,
    warehouse: Path | None,
    datasets: tuple[str, ...],
    depth: int | None,
    since: str | None,
    as_of: str | None,
    opens: bool,
) -> None:
    """Write a page that draws the lineage of each run, or around a dataset, and print its path.

    PATH has OpenLineage events of any producer (a file, also compressed with gzip, or a folder), the records
    of `spark-lineage run`, or a Spark event log. The page is one file that needs no network.
    """
    if warehouse is None and len(paths) == 1 and is_warehouse(paths[0]):
        warehouse = paths[0]
        paths = ()
    if bool(paths) == bool(warehouse):
        refuse("give one of PATH... (OpenLineage events) and --warehouse PATH")
    if job and (warehouse or datasets):
        refuse("--job chooses runs of events: it goes neither with --warehouse nor with --dataset")
    if depth is not None and not datasets:
        refuse("--depth counts from a dataset: give --dataset NAME")
    if (since or as_of) and not (warehouse or datasets):
        refuse("--since and --as-of are for the lineage around a dataset: give --dataset NAME")
    if warehouse or datasets:
        known = lineage_of_options(paths, warehouse, since, as_of)
        with first_saying(known.problems):
            listed = _around(
                known, datasets, DEPTH if depth is None else depth, without_secrets(warehouse or "")
            )
        text = text_of(listed)
        problems = [*known.problems, *filter(None, [known.left_out])]
    else:
        listed, problems = _runs(paths, job)
        text = NO_SCRIPT
    _write(page_of(listed, text), out, opens=opens)
    complain(problems)


def _around(known: GraphInput, datasets: Sequence[str], depth: int, place: str) -> Mapping[str, Any]:
    if not datasets:
        return picture_of_all(known.current, place)
    return picture_around(known.current, dataset_columns(known.current, known.graph, datasets), depth)


def _runs(paths: Sequence[Path], job: str) -> tuple[Mapping[str, Any], list[str]]:
    """Return a page of each run, and sentences about events that it does not have."""
    events = events_at(paths)
    if job:
        _refuse_unknown(job, list(jobs_of(events)))
    title = f"Lineage of {job or ', '.join(path.name or str(path) for path in paths)}"
    listed = listing(events, title=title, is_shown=lambda name: not job or _is_of(name, job))
    left_out = without_run(events)
    if not listed["runs"]:
        refuse(left_out or "the events are of DAG runs only, not of tasks or jobs")
    return listed, [*events.problems, *filter(None, [left_out])]


def _write(page: str, out: Path, *, opens: bool) -> None:
    try:
        out.write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        refuse(f"{out} cannot be written ({error.strerror or error}); choose another file with --out")
    click.echo(str(out))
    if opens and not webbrowser.open(out.resolve().as_uri()):
        complain([f"no web browser could be started; open {out} yourself"])


def _is_of(name: str, job: str) -> bool:
    return name == job or name.startswith((f"{job}.", f"{job}["))


def _refuse_unknown(job: str, names: list[str]) -> None:
    if any(_is_of(name, job) for name in names):
        return
    near = difflib.get_close_matches(job, names, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names[:20]) or 'none'}"
    refuse(f"no event is of a job `{job}`: {hint}")
