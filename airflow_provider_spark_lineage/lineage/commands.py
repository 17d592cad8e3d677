"""What commands without a query do to tables: to create, change, load, rename and drop them."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_provider_spark_lineage.lineage.leaves import recorded_fields
from airflow_provider_spark_lineage.lineage.model import Dataset, Edge, Gap, Input, Kind, Mode, Output
from airflow_provider_spark_lineage.plan.algebra import Change, Command
from airflow_provider_spark_lineage.sources import identify, previous, tables
from airflow_provider_spark_lineage.sources.dataset import Facts

_MODES = {
    Change.CREATED: Mode.CREATE,
    Change.EMPTIED: Mode.TRUNCATE,
    Change.DROPPED: Mode.DROP,
    Change.RENAMED: Mode.RENAME,
    Change.ALTERED: Mode.ALTER,
}


@dataclass(frozen=True)
class Effect:
    """What one command read and wrote."""

    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    gaps: tuple[Gap, ...] = ()


def effect(command: Command, target: Facts) -> Effect:
    """Return what a command did, by the facts of the table that it names."""
    if command.change is None or _found_it_there(target):
        return Effect()
    datasets = tuple(Dataset(identity, recorded_fields(target)) for identity in identify(target))
    if command.change is Change.READ:
        return Effect(inputs=tuple(Input(dataset) for dataset in datasets))
    if command.change is Change.LOADED:
        return _loaded(datasets, target)
    if not datasets and target.get("catalog"):
        reason = (
            f"the table `{target.get('table_text', '')}` of the catalog `{target['catalog']}` has no name"
        )
        return Effect(gaps=(Gap(command.label, reason),))
    reason = _unsure(command.change, target)
    kept = target.get("partitions") or target.get("external") == "EXTERNAL" or target.get("if_exists")
    before = previous(target) if command.change is Change.RENAMED else ()
    outputs = tuple(
        Output(dataset, _MODES[command.change], partial=bool(kept), previous=next(iter(before), None))
        for dataset in datasets
    )
    gaps = tuple(
        Gap(command.label, why, one.dataset.id)
        for one in outputs
        for why in (one.dataset.identity.note, reason)
        if why
    )
    return Effect(outputs=outputs, gaps=gaps)


def _loaded(datasets: tuple[Dataset, ...], target: Facts) -> Effect:
    """Files are moved as they are: each column of the table is that column of the files."""
    sources = tables.loaded(target)
    # The files of a partition do not hold what tells it from others.
    told = target.get("partition_columns", ()) if target.get("partitions") else ()
    inputs: list[Input] = []
    outputs: list[Output] = []
    for dataset in datasets:
        moved = tuple(one for one in dataset.fields if one.name not in told)
        inputs.extend(Input(Dataset(source, moved)) for source in sources)
        edges = [
            Edge(source.id, one.name, Kind.IDENTITY, column=one.name) for one in moved for source in sources
        ]
        outputs.append(
            Output(
                dataset,
                Mode.OVERWRITE if target.get("overwrite") else Mode.APPEND,
                edges=tuple(sorted(edges, key=lambda edge: edge.order)),
                inputs=tuple(source.id for source in sources),
                partial=bool(target.get("partitions")),
            )
        )
    return Effect(tuple(inputs), tuple(outputs))


def _unsure(change: Change, target: Facts) -> str:
    """Return what the catalog could not say any more, when the command was reported."""
    if change is Change.CREATED and target.get("if_not_exists") and "asked_at" not in target:
        return "whether it created the table or found it there is not recorded"
    if change is Change.DROPPED and not target.get("is_view"):
        if "default_location" not in target:
            # Its catalog names a table without asking for it.
            return "whether the dropped table was there is not recorded" if target.get("if_exists") else ""
        place = "the dropped table is named by where its database keeps tables; its own place is not recorded"
        return place + (", nor whether it was there" if target.get("if_exists") else "")
    return ""


def _found_it_there(target: Facts) -> bool:
    """Say whether CREATE TABLE IF NOT EXISTS created nothing: the table has the time of its own creation."""
    asked, created = target.get("asked_at"), target.get("created_at")
    if not target.get("if_not_exists") or asked is None or created is None:
        return False
    # A Hive metastore keeps seconds.
    kept = 1000 if target.get("catalog_kind") == "hive" else 1
    return bool(asked // kept != created // kept)
