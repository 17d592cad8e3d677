"""Which records are one execution, on records made by hand."""

from __future__ import annotations

from dataclasses import replace

from spark_trees import alias, call, node, project, record

from airflow_provider_spark_lineage.pipeline import executions

ONE = project(node("OneRowRelation"), alias("one", 1, call("Literal")))


def test_a_write_of_literals_and_the_command_around_it_are_one_wherever_they_stand() -> None:
    """The write inside touches no dataset that it knows of, and what runs before it may touch none either."""
    before = record([], plan=node("SetTableProperties"), facts=[])
    inside = record([], plan=node("AppendData", ONE), facts=[])
    target = {
        "location": "file:/wh/t",
        "table": ["default", "t"],
        "warehouse": "file:/wh",
        "format": "parquet",
    }
    facts = [{"node": "CreateDataSourceTableAsSelectCommand", "expr_id": None, "probed": target}]
    around = record([], plan=node("CreateDataSourceTableAsSelectCommand", ONE), facts=facts)
    numbered = [replace(one, number=number) for number, one in enumerate([before, inside, around], 1)]
    found = list(executions(numbered))
    assert [one.record.number for one in found] == [1, 3]
    (output,) = found[1].lineage.outputs
    assert output.dataset.id.name == "/wh/t"
    assert found[1].lineage.gaps == ()
