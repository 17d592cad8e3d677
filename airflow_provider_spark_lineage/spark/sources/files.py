"""Files in a directory, by path or behind a catalog table: parquet, CSV, JSON, ORC, text and others.

Names follow the OpenLineage naming spec: `file` + absolute path, `s3://bucket` + key, and so on.
"""

from __future__ import annotations

import posixpath
import re
from typing import Dict, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.gaps import of_datasets
from airflow_provider_spark_lineage.spark.sources.accessors import (
    BY_MODE,
    BY_OUTPUT_MODE,
    FILE_SYSTEM,
    NAMED,
    SCHEMA,
    SESSION_CATALOG,
    SETTINGS,
)
from airflow_provider_spark_lineage.spark.sources.catalogs import metastore, symlinks
from airflow_provider_spark_lineage.spark.sources.dataset import Before, DatasetId, Facts, Identity
from airflow_provider_spark_lineage.spark.sources.formats import format_name
from airflow_provider_spark_lineage.spark.sources.paths import (
    PathGroup,
    completed,
    is_complete,
    is_part_of_model,
    roots,
    split_location,
)
from airflow_provider_spark_lineage.spark.sources.patterns import matches, without_matches
from airflow_provider_spark_lineage.spark.sources.probe import Probe, read, write
from airflow_provider_spark_lineage.spark.sources.source import Source


class FileFacts(Facts, total=False):
    """Facts of files, or of a table whose rows are in files."""

    path_count: int
    """Number of the paths that are read; `paths` are some of them if there are very many."""

    is_file: List[bool]
    """For each of the paths whether it is a file; absent if that was not recorded."""

    patterns: List[str]
    """The paths with wildcards that the program gave; `paths` are their matches."""

    base_path: str
    """The option `basePath`, as the user gave it: the root of a partitioned table."""

    option_names: List[str]
    """The names of all options of a relation."""

    sink: str
    """Spark's text for the sink of a stream: `FileSink[/out]`."""

    batch: int
    """Number of a stream's batch."""

    oldest_write: List[int]
    """For a write that keeps other files: number and bytes of the oldest files, those of one write, in the
    folder."""

    alone_in: int
    """For a written folder: how many of the folders around it held nothing else afterwards."""


_DIRECTORY = {
    "location": "storage.locationUri?",
    "directory": "storage.locationUri?",
    "overwrite": "overwrite",
    **SCHEMA,
    **SETTINGS,
}


def _index(location: str) -> Mapping[str, str]:
    """Return accessors for the files of a relation, given the path to its file index."""
    return {
        "paths": f"$sample({location}.rootPaths)",
        "path_count": f"{location}.rootPaths.size",
        "is_file": f"$files_among({location}.rootPaths, {location}.leafFiles)",
    }


def _v2(node: str, table: str) -> Tuple[Probe, ...]:
    return read(
        node,
        {
            **_index(f"{table}.fileIndex"),
            "patterns": f"$patterns({table}.paths)",
            "format": f"{table}.formatName",
        },
        of=table,
        relation=("AvroTable", "CSVTable", "JsonTable", "OrcTable", "ParquetTable", "TextTable"),
    )


def _created(table: str) -> Mapping[str, str]:
    """Return accessors for a table made from a query; while the query runs, the catalog may not know it."""
    metadata = f"{SESSION_CATALOG}.getTableMetadata({table}.identifier)"
    return {
        "location": f"{metadata}.location",
        "stated_location": f"{table}.storage.locationUri?",
        "default_location": f"{SESSION_CATALOG}.defaultTablePath({table}.identifier)",
        "format": f"{table}.provider?",
        "command_table": f"{table}.identifier.nameParts[]",
        "table": f"{metadata}.identifier.nameParts[]",
        **BY_MODE,
        **SETTINGS,
    }


_PATH = "relation.options.get('path')?"

PROBES = (
    *read(
        "LogicalRelation",
        relation="HadoopFsRelation",
        accessors={
            **_index("relation.location"),
            # In SQL text (json.`/in/*`) and with several paths, there is no option.
            "patterns": f"$patterns({_PATH}, origin.context.fragment, relation.location)",
            "format": "relation.fileFormat",
            "option_names": "relation.options.keySet[]",
            "is_stream": "isStreaming",
            "base_path": "relation.options.get('basePath')?",
            **NAMED,
        },
    ),
    # Spark uses its V2 sources for formats that are not in `spark.sql.sources.useV1SourceList`.
    *_v2("DataSourceV2Relation", "table"),
    *_v2("DataSourceV2ScanRelation", "relation.table"),
    *read(
        "HiveTableRelation",
        {
            "location": "tableMeta.location",
            "format": "tableMeta.storage.serde?",
            "table": "tableMeta.identifier.nameParts[]",
            **SETTINGS,
        },
    ),
    *write(
        "WriteToMicroBatchDataSourceV1",
        {
            "sink": "sink.toString",
            "relation_class": "sink.getClass.getName",
            "batch": "batchId?",
            "file_system": FILE_SYSTEM,
            **BY_OUTPUT_MODE,
            **NAMED,
        },
    ),
    *write(
        "InsertIntoHadoopFsRelationCommand",
        {
            "paths": "outputPath",
            "format": "fileFormat",
            "static_partitions": "staticPartitions.size",
            "dynamic_partitions": "dynamicPartitionOverwrite",
            "oldest_write": "$oldest_write(outputPath, mode, dynamicPartitionOverwrite)",
            "alone_in": "$alone_in(outputPath)",
            **BY_MODE,
            **NAMED,
        },
    ),
    *write("CreateDataSourceTableAsSelectCommand", _created("table")),
    *write(("CreateHiveTableAsSelectCommand", "SaveAsV1TableCommand"), _created("tableDesc")),
    *write("InsertIntoDataSourceDirCommand", {**_DIRECTORY, "format": "provider?"}),
    *write("InsertIntoHiveDirCommand", {**_DIRECTORY, "format": "storage.serde?"}),
    *write(
        "InsertIntoHiveTable",
        {
            "location": "table.location",
            "format": "table.storage.serde?",
            "table": "table.identifier.nameParts[]",
            "overwrite": "overwrite",
            "static_partitions": "partition.size",
            "partition_columns": "table.partitionColumnNames[]",
            "partition_schema": "table.partitionSchema.json",
            **SCHEMA,
            **SETTINGS,
        },
    ),
)

_SINK = re.compile(r"\w+Sink\[(.+)\]")
"""A streaming file sink as Spark prints it."""


class Files(Source[FileFacts]):
    """Folders and files."""

    probes = PROBES

    def identify(self) -> Tuple[Identity, ...]:
        """Return the datasets that a relation reads or a command writes.

        Many files, or many partitions, are one dataset: their common directory. Directories that are not
        partitions of one table are datasets of their own.
        """
        groups = _groups(self.facts)
        sink = _SINK.fullmatch(str(self.facts.get("sink") or ""))
        is_relative = sink is not None and not is_complete(sink[1]) and not sink[1].startswith("/")
        names = {root: DatasetId(*split_location(root)) for root in groups}
        return tuple(
            Identity(
                id=names[root],
                storage_layer=names[root].namespace.split(":", 1)[0],
                file_format=format_name(self.facts.get("format")),
                symlinks=symlinks(self.facts),
                catalog=metastore(self.facts),
                note=of_datasets.RELATIVE() if is_relative else group.note,
                # Some of very many paths are no part that a later read can be compared with.
                locations=tuple(group.paths) if group.paths != [root] and _has_all(self.facts) else (),
                patterns=tuple(group.patterns) if root not in group.paths else (),
                has_columns=not any(map(is_part_of_model, group.paths)),
            )
            for root, group in groups.items()
        )

    def is_internal(self) -> bool:
        """Return whether Spark reads a CSV, JSON or XML file as text to infer its schema.

        `TextInputCSVDataSource` and its like read lines of text with the option DataSource.GLOB_PATHS_KEY,
        which no user sets. The batches of `FileStreamSource` have it as well, and are streams.
        """
        has_option = "__globpaths__" in self.facts.get("option_names", ())
        return has_option and self._is_text and not self.facts.get("is_stream")

    def stored_name(self, column: str) -> str:
        """Return `value` for the only column of text files; a table keeps its column's name in any format."""
        return "value" if self._is_text and not self.facts.get("table") else column

    def before(self, files: Optional[int], size_bytes: Optional[int], *, has_partitions: bool) -> Before:
        """Return that nothing was there if the write's own files are the oldest, or for a first batch.

        Partitions of a table may be in other folders. A folder with a stream's log has no other data.
        """
        is_table = bool(self.facts.get("table"))
        if self.facts.get("dynamic_partitions"):
            # All partitions may have been replaced, or there were none.
            is_whole = self.facts.get("oldest_write") == [files, size_bytes] and not is_table
            return Before.GONE if is_whole else Before.UNKNOWN
        is_sink = str(self.facts.get("sink", "")).startswith("FileSink") and not is_table
        if is_sink and self.facts.get("batch") == 0:
            return Before.ABSENT
        if (is_table and has_partitions) or self.facts.get("oldest_write") != [files, size_bytes]:
            return Before.UNKNOWN
        return Before.EMPTY if is_table else Before.ABSENT

    def is_alone(self, folder: str) -> bool:
        """Return whether the folders around held nothing else; partitions of a table may be in others."""
        return folder.count("/") < self.facts.get("alone_in", 0) and not self.facts.get("table")

    @property
    def _is_text(self) -> bool:
        return format_name(self.facts.get("format")) == "text"


def _groups(facts: FileFacts) -> Dict[str, PathGroup]:
    """Return the datasets by their full paths, each with its read or written paths."""
    given = facts.get("patterns") or ()
    paths = facts.get("paths") or ()
    if not given or facts.get("is_stream") or isinstance(paths, str):
        groups = roots(_paths(facts))
    elif not paths:
        groups = without_matches(given)
    elif facts.get("base_path"):
        groups = roots(_paths(facts))
    else:
        groups = matches(given, paths, facts.get("is_file") or ())
    note = None if _has_all(facts) or len(groups) == 1 else of_datasets.NOT_ALL_PATHS()
    return {
        root: PathGroup(_read_below(facts, root) or group.paths, group.patterns, group.note or note)
        for root, group in groups.items()
    }


def _has_all(facts: FileFacts) -> bool:
    """Return whether all paths were recorded."""
    return facts.get("path_count", 0) <= len(facts.get("paths") or ())


def _paths(facts: FileFacts) -> List[str]:
    """Return the locations as Hadoop paths.

    The catalog's location is a `java.net.URI`, where a space is `%20`; a path has no such escapes.
    """
    paths = facts.get("paths") or ()
    location = facts.get("location") or facts.get("stated_location")
    if not location and facts.get("catalog", "spark_catalog") == "spark_catalog":
        location = facts.get("default_location")
    if location and not paths:
        return [unquote(location)]
    sink = _SINK.fullmatch(str(facts.get("sink") or ""))
    if sink:
        return [completed(sink[1], str(facts.get("file_system") or ""))]
    if facts.get("base_path") and not isinstance(paths, str):
        return _below(str(facts["base_path"]), paths)
    if facts.get("is_stream"):
        # A stream over a pattern: each batch reads other files of the same folders.
        return list(dict.fromkeys(posixpath.dirname(path) for path in paths))
    return [paths] if isinstance(paths, str) else list(paths)


def _below(base: str, paths: Sequence[str]) -> List[str]:
    """Return the base path of a table or stream, instead of its files that were read."""
    if is_complete(base):
        return [base]
    # Spark completes only the paths of files, not the option.
    complete = {path[: path.index(base) + len(base)] for path in paths if base in path}
    return sorted(complete) or list(paths)


def _read_below(facts: FileFacts, root: str) -> List[str]:
    """Return the paths that were read below the root in the option `basePath`."""
    paths = facts.get("paths") or ()
    if not facts.get("base_path") or facts.get("is_stream") or isinstance(paths, str):
        return []
    namespace, name = split_location(root)
    places = ((path, split_location(path)) for path in paths)
    below = [path for path, place in places if f"{place[1]}/".startswith(name.rstrip("/") + "/")]
    return [root] if any(split_location(path) == (namespace, name) for path in below) else below
