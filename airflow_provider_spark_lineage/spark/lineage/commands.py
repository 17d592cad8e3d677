"""Effects of commands without a query on tables: create, change, load, rename and drop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import cast
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.gaps import of_datasets, of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason, joined
from airflow_provider_spark_lineage.spark.lineage.leaves import recorded_fields
from airflow_provider_spark_lineage.spark.lineage.model import (
    ColumnChange,
    Dataset,
    Edge,
    Gap,
    Input,
    Kind,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.plan.algebra import Change, Command
from airflow_provider_spark_lineage.spark.sources import identify, source_of, tables
from airflow_provider_spark_lineage.spark.sources.dataset import Facts, Identity
from airflow_provider_spark_lineage.spark.sources.paths import split_location

_MODES = {
    Change.CREATED: Mode.CREATE,
    Change.REPLACED: Mode.OVERWRITE,
    Change.EMPTIED: Mode.TRUNCATE,
    Change.DROPPED: Mode.DROP,
    Change.RENAMED: Mode.RENAME,
    Change.ALTERED: Mode.ALTER,
}

_REMOVING = frozenset({"AlterTableDropPartitionCommand", "DropPartitions"})
"""Commands that remove rows from a table, as TRUNCATE of a partition does."""


@dataclass(frozen=True)
class Effect:
    """The inputs, outputs and gaps of one command."""

    inputs: tuple[Input, ...] = ()
    outputs: tuple[Output, ...] = ()
    gaps: tuple[Gap, ...] = ()


_OF_ENTRIES = frozenset({Change.ALTERED, Change.CREATED, Change.DROPPED, Change.RENAMED})
"""Changes that may concern only a table's entry in its catalog, not its data."""


def effect(command: Command, target: Facts) -> Effect:
    """Return the effect of a command, from the facts of the table that it names."""
    if command.change is Change.DROPPED and "tables" in target:
        return _dropped_with_its_database(command, target)
    if command.change is Change.DROPPED and target.get("cascade") is True:
        return Effect(gaps=(Gap(command.label, of_plans.DROPPED_DATABASE()),))
    if command.change is None or _did_nothing(command.change, target):
        return Effect()
    identities = identify(target)
    if command.change is Change.ALTERED and identities and (attached := tables.attached(target, identities)):
        # Its rows are now the table's, too.
        return _filled(command.label, identities, target, attached, Mode.APPEND, names_partition=True)
    gap: Reason | None = None
    if command.change in _OF_ENTRIES:
        reaches = source_of(target).reaches_data(command.change.value)
        gap = _gap_reason(command.change, target, reaches)
        if reaches is False or (reaches is None and command.change is Change.DROPPED):
            identities = source_of(target).entries()
        if command.change is Change.DROPPED:
            # The data keep their own name, so that name is not a symlink of the dropped entry.
            identities = tuple(
                replace(identity, symlinks=()) if identity.is_entry else identity for identity in identities
            )
    datasets = tuple(Dataset(identity, recorded_fields(target)) for identity in identities)
    if command.change is Change.READ:
        return Effect(inputs=tuple(Input(dataset) for dataset in datasets))
    if command.change is Change.LOADED:
        mode = Mode.OVERWRITE if target.get("overwrite") else Mode.APPEND
        has_partition = bool(target.get("partitions"))
        return _filled(
            command.label, identities, target, tables.loaded(target), mode, names_partition=has_partition
        )
    if not datasets and target.get("catalog"):
        table, catalog = target.get("table_text", ""), target["catalog"]
        reason = of_datasets.UNNAMED_TABLE(table=table, catalog=catalog)
        return Effect(gaps=(Gap(command.label, reason),))
    before = source_of(target).previous() if command.change is Change.RENAMED else ()
    partial = bool(target.get("partitions"))
    mode = _MODES[command.change]
    if command.change is Change.REPLACED and target.get("existed") is False:
        mode = Mode.CREATE
    rewrites = command.relation in _REMOVING or (mode is Mode.TRUNCATE and partial)
    if rewrites:
        # It removed some of the rows; the others are unchanged.
        mode = Mode.ALTER
    outputs = tuple(
        Output(
            dataset,
            mode,
            partial=partial,
            may_be_absent=_may_be_absent(target),
            rewrites=rewrites,
            previous=next(iter(before), None),
            changes=_column_changes(command, target),
            has_rows=False,
        )
        for dataset in datasets
    )
    gaps = tuple(
        Gap(command.label, why, output.dataset.id)
        for output in outputs
        for why in (output.dataset.identity.note, gap)
        if why
    )
    return Effect(outputs=outputs, gaps=gaps)


def _column_changes(command: Command, target: Facts) -> tuple[ColumnChange, ...]:
    """Return the columns that a command renames or drops; a field inside a column changes only its type."""
    if command.relation == "ReplaceColumns":
        return (ColumnChange(""),)
    renamed = target.get("renamed_column", ())
    if len(renamed) == 1 and target.get("new_column"):
        return (ColumnChange(renamed[0], target["new_column"]),)
    # The first part of each name, with the number of its parts.
    dropped = zip(target.get("dropped_columns", ()), target.get("dropped_depths", ()), strict=False)
    return tuple(ColumnChange(name) for name, depth in dropped if depth == "1")


def _dropped_with_its_database(command: Command, target: Facts) -> Effect:
    """Return the effect of DROP DATABASE CASCADE: data inside the database's folder are removed with it."""
    shared = {name: value for name, value in target.items() if name not in ("cascade", "tables")}
    folder = split_location(str(target.get("database_location") or "/"))[1] + "/"
    effects = []
    for table in target["tables"]:
        inside = split_location(unquote(str(table.get("location") or "/")))[1].startswith(folder)
        kind = {"table_type": "MANAGED"} if inside and table.get("table_type") == "EXTERNAL" else {}
        effects.append(effect(command, cast(Facts, {**shared, **table, **kind})))
    if unasked := target.get("unasked"):
        gap = Gap(command.label, of_plans.MORE_DROPPED_TABLES(count=unasked))
        effects.append(Effect(gaps=(gap,)))
    return Effect(
        outputs=tuple(chain.from_iterable(each.outputs for each in effects)),
        gaps=tuple(chain.from_iterable(each.gaps for each in effects)),
    )


def _filled(
    label: str,
    identities: tuple[Identity, ...],
    target: Facts,
    sources: tuple[Identity, ...],
    mode: Mode,
    *,
    names_partition: bool,
) -> Effect:
    """Return the effect of a command that gives a table existing files: each column comes from the same one.

    LOAD DATA moves the files; a partition with its own location leaves them where they are.
    """
    # The files of a partition do not contain its partition columns.
    partition_columns = (target.get("partition_columns") or ()) if names_partition else ()
    inputs: list[Input] = []
    outputs: list[Output] = []
    for identity in identities:
        dataset = Dataset(identity, recorded_fields(target))
        moved = tuple(field for field in dataset.fields if field.name not in partition_columns)
        inputs.extend(Input(Dataset(source, moved)) for source in sources)
        edges = [
            Edge(source.id, field.name, Kind.IDENTITY, column=field.name)
            for field in moved
            for source in sources
        ]
        outputs.append(
            Output(
                dataset,
                mode,
                edges=tuple(sorted(edges, key=lambda edge: edge.order)),
                inputs=tuple(source.id for source in sources),
                partial=names_partition,
                partitioned_by=tuple(target.get("partition_columns") or ()),
            )
        )
    gaps = tuple(
        Gap(label, source.note, identity.id) for identity in identities for source in sources if source.note
    )
    return Effect(tuple(inputs), tuple(outputs), gaps)


def _gap_reason(change: Change, target: Facts, reaches: bool | None) -> Reason | None:
    """Return the reason of a command's gap: its table was not probed before it ran; None without a gap."""
    if change is Change.CREATED and target.get("if_not_exists") and "existed" not in target:
        return of_plans.MAY_HAVE_EXISTED()
    if change is not Change.DROPPED:
        return None
    reasons = [of_plans.DATA_MAY_EXIST()] if reaches is None else []
    reasons += [of_plans.MAY_BE_ABSENT()] if _may_be_absent(target) else []
    return joined(reasons)


def _may_be_absent(target: Facts) -> bool:
    """Return whether the table of a DROP may not have existed."""
    return bool(target.get("if_exists")) and "existed" not in target


def _did_nothing(change: Change, target: Facts) -> bool:
    """Return whether the table of DROP IF EXISTS did not exist, or the table of CREATE IF NOT EXISTS did."""
    existed = target.get("existed")
    return (change is Change.DROPPED and existed is False) or (change is Change.CREATED and existed is True)
