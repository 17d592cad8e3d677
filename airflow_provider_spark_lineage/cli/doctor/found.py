"""Findings on this machine as plain data, the only input of the doctor's checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Unreadable:
    """An option or a file whose reading raised."""

    error: str
    """The class of the exception."""

    reason: str
    """The first line of its message; empty if that may quote a secret."""


@dataclass(frozen=True)
class Java:
    """The Java that Spark would start."""

    home: str = ""
    """JAVA_HOME, empty if it is not set."""

    path: str = ""
    """The program, empty if there is none."""

    version: str = ""
    """The version that it prints, empty if it does not start."""


@dataclass(frozen=True)
class Extractor:
    """An entry of `[openlineage] extractors`, imported in a process of its own after Airflow's plugins."""

    path: str

    error: str = ""
    """Class and first line of the exception that importing it raised; empty if it was imported."""

    is_import_error: bool = False
    """The provider ignores an extractor whose import raises ImportError; any other stops its plugin."""

    interface: str = ""
    """Problem of the class, as the end of a sentence that begins with its path."""

    dotted: str = ""
    """The class with the module that defines it; `path` may name a re-export."""

    names: tuple[str, ...] = ()
    """Class names of its operators."""

    is_registered: bool = True
    """False if it can be imported now, but could not be while Airflow loaded its plugins."""

    airflow_imports: tuple[str, ...] = ()
    """Modules of Airflow that its file imports at the top."""

    legacy_names: tuple[str, ...] = ()
    """Names of the package `openlineage-airflow` that its file uses."""


@dataclass(frozen=True)
class Plugins:
    """State of Airflow's plugin manager and OpenLineage's extractor manager after loading."""

    error: str = ""
    """Reason why the process gave no answer at all."""

    has_listener: bool = True
    listener_error: str = ""
    """Class and first line of the exception that importing OpenLineage's plugin raised."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Other plugins that do not load -> the reason."""

    extractors: tuple[Extractor, ...] = ()
    registered: Mapping[str, str] = field(default_factory=dict)
    """Class name of an operator -> the extractor's dotted class, in that process."""

    broken_operators: Mapping[str, str] = field(default_factory=dict)
    """Class of `[spark_lineage] extra_operators` that cannot be imported -> the reason."""

    broken_transports: Mapping[str, str] = field(default_factory=dict)
    """Class of a transport that cannot be imported -> the reason."""

    dags: Mapping[str, tuple[str, ...]] | None = None
    """DAG -> its tasks in the metadata database; None if the database was not queried."""

    connections_with_listener: tuple[str, ...] = ()
    database_error: str = ""
    """`EMPTY` or `SILENT` of `look_database`, or the exception or exit code that ended the query."""


@dataclass(frozen=True)
class Unreachable:
    """A place of a transport that no event can reach."""

    mistake: str
    """`transport-folder` or `transport-silent`."""

    place: str
    """The folder, the file or the address, without credentials."""

    reason: str
    """For a file, the end of a sentence that begins with the place; for an address, host, port and error."""


@dataclass(frozen=True)
class SparkHome:
    """The folder of Spark that SPARK_HOME names."""

    path: str = ""
    """Empty if SPARK_HOME is not set."""

    has_spark: bool = True
    """False if the folder has no `bin/spark-submit`, which PySpark starts."""

    version: str = ""
    """The version of its jars; empty if it is unknown."""


@dataclass(frozen=True)
class Airflow:
    """Options of Airflow and of OpenLineage's provider."""

    error: Unreadable | None = None
    """Reason why the provider cannot be imported; then nothing else here is known."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Function of the provider's `conf` -> its value, or `Unreadable`; absent if `conf` lacks it."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[openlineage]` -> its text; only those that are set."""

    own_texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its text; only those that are set."""

    known_options: frozenset[str] = frozenset()
    """The options of `[openlineage]` that this provider has."""

    own_values: Mapping[str, Any] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its value after parsing."""

    own_warnings: tuple[str, ...] = ()
    """Warnings of `conf` about values of `[spark_lineage]` that it cannot use."""

    lineage_backend: str = ""
    """`[lineage] backend`, which Airflow 3 no longer has."""

    transport: Any = None
    """The transport's configuration, or `Unreadable`."""

    unreachable: tuple[Unreachable, ...] = ()
    """The places that no event can reach, each once."""

    transport_types: tuple[str, ...] = ()
    """The types that the client knows by name."""

    plugins: Plugins = Plugins()


@dataclass(frozen=True)
class Found:
    """Everything that the doctor looked at."""

    python: str
    distributions: Mapping[str, str]
    """Installed package -> version; names in lower case with hyphens."""

    requirements: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Installed package that lineage needs -> its requirements."""

    environment: Mapping[str, str] = field(default_factory=dict)

    spark_in_files: str = ""
    """The version in PySpark's files; empty if there are none."""

    warns_of_pandas: bool = False
    """PySpark's files warn that pandas 3 is not fully supported."""

    spark_home: SparkHome = SparkHome()
    java: Java = Java()

    spark_listeners: Mapping[str, str] = field(default_factory=dict)
    """File of Spark's configuration -> its `spark.extraListeners`."""

    airflow: Airflow | None = None
    """None if Airflow or OpenLineage's provider is not installed."""

    secrets: frozenset[str] = frozenset()
    """Texts that no finding may repeat."""

    @property
    def readable(self) -> Airflow | None:
        """Airflow's options, None if they cannot be read."""
        return self.airflow if self.airflow is not None and self.airflow.error is None else None

    @property
    def is_active(self) -> bool:
        """Return whether OpenLineage's provider emits events."""
        return self.readable is not None and self.readable.options.get("is_disabled") is False

    @property
    def plugins(self) -> Plugins:
        """Plugins and extractors of an Airflow process."""
        return self.readable.plugins if self.readable is not None else Plugins()
