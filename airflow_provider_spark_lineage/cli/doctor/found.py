"""What the doctor found, as plain data: the checks are functions of it and look at nothing else."""

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
    """The first line of its message; empty where that may quote a secret."""


@dataclass(frozen=True)
class Java:
    """The Java that Spark would start."""

    home: str = ""
    """JAVA_HOME, empty where it is not set."""

    path: str = ""
    """The program, empty where there is none."""

    version: str = ""
    """What it says of itself, empty where it does not answer."""


@dataclass(frozen=True)
class Extractor:
    """An entry of `[openlineage] extractors`, imported in a process of its own after Airflow's plugins."""

    path: str

    error: str = ""
    """Class and first line of the exception that importing it raised; empty where it was imported."""

    is_import_error: bool = False
    """The provider ignores an extractor whose import raises ImportError; any other stops its plugin."""

    interface: str = ""
    """What is wrong with the class, as the end of a sentence that begins with its path."""

    dotted: str = ""
    """The class by the module that defines it, of which `path` may be another name."""

    names: tuple[str, ...] = ()
    """The operators' class names that it answers for."""

    is_registered: bool = True
    """False where it can be imported, but could not be while Airflow loaded its plugins."""

    airflow_imports: tuple[str, ...] = ()
    """Modules of Airflow that its file imports at the top."""

    legacy_names: tuple[str, ...] = ()
    """Names of the package `openlineage-airflow` that its file uses."""


@dataclass(frozen=True)
class Plugins:
    """What Airflow's plugin manager and OpenLineage's extractor manager have after loading."""

    error: str = ""
    """Why that could not be asked at all."""

    has_listener: bool = True
    listener_error: str = ""
    """Class and first line of the exception that importing OpenLineage's plugin raised."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Other plugins that do not load -> why."""

    extractors: tuple[Extractor, ...] = ()
    registered: Mapping[str, str] = field(default_factory=dict)
    """Class name of an operator -> the extractor's dotted class, in that process."""

    broken_operators: Mapping[str, str] = field(default_factory=dict)
    """Class of `[spark_lineage] extra_operators` that cannot be imported -> why."""

    broken_transports: Mapping[str, str] = field(default_factory=dict)
    """Class of a transport that cannot be imported -> why."""

    dags: Mapping[str, tuple[str, ...]] | None = None
    """DAG -> its tasks, as the metadata database has them; None where it was not asked."""

    connections_with_listener: tuple[str, ...] = ()
    database_error: str = ""
    """`EMPTY` or `SILENT` of `look_database`, or what ended the question: an exception, an exit code."""


@dataclass(frozen=True)
class Unreachable:
    """A place of a transport that no event gets to."""

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
    """Empty where SPARK_HOME is not set."""

    has_spark: bool = True
    """False where the folder has no `bin/spark-submit`, which PySpark starts."""

    version: str = ""
    """The version of its jars; empty where it is unknown."""


@dataclass(frozen=True)
class Airflow:
    """What Airflow and OpenLineage's provider say of their options."""

    error: Unreadable | None = None
    """Why the provider cannot be imported; then nothing else here is known."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Function of the provider's `conf` -> its value, or `Unreadable`; those that it lacks are absent."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[openlineage]` -> its text; only those that are set."""

    own_texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its text; only those that are set."""

    known_options: frozenset[str] = frozenset()
    """The options of `[openlineage]` that this provider has."""

    own_values: Mapping[str, Any] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its value after parsing."""

    own_warnings: tuple[str, ...] = ()
    """What `conf` says of values of `[spark_lineage]` that it cannot use."""

    lineage_backend: str = ""
    """`[lineage] backend`, which Airflow 3 no longer has."""

    transport: Any = None
    """The transport's configuration, or `Unreadable`."""

    unreachable: tuple[Unreachable, ...] = ()
    """The places that no event gets to, each once."""

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
    """Installed package that lineage needs -> what its metadata require."""

    environment: Mapping[str, str] = field(default_factory=dict)

    spark_in_files: str = ""
    """The version that PySpark's files name; empty where there are none."""

    warns_of_pandas: bool = False
    """Whether PySpark's files say that pandas 3 is not fully supported."""

    spark_home: SparkHome = SparkHome()
    java: Java = Java()

    spark_listeners: Mapping[str, str] = field(default_factory=dict)
    """File of Spark's configuration -> its `spark.extraListeners`."""

    airflow: Airflow | None = None
    """None where Airflow or OpenLineage's provider is not installed."""

    secrets: frozenset[str] = frozenset()
    """Texts that no finding may repeat."""

    @property
    def readable(self) -> Airflow | None:
        """Airflow's options, None where there are none to check."""
        return self.airflow if self.airflow is not None and self.airflow.error is None else None

    @property
    def is_active(self) -> bool:
        """Return whether OpenLineage's provider emits events."""
        return self.readable is not None and self.readable.options.get("is_disabled") is False

    @property
    def plugins(self) -> Plugins:
        """What a process of Airflow has after it loaded its plugins."""
        return self.readable.plugins if self.readable is not None else Plugins()
