"""Merge of a command and the write that it ran into one execution: a CTAS and its insert, for example."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.spark.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.spark.lineage.model import Lineage, Mode
from airflow_provider_spark_lineage.spark.sources.dataset import Identity


def wrapped(inner: ExecutionLineage, outer: ExecutionLineage) -> ExecutionLineage:
    """Return an execution with the write that it ran inside."""
    if _absorbs(outer, inner):
        return _absorbed(outer, inner)
    if outer.lineage.outputs:
        return outer
    outer = replace(outer, targets=outer.targets or inner.targets)
    if outer.lineage.failures:
        return outer
    # The command itself is unknown; report the writes of the execution inside.
    lineage = replace(inner.lineage, gaps=(*outer.lineage.gaps, *inner.lineage.gaps))
    return replace(outer, lineage=lineage)


def _absorbs(outer: ExecutionLineage, inner: ExecutionLineage) -> bool:
    """Return whether the inner execution is the write of a wrapping command."""
    if not outer.wraps:
        return False
    if outer.query and outer.query == inner.query:
        return True
    written = [output.dataset.id for output in inner.lineage.outputs]
    return bool(written) and written == [output.dataset.id for output in outer.lineage.outputs]


def _absorbed(outer: ExecutionLineage, inner: ExecutionLineage) -> ExecutionLineage:
    """Return one execution: reads and writes of the inner one, with the mode and names of the command."""
    inner_lineage, outer_lineage = inner.lineage, outer.lineage
    outputs = tuple(
        replace(
            output,
            mode=_mode(outer.mode, output.mode),
            # A command that creates its table writes it while it is empty.
            was_empty=False,
            as_added=output.as_added if outer.mode is Mode.APPEND else None,
            dataset=replace(output.dataset, identity=_named_by(output.dataset.identity, outer)),
        )
        for output in inner_lineage.outputs
    )
    inner_reads = {read.dataset.id: read for read in inner_lineage.inputs}
    inputs = tuple(
        replace(read, statistics=inside.statistics, by_folders=inside.by_folders)
        if not read.statistics and (inside := inner_reads.get(read.dataset.id))
        else read
        for read in outer_lineage.inputs or inner_lineage.inputs
    )
    # Edges come from the inner write; the facts of the two may differ if a record is damaged.
    known = {read.dataset.id for read in inputs}
    sources = {edge.source for output in outputs for edge in output.edges} - known
    inputs += tuple(read for read in inner_lineage.inputs if read.dataset.id in sources)
    # The inner write has the better gaps, unless the command alone has outputs or failures.
    has_more = not outputs and (outer_lineage.outputs or outer_lineage.failures)
    gaps = outer_lineage.gaps if has_more else inner_lineage.gaps
    if outer_lineage.failures and outer.mode is Mode.OVERWRITE:
        gaps += tuple(gap for gap in inner_lineage.gaps if gap.output is not None and gap not in gaps)
    lineage = Lineage(
        inputs=inputs,
        outputs=outputs or outer_lineage.outputs,
        gaps=gaps,
        # Spark reports the same error for both.
        failures=inner_lineage.failures or outer_lineage.failures,
    )
    targets = tuple(_named_by(identity, outer) for identity in inner.targets)
    return replace(outer, lineage=lineage, targets=targets or outer.targets)


def _mode(outer: Mode | None, inner: Mode) -> Mode:
    """Return the mode of a command's write; an append that creates its table runs an overwrite inside."""
    if outer is Mode.APPEND and inner in (Mode.CREATE, Mode.OVERWRITE):
        return Mode.CREATE
    return outer or inner


def _named_by(identity: Identity, outer: ExecutionLineage) -> Identity:
    """Return an identity with the table and catalog of the command: the write inside has only a path."""
    return replace(
        identity,
        symlinks=tuple(dict.fromkeys((*identity.symlinks, *outer.symlinks))),
        catalog=identity.catalog or outer.catalog,
    )
