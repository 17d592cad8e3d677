"""`spark-lineage diff`: what changed in the data flow between two versions of a pipeline."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from airflow_provider_spark_lineage.cli.graph_inputs import events_at, is_warehouse, lineage_in_warehouse
from airflow_provider_spark_lineage.cli.output import echo, print_json
from airflow_provider_spark_lineage.cli.refusal import say
from airflow_provider_spark_lineage.openlineage.events.runs import without_run
from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.graph.changes import (
    ADDED,
    BREAKING,
    CHANGED,
    SEVERITIES,
    UNKNOWN,
    FlowChange,
    changes_of,
)
from airflow_provider_spark_lineage.openlineage.graph.current import Current
from airflow_provider_spark_lineage.openlineage.graph.run_lineage import JobName
from airflow_provider_spark_lineage.openlineage.graph.selection import whole_name
from airflow_provider_spark_lineage.openlineage.viewer.datasets import labels_of
from airflow_provider_spark_lineage.spark.lineage.text import printable

FAILING = {
    "breaking": {BREAKING},
    "changed": {BREAKING, UNKNOWN, CHANGED},
    "added": {BREAKING, UNKNOWN, CHANGED, ADDED},
    "never": set[str](),
}
"""Value of `--fail-on` -> the severities that set the exit status 1."""

MOST_CHARACTERS = 55_000
"""Limit of the markdown: a comment on a pull request may have some 65,000."""

_MOST_HITS = 10


FORM = click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), default="text", show_default=True
)
FAIL_ON = click.option(
    "--fail-on",
    type=click.Choice([*FAILING]),
    default="breaking",
    show_default=True,
    help="End with status 1 at a change of this severity, or of a worse one.",
)


@click.command("diff", epilog="Example: spark-lineage diff main-events branch-events --format markdown")
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("head", type=click.Path(path_type=Path))
@click.option(
    "--production",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Events or a warehouse of all jobs, so that whoever is hit downstream is named.",
)
@FORM
@FAIL_ON
def command(base: Path, head: Path, production: Path | None, form: str, fail_on: str) -> None:
    """Print what changed in the data flow from BASE to HEAD.

    Both are OpenLineage events of any producer, records of `spark-lineage run`, a Spark event log, or a text
    (.py, .sql). Breaking is what somebody downstream reads and that is gone or has another type, and a column
    that is not masked any more.
    """
    sides = [events_at([place]) for place in (base, head)]
    others = events_at([production]) if production and not is_warehouse(production) else None
    base_lineage, head_lineage, *production_lineage = map(Current.of, (*sides, *filter(None, [others])))
    if production and others is None:
        production_lineage = [lineage_in_warehouse(production).current]
    changes = changes_of(base_lineage, head_lineage, next(iter(production_lineage), None))
    ambiguous = sorted(
        {*base_lineage.contradictions, *head_lineage.contradictions}.union(
            *(each.contradictions for each in production_lineage)
        )
    )
    print_changes(changes, ambiguous, form)
    every = [*sides, *filter(None, [others])]
    problems = [problem for events in every for problem in events.problems]
    for sentence in (*problems, *filter(None, map(without_run, every))):
        say(sentence)
    raise SystemExit(status_of(changes, fail_on, problems))


def print_changes(
    changes: Sequence[FlowChange],
    ambiguous: Sequence[Id],
    form: str,
    *,
    left_out: Sequence[JobName] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Print changes, and the names that are not followed, in one of the forms of `--format`.

    `left_out` has the jobs that were not compared, for JSON, and `notes` has sentences for the other forms.
    """
    notes = [*([_not_followed(ambiguous)] if ambiguous else []), *notes]
    if form == "json":
        names = [{"namespace": namespace, "name": name} for namespace, name in ambiguous]
        more = {} if left_out is None else {"left_out": [job._asdict() for job in left_out]}
        print_json({"changes": [each.document() for each in changes], "contradictions": names, **more})
    elif form == "markdown":
        echo(f"{markdown_of(changes, notes)}\n")
    else:
        echo("".join(f"{printable(line)}\n" for line in lines_of(changes, notes)))


def status_of(changes: Sequence[FlowChange], fail_on: str, problems: Sequence[str] = ()) -> int:
    """Return the status of the command: 2 for problems of the input, 1 for changes that fail."""
    return 2 if problems else int(any(each.severity in FAILING[fail_on] for each in changes))


def lines_of(changes: Sequence[FlowChange], notes: Sequence[str] = ()) -> Iterator[str]:
    """Yield the lines of a report for people."""
    labels = labels_of({each.dataset for each in changes})
    yield _summary(changes)
    for severity in SEVERITIES:
        some = [each for each in changes if each.severity == severity]
        if some:
            yield from ("", severity)
        for each in some:
            yield f"  {_place(each, labels)}: {_words(each)}"
            if each.hits:
                yield f"      used by {_jobs(each)}"
    for note in notes:
        yield from ("", note)


def _not_followed(ambiguous: Sequence[Id]) -> str:
    more = f" and {len(ambiguous) - _MOST_HITS:,} more" if len(ambiguous) > _MOST_HITS else ""
    names = ", ".join(whole_name(name) for name in ambiguous[:_MOST_HITS])
    return (
        f"The events use these names for several datasets in turn, so they are not followed: {names}{more}."
    )


def _summary(changes: Sequence[FlowChange]) -> str:
    if not changes:
        return "The data flow is the same."
    counts = Counter(each.severity for each in changes)
    return ", ".join(f"{counts[severity]:,} {severity}" for severity in SEVERITIES if counts[severity])


def _place(change: FlowChange, labels: dict[Id, str]) -> str:
    label = labels[change.dataset]
    return label if change.field is None else f"{label}.{change.field}"


def _words(change: FlowChange) -> str:
    """Return a change as the end of a sentence whose subject is the dataset or column."""
    was = f" instead of {change.before}" if change.before else ""
    if change.kind == "column_removed" and change.renamed_to:
        return f"is gone, probably renamed to {change.renamed_to}"
    if change.kind == "sources_changed":
        return f"comes from {change.after or 'no other source'}{was}"
    if change.kind == "rows_changed":
        return f"rows are decided by {change.after or 'fewer sources'}{was}"
    return {
        "dataset_removed": "is gone",
        "dataset_added": "is new",
        "column_removed": "is gone",
        "column_added": f"is new{f', {change.after}' if change.after else ''}",
        "type_changed": f"is {change.after} instead of {change.before}",
        "unmasked": f"shows {change.after}, which was masked",
        "masked": f"masks {change.after}",
        "gap_added": f"is not known any more: {change.after}",
    }[change.kind]


def _jobs(change: FlowChange) -> str:
    names = [job.name for job in change.hits]
    more = f" and {len(names) - _MOST_HITS:,} more" if len(names) > _MOST_HITS else ""
    return ", ".join(names[:_MOST_HITS]) + more


def markdown_of(changes: Sequence[FlowChange], notes: Sequence[str] = ()) -> str:
    """Return a comment for a pull request: a summary, and the details of each severity, collapsed."""
    labels = labels_of({each.dataset for each in changes})
    parts = [f"### Data flow\n\n{_summary(changes)}\n"]
    parts += [f"{_cell(note)}\n" for note in notes]
    left = MOST_CHARACTERS
    for severity in SEVERITIES:
        some = [each for each in changes if each.severity == severity]
        if not some:
            continue
        rows = []
        for number, each in enumerate(some):
            row = f"| {_cell(_place(each, labels))} | {_cell(_words(each))} | {_cell(_jobs(each))} |"
            if len(row) + 1 > left:
                rows.append(f"| and {len(some) - number:,} more | | |")
                break
            left -= len(row) + 1
            rows.append(row)
        table = "\n".join(["| where | what | used by |", "| --- | --- | --- |", *rows])
        is_open = " open" if severity == BREAKING else ""
        parts.append(
            f"<details{is_open}><summary>{severity} ({len(some):,})</summary>\n\n{table}\n\n</details>\n"
        )
    return "\n".join(parts).rstrip()


def _cell(text: str) -> str:
    """Return a text that is one cell of a table: no markup, no link, no mention of a person or an issue."""
    shown = text if len(text) <= _LONGEST_CELL else f"{text[:_LONGEST_CELL]}..."
    escaped = _MARKUP.sub(lambda mark: f"&#{ord(mark[0])};", printable(" ".join(shown.split())))
    for pattern, without_effect in _REFERENCES:
        escaped = pattern.sub(without_effect, escaped)
    return escaped


_LONGEST_CELL = 500

_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|&!~$@])")

_REFERENCES = (
    # GitHub looks for names and numbers in the text after markup: a space without width separates them.
    (re.compile(r"&#(?:64|35);"), r"\g<0>&#8203;"),
    (re.compile(r"\bGH-(?=\d)", re.IGNORECASE), r"\g<0>&#8203;"),
    (re.compile(r":(?=[\w+-]+:)"), r":&#8203;"),
    (re.compile(r":(?=//)"), "&#58;"),
    (re.compile(r"\b(www)\.", re.IGNORECASE), r"\1&#46;"),
)
"""What GitHub makes a mention, a reference, an emoji or a link of, and the text that it leaves alone."""
