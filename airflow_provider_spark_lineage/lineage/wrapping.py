"""Makes one execution of a command and the write that it ran: a CTAS and its insert, for example."""

from __future__ import annotations

from dataclasses import replace

from airflow_provider_spark_lineage.lineage.execution import ExecutionLineage
from airflow_provider_spark_lineage.lineage.model import Lineage, Mode, Statistics


def wrapped(inner: ExecutionLineage, outer: ExecutionLineage) -> ExecutionLineage:
    """Return an execution with the write that it ran inside."""
    if _absorbs(outer, inner):
        return _absorbed(outer, inner)
    if outer.lineage.outputs or outer.lineage.failures:
        return outer
    # A command of which nothing is known; what it wrote is.
    found = replace(inner.lineage, gaps=(*outer.lineage.gaps, *inner.lineage.gaps))
    return replace(outer, lineage=found)


def _absorbs(outer: ExecutionLineage, inner: ExecutionLineage) -> bool:
    """Return whether a wrapping command did its write by running the execution before it."""
    if not outer.wraps:
        return False
    if outer.query and outer.query == inner.query:
        return True
    written = [output.dataset.id for output in inner.lineage.outputs]
    return bool(written) and written == [output.dataset.id for output in outer.lineage.outputs]


def _absorbed(outer: ExecutionLineage, inner: ExecutionLineage) -> ExecutionLineage:
    """Return one execution: what the inner one really did, under the names that the command gives it."""
    done, said = inner.lineage, outer.lineage
    outputs = tuple(
        replace(
            output,
            mode=outer.mode or output.mode,
            dataset=replace(
                output.dataset,
                identity=replace(
                    output.dataset.identity,
                    symlinks=tuple(dict.fromkeys((*output.dataset.identity.symlinks, *outer.symlinks))),
                    catalog=output.dataset.identity.catalog or outer.catalog,
                ),
            ),
        )
        for output in done.outputs
    )
    counted = {one.dataset.id: one.statistics for one in done.inputs}
    inputs = tuple(
        replace(one, statistics=one.statistics or counted.get(one.dataset.id, Statistics()))
        for one in said.inputs or done.inputs
    )
    # What the write inside did not know, the command may say; of one that failed nobody asks.
    gaps = done.gaps if outputs or not (said.outputs or said.failures) else said.gaps
    if said.failures and outer.mode is Mode.OVERWRITE:
        gaps += tuple(gap for gap in done.gaps if gap.output is not None and gap not in gaps)
    lineage = Lineage(
        inputs=inputs,
        outputs=outputs or said.outputs,
        gaps=gaps,
        # Spark reports the same error for both.
        failures=done.failures or said.failures,
    )
    return replace(outer, lineage=lineage)
