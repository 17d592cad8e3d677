"""The base class of all data sources.

Its methods return what holds for a source that is not special; a source overrides the others.
"""

from __future__ import annotations

from functools import cached_property
from typing import FrozenSet, Generic, Optional, Tuple, TypeVar, cast
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.sources import catalogs
from airflow_provider_spark_lineage.spark.sources.accessors import SET_LOCATION
from airflow_provider_spark_lineage.spark.sources.dataset import Before, DatasetId, Facts, Identity, Query
from airflow_provider_spark_lineage.spark.sources.formats import is_stored_in_files
from airflow_provider_spark_lineage.spark.sources.paths import split_location, trim_partitions
from airflow_provider_spark_lineage.spark.sources.probe import Probe

F = TypeVar("F", bound=Facts)
"""The facts of a source: `Facts`, or a subclass with the keys of its own probes."""


class Source(Generic[F]):
    """One relation of a data source: a subclass has the probes of all, an object has the facts of one.

    `sources.source_of` finds the class that knows the facts of a relation.
    """

    probes: Tuple[Probe, ...] = ()

    options: FrozenSet[str] = frozenset()
    """Names of options, in lower case, that identify datasets; no other option is recorded."""

    parts: FrozenSet[str] = frozenset()
    """Names of executions inside a command: their counts are the command's."""

    is_atomic = False
    """A write is committed as a whole, so a failed one leaves the earlier rows unchanged."""

    def __init__(self, facts: F) -> None:
        self.facts = facts

    def knows(self) -> bool:
        """Return whether the facts, which may be of any source, are of this one."""
        return bool(self.identities)

    @cached_property
    def identities(self) -> Tuple[Identity, ...]:
        """Return what `identify` returns; it takes most of the time of a small execution."""
        return self.identify()

    def identify(self) -> Tuple[Identity, ...]:
        """Return the datasets of the relation, several if it reads several places; empty if it has none."""
        return ()

    # Relations that are read.

    def query(self) -> Optional[Query]:
        """Return the query that a database ran for a relation; None for a relation that is a table."""
        return None

    def makes_rows(self) -> bool:
        """Return whether Spark generates the relation's rows, so that they belong to no dataset."""
        return False

    def about_rows(self) -> FrozenSet[str]:
        """Return the names of columns that a scan adds to its dataset's."""
        return frozenset()

    def is_internal(self) -> bool:
        """Return whether Spark reads the relation for its own purpose, for example to infer a schema."""
        return False

    # Writes.

    def is_noop(self) -> bool:
        """Return whether a successful write left its table unchanged."""
        return False

    def discards_rows(self) -> bool:
        """Return whether a write goes to no dataset: its rows are discarded or printed."""
        return False

    def replaced_by(self) -> Optional[Tuple[str, ...]]:
        """Return the table's columns in an option's condition that chooses the replaced rows.

        Empty without such an option; None if the condition was not recorded. Columns that the plan names are
        not included.
        """
        return ()

    def keeps_partitions(self) -> bool:
        """Return whether an overwrite keeps the partitions that get no rows."""
        return False

    def before(self, files: Optional[int], size_bytes: Optional[int], *, has_partitions: bool) -> Before:
        """Return the state of the target before a write of this many files and bytes."""
        return Before.UNKNOWN

    def is_alone(self, folder: str) -> bool:
        """Return whether the dataset held nothing outside of this folder after the folder was written."""
        return False

    def stored_name(self, column: str) -> str:
        """Return the name of a write's only column when it is read again."""
        return column

    # Tables of catalogs, and commands that create, change, rename and drop them. Tables of any source may be
    # in the session's catalog.

    def entries(self) -> Tuple[Identity, ...]:
        """Return a table's names in catalogs, each with the place of its data if that is known."""
        entries = tuple(
            entry
            for identity in self.identities
            for entry in ((identity,) if identity.is_entry else identity.entries())
        )
        return entries or self.entries_without_data()

    def entries_without_data(self) -> Tuple[Identity, ...]:
        """Return a table's names in catalogs if the place of its data is unknown."""
        return catalogs.entries(self.facts)

    def previous(self) -> Tuple[DatasetId, ...]:
        """Return the old name of a renamed table: its old location if its data moved, else its entry."""
        location = split_location(str(self.facts.get("location")))
        default = split_location(str(self.facts.get("default_location")))
        old = str(self.facts.get("previous_location") or "")
        if location == default and old and self.reaches_data("renamed"):
            return (DatasetId(*split_location(trim_partitions(unquote(old)))),)
        table = self.facts.get("previous_table") or []
        before = cast(Facts, {**self.facts, "table": table, "command_table": []})
        return tuple(link.id for link in catalogs.symlinks(before))

    def reaches_data(self, change: str) -> Optional[bool]:
        """Return whether a command (`created`, `altered`, `renamed`, `dropped`) reaches a table's data.

        False if only the catalog's entry changes and the data stay as they are; None if it is unknown.
        A managed table of a source that stores its rows elsewhere, as in a database, has an empty folder.
        """
        kind = self.facts.get("table_type")
        if kind is None and self.facts.get("v2_catalog"):
            return change not in ("dropped", "renamed")
        if kind is None or kind == "VIEW":
            return True if kind or self.facts.get("view") or self.facts.get("is_view") else None
        is_of_files = kind == "MANAGED" and is_stored_in_files(self.facts.get("format"))
        return is_of_files and self.facts.get("command") != SET_LOCATION
