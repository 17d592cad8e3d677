"""Golden records with something broken in them: always a lineage, and never a wrong one without a gap."""

from __future__ import annotations

import copy
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spark_trees import alias, call, column, node, project, record, scan

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "records"))
from gap_kinds import gap_kinds
from record_cases import cases, records, versions
from recordings import Recording

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Lineage
from airflow_provider_spark_lineage.spark.lineage.text import render
from airflow_provider_spark_lineage.spark.records.record import Record, RecordError
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage, executions

SECONDS = 30
"""No record of the golden cases takes a second; an endless loop ends here."""

NONSENSE = st.sampled_from([None, True, -1, 0, 3, 10**12, 1.5, "", "x", [], {}, [[]], [{}], {"class": "x"}])


@cache
def golden(of: Recording) -> list[Record]:
    return records(of)


RECORDED = [versions(case)[0] for case in cases()]


def nodes_of(value: Any) -> Iterator[tuple[list[Any], int]]:
    """Yield every node of a plan's JSON, nested ones too: the list that has it, and its position there."""
    stack = [value]
    while stack:
        current = stack.pop()
        if isinstance(current, list):
            for position, item in enumerate(current):
                if isinstance(item, dict) and "class" in item:
                    yield current, position
        if isinstance(current, (dict, list)):
            items = current.values() if isinstance(current, dict) else current
            stack.extend(item for item in items if isinstance(item, (dict, list)))


def drop(data: st.DataObject, tree: list[Any], position: int) -> None:
    del tree[position]


def double(data: st.DataObject, tree: list[Any], position: int) -> None:
    tree.insert(position, copy.deepcopy(tree[position]))


def recount(data: st.DataObject, tree: list[Any], position: int) -> None:
    tree[position]["num-children"] = data.draw(st.one_of(st.integers(-2, 5), NONSENSE))


def retype(data: st.DataObject, tree: list[Any], position: int) -> None:
    field = data.draw(st.sampled_from(sorted(tree[position])))
    tree[position][field] = data.draw(NONSENSE)


def forget(data: st.DataObject, tree: list[Any], position: int) -> None:
    del tree[position][data.draw(st.sampled_from(sorted(tree[position])))]


def rename(data: st.DataObject, tree: list[Any], position: int) -> None:
    tree[position]["class"] = data.draw(st.sampled_from(["x.Future", "x.expressions.Future", "", "a..b$"]))


def cut(data: st.DataObject, tree: list[Any], position: int) -> None:
    del tree[position:]


def contain(data: st.DataObject, tree: list[Any], position: int) -> None:
    """A node that holds a copy of the whole: as near as JSON comes to a cycle."""
    tree[position]["again"] = copy.deepcopy(tree)


def reidentify(data: st.DataObject, tree: list[Any], position: int) -> None:
    if isinstance(tree[position].get("exprId"), dict):
        tree[position]["exprId"]["id"] = data.draw(st.one_of(st.integers(0, 20), NONSENSE))


DAMAGES = (drop, double, recount, retype, forget, rename, cut, contain, reidentify)


@contextmanager
def limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError("it does not end")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def check(recorded: list[Record]) -> Lineage:
    """Go through the stages as a task does; the resulting lineage must be consistent."""
    with limited():
        lineage = compose(execution.lineage for execution in executions(recorded))
        render(lineage)
    inputs = {source.dataset.id for source in lineage.inputs}
    for output in lineage.outputs:
        assert {edge.source for edge in output.edges} <= inputs
    return lineage


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_any_damage_leaves_a_lineage(data: st.DataObject) -> None:
    """Nodes, counts, types and ids of real plans, broken at random: no exception, no endless loop."""
    recorded = copy.deepcopy(golden(data.draw(st.sampled_from(RECORDED))))
    plan = data.draw(st.sampled_from(recorded)).plan
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(nodes_of(plan))
        if places:
            data.draw(st.sampled_from(DAMAGES))(data, *data.draw(st.sampled_from(places)))
    check(recorded)


def test_a_source_named_only_by_the_execution_inside_is_an_input() -> None:
    """If the command's own relation has lost its name, its columns still come from somewhere."""
    (of,) = (of for of in RECORDED if of.case == "delta_versions")
    recorded = copy.deepcopy(golden(of))[:1]
    ids = (
        tree[at]
        for tree, at in nodes_of(recorded[0].plan)
        if tree[at].get("name") == "id" and "exprId" in tree[at]
    )
    for each in ids:
        each["exprId"] = 1.5
    assert [source.dataset.id.name for source in check(recorded).inputs] == ["/data/orders"]


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_any_damage_of_facts_and_counters_leaves_a_lineage(data: st.DataObject) -> None:
    """Probed facts are as foreign as the plan; a record of the wrong shape counts as missing."""
    recorded = copy.deepcopy(golden(data.draw(st.sampled_from(RECORDED))))
    damaged = data.draw(st.sampled_from(recorded))
    entries = [*damaged.facts, *damaged.metrics, *(entry["probed"] for entry in damaged.facts)]
    for entry in entries:
        if entry and data.draw(st.booleans()):
            entry[data.draw(st.sampled_from(sorted(entry)))] = data.draw(NONSENSE)
    with suppress(RecordError):
        check([Record.from_json(each.to_json()) for each in recorded])


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_plan_that_was_cut_off_has_a_gap(data: st.DataObject) -> None:
    """Numbers of children that do not add up are noticed: such a plan has that gap and nothing else."""
    recorded = copy.deepcopy(golden(data.draw(st.sampled_from(RECORDED))))
    torn = data.draw(st.sampled_from([each for each in recorded if each.plan] or recorded))
    if not torn.plan:
        return
    del torn.plan[data.draw(st.integers(0, len(torn.plan) - 1)) :]
    if torn.plan:
        assert "unread_plan" in gap_kinds(execution_lineage(torn).lineage)


@pytest.mark.parametrize(
    "expression",
    [
        call("Add", column("a", 1), column("b", 2))[:-1],
        [*call("Add", column("a", 1)), *column("b", 2)],
        [{**call("Add")[0], "num-children": 10**12}],
        [{**call("Add")[0], "num-children": "2"}, *column("a", 1), *column("b", 2)],
    ],
    ids=["cut off", "left over", "counted to a million millions", "counted in text"],
)
def test_an_expression_that_does_not_fit_together_is_a_gap(expression: list[dict[str, Any]]) -> None:
    """Its arguments could be anybody's: no edge is better than a wrong one."""
    lineage = execution_lineage(
        record(project(scan(column("a", 1), column("b", 2)), alias("x", 3, expression)))
    ).lineage
    assert gap_kinds(lineage)[0] == "unread_plan"
    assert not any(output.edges for output in lineage.outputs)


def test_a_definition_made_of_itself_is_a_gap() -> None:
    """Only a recursive CTE may, and that has a node of its own."""
    inner = node("CTERelationDef", node("CTERelationRef", cteId=7, output=[column("a", 2)]), id=7)
    top = node("CTERelationRef", cteId=7, output=[column("a", 1)])
    lineage = execution_lineage(record(node("WithCTE", inner, top, plan=1))).lineage
    assert gap_kinds(lineage)[0] == "broken_plan"


def test_two_columns_with_one_id_are_a_gap() -> None:
    """Spark gives the sides of a join different ids; which of the two is meant cannot be known."""
    join = node("Join", scan(column("a", 1)), scan(column("b", 1)), joinType={"object": "x.Inner$"})
    lineage = execution_lineage(record(project(join, alias("x", 2, column("a", 1))))).lineage
    assert gap_kinds(lineage)[0] == "broken_plan"


def test_records_of_a_future_version_are_json_all_the_same() -> None:
    """Unknown fields do no harm."""
    document = json.loads(json.dumps(record(scan(column("a", 1))).to_json()))
    assert Record.from_json({**document, "future": {"deep": [1]}}).plan == document["plan"]
