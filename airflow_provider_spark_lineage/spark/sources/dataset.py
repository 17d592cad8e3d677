"""Names of datasets, as sources return them: identities, catalogs, and queries that databases ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Callable, FrozenSet, NamedTuple, Optional, Tuple

from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.sources.facts import Facts
from airflow_provider_spark_lineage.spark.sources.paths import split_location

__all__ = ["Before", "Catalog", "DatasetId", "Facts", "Identity", "Part", "Query", "Symlink"]


class Before(Enum):
    """State of the target before a write."""

    UNKNOWN = "unknown"
    """Data, or it is unknown."""

    EMPTY = "empty"
    """A dataset without data."""

    ABSENT = "absent"
    GONE = "gone"
    """Nothing, or data that the write has replaced."""


class DatasetId(NamedTuple):
    """The name of a dataset as the OpenLineage naming spec writes it."""

    namespace: str
    """For example `file`, `s3://bucket`, `postgres://host:5432`."""

    name: str
    """For example `/in/orders` or `db.schema.table`."""


@dataclass(frozen=True)
class Symlink:
    """Another name of the same dataset, the catalog's name for a location for example."""

    namespace: str
    name: str
    type: str = "TABLE"

    @property
    def id(self) -> DatasetId:
        """Return the name without its type."""
        return DatasetId(self.namespace, self.name)


@dataclass(frozen=True)
class Catalog:
    """The catalog that a table was found in, as OpenLineage's catalog facet describes one."""

    framework: str
    """For example `iceberg`, `delta`, `hive`."""

    type: str
    """For example `hadoop`, `jdbc`, `glue`."""

    name: str
    """Its name in the session."""

    metadata_uri: str = ""
    """Where it stores its metadata, without credentials."""

    warehouse_uri: str = ""
    """Where the data of its tables lie."""

    source: str = "spark"
    """The system that configures it."""


class Part(NamedTuple):
    """A part of a dataset; all of it without locations."""

    locations: Tuple[str, ...] = ()
    patterns: Tuple[str, ...] = ()

    @property
    def shown(self) -> Tuple[str, ...]:
        """Return the locations for events: those that the program named, however much they match today."""
        return self.patterns or self.locations


@dataclass(frozen=True)
class Identity:
    """Everything a source can say about one dataset from its facts alone."""

    id: DatasetId
    storage_layer: str = ""
    """For example `file`, `s3`, `delta`; empty when nothing is stored by Spark itself."""

    file_format: str = ""
    """For example `parquet`, in lower case."""

    symlinks: Tuple[Symlink, ...] = ()
    known: bool = True
    """False when no source knows the relation, and the name is derived from its options or its class."""

    note: Optional[Reason] = None
    """Unknown part of the name, although its source is known; becomes a gap."""

    type: str = ""
    """`TABLE` or `VIEW` for an entry of a catalog; empty for the data themselves."""

    locations: Tuple[str, ...] = ()
    """The locations that were read or written, if the name is a trimmed form of them."""

    patterns: Tuple[str, ...] = ()
    """The patterns with wildcards that matched the locations; the subset facet has these instead."""

    version: str = ""
    """The version that was read or written, where the source has versions."""

    is_chosen: bool = False
    """The query chose this version, one of Iceberg's: the numbers of these have no order."""

    catalog: Optional[Catalog] = None
    has_columns: bool = True
    """False for datasets that are not tables: each part of a saved model has columns of its own."""

    @property
    def is_entry(self) -> bool:
        """Return whether this is a name in a catalog, whose data lie elsewhere or nowhere."""
        return bool(self.type)

    @property
    def part(self) -> Part:
        """Return which part of the dataset was read or written."""
        return Part(self.locations, self.patterns)

    @property
    def folders(self) -> FrozenSet[str]:
        """Return which folders of the dataset its locations are, relative to it; empty for all of it."""
        folders = frozenset(map(self._folder, self.locations))
        return frozenset() if "" in folders else folders

    @property
    def folder(self) -> str:
        """Return the one folder of the dataset that was written; empty for all of it."""
        folders = self.folders
        return next(iter(folders)) if len(folders) == 1 else ""

    def _folder(self, location: str) -> str:
        """Return a location relative to the dataset; empty where it is not below it."""
        root = self.id.name.rstrip("/") + "/"
        namespace, name = split_location(location)
        is_below = namespace == self.id.namespace and name.startswith(root)
        return name[len(root) :] if is_below else ""

    def entries(self) -> Tuple[Identity, ...]:
        """Return the catalog entries of these data, each with the location of the data as a symlink."""
        place = Symlink(self.id.namespace, self.id.name, "LOCATION")
        return tuple(
            Identity(link.id, symlinks=(place,), type="TABLE", catalog=self.catalog) for link in self.symlinks
        )


@dataclass(frozen=True)
class Query:
    """SQL text that a database ran to return the rows of one scan."""

    text: str
    dialect: str
    """sqlglot's name of the database's SQL; empty for the standard's."""

    fold: str
    """Stored case of names without quotes: `lower`, `upper`, or empty for as written."""

    identify: Callable[[str], Identity] = field(repr=False)
    """Returns the identity of a table as written in the text, quotes included."""

    database: Identity
    """The database itself: the dataset if the text cannot be parsed."""

    predicates: bool = False
    """The text has the predicates of the fact `predicates`, which Spark adds to the table it reads."""
