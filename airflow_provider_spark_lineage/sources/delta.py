"""Delta Lake tables, by path or behind a catalog table: named by their location, at a version."""

from __future__ import annotations

from typing import FrozenSet, Optional, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.sources.catalogs import parts_of, symlinks, warehouse_uri
from airflow_provider_spark_lineage.sources.dataset import Catalog, DatasetId, Identity, Source
from airflow_provider_spark_lineage.sources.delta_facts import PROBES, DeltaFacts
from airflow_provider_spark_lineage.sources.facts import is_of_execution
from airflow_provider_spark_lineage.sources.paths import RELATIVE, completed, is_complete, split_location

_LOG = "/_delta_log"

_OF_CHANGES = frozenset(
    {"CdcAddFileIndex", "DeltaCDFRelation", "TahoeChangeFileIndex", "TahoeRemoveFileIndex"}
)
"""File indexes and relations that read a change feed."""

_ABOUT_CHANGES = frozenset({"_change_type", "_commit_timestamp", "_commit_version"})
"""Columns that a change feed adds to the table's."""


def identify(facts: DeltaFacts) -> Tuple[Identity, ...]:
    """Return the table that a relation reads or a command writes, with its version and its catalog."""
    path = str(facts.get("delta_path") or unquote(facts.get("delta_location") or ""))
    if not path:
        return ()
    note = "" if is_complete(path) or path.startswith("/") else RELATIVE
    path = completed(path, str(facts.get("file_system") or ""))
    # The whole path is the name, even if its last folder looks like a partition.
    namespace, name = split_location(path)
    return (
        Identity(
            id=DatasetId(namespace, name),
            note=note,
            storage_layer="delta",
            file_format="parquet",
            symlinks=symlinks(facts),
            version=_version(facts),
            catalog=_catalog(facts),
        ),
    )


def _version(facts: DeltaFacts) -> str:
    """Return the version that was read or written; empty where a later commit hides it."""
    # Commands such as UPDATE also have `version`, the one before them.
    version = facts.get("written_version", facts.get("version"))
    return "" if version is None or not is_of_execution(facts) else str(version)


def _catalog(facts: DeltaFacts) -> Optional[Catalog]:
    table = facts.get("table") or ()
    if not table:
        return None
    name = str(table[0]) if len(table) > 2 else "spark_catalog"
    return Catalog("delta", "delta", name, warehouse_uri=warehouse_uri(facts))


def about_rows(facts: DeltaFacts) -> FrozenSet[str]:
    """Return the names of columns that a change feed shows and its table does not have."""
    return _ABOUT_CHANGES if facts.get("delta_index") in _OF_CHANGES else frozenset()


def replaced_by(facts: DeltaFacts) -> Optional[Tuple[str, ...]]:
    """Return the columns in the condition of `replaceWhere`; None where they were not recorded.

    A field of a struct counts as its column.
    """
    if not facts.get("replace_where"):
        return ()
    names = facts.get("condition_columns")
    if names is None:
        return None
    # Spark prints an unresolved name with a quote before it.
    return tuple(dict.fromkeys(parts_of(name.lstrip("'"))[0] for name in names))


def keeps_partitions(facts: DeltaFacts) -> bool:
    """Return whether an option or a setting makes an overwrite dynamic.

    A table without partitions is replaced.
    """
    if not facts.get("delta_path") or not facts.get("partition_columns", True):
        return False
    mode = facts.get("partition_overwrite") or facts.get("partition_overwrite_setting") or ""
    return mode.lower() == "dynamic"


def is_internal(facts: DeltaFacts) -> bool:
    """Return whether Delta read its log, or files for one of its own commands."""
    if facts.get("delta_action") not in (None, "streaming") and not facts.get("is_stream"):
        return True
    origins = facts.get("origins") or ()
    paths = [path for origin in origins for path in origin.get("paths") or ()]
    return bool(paths) and all(_LOG + "/" in path for path in paths)


def is_noop(facts: DeltaFacts) -> bool:
    """Return whether UPDATE, DELETE or MERGE found no row to change, so that Delta committed nothing."""
    return "version_before" in facts and facts["version_before"] == facts.get("written_version")


def reaches_data(change: str, facts: DeltaFacts) -> Optional[bool]:
    """Return whether a command changes a Delta table, or only its catalog entry."""
    if not identify(facts):
        return None
    is_managed = facts.get("table_type") == "MANAGED"
    if change == "created":
        # CREATE over a folder that holds a table already writes nothing.
        return is_managed or facts.get("place_existed") is False
    # Delta keeps the columns in its own log, so altering them is a commit.
    return change == "altered" or is_managed


SOURCE = Source(
    name="delta",
    probes=PROBES,
    identify=identify,
    reaches_data=reaches_data,
    is_atomic=lambda facts: bool(identify(facts)),
    is_noop=is_noop,
    is_internal=is_internal,
    about_rows=about_rows,
    replaced_by=replaced_by,
    keeps_partitions=keeps_partitions,
    parts=frozenset({"deltaTransactionalWrite"}),
)
