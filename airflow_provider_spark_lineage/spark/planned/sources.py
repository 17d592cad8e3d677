"""Facts of relations without a live Spark: from a format, a path, options or a table's name.

Settings have Spark's names, as in `spark-submit --conf`. A new format of files, a format whose `load` names a
table, and a format without a dataset are listed here, too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

from airflow_provider_spark_lineage.spark.gaps import of_programs
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.sources import OPTIONS
from airflow_provider_spark_lineage.spark.sources.delta_facts import DeltaFacts
from airflow_provider_spark_lineage.spark.sources.files import FileFacts
from airflow_provider_spark_lineage.spark.sources.iceberg_facts import IcebergFacts
from airflow_provider_spark_lineage.spark.sources.jdbc import JdbcFacts
from airflow_provider_spark_lineage.spark.sources.kafka import KafkaFacts
from airflow_provider_spark_lineage.spark.sources.paths import completed, is_complete
from airflow_provider_spark_lineage.spark.sources.patterns import Pattern
from airflow_provider_spark_lineage.spark.sources.unknown import UnknownFacts

Described = DeltaFacts | FileFacts | IcebergFacts | JdbcFacts | KafkaFacts | UnknownFacts

_FILES = frozenset("avro binaryfile csv hive image json libsvm model orc parquet text textfile xml".split())
NAMED = frozenset(
    "bigquery com.google.cloud.spark.bigquery deltasharing es org.elasticsearch.spark.sql".split()
)
"""Formats whose `load("x")` and `save("x")` name a table or an index, not a file."""

NO_DATASET = frozenset({"console", "foreach", "memory", "noop", "rate", "rate-micro-batch"})
"""Formats without a dataset: Spark generates, prints or drops the rows, or the program keeps them."""

_SERVERLESS = re.compile(r"(?:hdfs|viewfs):/(?!/[^/])", re.IGNORECASE)
"""A path without its server, which the settings name: `hdfs:///data`."""


def without_pattern(written: str) -> tuple[str, Reason | None]:
    """Return the folder before the wildcards of a path that is read, or why the dataset is unknown.

    >>> without_pattern("/in/day=*/*.csv")
    ('/in', None)
    """
    pattern = Pattern.of(written)
    if pattern.rest and not pattern.names_files:
        return "", of_programs.UNMATCHED(path=written)
    return pattern.folder or ".", None


def full_path(path: str, settings: Mapping[str, str], directory: str) -> tuple[str, Reason | None]:
    """Return a path with its file system and None, or an empty text and why that is unknown.

    `directory` is the working directory of the driver.
    """
    default = _setting(settings, "fs.defaultFS")
    if _SERVERLESS.match(path):
        if not default.startswith(path.partition(":")[0].lower()):
            return "", of_programs.UNKNOWN_SERVER(path=path)
        path = "/" + path.partition(":")[2].lstrip("/")
    elif is_complete(path):
        return path, None
    if not path.startswith("/"):
        if not directory or (default and not default.startswith("file:")):
            return "", of_programs.RELATIVE(path=path)
        path = posixpath.normpath(posixpath.join(directory, path))
    return completed(path, default), None


def of_relation(
    file_format: str, paths: Sequence[str], options: Mapping[str, str], *, writes: bool
) -> Described:
    """Return the facts of a relation by its format, its full paths and its options."""
    if file_format == "delta" and len(paths) == 1:
        return DeltaFacts(delta_path=paths[0])
    if file_format == "iceberg" and len(paths) == 1:
        return IcebergFacts(iceberg_location=paths[0])
    if file_format in _FILES or (paths and not file_format):
        return FileFacts(paths=list(paths), format=file_format)
    named = {name: value for name, value in options.items() if name in OPTIONS}
    if paths:
        named["path"] = paths[0]
    if writes and file_format == "kafka":
        return KafkaFacts(options=named, writes="text")
    return UnknownFacts(options=named, relation_class=file_format)


def needs(file_format: str, paths: Sequence[str], unknown_options: Sequence[str]) -> str | None:
    """Return an unknown option that may name the dataset; None if there is none."""
    if paths and (file_format in _FILES or file_format in ("", "delta", "iceberg")):
        return None
    return next((name for name in unknown_options if name == "*" or name in OPTIONS), None)


_SERVERS = {
    "es": "es.nodes",
    "org.apache.spark.sql.cassandra": "spark.cassandra.connection.host",
    "org.elasticsearch.spark.sql": "es.nodes",
}
"""Format -> the option or setting that names its servers; often only the cluster sets it."""


def with_servers(
    file_format: str, options: Mapping[str, str], settings: Mapping[str, str]
) -> tuple[Mapping[str, str], str]:
    """Return options with the servers from the settings, and the name of the option if it is missing."""
    name = _SERVERS.get(file_format, "")
    given = options.get(name) or settings.get(name) or settings.get(f"spark.{name}") if name else ""
    return ({**options, name: given} if given else options), "" if given else name


def of_table(
    catalog: str, name: Sequence[str], settings: Mapping[str, str], relation: Described | None = None
) -> Described:
    """Return the facts of a table in a catalog; `relation` has the facts of its data, if known."""
    if not catalog:
        return {**(relation or {}), **_of_session(name, settings)}  # type: ignore[return-value]
    prefix = f"spark.sql.catalog.{catalog}."
    implementation = settings.get(prefix[:-1], "")
    own = {key[len(prefix) :]: value for key, value in settings.items() if key.startswith(prefix)}
    if "iceberg" in implementation.lower():
        name, kind = _without_state(name) if len(name) > 2 else (name, "")
        return {  # type: ignore[return-value]
            **{
                f"catalog_{key}": own[key]
                for key in ("type", "catalog-impl", "warehouse", "uri")
                if key in own
            },
            **(relation or {}),
            "v2_catalog": catalog,
            "identifier": ".".join(name),
            "v2_table": ".".join((catalog, *name)),
            "iceberg_kind": kind,
        }
    if implementation.endswith("JDBCTableCatalog") and own.get("url"):
        options = {key.lower(): value for key, value in own.items() if key.lower() in OPTIONS}
        quoted = ".".join('"' + part + '"' for part in name)
        return JdbcFacts(url=own["url"], options=options, identifier=quoted)
    return UnknownFacts(provider=implementation or catalog, v2_catalog=catalog, v2_table=".".join(name))


def _without_state(name: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return a table's name without branch, tag or metadata table, and the class of the metadata table."""
    last = name[-1].lower()
    if re.match(r"(?:branch|tag)_.", last):
        return name[:-1], ""
    if last in _METADATA:
        return name[:-1], "".join(word.capitalize() for word in last.split("_")) + "Table"
    return name, ""


_METADATA = frozenset(
    """
    all_data_files all_delete_files all_entries all_files all_manifests data_files delete_files files history
    manifests metadata_log_entries partitions position_deletes refs snapshots
    """.split()
)
"""Iceberg's names of metadata tables."""


def _of_session(name: Sequence[str], settings: Mapping[str, str]) -> Described:
    # Spark's own catalog stores names in lower case.
    parts = [part.lower() for part in name]
    uris = _setting(settings, "hive.metastore.uris")
    warehouse = settings.get("spark.sql.warehouse.dir", "")
    if not (uris or warehouse):
        return UnknownFacts(provider="catalog", v2_catalog="spark_catalog", v2_table=".".join(parts))
    return FileFacts(
        table=parts,
        catalog_kind=settings.get("spark.sql.catalogImplementation") or ("hive" if uris else "in-memory"),
        metastore_uris=uris,
        warehouse=warehouse,
        metastore_client=_setting(settings, "hive.metastore.client.factory.class"),
        glue_catalog=_setting(settings, "hive.metastore.glue.catalogid"),
        aws_region=settings.get("spark.executorEnv.AWS_REGION", ""),
    )


def _setting(settings: Mapping[str, str], name: str) -> str:
    """Return a setting of Hadoop or Hive."""
    return settings.get(f"spark.hadoop.{name}") or settings.get(name) or ""
