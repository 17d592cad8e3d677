"""The facts of one relation: what capture probed from a live plan leaf or write target.

`Facts` lists the keys that several sources have, or that `lineage` reads; the keys of one source alone are
in a subclass beside its probes. A record holds them as plain JSON. Every key may be absent: a probe leaves
out what this version of Spark, or this plan, does not have.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, TypedDict, Union

DURATION: Mapping[str, str] = {"started_at": "$started", "ended_at": "$ended"}
"""Accessors of the times that `is_of_execution` compares a commit with."""


class Facts(TypedDict, total=False):
    """What is known of any relation, whichever source it belongs to."""

    # What a relation is, and where it lies.

    table: List[str]
    """Parts of the table's name in the session's catalog: catalog, database and table, or fewer."""

    paths: Union[str, List[str]]
    """Hadoop paths that are read, or the one that is written."""

    location: str
    """Where the catalog says that the table's data lie: a URI with `%20` for a space."""

    format: str
    """What Spark prints for a file format, a provider or a serde class."""

    options: Dict[str, str]
    """The options that sources want (`Source.options`), by their names in lower case."""

    provider: str
    """Full class name of a V2 table."""

    relation_class: str
    """Full class name of a V1 relation, sink or data source."""

    file_system: str
    """Hadoop's default file system, for paths that name none: `hdfs://nn:8020`."""

    v2_table: str
    """The name of a V2 table, usually with its catalog: `lake.db.orders`."""

    v2_catalog: str
    """The session's name of the catalog of a V2 table."""

    identifier: str
    """Namespace and name of a table in its catalog as Spark prints them: `` db.`odd name` ``."""

    # What is read.

    is_stream: bool
    """The relation is read as a stream, batch by batch."""

    scan: str
    """The name of the relation's physical scan."""

    predicates: List[str]
    """Conditions, as SQL, that choose the rows of each part of a JDBC read."""

    origins: List[Dict[str, Any]]
    """The reads behind an RDD: facts of files, `rdd` for the id of one that a query became, or what could
    not be asked."""

    rdd: int
    """Id of the RDD whose rows these are."""

    rdd_class: str
    """Simple class name of that RDD."""

    in_sql: bool
    """Listed rows are VALUES in SQL text."""

    # What is written, and how.

    schema: str
    """Spark's JSON of the written columns, or of the table's after the command."""

    mode: str
    """A save mode, an output mode of streams, or the class of the command where that says the mode."""

    overwrite: bool
    """A command that may append or overwrite, overwrites."""

    static_partitions: int
    """How many partition columns an INSERT gives a value for."""

    dynamic_partitions: bool
    """Only those partitions are overwritten that get rows."""

    partition_columns: List[str]
    """The table's partition columns, by name or as transforms."""

    partition_schema: str
    """Spark's JSON of the partition columns of a Hive table."""

    started_at: int
    """When the execution began, in milliseconds since 1970."""

    ended_at: int
    """When the execution ended, in milliseconds since 1970."""

    committed_at: int
    """When the last commit of the table that was written was made, in milliseconds since 1970."""

    # What a command without a query does.

    if_exists: bool
    """DROP IF EXISTS."""

    if_not_exists: bool
    """CREATE IF NOT EXISTS."""

    existed: bool
    """Read before the command ran: the table or view existed."""

    cascade: bool
    """DROP DATABASE ... CASCADE."""

    tables: List[Dict[str, Any]]
    """Read before the command ran: facts of each table in the database that it drops."""

    unasked: int
    """How many more tables the dropped database had."""

    database_location: str
    """The folder of the database that is dropped."""

    table_type: str
    """What the session's catalog calls the table: `MANAGED`, `EXTERNAL` or `VIEW`. Only a table that this
    catalog describes (a `CatalogTable`) has one; see `catalogs.is_session_table`."""

    table_text: str
    """Name of a command's table as Spark prints it, without the catalog."""

    catalog: str
    """The catalog of `table_text`."""

    loaded: str
    """The path of LOAD DATA."""

    is_local: bool
    """LOAD DATA LOCAL: the path is in the driver's file system."""

    name: str
    """What Spark prints for the variable of a DECLARE."""

    names: List[str]
    """The same of each variable, where one DECLARE makes several."""

    partitions: int
    """How many partitions a command names."""

    new_name: List[str]
    """Parts of the name that a table gets, with or without its namespace."""


def is_of_execution(facts: Facts) -> bool:
    """Return whether the table's last commit was made while the execution ran.

    Spark reports an execution some time after its end, so there may be a later commit by then. Return True
    for a table whose commits have no time.
    """
    if "committed_at" not in facts:
        return True
    return facts["started_at"] <= facts["committed_at"] <= facts["ended_at"]
