"""Reader of Spark's explain text into the plan and the facts that capture would have recorded.

It is a pure function of the text: `spark-sql`, applications in Java or Scala, and Spark Connect leave nothing
else. The extended text (`spark.sql.ui.explainMode=extended`) has the analyzed query; the formatted text,
which is Spark's default, has only the physical plan.

- Columns are matched by the id at the end of every reference to a column.
- Spark prints literals without quotes. If a text can be read in more than one way, the column gets an edge
  from every column that its expression names, with a gap.
- Files are named by the scans of the physical plan, which are matched by the ids of their columns. A scan
  that could belong to two relations names neither.
- Spark does not print the address of a database, the location of a Hive table and the clauses of a MERGE:
  these are gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_explained
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.plan.database_sql.functions import Body
from airflow_provider_spark_lineage.spark.plan.spark.explain import types
from airflow_provider_spark_lineage.spark.plan.spark.explain.built import (
    Built,
    NodeContext,
    PlanState,
    Relation,
    printed_types,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.columns import Columns, listed
from airflow_provider_spark_lineage.spark.plan.spark.explain.commands import COMMANDS
from airflow_provider_spark_lineage.spark.plan.spark.explain.facts import relation_facts
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.operators import logical
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.reads import (
    loops_of,
    scans_of_operators,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.rows import PHYSICAL_ROWS
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.text import is_formatted, split
from airflow_provider_spark_lineage.spark.plan.spark.explain.formatted.translation import UNREAD
from airflow_provider_spark_lineage.spark.plan.spark.explain.nodes import CLASSES, NODES, unknown
from airflow_provider_spark_lineage.spark.plan.spark.explain.physical import PhysicalScan, scans_of
from airflow_provider_spark_lineage.spark.plan.spark.explain.sections import (
    ANALYZED,
    OPTIMIZED,
    PARSED,
    PHYSICAL,
    Drawn,
    UnreadablePlanError,
    draw,
    sections,
)
from airflow_provider_spark_lineage.spark.plan.spark.explain.writes import NOT_IN_TEXT, ROW_LEVEL
from airflow_provider_spark_lineage.spark.plan.spark.relational import NODES as READERS
from airflow_provider_spark_lineage.spark.records.plan_json import Tree

ROWS = {**NODES, **COMMANDS, **ROW_LEVEL, **PHYSICAL_ROWS}

_FEWER = re.compile(r"\.\.\. \d+ more fields")
_RUNS_ANOTHER = "SaveAsV1TableCommand"
"""`saveAsTable`, since 4.1: its text has one node of its query; the command inside has the whole query."""


@dataclass(frozen=True)
class Explained:
    """The content of a text about one execution, in the form of a record's fields."""

    plan: list[dict[str, Any]] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Reason] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    """All relations that the plan reads from outside, also those without a location in the text."""

    doubts: list[Reason] = field(default_factory=list)
    """The problems that matter only if a command outside of the text writes the plan's rows."""

    nodes: Mapping[Reason, str] = field(default_factory=dict)
    """Problem -> the class of the node that it is about."""


def read_explain(
    text: str,
    settings: Mapping[str, str] | None = None,
    inside: Sequence[str] = (),
    locations: Sequence[str] = (),
    bodies: Mapping[str, Body] | None = None,
) -> Explained:
    """Return the plan and the facts of an explain text, extended or formatted.

    - `settings`: Spark's properties, which name the catalogs and their locations.
    - `inside`: the texts of executions that ran inside; a scan may be only there.
    - `locations`: locations of scans in Spark's metrics. They have several folders where the formatted text
      has only the first.
    - `bodies`: the bodies of SQL functions.
    """
    if is_formatted(text):
        return _of_formatted(text, settings or {}, inside, locations)
    parts = sections(text)
    if PHYSICAL not in parts or ANALYZED not in parts:
        sentence = of_explained.CUT_BEFORE_END if text.startswith(PARSED) else of_explained.NOT_EXTENDED
        return Explained(problems=[sentence()])
    scans, kinds, reused = scans_of(parts[PHYSICAL])
    for other in inside:
        of_other = scans_of(sections(other).get(PHYSICAL, ""))
        scans.extend(of_other[0])
        kinds.update(of_other[1])
    kinds = {**printed_types([parts.get(ANALYZED, ""), parts.get(OPTIMIZED, "")]), **kinds}
    try:
        root = draw(_without_header(parts[ANALYZED]))
    except UnreadablePlanError as error:
        return Explained(problems=[of_explained.UNREAD_ANALYZED(error=error)])
    if root.name == _RUNS_ANOTHER and inside:
        return Explained()
    state = PlanState(Columns(kinds), settings or {}, is_analyzed=True)
    state.scanned = frozenset(column[0] for scan in scans for column in scan.columns)
    state.columns.bodies = bodies or {}
    state.columns.lost_ids.extend(_lost_ids(root))
    state.views.update(_views(root))
    state.streamed.update(
        id(node.children[0]) for node in root.below() if node.is_stream and len(node.children) == 1
    )
    state.loops.extend(_loops(parts[PHYSICAL]))
    tree = _read(root, state).tree
    for name in state.foreign:
        # A function of Scala stays in the optimized plan; one that is written in SQL becomes its body.
        if f"{name}(" not in parts.get(OPTIMIZED, ""):
            state.problems[of_explained.NO_BODY(name=name)] = ""
    return _explained(tree, state, scans, reused)


def _of_formatted(
    text: str, settings: Mapping[str, str], inside: Sequence[str], locations: Sequence[str]
) -> Explained:
    """Return the plan and the facts of a text of the mode `formatted`."""
    try:
        formatted = split(text)
        others = [split(other) for other in inside]
        scans, kinds = scans_of_operators(formatted, locations)
        for other in others:
            scans.extend(scans_of_operators(other, locations)[0])
    except UnreadablePlanError as error:
        return Explained(problems=[of_explained.UNREAD_PHYSICAL(error=error)])
    state = PlanState(Columns(kinds), settings)
    state.loops.extend(loops_of(formatted))
    state.scanned = frozenset(column[0] for scan in scans for column in scan.columns)
    drawn, translation = logical(formatted, others)
    state.problems.update(translation.problems)
    state.is_unread |= translation.is_unread
    return _explained(_read(drawn, state).tree, state, scans, {})


def _explained(
    tree: Tree, state: PlanState, scans: list[PhysicalScan], reused: Mapping[int, int]
) -> Explained:
    entries = relation_facts(state, scans, reused)
    # If nothing writes the rows, their columns do not matter.
    problems = list(state.problems) if state.targets or state.is_unread else []
    facts = [*state.targets, *entries]
    return Explained(_settled(tree), facts, problems, state.relations, list(state.problems), state.problems)


def _without_header(section: str) -> str:
    """Return a plan without the line above it with the columns of its result, if there is one."""
    first, _, rest = section.partition("\n")
    position = 0
    while rest:
        colon = first.find(": ", position)
        if colon < 0:
            break
        try:
            _, end = types.read_type(first, colon + 2)
        except UnreadablePlanError:
            position = colon + 2
            continue
        if end == len(first):
            return rest
        position = end
    # The name of a class in a type is not known here.
    is_root = draw(rest).name in ROWS if rest and not rest.startswith((" ", ":", "+")) else False
    return rest if is_root and first.partition(" ")[0] not in ROWS else section


def _loops(section: str) -> Iterator[list[tuple[int, str]]]:
    """Yield the columns of each loop in a plan that names them: `UnionLoop 0, [n#1, v#2]`."""
    for match in re.finditer(r"UnionLoop \d+, (?=\[)", section):
        try:
            yield [item[:2] for item in listed(section, match.end())[0]]
        except UnreadablePlanError:
            continue


def _views(root: Drawn) -> dict[int, str]:
    """Return the name of the view around each node, by the `id()` of the node."""
    views: dict[int, str] = {}
    waiting = [(root, "")]
    while waiting:
        node, view = waiting.pop()
        if node.name == "View":
            match = re.match(r"\(?(`.*?`), \[", node.arguments)
            view = match[1] if match else ""
        views[id(node)] = view
        waiting.extend((below, view) for below in (*node.children, *node.inner))
    return views


def _lost_ids(root: Drawn) -> list[int]:
    """Return ids of columns `id` that the text does not define: Spark does not print a Range's column."""
    nodes = list(root.below())
    if not any(node.name == "Range" for node in nodes):
        return []
    used: dict[int, None] = {}
    defined: set[int] = set()
    for node in nodes:
        used.update((int(number), None) for number in re.findall(r"\bid#(\d+)L", node.text))
        defined.update(int(number) for number in re.findall(r" AS id#(\d+)L", node.text))
        if not node.children:
            defined.update(int(number) for number in re.findall(r"\bid#(\d+)L", node.text))
    return [number for number in used if number not in defined]


def _read(root: Drawn, state: PlanState) -> Built:
    """Read a drawn tree from its leaves up: an expression is read after the columns below it."""
    nodes, waiting = [], [root]
    while waiting:
        nodes.append(waiting.pop())
        # A subquery may refer to columns of the children, so these come first when the list is reversed.
        waiting.extend((*nodes[-1].children, *nodes[-1].inner))
    done: dict[int, Built] = {}
    for node in reversed(nodes):
        children = [done.pop(id(below)) for below in node.children]
        inner = [done.pop(id(below)) for below in node.inner]
        done[id(node)] = _node(node, children, inner, state)
    return done[id(root)]


def _node(drawn: Drawn, children: list[Built], inner: list[Built], state: PlanState) -> Built:
    place = NodeContext(drawn, CLASSES.get(drawn.name, drawn.name), drawn.arguments, children, inner, state)
    row = ROWS.get(drawn.name, unknown)
    if drawn.name.startswith(UNREAD):
        place.name = f"unread {drawn.name.removeprefix(UNREAD)}"
        place.problem(of_explained.NO_DETAILS_SET_MODE())
    state.columns.is_open |= row is unknown
    if row is unknown and (drawn.name in NOT_IN_TEXT or drawn.name in READERS):
        # Under its own class, fields that are not in the text would be read as empty.
        place.name = f"unread {place.name}"
        state.is_unread = True
        place.problem(of_explained.NO_DETAILS())
    try:
        built = row(place)
    except UnreadablePlanError as error:
        state.columns.is_open = True
        place.problem(of_explained.UNREAD_NODE(error=error))
        place.name = f"unread {place.name}"
        built = unknown(place)
    if _FEWER.search(place.text):
        place.problem(of_explained.CUT())
    state.foreign.update(place.reader.foreign)
    for problem in place.reader.problems:
        place.problem(problem)
    return built


def _settled(value: Any) -> Any:
    """Return a tree without unknown types; structs keep the fields that the text names."""
    if isinstance(value, list):
        return [_settled(item) for item in value]
    if not isinstance(value, dict):
        return value
    settled = {}
    for name, item in value.items():
        if name != "dataType":
            settled[name] = _settled(item) if isinstance(item, list | dict) else item
        elif types.is_complete(item):
            settled[name] = item
        elif types.field_names(item):
            settled[name] = {**item, "partial": True}
    return settled
