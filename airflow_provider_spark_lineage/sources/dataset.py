"""The types that every source uses: probes and facts in, dataset identities out.

Apart from `sources/__init__.py`, which imports every source, so that a source can import it without a cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, FrozenSet, Mapping, NamedTuple, Optional, Tuple

from airflow_provider_spark_lineage.sources.facts import Facts
from airflow_provider_spark_lineage.sources.paths import split_location

__all__ = ["Catalog", "DatasetId", "Facts", "Identity", "Probe", "Query", "Source", "Symlink"]


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


_NO_FOLDERS: FrozenSet[str] = frozenset()


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

    note: str = ""
    """Unknown part of the name, although its source is known; becomes a gap."""

    type: str = ""
    """`TABLE` or `VIEW` for an entry of a catalog; empty for the data themselves."""

    locations: Tuple[str, ...] = ()
    """The locations that were read or written, if the name is a trimmed form of them."""

    version: str = ""
    """The version that was read or written, where the source has versions."""

    catalog: Optional[Catalog] = None
    has_columns: bool = True
    """False for datasets that are not tables: each part of a saved model has columns of its own."""

    @property
    def is_entry(self) -> bool:
        """Return whether this is a name in a catalog, whose data lie elsewhere or nowhere."""
        return bool(self.type)

    @property
    def folders(self) -> FrozenSet[str]:
        """Return which folders of the dataset its locations are, relative to it; empty for all of it."""
        if not self.locations:
            return _NO_FOLDERS
        folders = frozenset(map(self._folder, self.locations))
        return _NO_FOLDERS if "" in folders else folders

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
            Identity(
                DatasetId(link.namespace, link.name),
                symlinks=(place,),
                type="TABLE",
                catalog=self.catalog,
            )
            for link in self.symlinks
        )


@dataclass(frozen=True)
class Probe:
    """Facts to read from a live object.

    `accessors` maps a fact's name to a dotted path of methods, starting at the plan node, at the session
    (`$session`) or at a time of the execution (`$started`, `$ended`, in milliseconds since 1970):

    - a step may take arguments, which are paths or quoted texts: `lookup(table.identifier)`, `get('name')`;
    - a step that ends in `?` is a Scala Option and may be empty;
    - a step that ends in `!` is a private field;
    - a path that ends in `[]` is a Scala collection and becomes a list of strings;
    - a step after the `[]` of a Java array applies to each of its objects;
    - `$object('name')` is a Scala object from the same jar as the object before it;
    - `$during('time')` is the last object of a list whose time is within the execution;
    - `$files(path)` are the files behind an RDD;
    - `$options(path)` are the entries of a map that sources need (`Source.options`), by names in lower case;
    - `$exists(path)` tells if there is a file, or a folder with files;
    - `$sql(path, url)` is SQL text without literals, by the syntax of the database at a JDBC URL, or without
      `url` by all syntaxes;
    - `$conf(a.{path}.b)` is a setting of the session whose name includes the value of a path;
    - `$setting(a.b)` is a setting at the start of the execution.

    Any other value becomes a string, or a number or boolean if it is one. If a Spark version lacks a member,
    the fact is left out.
    """

    node: str
    """Simple class name of the plan node."""

    accessors: Mapping[str, str]
    relation: str = ""
    """Simple class name of the object at `of`, if several sources share one node class; `*` is any."""

    of: str = "relation"
    """Path to the object whose class distinguishes sources."""

    target: bool = False
    """The node is a command that writes, not a leaf that is read."""

    before: bool = False
    """Read before the command runs: existence of its table, or dropped objects, which are lost afterwards."""

    when: Tuple[str, ...] = ()
    """(field of the node's JSON, simple name of the Scala object that it must have), if any."""


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


def _no_identities(facts: Any) -> Tuple[Identity, ...]:
    return ()


def _no_query(facts: Any) -> Optional[Query]:
    return None


def _unknown_reach(change: str, facts: Any) -> Optional[bool]:
    return None


def _no(facts: Any) -> bool:
    return False


def _no_names(facts: Any) -> Tuple[Symlink, ...]:
    return ()


def _no_catalog(facts: Any) -> Optional[Catalog]:
    return None


def _no_dataset(facts: Any) -> Tuple[DatasetId, ...]:
    return ()


def _own_name(facts: Any, column: str) -> Optional[str]:
    return None


def _no_condition(facts: Any) -> Optional[Tuple[str, ...]]:
    return ()


def _no_columns(facts: Any) -> FrozenSet[str]:
    return frozenset()


@dataclass(frozen=True)
class Source:
    """One data source: its probes, and the naming of its datasets.

    Each field that is a function is a hook, which takes the facts of one relation of any source, and returns
    the default's value for facts of another source. A source declares the keys that it reads by a subclass of
    `Facts`, so hooks take `Any` here. The functions of `sources` call the hooks of all sources in order.
    """

    name: str
    probes: Tuple[Probe, ...]
    identify: Callable[[Any], Tuple[Identity, ...]] = field(repr=False)
    """Return the datasets of a relation; several when one relation reads several places."""

    options: FrozenSet[str] = frozenset()
    """Names of options, in lower case, that identify datasets; no other option is recorded."""

    parts: FrozenSet[str] = frozenset()
    """Names of executions inside a command: their counts are the command's."""

    # Hooks for relations that are read.

    query: Callable[[Any], Optional[Query]] = field(default=_no_query, repr=False)
    """Return the query that returned the rows; None for a relation that is a table."""

    makes_rows: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether Spark generates the relation's rows, so that they belong to no dataset."""

    about_rows: Callable[[Any], FrozenSet[str]] = field(default=_no_columns, repr=False)
    """Return the names of columns that a scan adds to its dataset's."""

    is_internal: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether Spark reads the relation for its own purpose, not for the user."""

    # Hooks for writes.

    is_atomic: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether a write is atomic: if it fails, the earlier rows are unchanged."""

    is_noop: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether a successful write left its table unchanged."""

    discards_rows: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether a write goes to no dataset: its rows are discarded or printed."""

    replaced_by: Callable[[Any], Optional[Tuple[str, ...]]] = field(default=_no_condition, repr=False)
    """Return the table's columns in the condition by which an option replaces rows, empty without such an
    option; None where the condition could not be read."""

    keeps_partitions: Callable[[Any], bool] = field(default=_no, repr=False)
    """Return whether an overwrite keeps the partitions that get no rows."""

    stored_name: Callable[[Any, str], Optional[str]] = field(default=_own_name, repr=False)
    """Takes facts and the name of the only column of a write. Return what that column is called when it is
    read again; None where it keeps its name."""

    # Hooks for tables of catalogs, and the commands that create, change, rename and drop them.

    names_of_table: Callable[[Any], Tuple[Symlink, ...]] = field(default=_no_names, repr=False)
    """Return the names that the session's catalog has for a table."""

    metastore: Callable[[Any], Optional[Catalog]] = field(default=_no_catalog, repr=False)
    """Return the session's catalog of a table or a directory; None for one in memory."""

    entries: Callable[[Any], Tuple[Identity, ...]] = field(default=_no_identities, repr=False)
    """Return a table's entries in catalogs, where its data have no identity."""

    previous: Callable[[Any], Tuple[DatasetId, ...]] = field(default=_no_dataset, repr=False)
    """Return the old name of a renamed table."""

    reaches_data: Callable[[str, Any], Optional[bool]] = field(default=_unknown_reach, repr=False)
    """Takes what a command does to a table (`created`, `altered`, `renamed`, `dropped`) and its facts.
    Return True where the command makes, changes, moves or removes the data; False where only the catalog's
    entry changes and the data stay as they are; None where it is not known."""
