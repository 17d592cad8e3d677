"""Writes `docs/coverage.md`: how each class of Spark's plans is read, from the tables of readers.

python tools/coverage_page.py            writes the page
python tools/coverage_page.py --check    shows what would change, and exits with 1 if anything would
"""

from __future__ import annotations

import difflib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "plan"))

from class_lists import LIBRARIES, SPARK, Lists, names

from airflow_provider_spark_lineage.plan.spark.commands import COMMANDS
from airflow_provider_spark_lineage.plan.spark.coverage import (
    ABSENT_EXPRESSIONS,
    ABSENT_PLANS,
    OPAQUE_PLANS,
    reason_of,
)
from airflow_provider_spark_lineage.plan.spark.expressions import EXPRESSIONS
from airflow_provider_spark_lineage.plan.spark.reader import ROWS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "coverage.md"

HEAD = """\
# What is covered

Spark {versions}: what becomes of each class that may stand in a plan. This page is made by
`tools/coverage_page.py` from the tables that read plans (`plan/spark/`) and from the classes in Spark's
jars; a class of these versions that nobody has looked at fails a test. A class that is not here at all, of
a later Spark or of a library, is read by what its node names, and a gap names it.

In brackets: the Spark versions that have a class, where not all of them do.
"""

EXPRESSIONS_HEAD = """\
What an expression does to its children, columns or expressions in their turn. Every other expression is a
*transformation* of all of them: that is right for most, and any that Spark or a library adds is read so."""

NEVER = "Never in the plan of a query that ran"


def first_sentence(text: str | None) -> str:
    return (text or "").strip().splitlines()[0]


def since(name: str, kinds: Iterable[str]) -> str:
    """Return a class name with the versions that have it."""
    have = [version for version in SPARK if name in names({version: SPARK[version]}, *kinds)]
    first, last = (version.removeprefix("spark-") for version in (have[0], have[-1]))
    if len(have) == len(SPARK):
        return f"`{name}`"
    if have[-1] == list(SPARK)[-1]:
        return f"`{name}` ({first}+)"
    return f"`{name}` ({first})" if first == last else f"`{name}` ({first} to {last})"


def grouped(class_names: Iterable[str], say: Callable[[str], str]) -> dict[str, list[str]]:
    groups = defaultdict(list)
    for name in sorted(class_names):
        groups[say(name)].append(name)
    return groups


def table(groups: Mapping[str, Iterable[str]], show: Callable[[str], str], order: Iterable[str] = ()) -> str:
    rank = {text: position for position, text in enumerate(order)}
    lines = ["| | |", "| --- | --- |"]
    for text in sorted(groups, key=lambda key: rank.get(key, len(rank))):
        lines.append(f"| {text} | {', '.join(map(show, groups[text]))} |")
    return "\n".join(lines)


def docs(rows: Mapping[str, Any]) -> Callable[[str], str]:
    return lambda name: first_sentence(rows[name].__doc__)


def plans(title: str, kind: str, rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sections of the nodes or of the commands."""
    classes = names(SPARK, kind)

    def show(name: str) -> str:
        return since(name, [kind])

    read = grouped(classes & set(rows), docs(rows))
    order = [first_sentence(row.__doc__) for row in rows.values()]
    gaps = {text.removeprefix("A gap: "): read.pop(text) for text in list(read) if text.startswith("A gap: ")}
    without_row = classes - set(rows)
    gaps |= grouped(
        (name for name in without_row if reason_of(name, OPAQUE_PLANS)), lambda n: reason_of(n, OPAQUE_PLANS)
    )
    absent = grouped(
        (n for n in without_row if reason_of(n, ABSENT_PLANS)), lambda n: reason_of(n, ABSENT_PLANS)
    )
    yield f"## {title}"
    yield table(read, show, order)
    yield "### Gaps\n\nThe lineage says that something is missing, and why."
    yield table(gaps, show)
    yield f"### {NEVER}"
    yield table(absent, show, ABSENT_PLANS)


def expressions() -> Iterator[str]:
    classes = names(SPARK, "expression")

    def show(name: str) -> str:
        return since(name, ["expression"])

    absent = {name for name in classes if reason_of(name, ABSENT_EXPRESSIONS)}
    default = sorted(classes - set(EXPRESSIONS) - absent)
    yield "## Expressions\n\n" + EXPRESSIONS_HEAD
    order = [first_sentence(row.__doc__) for row in EXPRESSIONS.values()]
    yield table(grouped(classes & set(EXPRESSIONS), docs(EXPRESSIONS)), show, order)
    yield f"### {NEVER}"
    yield table(grouped(absent, lambda name: reason_of(name, ABSENT_EXPRESSIONS)), show, ABSENT_EXPRESSIONS)
    listed = ", ".join(map(show, default))
    yield "### A transformation of all children"
    yield f"<details>\n<summary>{len(default)} classes</summary>\n\n{listed}\n\n</details>"


def library(name: str, lists: Lists) -> Iterator[str]:
    """Yield the section of a library whose classes extend Spark's."""
    classes = names({name: lists[name]}, "node", "command")

    def show(class_name: str) -> str:
        return f"`{class_name}`"

    yield f"## {name}"
    read = grouped(classes & set(ROWS), docs(ROWS))
    if read:
        yield table(read, show)
    without_row = ", ".join(map(show, sorted(classes - set(ROWS))))
    if without_row:
        yield f"Without a row, so a gap where they stand: {without_row}."


def figures() -> str:
    lines = ["| | mapped | gap | never in a plan |", "| --- | --- | --- | --- |"]
    for title, kind, rows in (("Plan nodes", "node", ROWS), ("Commands", "command", COMMANDS)):
        classes = names(SPARK, kind)
        gaps = {n for n in classes if reason_of(n, OPAQUE_PLANS)}
        gaps |= {n for n in classes & set(rows) if (rows[n].__doc__ or "").startswith("A gap")}
        absent = {n for n in classes if reason_of(n, ABSENT_PLANS)}
        lines.append(f"| {title} | {len(classes - gaps - absent)} | {len(gaps)} | {len(absent)} |")
    classes = names(SPARK, "expression")
    absent = {n for n in classes if reason_of(n, ABSENT_EXPRESSIONS)}
    lines.append(f"| Expressions | {len(classes - absent)} | 0 | {len(absent)} |")
    return "\n".join(lines)


def page() -> str:
    versions = [version.removeprefix("spark-") for version in SPARK]
    nodes = {name: row for name, row in ROWS.items() if name not in names(SPARK, "command")}
    parts = [
        HEAD.format(versions=", ".join(versions[:-1]) + " and " + versions[-1]).strip(),
        figures(),
        *plans("Plan nodes", "node", nodes),
        *plans("Commands", "command", COMMANDS),
        *expressions(),
        *(part for name in LIBRARIES for part in library(name, LIBRARIES)),
    ]
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    text = page()
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    if arguments != ["--check"]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    diff = list(
        difflib.unified_diff(before.splitlines(), text.splitlines(), "committed", "generated", lineterm="")
    )
    print("\n".join(line[:300] for line in diff))
    if diff:
        print("run python tools/coverage_page.py")
    return 1 if diff else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
