"""`spark-lineage show`: lineage as a picture, in one HTML file."""

from __future__ import annotations

import difflib
import webbrowser
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.graph_inputs import events_at
from airflow_provider_spark_lineage.cli.refusal import complain, refuse
from airflow_provider_spark_lineage.openlineage.events.runs import without_run
from airflow_provider_spark_lineage.openlineage.viewer.listing import jobs_of, listing
from airflow_provider_spark_lineage.openlineage.viewer.page import page_of


@click.command("show", epilog="Example: spark-lineage show events.jsonl --open")
@click.argument("paths", type=click.Path(path_type=Path), nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("spark-lineage.html"),
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option("--job", default="", metavar="NAME", help="Only this job, for example DAG.TASK, or this DAG.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the web browser.")
def command(paths: tuple[Path, ...], out: Path, job: str, opens: bool) -> None:
    """Write a page that draws the lineage of each run, and print its path.

    PATH has OpenLineage events of any producer (a file, also compressed with gzip, or a folder), the records
    of `spark-lineage run`, or a Spark event log. The page is one file that needs no network.
    """
    events = events_at(paths)
    if job:
        _refuse_unknown(job, list(jobs_of(events)))
    title = f"Lineage of {job or ', '.join(path.name or str(path) for path in paths)}"
    listed = listing(events, title=title, is_shown=lambda name: not job or _is_of(name, job))
    left_out = without_run(events)
    if not listed["runs"]:
        refuse(left_out or "the events are of DAG runs only, not of tasks or jobs")
    page = page_of(listed)
    try:
        out.write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        refuse(f"{out} cannot be written ({error.strerror or error}); choose another file with --out")
    click.echo(str(out))
    if opens and not webbrowser.open(out.resolve().as_uri()):
        complain([f"no web browser could be started; open {out} yourself"])
    complain([*events.problems, *filter(None, [left_out])])


def _is_of(name: str, job: str) -> bool:
    return name == job or name.startswith((f"{job}.", f"{job}["))


def _refuse_unknown(job: str, names: list[str]) -> None:
    if any(_is_of(name, job) for name in names):
        return
    near = difflib.get_close_matches(job, names, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names[:20]) or 'none'}"
    refuse(f"no event is of a job `{job}`: {hint}")
