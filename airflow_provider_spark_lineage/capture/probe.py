"""Asks live plan nodes for what Spark's plan JSON leaves out, by the accessor paths of `sources/`.

Only this module walks a live plan. It reads and never changes anything in the JVM, and a leaf that
cannot be asked costs that leaf's facts alone.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from airflow_provider_spark_lineage.capture.accessors import Accessors
from airflow_provider_spark_lineage.capture.guard import harmless
from airflow_provider_spark_lineage.capture.literals import without_literals
from airflow_provider_spark_lineage.capture.rdd import RddReader
from airflow_provider_spark_lineage.sources import PROBES
from airflow_provider_spark_lineage.sources.dataset import Probe

_TARGETS = frozenset(name for name, probes in PROBES.items() if any(probe.target for probe in probes))


def simple_name(class_name: str) -> str:
    """Return a JVM class name without its package and without the `$` of a Scala object."""
    return class_name.rsplit(".", 1)[-1].rstrip("$")


def probe_plan(
    session: Any,
    plan: Any,
    nodes: List[Any],
    problems: List[str],
    *,
    rdds: RddReader,
    settings: Dict[str, Any],
) -> List[Dict[str, Any]]:
    """Return one facts entry for each distinct leaf and write target of a live plan.

    `session` is the JVM session, `nodes` the plan's JSON: it says which node classes there are, so
    that a plan with nothing to ask costs no call. `settings` keeps what is the same for every plan.
    """
    entries: List[Dict[str, Any]] = []
    seen: Set[Tuple[str, int]] = set()
    with harmless("not all relations of the plan could be asked where their data lies", problems):
        for name, node in _live_nodes(plan, nodes):
            with harmless(f"a {name} could not be asked where its data lies", problems):
                # A target is found by its position; a sink's output is that of its query.
                expr_id = None if name in _TARGETS else _first_expr_id(node)
                # The same relation may stand in a plan many times; the ids of its columns tell.
                if expr_id is not None:
                    if (name, expr_id) in seen:
                        continue
                    seen.add((name, expr_id))
                accessors = Accessors(session, node, rdds, settings)
                relation, probed = _probe_node(accessors, PROBES[name], problems)
                entries.append({"node": name, "expr_id": expr_id, "relation": relation, "probed": probed})
    return entries


def _live_nodes(plan: Any, nodes: List[Any]) -> Iterator[Tuple[str, Any]]:
    """Yield the live nodes whose class a source wants to probe, with their simple class names.

    When all of them are yielded, `nodes` has what the JSON leaves out and a reader needs.
    """
    if not _wanted_anywhere(nodes):
        return
    classes = [simple_name(node["class"]) for node in nodes]
    yield from _targets(plan, nodes, classes)
    yield from _leaves(plan, nodes, classes)
    if _has_subquery(nodes):
        yield from _leaves_of_subqueries(plan)
    _complete(plan, nodes, classes)


def _targets(plan: Any, nodes: List[Any], classes: List[str]) -> Iterator[Tuple[str, Any]]:
    """Yield the write targets of a plan, each followed by the nodes of the plans inside it."""
    for position, name in enumerate(classes):
        node = nodes[position]
        if name not in _TARGETS or not _is_asked(node, PROBES[name]):
            continue
        live = _live(plan, nodes, position)
        yield name, live
        for field in _plan_fields(node):
            inner = getattr(live, field)()
            # An Option of a plan looks the same in JSON: Spark keeps a copy of the query in one.
            if inner.getClass().getName() == node[field][0]["class"]:
                yield from _live_nodes(inner, node[field])


def _leaves(plan: Any, nodes: List[Any], classes: List[str]) -> Iterator[Tuple[str, Any]]:
    """Yield the leaves of a plan that are no targets."""
    leaves = (name for position, name in enumerate(classes) if not nodes[position]["num-children"])
    wanted = [(index, name) for index, name in enumerate(leaves) if name in PROBES and name not in _TARGETS]
    if wanted:
        live = plan.collectLeaves()
        for index, name in wanted:
            yield name, live.apply(index)


def _leaves_of_subqueries(plan: Any) -> Iterator[Tuple[str, Any]]:
    subqueries = plan.subqueriesAll()
    for index in range(subqueries.size()):
        # Without the JSON of its own a subquery's leaves are asked for their class one by one.
        live_leaves = subqueries.apply(index).collectLeaves()
        for leaf in (live_leaves.apply(i) for i in range(live_leaves.size())):
            name = simple_name(leaf.getClass().getName())
            if name in PROBES:
                yield name, leaf


def _complete(plan: Any, nodes: List[Any], classes: List[str]) -> None:
    """Write into a plan's JSON what Spark leaves out of it.

    The projections of an `Expand` that are no list, as those of an UNPIVOT, and the columns that a
    `Generate` drops: an optimized one, which no projection follows.
    """
    for position, name in enumerate(classes):
        node = nodes[position]
        if name == "Expand" and node.get("projections", ()) is None:
            node["projections"] = _projections(_live(plan, nodes, position))
        is_last = not position or classes[position - 1] != "Project"
        if name == "Generate" and node.get("unrequiredChildIndex", ()) is None and is_last:
            dropped = _live(plan, nodes, position).unrequiredChildIndex()
            node["unrequiredChildIndex"] = str(dropped.mkString(","))


def _live(plan: Any, nodes: List[Any], position: int) -> Any:
    """Return the live node of a position in a plan's JSON, which lists a node before its children."""
    way: List[List[int]] = []  # [children left, children in all] of each ancestor
    for node in nodes[:position]:
        way.append([node["num-children"], node["num-children"]])
        while not way[-1][0]:
            way.pop()
        way[-1][0] -= 1
    for left, total in way:
        plan = plan.children().apply(total - left - 1)
    return plan


def _projections(expand: Any) -> List[Any]:
    """Return an `Expand`'s projections as its JSON should have them: Spark leaves out mutable sequences."""
    found = []
    projections = expand.projections()
    for index in range(projections.size()):
        projection = projections.apply(index)
        expressions = (projection.apply(i).toJSON() for i in range(projection.size()))
        found.append([json.loads(text, object_hook=without_literals) for text in expressions])
    return found


def _is_asked(node: Dict[str, Any], probes: Tuple[Probe, ...]) -> bool:
    """Say whether a probe wants this node, by what the JSON says of it."""
    return any(not probe.when or _names(node.get(probe.when[0]), probe.when[1]) for probe in probes)


def _names(value: Any, name: str) -> bool:
    """Say whether a JSON value is a Scala object of this simple name; a value that is not there may be."""
    return not isinstance(value, dict) or simple_name(str(value.get("object"))) == name


def _plan_fields(node: Dict[str, Any]) -> List[str]:
    """Names of the fields of a command that hold a whole plan, `query` for example."""
    return [name for name, value in node.items() if _is_plan(value)]


def _is_plan(value: Any) -> bool:
    """Say whether a JSON value is a nested plan; expressions are lists of nodes too."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and "class" in value[0]
        and ".expressions." not in value[0]["class"]
    )


def _wanted_anywhere(nodes: List[Any]) -> bool:
    """Say whether a class that a source probes occurs in a plan's JSON, subqueries included."""
    return any(simple_name(one.get("class", "")) in PROBES for one in _objects(nodes))


def _has_subquery(nodes: List[Any]) -> bool:
    """Say whether an expression somewhere in the node list holds a plan of its own."""
    return any(".expressions." in one.get("class", "") and _plan_fields(one) for one in _objects(nodes))


def _objects(value: Any) -> Iterator[Dict[str, Any]]:
    """Yield every object in a JSON value, however deep."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            yield current
            stack.extend(one for one in current.values() if isinstance(one, (list, dict)))
        elif isinstance(current, list):
            stack.extend(current)


def _first_expr_id(node: Any) -> Optional[int]:
    """Id of a leaf's first column: what ties facts to the node in the plan's JSON."""
    output = node.output()
    return None if output.isEmpty() else int(output.head().exprId().id())


def _probe_node(
    accessors: Accessors, probes: Tuple[Probe, ...], problems: List[str]
) -> Tuple[str, Dict[str, Any]]:
    """Return the relation's class and the facts of the first probe that fits the node."""
    relation = ""
    for probe in probes:
        if probe.relation:
            told = accessors.follow(probe.of)
            relation = "" if told is None else simple_name(told.getClass().getName())
            if probe.relation not in ("*", relation):
                continue
        probed = {}
        for fact, path in probe.accessors.items():
            with harmless(f"the {fact} of a {probe.node} could not be read", problems):
                value = accessors.value(path)
                if value is not None:
                    probed[fact] = value
        return relation, probed
    return relation, {}
