"""The data sources, one file each: probes of a live plan, and the naming of datasets from their facts.

To add one, write `sources/<name>.py` with a `SOURCE`, and add it to `SOURCES`. Every function here calls the
hooks of all sources in that order; no function depends on a certain source.
"""

from __future__ import annotations

from typing import Dict, FrozenSet, Optional, Tuple, cast

from airflow_provider_spark_lineage.sources import (
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
"""In order of precedence: the first source that can name a relation names it."""


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
"""Simple class name of a command -> its probes that run before the command does."""

OPTIONS: FrozenSet[str] = frozenset().union(*(source.options for source in SOURCES))
"""Names of options, in lower case, that capture may write down."""

PARTS: FrozenSet[str] = frozenset().union(*(source.parts for source in SOURCES))
"""Names of executions that are parts of a command, which is reported after them."""


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Return the datasets behind the facts of one relation; empty if no source knows them."""
    answers = (source.identify(facts) for source in SOURCES)
    return next((identities for identities in answers if identities), ())


def query_behind(facts: Facts) -> Optional[Query]:
    """Return the query that a database ran for a relation; None for a relation that is a table."""
    queries = (source.query(facts) for source in SOURCES)
    return next((query for query in queries if query is not None), None)


def makes_rows(facts: Facts) -> bool:
    """Return whether a relation reads nothing: Spark generates its rows."""
    return any(source.makes_rows(facts) for source in SOURCES)


def about_rows(facts: Facts) -> FrozenSet[str]:
    """Return the names of columns that a scan adds to its dataset's."""
    return frozenset().union(*(source.about_rows(facts) for source in SOURCES))


def is_internal(facts: Facts) -> bool:
    """Return whether Spark read a relation for its own purpose, for example to infer a schema."""
    return any(source.is_internal(facts) for source in SOURCES)


def is_atomic(facts: Facts) -> bool:
    """Return whether a failed write leaves the earlier rows unchanged."""
    return any(source.is_atomic(facts) for source in SOURCES)


def is_noop(facts: Facts) -> bool:
    """Return whether a successful write left its table unchanged."""
    return any(source.is_noop(facts) for source in SOURCES)


def discards_rows(facts: Facts) -> bool:
    """Return whether a write goes to no dataset: its rows are discarded or printed."""
    return any(source.discards_rows(facts) for source in SOURCES)


def replaced_by(facts: Facts) -> Optional[Tuple[str, ...]]:
    """Return the table's columns that decide which rows a write replaces; None if unknown.

    Columns that the plan names are not included.
    """
    columns: Tuple[str, ...] = ()
    for source in SOURCES:
        condition = source.replaced_by(facts)
        if condition is None:
            return None
        columns += condition
    return columns


def keeps_partitions(facts: Facts) -> bool:
    """Return whether an overwrite keeps the partitions that get no rows."""
    return any(source.keeps_partitions(facts) for source in SOURCES)


def stored_name(facts: Facts, column: str) -> str:
    """Return the name of a write's only column when it is read again."""
    names = (source.stored_name(facts, column) for source in SOURCES)
    return next((name for name in names if name is not None), column)


def names_of_table(facts: Facts) -> Tuple[Symlink, ...]:
    """Return the session catalog's names of a table."""
    answers = (source.names_of_table(facts) for source in SOURCES)
    return next((names for names in answers if names), ())


def metastore(facts: Facts) -> Optional[Catalog]:
    """Return the session's catalog of a table or a directory; None for one in memory."""
    catalogs = (source.metastore(facts) for source in SOURCES)
    return next((catalog for catalog in catalogs if catalog is not None), None)


def entries_of(facts: Facts) -> Tuple[Identity, ...]:
    """Return a table's names in catalogs, each with the place of its data if that is known."""
    entries: Tuple[Identity, ...] = ()
    for identity in identify(facts):
        entries += (identity,) if identity.is_entry else identity.entries()
    answers = (source.entries(facts) for source in SOURCES)
    return entries or next((names for names in answers if names), ())


def previous(facts: Facts) -> Tuple[DatasetId, ...]:
    """Return the old name of a renamed table."""
    answers = (source.previous(facts) for source in SOURCES)
    return next((names for names in answers if names), ())


def reaches_data(change: str, facts: Facts) -> Optional[bool]:
    """Return whether a command changes a table's data, not only its catalog entry; None if unknown."""
    answers = (source.reaches_data(change, facts) for source in SOURCES)
    return next((answer for answer in answers if answer is not None), None)


_COPIED = "copied_"
"""Prefix of the facts about the source of a copy (RESTORE, CLONE)."""


def copied_from(facts: Facts) -> Facts:
    """Return the facts of the dataset whose rows a write copies."""
    copied = {key[len(_COPIED) :]: value for key, value in facts.items() if key.startswith(_COPIED)}
    return cast(Facts, copied)
