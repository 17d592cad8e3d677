"""What a command without a query did, by the facts of its table."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("change", [Change.CREATED, Change.ALTERED, Change.RENAMED, Change.EMPTIED])
def test_changed_table_of_a_catalog_that_no_source_knows_is_a_gap(change: Change) -> None:
    """What became of it is not silent, whatever it was."""
    found = effect(Command((), (), "X#0", change=change), {"table_text": "db.t", "catalog": "shop"})
    assert (found.outputs, [gap.reason for gap in found.gaps]) == (
        (),
        ["the table `db.t` of the catalog `shop` has no name"],
    )


@pytest.mark.parametrize("new", [["newer"], ["db", "newer"]])
def test_renamed_iceberg_table_lies_where_it_was(new: list[str]) -> None:
    """Its location is its name; its catalog's name of it is another, in the same namespace unless told."""
    facts = {
        "iceberg_location": "file:/wh/db/t",
        "identifier": "db.t",
        "new_name": new,
        "v2_catalog": "lake",
        "catalog_type": "rest",
        "catalog_uri": "http://names:8181",
    }
    (output,) = effect(Command((), (), "X#0", change=Change.RENAMED), facts).outputs
    assert output.dataset.id.name == "/wh/db/t"
    assert [link.name for link in output.dataset.identity.symlinks] == ["db.newer"]
    assert output.previous is not None
    assert (output.previous.namespace, output.previous.name) == ("http://names:8181", "db.t")


def test_dropped_table_that_its_source_names_by_itself_is_sure() -> None:
    """Only IF EXISTS leaves open whether there was one."""
    facts = {"url": "jdbc:h2:mem:shop", "identifier": "app.t", "if_exists": False}
    assert effect(DROP, facts).gaps == ()
    (gap,) = effect(DROP, {**facts, "if_exists": True}).gaps
    assert gap.reason == "whether the dropped table was there is not recorded"
