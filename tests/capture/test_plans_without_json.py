"""How a plan is read of which Spark cannot write every node as JSON."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from airflow_provider_spark_lineage.capture.application import _nodes


class Seq:
    """A sequence of Scala."""

    def __init__(self, *values: Any) -> None:
        self._values = values

    def size(self) -> int:
        return len(self._values)

    def apply(self, index: int) -> Any:
        return self._values[index]


class ArrayList(list[Any]):
    """A list of Java."""

    add = list.append


class Node:
    """A node of a plan; one without a name cannot be written, nor can a plan with it inside."""

    written = 0
    """How many nodes the tests had written, those of tries that failed included."""

    def __init__(self, name: str, *below: Node) -> None:
        self.name = name
        self._below = below

    def children(self) -> Seq:
        return Seq(*self._below)

    def output(self) -> Seq:
        return Seq(SimpleNamespace(toJSON=lambda: '["a column"]'))

    def getClass(self) -> Any:  # noqa: N802  Java's name
        return SimpleNamespace(getName=lambda: "Unwritable")

    def withNewChildren(self, leaves: list[Any]) -> Node:  # noqa: N802  Spark's name
        return Node(self.name, *(Node("leaf") for _ in leaves))

    def toJSON(self) -> str:  # noqa: N802  Spark's name
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            Node.written += 1
            if not node.name:
                raise ValueError("no such type")
            found.append({"class": node.name, "num-children": len(node._below)})
            waiting.extend(reversed(node._below))
        return json.dumps(found)


def read(plan: Node) -> list[str]:
    """The classes of a plan's nodes, read as capture reads them."""
    spark = SimpleNamespace(
        catalyst=SimpleNamespace(plans=SimpleNamespace(logical=SimpleNamespace(OneRowRelation=object)))
    )
    python = SimpleNamespace(PythonUtils=SimpleNamespace(toSeq=list))
    apache = SimpleNamespace(spark=SimpleNamespace(sql=spark, api=SimpleNamespace(python=python)))
    java = SimpleNamespace(util=SimpleNamespace(ArrayList=ArrayList))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=apache), java=java)
    Node.written = 0
    return [node["class"] for node in _nodes(plan, jvm)]


def test_only_the_node_that_cannot_be_written_is_lost() -> None:
    """Nodes come before their children, wherever the one is that Spark cannot write."""
    plan = Node("top", Node("left", Node("a")), Node("", Node("b", Node("c"), Node("d"))), Node("right"))
    assert read(plan) == ["top", "left", "a", "Unwritable", "b", "c", "d", "right"]


def test_a_deep_plan_is_not_written_once_for_each_of_its_nodes() -> None:
    """What a node far below makes impossible is tried on few levels, not on all of them."""
    plan = Node("", Node("leaf"))
    for number in range(2000):
        plan = Node(str(number), plan)
    assert read(plan) == [*(str(number) for number in reversed(range(2000))), "Unwritable", "leaf"]
    assert Node.written < 2000 * 15
