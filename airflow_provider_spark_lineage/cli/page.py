"""The page that `explain` and `planned` print: the JSON document of a lineage as text for people.

Tests compare with `lineage.text`; this page groups and shortens, and may change at any time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from airflow_provider_spark_lineage.cli.output import echo, encodable
from airflow_provider_spark_lineage.openlineage.events.checks import CheckResult, lines_of
from airflow_provider_spark_lineage.openlineage.words import counted
from airflow_provider_spark_lineage.spark.lineage.text import printable, short_names
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId

EMPTY = "Spark read and wrote no dataset.\n"

_LEGEND = "*  every column: this decides which rows the output has, or how they are grouped and ordered"
_EVERY_COLUMN = re.compile(r"^  \* +<- ", re.MULTILINE)
_MAX_COLUMNS = 160
"""Limit for the list of columns on a dataset's line; `--json` has all columns."""

_WITHOUT_ROWS = frozenset({"alter", "drop", "rename", "truncate"})
"""Changes whose columns are not listed if they have no edges."""

_STYLES = {
    "reads": "green",
    "writes": "cyan",
    "gap": "yellow",
    "failed": "red",
    "passed": "green",
    "run": "magenta",
    "slow": "yellow",
    "broken": "red",
    "unknown": "yellow",
    "warning": "yellow",
}

Document = Mapping[str, Any]


def page(lineage: Document, column: str = "", empty: str = EMPTY) -> str:
    """Return the page of a lineage; with `column`, only the output columns of that name.

    `empty` is the page of an empty lineage.
    """
    outputs = [output for output in lineage["outputs"] if not column or column in columns_of(output)]
    edges = [edge for output in outputs for edge in output["edges"]]
    names = short_names([_id(read) for read in lineage["inputs"]] + [_id(edge["source"]) for edge in edges])
    reads = [] if column else lineage["inputs"]
    blocks: list[list[str]] = [[]]
    for read in reads:
        details = _counts(read["statistics"]), _schema(read["fields"])
        blocks[0] += [_line("reads", read, *details), *_checks(read)]
    shown = {_id(output) for output in outputs}
    for output in outputs:
        gaps = [gap for gap in lineage["gaps"] if gap["output"] and _id(gap["output"]) == _id(output)]
        rows = list(_rows(output, names, column, {gap["column"] for gap in gaps if gap["column"]}))
        lines = [*_table(rows), *(_gap(gap, gap["column"]) for gap in gaps if column in ("", gap["column"]))]
        previous = f" of {output['previous']['name']}" if "previous" in output else ""
        written = _line("writes", output, f"{output['mode']}{previous}", _counts(output["statistics"]))
        checks = [] if column else _checks(output)
        blocks.append([written, *("  " + line for line in lines), *checks])
    if not column:
        others = [gap for gap in lineage["gaps"] if not gap["output"] or _id(gap["output"]) not in shown]
        # Several writes may have failed in the same way: only their targets differ.
        blocks.append([*(_gap(gap, _place(gap)) for gap in others), *map(_failure, lineage["failures"])])
    texts = ["".join(printable(line) + "\n" for line in block) for block in blocks if block]
    return "\n".join(texts) or empty


def cut(text: str, length: int) -> str:
    """Return a text on one line, cut to `length` characters with an ellipsis.

    >>> cut("select  a,\\n  b", 9)
    'select a…'
    """
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip(" ,") + "…"


def _id(named: Document) -> DatasetId:
    return DatasetId(named["namespace"], named["name"])


def columns_of(output: Document) -> list[str]:
    """Return the output's columns, also from its edges, because an event may lack a schema."""
    fields = [field["name"] for field in output["fields"]]
    return list(dict.fromkeys([*fields, *(edge["column"] for edge in output["edges"] if edge["column"])]))


def _line(verb: str, named: Document, *details: str) -> str:
    return "   ".join([f"{verb:<7} {named['namespace']} {named['name']}", *filter(None, details)])


def _counts(statistics: Mapping[str, int]) -> str:
    nouns = {"rows": "row", "size_bytes": "byte", "files": "file"}
    return ", ".join(counted(statistics[key], noun) for key, noun in nouns.items() if key in statistics)


def _schema(fields: list[Document]) -> str:
    texts = [f"{field['name']} {field['type']}".strip() for field in fields]
    lengths = accumulate(len(text) + len(", ") for text in texts)
    shown = max(1, sum(length <= _MAX_COLUMNS for length in lengths))
    more = [f"… {counted(len(texts) - shown, 'more column')}"] if shown < len(texts) else []
    return ", ".join([cut(text, _MAX_COLUMNS) for text in texts[:shown]] + more)


def _rows(
    output: Document, names: Mapping[DatasetId, str], column: str, unknown: Collection[str]
) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each pair of a column and a field it depends on; `*`, the whole output, comes last."""
    edges = [edge for edge in output["edges"] if not column or edge["column"] in (column, None)]
    if output["mode"] in _WITHOUT_ROWS and not edges:
        return
    grouped: dict[tuple[str, str], list[Document]] = {}
    for edge in sorted(edges, key=lambda edge: edge["column"] is None):
        field = f"{edge['field']}.{edge['part']}" if edge["part"] else edge["field"]
        source = f"{names[_id(edge['source'])]}.{field}"
        grouped.setdefault((edge["column"] or "*", source), []).append(edge)
    with_edges = {target for target, _ in grouped}
    for name in columns_of(output):
        if name not in with_edges and column in ("", name):
            yield name, "(not known)" if name in unknown else "(no column of an input)", ""
    for (target, source), of_both in grouped.items():
        yield target, source, _kinds(of_both)


def _kinds(edges: Iterable[Document]) -> str:
    """Return how a field acts on a column: `direct aggregation, indirect filter, join`."""
    kinds: dict[str, dict[str, None]] = {}
    for edge in edges:
        kind = (edge["subtype"] or "").lower().replace("_", " ")
        masking = "masking" if edge["masking"] else ""
        text = " ".join(filter(None, [kind, f"({masking})" if masking and kind else masking]))
        kinds.setdefault(edge["type"].lower(), {})[text] = None
    return ", ".join(
        " ".join(filter(None, [name, ", ".join(filter(None, texts))])) for name, texts in kinds.items()
    )


def _table(rows: list[tuple[str, str, str]]) -> Iterator[str]:
    width = max((len(row[0]) for row in rows), default=0)
    source_width = max((len(row[1]) for row in rows if row[2]), default=0)
    above = ""
    for target, source, kinds in rows:
        shown = "" if target == above else target
        yield f"{shown:<{width}} <- {source:<{source_width}}   {kinds}".rstrip()
        above = target


def _gap(gap: Document, about: str | None) -> str:
    where = f"{gap['where']} -> {about}" if about else gap["where"]
    return f"gap     {where}   {gap['reason']}"


def _place(gap: Document) -> str:
    """Return the dataset and the column of a gap whose output has no block on the page."""
    dataset = f"{gap['output']['namespace']} {gap['output']['name']}" if gap["output"] else ""
    return ".".join(filter(None, [dataset, gap["column"]]))


def _checks(dataset: Document) -> Iterator[str]:
    """Yield the results of checks; only documents of events have them."""
    for line in lines_of([CheckResult(**check) for check in dataset.get("checks", ())]):
        yield f"  {line}"


def _failure(failure: Document) -> str:
    state = f" (SQLSTATE {failure['sql_state']})" if failure["sql_state"] else ""
    lines = failure["message"].strip().splitlines()
    words = f"{lines[0]}{' …' if len(lines) > 1 else ''}" if lines else ""
    error = ": ".join(filter(None, [f"{failure['error_class']}{state}", words]))
    return "failed  " + "   ".join(filter(None, [failure["execution"], error]))


def show(text: str) -> None:
    """Print pages, with a legend for `*` if needed; on a terminal, in colours."""
    if _EVERY_COLUMN.search(text):
        text += f"\n{_LEGEND}\n"
    if not sys.stdout.isatty():
        echo(text)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    for line in encodable(text).splitlines():
        word = re.match(r"\s*(\w+)", line)
        style = _STYLES.get(word[1], "") if word and " <- " not in line else ""
        is_indirect = "   indirect " in line or line == _LEGEND
        shown = Text(line, style="dim" if is_indirect else "")
        if style and word:
            shown.stylize(f"bold {style}", 0, word.end())
        console.print(shown, soft_wrap=True)
