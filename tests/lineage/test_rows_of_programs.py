"""Rows that a program makes, as Spark versions write them down."""

from __future__ import annotations

from typing import Any

import pytest
from gap_kinds import gap_kinds
from spark_trees import WRITE, column, node

from airflow_provider_spark_lineage.spark.lineage.execution import ExecutionFacts, lineage_of
from airflow_provider_spark_lineage.spark.plan.spark.reader import read_plan
from airflow_provider_spark_lineage.spark.sources.program import variables


def gaps(facts: dict[str, Any], *others: dict[str, Any]) -> list[str]:
    tree = node(WRITE, node("LocalRelation", output=[column("a", 7)]))
    target = {"node": WRITE, "expr_id": None, "probed": {"paths": "/out"}}
    listed = {"node": "LocalRelation", "expr_id": 7, "probed": facts}
    more = [{"node": "LocalRelation", "expr_id": 8 + i, "probed": probed} for i, probed in enumerate(others)]
    lineage = lineage_of(read_plan(tree), ExecutionFacts(facts=[target, listed, *more])).lineage
    assert len(lineage.outputs) == 1
    return gap_kinds(lineage)


def test_values_of_a_query_come_from_nowhere() -> None:
    """VALUES are literals: there is nothing to know of them, and nothing is missing."""
    assert gaps({"in_sql": True}) == []


def test_rows_listed_by_a_program_are_a_gap() -> None:
    """Rows that a program put into a DataFrame may come from anywhere, also if Spark keeps a list."""
    assert gaps({"in_sql": False}) == ["rows_from_python"]


def test_values_that_a_query_reads_twice_are_still_its_own() -> None:
    """Spark copies the rows for the second use, and the copy does not have its position in the text."""
    assert gaps({"in_sql": False, "schema": "s"}, {"in_sql": True, "schema": "s"}) == []
    assert gaps({"in_sql": False, "schema": "s"}, {"in_sql": True, "schema": "t"}) != []


def test_a_record_that_does_not_say_claims_nothing() -> None:
    """Records of older agents do not have the origin of listed rows."""
    assert gaps({}) == []


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ({"names": ["ResolvedIdentifier org.x.FakeSystemCatalog$@0, session.Top\n"]}, ("top",)),
        ({"name": "ResolvedIdentifier org.x.FakeSystemCatalog$@0, session.`Top`"}, ("top",)),
        ({"names": ["ResolvedIdentifier c, session.a", "ResolvedIdentifier c, session.b"]}, ("a", "b")),
        ({}, ()),
    ],
)
def test_names_of_declared_variables(facts: dict[str, Any], names: tuple[str, ...]) -> None:
    """A variable is found again whatever its case, its quotes and the Spark version."""
    assert variables(facts) == names


def test_an_rdd_of_more_rdds_than_were_asked_is_a_gap() -> None:
    """The known RDDs are read, and a gap says that there may be more, for a query and for a job."""
    tree = [{"class": "RDD", "num-children": 0, "output": []}]
    origins = [{"paths": ["file:/in/a.txt"]}, {"more": True}]
    facts = [{"node": "RDD", "expr_id": -1, "probed": {"origins": origins}}]
    lineage = lineage_of(read_plan(tree), ExecutionFacts(facts=facts)).lineage
    assert [source.dataset.id.name for source in lineage.inputs] == ["/in/a.txt"]
    assert gap_kinds(lineage) == ["limit_reached"]


def test_an_rdd_of_an_input_format_without_files_is_a_gap() -> None:
    """A connector of Hadoop gives no name; a gap says so, even if nothing else was read."""
    tree = [{"class": "RDD", "num-children": 0, "output": []}]
    facts = [{"node": "RDD", "expr_id": -1, "probed": {"origins": [{"unnamed": "NewHadoopRDD"}]}}]
    lineage = lineage_of(read_plan(tree), ExecutionFacts(facts=facts)).lineage
    assert not lineage.inputs
    assert gap_kinds(lineage) == ["unnamed_dataset"]
