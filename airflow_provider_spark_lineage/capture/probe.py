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
                expr_id = None if _is_target(name) else _first_expr_id(node)
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
    """Yield the live nodes whose class a source wants to probe, with their simple class names."""
    classes = [simple_name(node["class"]) for node in nodes]
    if not _wanted_anywhere(nodes):
        return
    for position, path in _paths_of_targets(nodes, classes):
        node = plan
        for child in path:
            node = node.children().apply(child)
        if classes[position] == "Expand":
            nodes[position]["projections"] = _projections(node)
            continue
        if classes[position] == "Generate":
            nodes[position]["unrequiredChildIndex"] = str(node.unrequiredChildIndex().mkString(","))
            continue
        if not _is_asked(nodes[position], PROBES[classes[position]]):
            continue
        yield classes[position], node
        for field in _plan_fields(nodes[position]):
            inner = getattr(node, field)()
            # An Option of a plan looks the same in JSON: Spark keeps a copy of the query in one.
            if inner.getClass().getName() == nodes[position][field][0]["class"]:
                yield from _live_nodes(inner, nodes[position][field])
    leaves = [position for position, node in enumerate(nodes) if not node["num-children"]]
    if any(classes[position] in PROBES for position in leaves):
        live_leaves = plan.collectLeaves()
        for index, position in enumerate(leaves):
            # A target without children was yielded above.
            if classes[position] in PROBES and not _is_target(classes[position]):
                yield classes[position], live_leaves.apply(index)
    if _has_subquery(nodes):
        yield from _leaves_of_subqueries(plan)


def _leaves_of_subqueries(plan: Any) -> Iterator[Tuple[str, Any]]:
    subqueries = plan.subqueriesAll()
    for index in range(subqueries.size()):
        # Without the JSON of its own a subquery's leaves are asked for their class one by one.
        live_leaves = subqueries.apply(index).collectLeaves()
        for leaf in (live_leaves.apply(i) for i in range(live_leaves.size())):
            name = simple_name(leaf.getClass().getName())
            if name in PROBES:
                yield name, leaf


def _paths_of_targets(nodes: List[Any], classes: List[str]) -> Iterator[Tuple[int, List[int]]]:
    """Yield position and path of child indexes for each write target in a pre-order node list.

    And for each `Expand` whose projections are not in the JSON, as those of an UNPIVOT, and each `Generate`
    that may drop columns, which the JSON does not say: an optimized one that no projection follows.
    """
    open_nodes: List[List[int]] = []  # [children left, children in all] of each ancestor
    for position, node in enumerate(nodes):
        bare = classes[position] == "Expand" and node.get("projections", ()) is None
        if classes[position] == "Generate" and node.get("unrequiredChildIndex", ()) is None:
            bare = not position or classes[position - 1] != "Project"
        if bare or _is_target(classes[position]):
            yield position, [total - left - 1 for left, total in open_nodes]
        open_nodes.append([node["num-children"], node["num-children"]])
        while open_nodes and not open_nodes[-1][0]:
            open_nodes.pop()
        if open_nodes:
            open_nodes[-1][0] -= 1


def _projections(expand: Any) -> List[Any]:
    """Return an `Expand`'s projections as its JSON should have them: Spark leaves out mutable sequences."""
    found = []
    projections = expand.projections()
    for index in range(projections.size()):
        projection = projections.apply(index)
        expressions = (projection.apply(i).toJSON() for i in range(projection.size()))
        found.append([json.loads(text, object_hook=without_literals) for text in expressions])
    return found


def _is_target(name: str) -> bool:
    return any(probe.target for probe in PROBES.get(name, ()))


def _is_asked(node: Dict[str, Any], probes: Tuple[Probe, ...]) -> bool:
    """Say whether a probe wants this node, by what the JSON says of it."""
    return any(not probe.when or _names(node.get(probe.when[0]), probe.when[1]) for probe in probes)


def _names(value: Any, name: str) -> bool:
    """Say whether a JSON value is a Scala object of this simple name; a value that is not there may be."""
    return not isinstance(value, dict) or simple_name(str(value.get("object"))) == name


def _plan_fields(node: Dict[str, Any]) -> List[str]:
    """Names of the fields of a command that hold a whole plan, `query` for example."""
    return [name for name, value in node.items() if is_plan_list(value)]


def is_plan_list(value: Any) -> bool:
    """Say whether a JSON value is a nested plan; expressions are lists of nodes too."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], dict)
        and "class" in value[0]
        and ".expressions." not in value[0]["class"]
    )


def _wanted_anywhere(value: Any) -> bool:
    """Say whether a class that a source probes occurs in a plan's JSON, subqueries included."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            if simple_name(current.get("class", "")) in PROBES:
                return True
            stack.extend(v for v in current.values() if isinstance(v, (list, dict)))
        elif isinstance(current, list):
            stack.extend(current)
    return False


def _has_subquery(nodes: List[Any]) -> bool:
    """Say whether an expression somewhere in the node list holds a plan of its own."""
    stack: List[Any] = [nodes]
    while stack:
        current = stack.pop()
        if isinstance(current, dict):
            if ".expressions." in current.get("class", "") and _plan_fields(current):
                return True
            stack.extend(value for value in current.values() if isinstance(value, (list, dict)))
        elif isinstance(current, list):
            stack.extend(current)
    return False


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
