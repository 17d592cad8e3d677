"""What a command without a query did, by the facts of its table."""

from __future__ import annotations

from airflow_provider_spark_lineage.lineage.commands import effect
from airflow_provider_spark_lineage.plan.algebra import Change, Command

DROP = Command((), (), "DropTable#0", relation="DropTable", change=Change.DROPPED)


def test_dropped_table_of_a_catalog_that_no_source_knows_is_a_gap() -> None:
    """Nobody can tell what it is called elsewhere, and that it is gone must not be silent."""
    facts = {"table_text": "db.t", "catalog": "shop", "default_location": "file:/wh/db.db/t"}
    found = effect(DROP, facts)
    assert found.outputs == ()
    assert [gap.reason for gap in found.gaps] == ["the table `db.t` of the catalog `shop` has no name"]
    (session,) = effect(DROP, {**facts, "catalog": "spark_catalog", "warehouse": "file:/wh"}).outputs
    assert session.dataset.id.name == "/wh/db.db/t"


def test_dropped_table_that_its_source_names_by_itself_is_sure() -> None:
    """Only IF EXISTS leaves open whether there was one."""
    facts = {"url": "jdbc:h2:mem:shop", "identifier": "app.t", "if_exists": False}
    assert effect(DROP, facts).gaps == ()
    (gap,) = effect(DROP, {**facts, "if_exists": True}).gaps
    assert gap.reason == "whether the dropped table was there is not recorded"
