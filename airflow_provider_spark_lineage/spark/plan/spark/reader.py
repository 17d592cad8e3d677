"""Reader of Spark's plan JSON into the algebra: walks the tree and reads each class by the tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.spark.plan.algebra import Node, Plan
from airflow_provider_spark_lineage.spark.plan.spark.commands import COMMANDS, JOBS
from airflow_provider_spark_lineage.spark.plan.spark.relational import (
    NODES,
    RECURSION,
    unknown_node,
    unwritten,
)
from airflow_provider_spark_lineage.spark.plan.spark.row_level import PLANS, restored
from airflow_provider_spark_lineage.spark.plan.spark.step import Step
from airflow_provider_spark_lineage.spark.plan.spark.tree import check, expanded, spans
from airflow_provider_spark_lineage.spark.records.plan_json import Tree, is_plan, simple_name

ROWS = {**NODES, **COMMANDS}


def read_plan(tree: Tree) -> Plan:
    """Read the plan of one record, a pre-order node list as `TreeNode.toJSON` gives it."""
    return _PlanReader().read(expanded(tree))


class _PlanReader:
    """Reads a plan and the plans inside it; counts write targets across them, to find their facts."""

    def __init__(self) -> None:
        self._targets: Counter[str] = Counter()
        self._plans: dict[int, tuple[Tree, Plan]] = {}
        """Plans by the `id()` of their tree; the tree is stored so that its id is not reused."""

    def read(self, tree: Tree) -> Plan:
        """Read a plan; a subquery's plan is read once, although its expression may be read several times."""
        if id(tree) not in self._plans:
            self._plans[id(tree)] = (tree, self._read(tree))
        return self._plans[id(tree)][1]

    def _read(self, tree: Tree) -> Plan:
        check(tree)
        definitions: dict[int, Plan] = {}
        tree = restored(list(inlined(tree)))
        tree = self._without_definitions(_without_recursions(tree), definitions)
        names = [simple_name(node["class"]) for node in tree]
        targets = []
        for name in names:
            targets.append(self._targets[name])
            self._targets[name] += name in COMMANDS
        nodes: list[Node] = []
        pending: list[int] = []

        def put(node: Node) -> int:
            nodes.append(node)
            return len(nodes) - 1

        # Backwards through a pre-order list every node comes after its children.
        for position in range(len(tree) - 1, -1, -1):
            spark_node = tree[position]
            inputs = tuple(pending.pop() for _ in range(spark_node["num-children"]))
            name = names[position]
            step = Step(
                name=name,
                label=f"{name}#{position}",
                fields=spark_node,
                inputs=inputs,
                input_outputs=tuple(nodes[index].output for index in inputs),
                read_plan=self.read,
                put=put,
                target=targets[position],
                is_root=position == 0,
                above=tree[position - 1] if position and tree[position - 1]["num-children"] else {},
            )
            row = ROWS.get(name) or JOBS.get(name, unknown_node)
            pending.append(put((unwritten if "unwritten" in spark_node else row)(step)))
        return Plan(tuple(nodes), definitions)

    def _without_definitions(self, tree: Tree, definitions: dict[int, Plan]) -> Tree:
        """Move the CTE definitions of a tree into `definitions`; they are read where they are referenced."""
        position = 0
        while position < len(tree):
            node = tree[position]
            if simple_name(node["class"]) == "WithCTE":
                places = spans(tree, position)
                for i, (start, end) in enumerate(places):
                    if i != node["plan"]:
                        definitions[int(tree[start]["id"])] = self.read(tree[start:end])
                query, behind = tree[slice(*places[node["plan"]])], tree[places[-1][1] :]
                tree = [*tree[:position], {**node, "num-children": 1}, *query, *behind]
            position += 1
        return tree


def inlined(tree: Tree) -> Iterator[dict[str, Any]]:
    """Yield a tree's nodes; the plan in a field of a leaf command is put below the command."""
    for node in tree:
        # A command may carry further plans, the relation that it writes to for example.
        fields = PLANS.get(simple_name(node["class"]))
        values = (node.get(name) for name in fields or ("query", *node))
        plans: list[Tree] = [value for value in values if value is not None and is_plan(value)]
        plans = plans[: len(fields) if fields else 1]
        if node["num-children"] or not plans:
            yield node
            continue
        yield {**node, "num-children": len(plans)}
        for plan in plans:
            yield from inlined(plan)


def _without_recursions(tree: Tree) -> Tree:
    """Move the recursive part of each recursive CTE from below its node into a field of it.

    It is evaluated repeatedly, so it is not a second input.
    """
    for position in range(len(tree) - 1, -1, -1):
        if simple_name(tree[position]["class"]) == "UnionLoop" and tree[position]["num-children"] > 1:
            start, end = spans(tree, position)[1]
            recursion = tree[start:end]
            tree = tree[:start] + tree[end:]
            tree[position] = {**tree[position], "num-children": 1, RECURSION: recursion}
    return tree
