"""Files in a directory, by path or behind a catalog table: parquet, CSV, JSON, ORC, text and their like.

Names follow the OpenLineage naming spec: `file` + absolute path, `s3://bucket` + key, and so on.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any, List, Sequence, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.sources.dataset import DatasetId, Facts, Identity, Probe, Source, Symlink

_WAREHOUSE = "$session.sessionState.conf.warehousePath"

PROBES = (
    Probe(
        node="LogicalRelation",
        relation="HadoopFsRelation",
        accessors={
            "paths": "relation.location.rootPaths[]",
            "format": "relation.fileFormat",
            "option_names": "relation.options.keySet[]",
            "base_path": "relation.options.get('basePath')?",
            "table": "catalogTable?.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    Probe(
        node="HiveTableRelation",
        accessors={
            "location": "tableMeta.location",
            "format": "tableMeta.storage.serde?",
            "table": "tableMeta.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    Probe(
        node="WriteToMicroBatchDataSourceV1",
        target=True,
        accessors={
            "sink": "sink.toString",
            "relation_class": "sink.getClass.getName",
            "mode": "outputMode",
            "schema": "query.schema.json",
            "table": "catalogTable?.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    Probe(
        node="InsertIntoHadoopFsRelationCommand",
        target=True,
        accessors={
            "paths": "outputPath",
            "format": "fileFormat",
            "mode": "mode",
            "static_partitions": "staticPartitions.size",
            "dynamic_partitions": "dynamicPartitionOverwrite",
            "schema": "query.schema.json",
            "table": "catalogTable?.identifier.nameParts[]",
            "warehouse": _WAREHOUSE,
        },
    ),
    *(
        Probe(
            node=node,
            target=True,
            accessors={
                "table": f"{table}.nameParts[]",
                "partitions": "partitionSpec?.size",
                "warehouse": _WAREHOUSE,
                **more,
            },
        )
        for node, table, more in (
            (
                "CreateDataSourceTableCommand",
                "table.identifier",
                {"if_not_exists": "ignoreIfExists", "external_paths": "table.storage.locationUri?"},
            ),
            (
                "CreateTableCommand",
                "table.identifier",
                {"if_not_exists": "ignoreIfExists", "external_paths": "table.storage.locationUri?"},
            ),
            ("TruncateTableCommand", "tableName", {}),
            ("DropTableCommand", "tableName", {}),
        )
    ),
    Probe(
        node="DropTable",
        target=True,
        accessors={"table_text": "child.identifier.toString", "warehouse": _WAREHOUSE},
    ),
    # The table exists by the time its creation is reported, so the catalog knows its location.
    *(
        Probe(
            node=node,
            target=True,
            accessors={
                "location": f"$session.sessionState.catalog.getTableMetadata({table}.identifier).location",
                "format": f"{table}.provider?",
                "mode": "mode",
                "schema": "query.schema.json",
                "command_table": f"{table}.identifier.nameParts[]",
                "table": (
                    f"$session.sessionState.catalog.getTableMetadata({table}.identifier).identifier.nameParts[]"
                ),
                "warehouse": _WAREHOUSE,
            },
        )
        for node, table in (
            ("CreateDataSourceTableAsSelectCommand", "table"),
            ("CreateHiveTableAsSelectCommand", "tableDesc"),
            ("SaveAsV1TableCommand", "tableDesc"),
        )
    ),
    Probe(
        node="InsertIntoHiveTable",
        target=True,
        accessors={
            "location": "table.location",
            "format": "table.storage.serde?",
            "table": "table.identifier.nameParts[]",
            "overwrite": "overwrite",
            "static_partitions": "partition.size",
            "schema": "query.schema.json",
            "warehouse": _WAREHOUSE,
        },
    ),
)

_SINK = re.compile(r"\w+Sink\[(.+)\]")
"""What a streaming sink that writes files is printed as."""

_FOLDED_SCHEMES = {"s3a": "s3", "s3n": "s3"}
_OBJECT_STORES = frozenset({"s3", "gs", "abfs", "abfss", "wasb", "wasbs"})
_PARTITION = re.compile(r"[^/=]+=[^/]*\Z")
_YEAR, _MONTH, _DAY = r"(?:19|20)\d\d", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = re.compile(rf"{_YEAR}[-_]?{_MONTH}(?:[-_]?{_DAY}(?:[T_-]?\d\d(?:[-:_]?\d\d){{0,2}}(?:\.\d+)?Z?)?)?\Z")
_DATE_FOLDERS = re.compile(rf"(.+)/{_YEAR}/{_MONTH}(?:/{_DAY}(?:/[0-2]\d)?)?\Z")
"""2024/01, 2024/01/31, 2024/01/31/23; a year alone may be anything."""

_FILE = re.compile(r".+\.[A-Za-z][A-Za-z0-9]{0,9}\Z")
_FORMAT_CLASS = re.compile(r"^(?:.*\.)?(\w+?)(?:FileFormat|DataSource|SerDe|Serde)?(?:@[0-9a-f]+)?$")


def identify(facts: Facts) -> Tuple[Identity, ...]:
    """Name the places that a relation reads or a command writes.

    Many files, or many partitions, are one dataset: their common directory. Directories that have
    nothing in common but where they lie are datasets of their own.
    """
    given = _given(facts)
    if not given:
        return ()
    file_format = _format(facts.get("format"))
    names = symlinks(facts)
    identities = []
    for root, originals in _roots(given):
        namespace, name = split_location(root)
        identities.append(
            Identity(
                id=DatasetId(namespace, name),
                uri=_uri(namespace, name),
                storage_layer=namespace.split(":", 1)[0],
                file_format=file_format,
                symlinks=names,
                locations=tuple(originals) if originals != [root] else (),
            )
        )
    return tuple(identities)


def _given(facts: Facts) -> List[str]:
    """Return the locations as Hadoop paths.

    The catalog gives a location as a `java.net.URI`, in which a space is `%20`; a path has no such escapes.
    """
    paths = facts.get("paths") or ()
    if facts.get("location"):
        return [unquote(facts["location"])]
    sink = _SINK.fullmatch(str(facts.get("sink") or ""))
    if sink:
        return [sink[1]]
    if facts.get("base_path") and not isinstance(paths, str):
        return _below(str(facts["base_path"]), paths)
    return [paths] if isinstance(paths, str) else list(paths)


def _below(base: str, paths: Sequence[str]) -> List[str]:
    """Return the base path of a table or a stream in place of the files that were read of it."""
    if ":" in base.partition("/")[0]:
        return [base]
    # Spark keeps the option as it was given, and completes only the paths of files.
    complete = {path[: path.index(base) + len(base)] for path in paths if base in path}
    return sorted(complete) or list(paths)


def split_location(location: str) -> Tuple[str, str]:
    """Split a Hadoop path into the namespace and the name of its dataset.

    A path without a scheme is local. Credentials in the authority are left out.
    """
    scheme, _, rest = location.partition(":")
    if "/" in scheme or not rest:
        scheme, rest = "file", location
    scheme = _FOLDED_SCHEMES.get(scheme.lower(), scheme.lower())
    authority = ""
    if rest.startswith("//"):
        authority, _, path = rest[2:].partition("/")
        rest = "/" + path
    if scheme == "file":
        return "file", _normal(rest)
    if scheme not in ("abfss", "abfs", "wasbs", "wasb") and "@" in authority:
        authority = authority.rsplit("@", 1)[1]
    # Object stores have keys, which do not begin with a slash; file systems have paths, which do. What
    # follows a question mark is a signature for the store, no part of the key.
    name = _normal(rest)
    if scheme in _OBJECT_STORES:
        name = _normal(rest.partition("?")[0]).lstrip("/") or "/"
    return (f"{scheme}://{authority}" if authority else scheme), name


def _normal(path: str) -> str:
    """Drop doubled and trailing slashes; an empty path is the root."""
    return re.sub(r"/+", "/", "/" + path).rstrip("/") or "/"


def _uri(namespace: str, name: str) -> str:
    return f"file:{name}" if namespace == "file" else f"{namespace}/{name.lstrip('/')}"


def _roots(paths: Sequence[str]) -> List[Tuple[str, List[str]]]:
    """Group paths by the dataset they belong to, each group with its paths as they were given."""
    groups: dict[str, List[str]] = {}
    for path in paths:
        groups.setdefault(trim_partitions(path), []).append(path)
    folders: dict[str, List[str]] = {}
    for root in groups:
        if _FILE.match(posixpath.basename(root)):
            folders.setdefault(trim_partitions(posixpath.dirname(root)), []).append(root)
    for folder, files in folders.items():
        if len(files) > 1 or folder in groups:
            moved = [path for root in files for path in groups.pop(root)]
            groups[folder] = groups.get(folder, []) + moved
    return sorted(groups.items())


def trim_partitions(path: str) -> str:
    """Cut partition suffixes from a path: `k=v` directories, and directories named by a date.

    The first directory below a root is never cut: a root is no dataset's folder.
    """
    trimmed = path.rstrip("/") or path
    while True:
        parent, _, last = trimmed.rpartition("/")
        folders = _DATE_FOLDERS.match(trimmed)
        if folders and not _is_root(folders[1]):
            trimmed = folders[1]
        elif _is_root(parent):
            return trimmed
        elif (
            _PARTITION.match(last)
            or _DATE.match(last)
            or (_FILE.match(last) and _PARTITION.match(parent.rpartition("/")[2]))
        ):
            trimmed = parent
        else:
            return trimmed


def _is_root(path: str) -> bool:
    """Say whether a path is only a scheme, a bucket or a host."""
    return "/" not in re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "", path).rstrip("/")


def _format(value: Any) -> str:
    """Turn what Spark prints for a file format, a provider or a serde class into its short name."""
    match = _FORMAT_CLASS.match(str(value or ""))
    name = match[1].lower() if match else ""
    return {"lazysimple": "text", "parquethive": "parquet", "orcserde": "orc", "opencsv": "csv"}.get(
        name, name
    )


def symlinks(facts: Facts) -> Tuple[Symlink, ...]:
    """Name the catalog table, if there is one, by the warehouse that its catalog stands for."""
    # Spark writes an identifier as text without its catalog.
    text = str(facts.get("table_text") or "")
    given = text.split(".") if text and "`" not in text else ()
    table = [part for part in given or facts.get("table") or facts.get("command_table") or () if part]
    # The session catalog's own name says nothing outside Spark.
    if len(table) > 2 and table[0] == "spark_catalog":
        table = table[1:]
    # A name without its database is not this table's alone.
    if len(table) < 2:
        return ()
    namespace, name = split_location(str(facts.get("warehouse") or "/"))
    warehouse = "file:" + name if namespace == "file" else _uri(namespace, name)
    return (Symlink(namespace=warehouse, name=".".join(table)),)


def is_schema_inference(facts: Facts) -> bool:
    """Say whether Spark reads a CSV or JSON file as text to infer its schema.

    `TextInputCSVDataSource` and `TextInputJsonDataSource` set this option, DataSource.GLOB_PATHS_KEY; no
    user does. `FileStreamSource` does as well, besides the folder that it watches.
    """
    names = facts.get("option_names", ())
    return "__globpaths__" in names and "basepath" not in names


def stored_name(facts: Facts, column: str) -> str:
    """Return what a written column is called when it is read again.

    Text files have one column, `value`; the catalog keeps the name of a table's, whatever its files are.
    """
    return "value" if _format(facts.get("format")) == "text" and not facts.get("table") else column


SOURCE = Source(name="files", probes=PROBES, identify=identify, is_internal=is_schema_inference)
