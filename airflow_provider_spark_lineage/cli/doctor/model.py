"""Plain data of the doctor: packages, options and plugins of this machine, and the findings of the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

PACKAGE = "airflow_provider_spark_lineage"
Level = Literal["problem", "note", "ok"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report.

    >>> problem("java-too-old", "java", "11.0.2", "Spark 4 needs Java 17 or newer; install one.").level
    'problem'
    """

    topic: str
    """Subject of the check; scripts may rely on it, so it does not change."""

    value: str
    """Value that was found."""

    level: Level = "ok"
    """`note` works but may surprise; `problem` means that lineage cannot work until it is fixed."""

    advice: str = ""
    """One sentence: the problem, and the setting to change; empty if there is nothing to fix."""

    mistake: str = ""
    """The name in docs/doctor.md; scripts may rely on it. Empty if there is nothing to fix."""


def problem(mistake: str, topic: str, value: str, advice: str) -> Finding:
    """Return the finding of something that prevents lineage."""
    return Finding(topic, value, "problem", advice, mistake)


def note(mistake: str, topic: str, value: str, advice: str) -> Finding:
    """Return the finding of something that works but may surprise."""
    return Finding(topic, value, "note", advice, mistake)


@dataclass(frozen=True)
class Extractor:
    """An entry of `[openlineage] extractors`, imported in a process of its own after Airflow's plugins."""

    path: str

    error: str = ""
    """Class and first line of the exception that importing it raised; empty if it was imported."""

    is_import_error: bool = False
    """The provider ignores an extractor whose import raises ImportError; any other stops its plugin."""

    dotted: str = ""
    """The class with the module that defines it; `path` may name a re-export."""

    names: Sequence[str] = ()
    """Class names of its operators."""

    is_registered: bool = True
    """False if it can be imported now, but could not be while Airflow loaded its plugins."""

    @property
    def is_ours(self) -> bool:
        """Return whether it is an extractor of this package."""
        return self.path.startswith(f"{PACKAGE}.")


@dataclass(frozen=True)
class Plugins:
    """State of Airflow's plugins and OpenLineage's extractors in a new process of Airflow."""

    error: str = ""
    """Reason why the process gave no answer, or could not load any plugin."""

    listener_error: str = ""
    """Reason why OpenLineage's plugin is not loaded, as a sentence without its end."""

    errors: Mapping[str, str] = field(default_factory=dict)
    """Other plugins that do not load -> the reason."""

    extractors: Sequence[Extractor] = ()

    broken_operators: Mapping[str, str] = field(default_factory=dict)
    """Class of `[spark_lineage] extra_operators` that cannot be imported -> the reason."""


@dataclass(frozen=True)
class Airflow:
    """Options of Airflow and of OpenLineage's provider."""

    error: str = ""
    """The exception that importing the provider raised; then nothing else here is known."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Function of the provider's `conf` -> its value; absent if `conf` lacks it or it raises."""

    unreadable: Mapping[str, str] = field(default_factory=dict)
    """Function that raises -> the exception, without its message if that may quote a secret."""

    texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[openlineage]` -> its text; only those that are set."""

    known_options: frozenset[str] = frozenset()
    """The options of `[openlineage]` that this provider has."""

    own_texts: Mapping[str, str] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its text; only those that are set."""

    own_values: Mapping[str, Any] = field(default_factory=dict)
    """Option of `[spark_lineage]` -> its value after parsing."""

    own_warnings: Sequence[str] = ()
    """Warnings of `conf` about values of `[spark_lineage]` that it cannot use."""

    store_error: str = ""
    """Reason why the file system of `[spark_lineage] store` cannot be used; empty if it is an XCom."""

    auth_manager: str = ""
    """`[core] auth_manager`."""

    transport: Any = None
    """The transport's configuration."""

    transport_findings: Sequence[Finding] = ()
    """Mistakes in that configuration, transports that the client refuses, places that no event can reach."""

    plugins: Plugins = Plugins()

    @property
    def is_active(self) -> bool:
        """Return whether OpenLineage's provider emits events."""
        return self.options.get("is_disabled") is False


@dataclass(frozen=True)
class Installation:
    """Everything that several checks use."""

    distributions: Mapping[str, str] = field(default_factory=dict)
    """Installed package, in lower case with hyphens -> version."""

    requirements: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Package that lineage needs -> its requirements, as in its metadata."""

    pyspark_folder: Path | None = None
    """The folder of the package `pyspark`."""

    has_viewer: bool = True
    """The installed package has the entry point of the tab's plugin."""

    airflow: Airflow = Airflow()
    """Empty if Airflow or OpenLineage's provider is not installed."""
