"""The databases behind JDBC URLs: their addresses and the names of their tables.

Names follow the OpenLineage naming spec, with explicit default port and default schema, and in the case in
which the database stores them, so that a table has one name. Only hosts, database and schema of a URL become
part of a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Dict, List, Mapping, Optional, Tuple
from urllib.parse import unquote

from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

_TABLE, _DATABASE, _SCHEMA = (), ("database",), ("schema",)
_BOTH = ("database", "schema")


@dataclass(frozen=True)
class Database:
    """Addressing and naming of one kind of database."""

    scheme: str
    """The scheme of the namespace."""

    port: str = ""
    """The default port; empty for a service whose address has no port."""

    levels: Tuple[str, ...] = _BOTH
    """Levels before the table in its name; without `database`, the database is in the namespace."""

    schema: str = ""
    """The default schema of a table."""

    fold: str = ""
    """Stored case of names without quotes: `lower`, `upper`, or empty for as written."""

    dialect: str = ""
    """sqlglot's name of its SQL."""


DATABASES: Mapping[str, Database] = {
    "awsathena": Database("awsathena", fold="lower", dialect="athena"),
    "bigquery": Database("bigquery", dialect="bigquery"),
    "cassandra": Database("cassandra", "9042", _DATABASE),
    "clickhouse": Database("clickhouse", "8123", _DATABASE, dialect="clickhouse"),
    "crate": Database("crate", "5432", _BOTH, "doc", "lower", "postgres"),
    "databricks": Database("databricks", "443", _BOTH, "default", "lower", "databricks"),
    "db2": Database("db2", "50000", fold="upper"),
    "derby": Database("derby", "1527", _SCHEMA, "APP", "upper"),
    "duckdb": Database("duckdb", "", _SCHEMA, "main", dialect="duckdb"),
    "exa": Database("exasol", "8563", _SCHEMA, fold="upper"),
    "h2": Database("h2", "9092", _SCHEMA, "PUBLIC", "upper"),
    "hive2": Database("hive", "10000", _DATABASE, fold="lower", dialect="hive"),
    "hsqldb": Database("hsqldb", "9001", _SCHEMA, "PUBLIC", "upper"),
    "impala": Database("impala", "21050", _DATABASE, fold="lower", dialect="hive"),
    "mariadb": Database("mariadb", "3306", _DATABASE, dialect="mysql"),
    "mysql": Database("mysql", "3306", _DATABASE, dialect="mysql"),
    "oceanbase": Database("oceanbase", "2881", _DATABASE, dialect="mysql"),
    "oracle": Database("oracle", "1521", fold="upper", dialect="oracle"),
    "postgresql": Database("postgres", "5432", _BOTH, "public", "lower", "postgres"),
    "presto": Database("presto", "8080", fold="lower", dialect="presto"),
    "redshift": Database("redshift", "5439", _BOTH, "public", "lower", "redshift"),
    "sap": Database("sap", "30015", fold="upper"),
    "singlestore": Database("singlestore", "3306", _DATABASE, dialect="singlestore"),
    "snowflake": Database("snowflake", "", _BOTH, "PUBLIC", "upper", "snowflake"),
    "sqlite": Database("sqlite", "", _TABLE, dialect="sqlite"),
    "sqlserver": Database("sqlserver", "1433", _BOTH, "dbo", dialect="tsql"),
    "teradata": Database("teradata", "1025", _DATABASE, dialect="teradata"),
    "trino": Database("trino", "443", fold="lower", dialect="trino"),
    "vertica": Database("vertica", "5433", _BOTH, "public", dialect="postgres"),
}
"""Subprotocol of the URL -> its row. Other databases are named by subprotocol and parts of the URL."""

_ALIASES = {"athena": "awsathena", "ch": "clickhouse", "pgsql": "postgresql", "sqldroid": "sqlite"}

_DATABASE_NAMES = ("databasename", "database", "db", "projectid")
_SCHEMA_NAMES = ("currentschema", "schema", "schemaname", "defaultdataset")
_HOST_NAMES = ("servername", "portnumber", "instancename", "dbs_port", "region", "awsregion")

OPTIONS = frozenset((*_DATABASE_NAMES, *_SCHEMA_NAMES, *_HOST_NAMES))
"""Options that replace parts of the URL."""


@dataclass(frozen=True)
class DatabaseAddress:
    """The database behind a URL."""

    kind: Database
    namespace: str
    database: str = ""
    schema: str = ""

    @property
    def uri(self) -> str:
        """Return the address of the database, without credentials."""
        inside = f"/{self.database}" if self.database and "database" in self.kind.levels else ""
        return self.namespace + inside

    @property
    def identity(self) -> Identity:
        """Return the identity of the database as a whole."""
        return Identity(DatasetId(self.namespace, self.database or self.namespace))

    def table(self, text: str) -> Identity:
        """Return the identity of a table from its name in SQL."""
        parts = parts_of(text, self.kind.fold)
        defaults = {"database": self.database, "schema": self.schema or self.kind.schema}
        prefix = [defaults[level] for level in self.kind.levels]
        # `db..table` has the default schema.
        written = [
            part or (prefix[index + 1 - len(parts)] if len(parts) - index - 1 <= len(prefix) else "")
            for index, part in enumerate(parts[:-1])
        ]
        name = [*prefix[: max(0, len(prefix) - len(written))], *written, parts[-1]]
        return Identity(DatasetId(self.namespace, ".".join(filter(None, name))))


_NAME = r"""(?:"(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\] | [^\s."`()\[\],;']+)"""
_PART = re.compile(rf"(?x) {_NAME} | (?<=\.)(?=\.)")
PLAIN_TABLE = re.compile(
    rf"(?xi) \s* (?P<table> {_NAME} (?: \s*\.{{1,2}}\s* {_NAME} )* ) (?: \s+ (?:as\s+)? {_NAME} )? \s*"
)


def parts_of(name: str, fold: str) -> List[str]:
    """Return the parts of a name in SQL, as the database stores them."""
    return [_folded(part, fold) for part in _PART.findall(name)]


def _folded(part: str, fold: str) -> str:
    """Return a part of a name as the database stores it."""
    if part[:1] in ('"', "`", "["):
        closing = "]" if part[0] == "[" else part[0]
        return part[1:-1].replace(closing * 2, closing)
    return {"lower": part.lower(), "upper": part.upper()}.get(fold, part)


_URL = re.compile(r"//(?P<hosts>[^/?;]*)(?P<path>/[^?;:]*)?(?P<rest>.*)", re.DOTALL)
_PARAMETER = re.compile(r"([\w.]+)=([^?&;,:)]*)")


def place(url: str, options: Mapping[str, str]) -> Optional[DatabaseAddress]:
    """Return the database of a JDBC URL; None for a text that is not one.

    `options` are connection properties, which replace missing parts of the URL.
    """
    start, _, body = url.partition(":")
    if start.lower() != "jdbc" or not body:
        return None
    head = re.split(r"//|@|[?;]", body)[0]
    names = [_ALIASES.get(name, name) for name in re.split(r"[:+]", head.lower())]
    name = next((name for name in names if name in DATABASES), names[0])
    kind = DATABASES.get(name) or Database(name)
    if kind.scheme in _READERS:
        return _READERS[kind.scheme](kind, body, options)
    return _server_or_file(kind, body, options)


def dialect_of(options: Mapping[str, str]) -> Optional[str]:
    """Return sqlglot's name of the SQL of a connection's options; None if it is unknown."""
    if "sfurl" in options:
        return DATABASES["snowflake"].dialect
    address = place(options.get("url", ""), options)
    return address.kind.dialect if address is not None and address.kind in DATABASES.values() else None


def _server_or_file(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    """Return the place of a database on hosts, in a file or in memory."""
    parts = _URL.search(body)
    if parts is None:
        path = re.split(r"[?;]", body.partition(":")[2])[0]
        if kind.port and "database" in kind.levels:
            # `jdbc:postgresql:sales` is a database on this machine.
            return DatabaseAddress(kind, f"{kind.scheme}://{_hosts('', kind.port)}", path.lstrip("/"))
        database, schema = "" if "database" in kind.levels else path, _schema(kind, _settings(body, options))
        return DatabaseAddress(kind, f"{kind.scheme}:{path}", database, schema)
    path = parts["path"] or ""
    settings = _settings(path + parts["rest"] if "=" in path else parts["rest"], options)
    database, _, schema = ("" if "=" in path else unquote(path.strip("/"))).partition("/")
    namespace = f"{kind.scheme}://{_hosts(parts['hosts'], settings.get('dbs_port') or kind.port)}"
    if "database" not in kind.levels:
        # The database is a path on the server.
        return DatabaseAddress(kind, namespace + unquote(path), unquote(path), _schema(kind, settings))
    database = database or _first(settings, _DATABASE_NAMES)
    return DatabaseAddress(kind, namespace, database, schema or _schema(kind, settings))


def _settings(parameters: str, options: Mapping[str, str]) -> Dict[str, str]:
    """Return the settings of URL and options, by names in lower case; the URL takes precedence."""
    return {**options, **{name.lower(): unquote(value) for name, value in _PARAMETER.findall(parameters)}}


def _first(settings: Mapping[str, str], names: Tuple[str, ...]) -> str:
    return next((settings[name] for name in names if settings.get(name)), "")


def _schema(kind: Database, settings: Mapping[str, str]) -> str:
    return _folded(_first(settings, _SCHEMA_NAMES), kind.fold)


def _hosts(authority: str, port: str) -> str:
    """Return the hosts with their ports, without credentials."""
    hosts = authority.rsplit("@", 1)[-1].lower() or "localhost"
    return ",".join(
        host if re.search(r":\d+\Z", host) or not port else f"{host.rstrip(':')}:{port}"
        for host in hosts.split(",")
    )


def _oracle(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    """Return the place of `thin:@//host:1521/service`, `thin:@host:1521:sid`, or a TNS descriptor."""
    address = body.rpartition("@")[2]
    pairs = re.findall(r"\(\s*(\w+)\s*=\s*([^()\s]+)\s*\)", address)
    if described := {key.lower(): value for key, value in pairs}:
        hosts = _hosts(described.get("host", ""), described.get("port", kind.port))
        service = described.get("service_name") or described.get("sid", "")
        return DatabaseAddress(kind, f"oracle://{hosts}", service)
    address = re.sub(r"^\w*:?//", "", address.partition("?")[0])
    match = re.match(r"(?P<host>\[[^\]]*\]|[^:/]*)(?::(?P<port>\d+))?(?:[:/](?P<service>[^:/]*))?", address)
    assert match is not None  # noqa: S101  every part may be empty
    host = _hosts(match["host"], match["port"] or kind.port)
    return DatabaseAddress(kind, f"oracle://{host}", match["service"] or "")


def _sql_server(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    """Return the place of `//host\\instance:1433;databaseName=db`; each part may be a property instead."""
    _, _, url = body.partition("//")
    authority, _, parameters = url.partition(";")
    settings = _settings(parameters, options)
    authority, _, path = authority.partition("/")
    host, _, port = authority.partition(":")
    host, _, instance = host.partition("\\")
    host, port = host or settings.get("servername", ""), port or settings.get("portnumber", "")
    instance = instance or settings.get("instancename", "") or settings.get("instance", "")
    # The driver gets the port of a named instance from the server when it connects.
    hosts = _hosts(f"{host}:{port}" if port else host, "" if instance else kind.port)
    namespace = f"{kind.scheme}://{hosts}" + (f"/{instance}" if instance else "")
    return DatabaseAddress(kind, namespace, path or _first(settings, _DATABASE_NAMES))


def _snowflake(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    """Return the place of a Snowflake URL; its namespace is the account."""
    parts = _URL.search(body)
    host, parameters = (parts["hosts"], parts["rest"]) if parts else ("", body)
    settings = _settings(parameters, options)
    return snowflake(host, _first(settings, _DATABASE_NAMES), _schema(kind, settings))


def snowflake(host: str, database: str, schema: str) -> DatabaseAddress:
    """Return the place of a database in the Snowflake account with the address `host`."""
    kind = DATABASES["snowflake"]
    account = re.sub(r"^\w+://", "", host).lower().partition(":")[0].partition("/")[0]
    account = account.partition(".snowflakecomputing.")[0].replace(".privatelink", "")
    database, schema = _folded(database, "upper"), _folded(schema, "upper")
    return DatabaseAddress(kind, f"snowflake://{account}", database, schema)


def _redshift(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    """Return the place with `name.id.region.redshift.amazonaws.com` shortened to `name.region`."""
    served = _server_or_file(kind, body, options)
    pattern = r"//([^./]+)\.[^./]+\.([^./]+)\.redshift(?:-serverless)?\.amazonaws\.com[.\w]*"
    return replace(served, namespace=re.sub(pattern, r"//\1.\2", served.namespace))


def _bigquery(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    settings = _settings(body, options)
    return DatabaseAddress(kind, "bigquery", _first(settings, _DATABASE_NAMES), _schema(kind, settings))


def _athena(kind: Database, body: str, options: Mapping[str, str]) -> DatabaseAddress:
    settings = _settings(body, options)
    region = _first(settings, ("region", "awsregion"))
    catalog = settings.get("catalog") or "awsdatacatalog"
    database = _first(settings, ("database", *_SCHEMA_NAMES)) or "default"
    return DatabaseAddress(kind, f"awsathena://athena.{region}.amazonaws.com", catalog, database)


_READERS = {
    "awsathena": _athena,
    "bigquery": _bigquery,
    "oracle": _oracle,
    "redshift": _redshift,
    "snowflake": _snowflake,
    "sqlserver": _sql_server,
}
"""Scheme -> reader of the part of a URL after `jdbc:`, for databases with their own syntax."""
