"""Rows between an observation and the write: each node keeps them, leaves some out, or may change them."""

from __future__ import annotations

import pytest

from airflow_provider_spark_lineage.spark.plan.spark.explain import read_explain
from airflow_provider_spark_lineage.spark.plan.spark.observed_rows import (
    NODES,
    ObservedColumn,
    Rows,
    observed_rows,
)
from airflow_provider_spark_lineage.spark.plan.spark.reader import ROWS

PLANS, EXPRESSIONS = "org.apache.spark.sql.catalyst.plans.", "org.apache.spark.sql.catalyst.expressions."


def node(kind, children=1, **fields):
    return {"class": PLANS + "logical." + kind, "num-children": children, **fields}


def column(expr_id, name, kind="long"):
    fields = {"name": name, "exprId": {"id": expr_id}, "dataType": kind}
    return [{"class": EXPRESSIONS + "AttributeReference", "num-children": 0, **fields}]


def call(function, *arguments, **fields):
    below = [part for argument in arguments for part in argument]
    return [{"class": EXPRESSIONS + function, "num-children": len(arguments), **fields}, *below]


def alias(value, expr_id, name):
    return call("Alias", value, name=name, exprId={"id": expr_id})


V, S = column(1, "v"), column(2, "s", "string")
LEAF = node("LocalRelation", 0, output=[V, S])
METRICS = [alias(call("Min", V), 91, "min"), alias(call("Count", S), 92, "both")]
OBSERVED = [node("CollectMetrics", name="checks", metrics=METRICS), LEAF]
WRITE = node("InsertIntoHadoopFsRelationCommand")


def project(*columns):
    return node("Project", projectList=[*columns])


def rows(*steps, own_filters=0, below=OBSERVED):
    return observed_rows([[WRITE, *steps, *below]], "checks", own_filters)


def test_every_node_of_the_table_is_one_that_the_reader_of_plans_knows():
    """A wrong letter would be an unknown node, which is right and useless."""
    assert NODES.keys() <= ROWS.keys()


@pytest.mark.parametrize(
    ("step", "known"),
    [
        (node("Sort"), Rows.ALL),
        (node("Repartition"), Rows.ALL),
        (node("Window"), Rows.ALL),
        (node("Filter"), Rows.PART),
        (node("GlobalLimit"), Rows.PART),
        (node("Deduplicate"), Rows.PART),
        (node("Sample", withReplacement=False), Rows.PART),
        (node("Sample", withReplacement=True), Rows.OTHER),
        (node("Sample"), Rows.OTHER),
        (node("Aggregate"), Rows.OTHER),
        (node("Generate"), Rows.OTHER),
        (node("MapInPandas"), Rows.OTHER),
        (node("MergeIntoCommand"), Rows.OTHER),
        (node("NodeOfTheFuture"), Rows.OTHER),
    ],
)
def test_a_step_keeps_rows_or_leaves_some_out_or_nothing_is_known(step, known):
    """A node without a row in the table may do anything. The reason names the step."""
    result = rows(step)
    assert result.rows is known
    assert (step["class"].rpartition(".")[2] in result.reason) == (known is not Rows.ALL)


@pytest.mark.parametrize("kind", ["Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSingle", ""])
def test_a_join_may_repeat_rows(kind):
    """Whatever its type, and although it may not: the data decide."""
    join = node("Join", 2, joinType={"object": f"{PLANS}{kind}$"} if kind else None)
    assert rows(join, below=[*OBSERVED, LEAF]).rows is Rows.OTHER


@pytest.mark.parametrize(
    ("name", "fields", "known"),
    [
        ("Join", {"joinType": {"object": f"{PLANS}LeftSemi$"}}, Rows.PART),
        ("Join", {"joinType": {"object": f"{PLANS}LeftAnti$"}}, Rows.PART),
        ("Join", {"joinType": {"product-class": f"{PLANS}ExistenceJoin"}}, Rows.ALL),
        ("Intersect", {}, Rows.PART),
        ("Except", {}, Rows.PART),
    ],
)
def test_rows_are_compared_with_those_of_another_input(name, fields, known):
    """Of the first input some are left; those of the other one are not written."""
    assert rows(node(name, 2, **fields), below=[*OBSERVED, LEAF]).rows is known
    assert rows(node(name, 2, **fields), LEAF).rows is Rows.OTHER


def test_the_worst_step_counts():
    """A step that keeps all rows mends nothing."""
    result = rows(node("Sort"), node("GlobalLimit"), node("Union", 1), node("Filter"))
    assert (result.rows, result.reason) == (
        Rows.OTHER,
        "after check(), rows may be repeated, added or changed (Union)",
    )


def test_the_own_filters_of_a_check_are_not_steps():
    """Those that drop its rows, or stop at one, right above it: the next one is a step."""
    drop, step = node("Filter"), node("Filter")
    assert rows(drop, own_filters=1).rows is Rows.ALL
    assert rows(step, drop, own_filters=1).rows is Rows.PART
    assert rows(drop, node("Sort"), own_filters=1).rows is Rows.PART


KEPT = {1: ObservedColumn("v", "v"), 2: ObservedColumn("s", "s")}


def changed(name, step="Project"):
    return ObservedColumn(name, name, f"after check(), `{name}` is changed or left out ({step})")


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        (project(S, V, alias(call("Add", V, V), 3, "w")), KEPT),
        (project(alias(V, 3, "v"), S), KEPT),
        (project(alias(V, 3, "w"), S), {1: ObservedColumn("w", "v"), 2: KEPT[2]}),
        (project(alias(V, 3, "w"), V, S), KEPT),
        (project(alias(call("UnaryMinus", V), 3, "v"), S), {1: changed("v"), 2: KEPT[2]}),
        (project(S), {1: changed("v"), 2: KEPT[2]}),
        (project(alias(V, 3, "w"), alias(S, 4, "v")), {1: changed("v"), 2: ObservedColumn("v", "s")}),
        (project(alias(call("KnownNotNull", V), 3, "v"), S), KEPT),
        (node("Project"), {1: changed("v"), 2: changed("s")}),
    ],
    ids=["other", "again", "renamed", "twice", "negated", "dropped", "swapped", "checked", "unread"],
)
def test_a_column_is_followed_to_the_write(step, columns):
    """By its values, not by its name: another column may have that."""
    result = rows(step)
    assert result.columns == columns
    assert result.uses == {"min": {1}, "both": {2}}


@pytest.mark.parametrize(
    ("kind", "to", "is_same"),
    [
        ("integer", "long", True),
        ("long", "long", True),
        ("long", "integer", False),
        ("integer", "double", False),
        ("string", "long", False),
        ("long", "string", False),
    ],
)
def test_a_cast_keeps_values_if_every_value_fits(kind, to, is_same):
    """Only then the smallest one is the same."""
    metrics = [alias(call("Min", column(1, "v", kind)), 91, "min")]
    below = [node("CollectMetrics", name="checks", metrics=metrics)]
    cast = call("Cast", column(1, "v", kind), dataType=to)
    result = rows(project(alias(cast, 3, "v")), below=[*below, LEAF])
    assert (not result.columns[1].problem) == is_same


def test_an_insert_into_a_narrower_column_keeps_values_or_fails():
    """Spark checks that a value fits."""
    cast = call("Cast", V, dataType="integer")
    checked = alias(call("CheckOverflowInTableInsert", cast), 3, "v")
    text = alias(call("CheckOverflowInTableInsert", call("Cast", S, dataType="integer")), 4, "s")
    assert rows(project(checked, text)).columns == {1: KEPT[1], 2: changed("s")}


def cte(number, *definition):
    return [node("CTERelationDef", id=number), *definition]


def read(number, *output):
    return node("CTERelationRef", 0, cteId=number, output=[*output])


def test_a_definition_is_followed_to_the_one_place_that_reads_it():
    """Also through a second definition, and where its columns have other ids."""
    v, s = column(11, "v"), column(12, "s", "string")
    both = [*cte(0, *OBSERVED), *cte(1, node("Filter"), read(0, V, S))]
    result = rows(node("WithCTE", 3, plan=2), *both, read(1, v, s), below=[])
    assert (result.rows, result.columns) == (Rows.PART, KEPT)
    other = project(alias(call("UnaryMinus", v), 13, "v"), s)
    result = rows(node("WithCTE", 2, plan=1), *cte(0, *OBSERVED), other, read(0, v, s), below=[])
    assert (result.rows, result.columns) == (Rows.ALL, {1: changed("v"), 2: KEPT[2]})
    twice = [node("Union", 2), read(0, V, S), read(0, v, s)]
    assert rows(node("WithCTE", 2, plan=1), *cte(0, *OBSERVED), *twice, below=[]).rows is Rows.OTHER


def test_a_frame_that_is_used_twice_or_in_a_subquery_is_not_what_is_written():
    """There may be rows of both uses, or of none."""
    assert rows(node("Union", 2), *OBSERVED).rows is Rows.OTHER
    condition = call("ScalarSubquery", plan=OBSERVED)
    assert rows(node("Filter", condition=condition), below=[LEAF]).rows is Rows.OTHER
    assert rows(node("Filter", condition=condition)).rows is Rows.OTHER
    assert rows(below=[LEAF]) is None


def test_a_command_and_the_write_inside_of_it_must_agree():
    """The casts of an insert are in the inner one, the names of both may differ."""
    outer = [node("SaveAsV1TableCommand", 0, query=OBSERVED)]
    inner = [WRITE, project(alias(V, 3, "w"), alias(call("Upper", S), 4, "s")), *OBSERVED]
    result = observed_rows([outer, inner], "checks")
    assert (result.rows, result.columns) == (Rows.ALL, {1: ObservedColumn("w", "v"), 2: changed("s")})
    assert observed_rows([outer, [WRITE, node("Filter"), *OBSERVED]], "checks").rows is Rows.PART


def test_a_copy_of_the_query_in_a_command_is_not_a_second_use():
    """Spark keeps the query as it was analyzed beside the one that it runs."""
    result = observed_rows([[node("AppendData", analyzedQuery=OBSERVED), *OBSERVED]], "checks")
    assert (result.rows, result.columns) == (Rows.ALL, KEPT)


def test_a_plan_that_is_only_a_text_says_the_same():
    """Spark Connect explains plans; a number whose expression cannot be read has no columns."""
    name = "spark_lineage_check_1a"
    text = f"""== Parsed Logical Plan ==
'UnresolvedRelation

== Analyzed Logical Plan ==
v: bigint, s: string
Project [(v#1L * cast(-1 as bigint)) AS v#3L, s#2]
+- Sample 0.0, 0.5, false, 3
   +- CollectMetrics {name}, [min(v#1L) AS value_0#4L, (count(1) - count(s#2)) AS value_1#5L], 3
      +- Relation [v#1L,s#2] parquet

== Optimized Logical Plan ==
Relation [v#1L,s#2] parquet

== Physical Plan ==
*(1) ColumnarToRow
"""
    explained = read_explain(text, {}, [], [], {})
    assert explained.problems == []
    result = observed_rows([explained.plan], name)
    assert (result.rows, result.columns) == (Rows.PART, {1: changed("v"), 2: KEPT[2]})
    assert result.uses == {"value_0": {1}, "value_1": {2}}
    twice = read_explain(text.replace("false, 3", "true, 3"), {}, [], [], {})
    assert observed_rows([twice.plan], name).rows is Rows.OTHER
