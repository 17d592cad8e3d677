"""Versions of a table that one task writes: former ones, and those that are older than the task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tasks import edge, edges_of, execution, inputs_of, place, reads, writes

from airflow_provider_spark_lineage.spark.lineage.compose import compose
from airflow_provider_spark_lineage.spark.lineage.model import Mode, Snapshot


def test_former_version_holds_its_former_rows() -> None:
    """Each version that the task made can be read after the next one, and become the last by a RESTORE."""
    writing = [
        execution(reads("a", "x"), writes("t", edge("a.x", "x"), version="0")),
        execution(reads("c", "x"), writes("t", edge("c.x", "x"), mode=Mode.APPEND, version="1")),
        execution(reads("d", "x"), writes("t", edge("d.x", "x"), version="2")),
    ]
    for version, sources in {"0": "a", "1": "ac", "2": "d"}.items():
        reading = execution(reads("t", "x", version=version), writes("b", edge("t.x", "x")))
        assert edges_of(compose([*writing, reading]), "b") == {edge(f"{source}.x", "x") for source in sources}
        restoring = execution(reads("t", "x", version=version), writes("t", edge("t.x", "x"), version="3"))
        reading = execution(reads("t", "x", version="3"), writes("b", edge("t.x", "x")))
        restored = compose([*writing, restoring, reading])
        assert edges_of(restored, "b") == {edge(f"{source}.x", "x") for source in sources}


def test_two_versions_in_one_query_are_traced_apart() -> None:
    """Each side of the join has the rows of its own version."""
    old, new = edge("t.x", "old"), edge("t.x", "new")
    snapshots = {edge_: Snapshot(version=version) for edge_, version in ((old, "0"), (new, "1"))}
    joined = writes(
        "b",
        old,
        new,
        origins=frozenset(snapshots.items()),
        snapshots=frozenset((place("t"), snapshot) for snapshot in snapshots.values()),
    )
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), version="0")),
            execution(reads("c", "x"), writes("t", edge("c.x", "x"), version="1")),
            execution(reads("t", "x"), joined),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "old"), edge("c.x", "new")}


@pytest.mark.parametrize("mode", [Mode.APPEND, Mode.OVERWRITE])
def test_version_from_before_the_task_is_from_outside(mode: Mode) -> None:
    """A later write of the task is not in it."""
    lineage = compose(
        [
            execution(reads("a", "x"), writes("t", edge("a.x", "x"), mode=mode, version="6")),
            execution(reads("t", "x", version="5"), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge("t.x", "x")}
    assert inputs_of(lineage) == ["a", "t"]


@pytest.mark.parametrize(("is_chosen", "sources"), [(True, {"t.x"}), (False, {"a.x"})])
@pytest.mark.parametrize("version", ["5", "7"])
def test_a_snapshot_of_iceberg_is_from_outside_if_the_query_chose_it(version, is_chosen, sources) -> None:
    """Its number says nothing: one that the task did not write and nobody chose has the current rows."""
    written, read = writes("t", edge("a.x", "x"), version="6"), reads("t", "x", version=version)

    def of_iceberg(part, **more):
        identity = replace(part.dataset.identity, storage_layer="iceberg", **more)
        return replace(part, dataset=replace(part.dataset, identity=identity))

    lineage = compose(
        [
            execution(reads("a", "x"), of_iceberg(written)),
            execution(of_iceberg(read, is_chosen=is_chosen), writes("b", edge("t.x", "x"))),
        ]
    )
    assert edges_of(lineage, "b") == {edge(source, "x") for source in sources}


def test_a_chosen_snapshot_may_be_the_one_of_a_write_whose_snapshot_is_unknown() -> None:
    """Write, audit, publish: a staged snapshot is not in the table's history, and is read by its number."""

    def of_iceberg(part, **more):
        identity = replace(part.dataset.identity, storage_layer="iceberg", **more)
        return replace(part, dataset=replace(part.dataset, identity=identity))

    lineage = compose(
        [
            execution(reads("a", "x"), of_iceberg(writes("t", edge("a.x", "x")))),
            execution(
                of_iceberg(reads("t", "x", version="5"), is_chosen=True), writes("b", edge("t.x", "x"))
            ),
        ]
    )
    assert edges_of(lineage, "b") == {edge("a.x", "x")}
