"""The data sources, one file each: what to probe in a live plan and how to name what was found.

To add one, write `sources/<name>.py` with a `SOURCE` and add it to `SOURCES`.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Optional, Tuple

from airflow_provider_spark_lineage.sources import (
    catalogs,
    delta,
    files,
    iceberg,
    jdbc,
    kafka,
    program,
    python,
    rdd,
    tables,
    unknown,
    warehouses,
)
from airflow_provider_spark_lineage.sources.dataset import (
    Catalog,
    DatasetId,
    Facts,
    Identity,
    Probe,
    Query,
    Source,
    Symlink,
)

SOURCES: Tuple[Source, ...] = (
    delta.SOURCE,
    iceberg.SOURCE,
    jdbc.SOURCE,
    tables.SOURCE,
    files.SOURCE,
    rdd.SOURCE,
    kafka.SOURCE,
    warehouses.SOURCE,
    program.SOURCE,
    python.SOURCE,
    unknown.SOURCE,
)
"""In order of precedence: the first one that can name a relation names it."""


def _probes_by_node(*, before: bool) -> Dict[str, Tuple[Probe, ...]]:
    by_node: Dict[str, Tuple[Probe, ...]] = {}
    for source in SOURCES:
        for probe in source.probes:
            if probe.before is before:
                by_node[probe.node] = (*by_node.get(probe.node, ()), probe)
    return by_node


PROBES: Dict[str, Tuple[Probe, ...]] = _probes_by_node(before=False)
"""Simple class name of a plan node -> its probes, in order of precedence."""

BEFORE: Dict[str, Tuple[Probe, ...]] = _probes_by_node(before=True)
"""The same, of commands that are asked about before they run."""

OPTIONS: FrozenSet[str] = frozenset().union(*(source.options for source in SOURCES))
"""Names of options, in lower case, that capture may write down."""


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name the datasets behind the facts of one relation; empty when no source knows them."""
    for source in SOURCES:
        identities = source.identify(facts)
        if identities:
            return identities
    return ()


def entries_of(facts: Facts) -> Tuple[Identity, ...]:
    """Return the names in catalogs of a table, each with the place of its data where that is known."""
    known = identify(facts)
    found = tuple(entry for one in known for entry in ((one,) if one.is_entry else one.entries()))
    return found or next((some for source in SOURCES if (some := source.entries(facts))), ())


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return whether a command reaches a table's data, or its entry in a catalog alone; None for unknown."""
    answers = (source.reaches_data(change, facts) for source in SOURCES)
    return next((answer for answer in answers if answer is not None), None)


def query_behind(facts: Facts) -> Optional[Query]:
    """Return the query that a database ran to give a relation's rows; None for a relation that is a table."""
    queries = (source.query(facts) for source in SOURCES)
    return next((query for query in queries if query is not None), None)


def is_atomic(facts: Facts) -> bool:
    """Return whether a write that fails leaves what was there before."""
    return any(source.is_atomic(facts) for source in SOURCES)


def names_of_table(facts: Facts) -> Tuple[Symlink, ...]:
    """Return the catalog's names of the table that facts speak of."""
    return catalogs.symlinks(facts)


def metastore(facts: Facts) -> Optional[Catalog]:
    """Return the session's catalog of the table or directory that facts speak of; None for one in memory."""
    return catalogs.metastore(facts)


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return what a renamed table was called before."""
    return jdbc.previous(facts) or iceberg.previous(facts) or tables.previous(facts)


def stored_name(facts: Facts, column: str) -> str:
    """Return what the only column of a write is called when it is read again."""
    return files.stored_name(facts, column)


def makes_rows(facts: Facts) -> bool:
    """Say whether a relation reads nothing: its rows are made up."""
    return unknown.makes_rows(facts)


def keeps_nothing(facts: Facts) -> bool:
    """Say whether a write throws its rows away."""
    return unknown.keeps_nothing(facts)


def replaced_by(facts: Facts) -> Optional[Tuple[str, ...]]:
    """Return the table's columns that decide which of its rows a write replaces; None where it is not known.

    Only those that its plan does not name.
    """
    return delta.replaced_by(facts)


_COPIED = "copied_"
"""Before the names of facts about what a write copies."""

PARTS: FrozenSet[str] = frozenset(name for source in SOURCES for name in source.parts)
"""Names of executions that are parts of a command which is reported after them."""


def about_rows(facts: Facts) -> FrozenSet[str]:
    """Return the names of columns that a scan shows and its dataset does not have."""
    return delta.about_rows(facts) | iceberg.about_rows(facts)


def copied_from(facts: Facts) -> Facts:
    """Return the facts of the dataset whose rows a write takes as they are."""
    return {name[len(_COPIED) :]: value for name, value in facts.items() if name.startswith(_COPIED)}


def is_internal(facts: Facts) -> bool:
    """Say whether Spark read a relation for itself, to infer a schema for example."""
    return any(source.is_internal(facts) for source in SOURCES)
