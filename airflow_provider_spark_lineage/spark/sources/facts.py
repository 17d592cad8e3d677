"""The facts of one relation: values that capture probed from a live plan leaf or write target.

`Facts` lists the keys of several sources, of the session's catalog, or that `lineage` reads; keys of a single
source are in a subclass beside its probes. A record holds them as plain JSON. Every key may be absent: a
probe leaves out members that this version of Spark, or this plan, does not have.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, TypedDict, Union

DURATION: Mapping[str, str] = {"started_at": "$started", "ended_at": "$ended"}
"""Accessors of the times that `is_of_execution` compares with a commit."""


class Facts(TypedDict, total=False):
    """Facts of a relation of any source."""

    # Identity and location of a relation.

    table: List[str]
    """Parts of the table's name in the session's catalog: catalog, database and table, or fewer."""

    paths: Union[str, List[str]]
    """Hadoop paths that are read, or the path that is written."""

    location: str
    """The table's location in the catalog: a URI with `%20` for a space."""

    format: str
    """Spark's text for a file format, a provider or a serde class."""

    options: Dict[str, str]
    """The options that sources need (`Source.options`), by their names in lower case."""

    provider: str
    """Full class name of a V2 table."""

    relation_class: str
    """Full class name of a V1 relation, sink or data source."""

    file_system: str
    """Hadoop's default file system, for paths without one: `hdfs://nn:8020`."""

    v2_table: str
    """The name of a V2 table, usually with its catalog: `lake.db.orders`."""

    v2_catalog: str
    """The session's name of the catalog of a V2 table."""

    identifier: str
    """Namespace and name of a table in its catalog as Spark prints them: `` db.`odd name` ``."""

    # The session's catalog.

    warehouse: str
    """The folder of the session's managed tables."""

    catalog_kind: str
    """`hive` or `in-memory`."""

    metastore_uris: str
    """Addresses of Hive metastores: `thrift://one:9083,thrift://two:9083`."""

    metastore_client: str
    """Full class name of the metastore's client factory; AWS Glue has its own."""

    glue_catalog: str
    """Id of the Glue catalog, an AWS account."""

    glue_account: str
    """The AWS account in Spark's settings."""

    aws_region: str
    """From the environment variable `AWS_REGION`."""

    aws_default_region: str
    """From the environment variable `AWS_DEFAULT_REGION`."""

    stated_location: str
    """The location in the command that creates a table; a URI, absent for a managed table."""

    default_location: str
    """The catalog's default location of a managed table with this name."""

    previous_table: List[str]
    """Parts of the old name of a renamed table."""

    previous_location: str
    """The catalog's default location of a managed table with the old name."""

    view: List[str]
    """Parts of a view's name."""

    is_view: bool
    """The command is about a view."""

    command_table: List[str]
    """Parts of the table's name in the command, maybe without the database."""

    command: str
    """Class of the command, if the commands of one probe differ."""

    directory: str
    """The folder that INSERT OVERWRITE DIRECTORY writes."""

    # What is read.

    is_stream: bool
    """The relation is read as a stream, batch by batch."""

    scan: str
    """The name of the relation's physical scan."""

    predicates: List[str]
    """Conditions, as SQL, that select the rows of each part of a JDBC read."""

    origins: List[Dict[str, Any]]
    """The reads behind an RDD: facts of files, `rdd` for the id of a query's RDD, or a reason for a gap."""

    rdd: int
    """Id of the RDD with these rows."""

    rdd_class: str
    """Simple class name of that RDD."""

    in_sql: bool
    """Listed rows are VALUES in SQL text."""

    # What is written, and how.

    schema: str
    """Spark's JSON of the written columns, or of the table's after the command."""

    mode: str
    """A save mode, an output mode of streams, or the class of the command if that decides the mode."""

    overwrite: bool
    """True if a command that may append or overwrite does overwrite."""

    static_partitions: int
    """Number of partition columns with a value in an INSERT."""

    dynamic_partitions: bool
    """Only partitions that get rows are overwritten."""

    partition_columns: List[str]
    """The table's partition columns, by name or as transforms."""

    partition_schema: str
    """Spark's JSON of the partition columns of a Hive table."""

    started_at: int
    """Start of the execution, in milliseconds since 1970."""

    ended_at: int
    """End of the execution, in milliseconds since 1970."""

    committed_at: int
    """Time of the written table's last commit, in milliseconds since 1970."""

    # Commands without a query.

    if_exists: bool
    """DROP IF EXISTS."""

    if_not_exists: bool
    """CREATE IF NOT EXISTS."""

    existed: bool
    """Read before the command ran: the table or view existed."""

    renamed_column: List[str]
    """Parts of the old name of a column that is renamed."""

    new_column: str
    """Its new name, for a field of a struct the last part."""

    dropped_columns: List[str]
    """The first part of the name of each column that is dropped."""

    dropped_depths: List[str]
    """The number of parts of each of these names: more than one for a field of a struct."""

    cascade: bool
    """DROP DATABASE ... CASCADE."""

    tables: List[Dict[str, Any]]
    """Read before the command ran: facts of each table in the dropped database."""

    unasked: int
    """Number of further tables in the dropped database."""

    database: str
    """Spark's text for the database that is dropped."""

    database_location: str
    """The folder of the database that is dropped."""

    table_type: str
    """Type of the table in the session's catalog: `MANAGED`, `EXTERNAL` or `VIEW`. Only a table that this
    catalog describes (a `CatalogTable`) has a type; see `catalogs.is_session_table`."""

    table_text: str
    """Name of a command's table as Spark prints it, without the catalog."""

    catalog: str
    """The catalog of `table_text`."""

    partition_locations: List[str]
    """The locations that ADD PARTITION names; an empty text for a partition in the table's folder."""

    set_location: str
    """The location that SET LOCATION names, of the table or of one partition."""

    loaded: str
    """The path of LOAD DATA."""

    is_local: bool
    """LOAD DATA LOCAL: the path is in the driver's file system."""

    name: str
    """Spark's text for the variable of a DECLARE."""

    names: List[str]
    """Spark's text for each variable, if one DECLARE creates several."""

    partitions: int
    """Number of partitions that a command names."""

    new_name: List[str]
    """Parts of a table's new name, with or without its namespace."""


def is_of_execution(facts: Facts) -> bool:
    """Return whether the table's last commit happened during the execution.

    Spark reports an execution some time after its end, so there may be a later commit by then. Return True
    for a table whose commits have no time.
    """
    if "committed_at" not in facts:
        return True
    # An execution that still runs has no end.
    return facts["started_at"] <= facts["committed_at"] <= facts.get("ended_at", facts["committed_at"])
