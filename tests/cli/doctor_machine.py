"""A healthy machine for the doctor: data of its packages, options and plugins, and changes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.cli.doctor.model import Airflow, Extractor, Installation, Plugins

OURS = "airflow_provider_spark_lineage.extractors.SparkExtractor"
USERS = "company.lineage.Extractor"
HTTP = {"type": "http", "url": "http://marquez:5000"}

PLUGINS = Plugins(extractors=(Extractor(OURS, names=("SparkSubmitOperator", "PySparkOperator")),))
AIRFLOW = Airflow(
    options={
        "is_disabled": False,
        "config_conn_id": "",
        "config_path_option": "",
        "disabled": False,
        "transport": HTTP,
        "custom_extractors": {OURS},
        "disabled_operators": set(),
        "selective_enable": False,
        "namespace": "team",
        "execution_timeout": 10,
        "execute_in_thread": False,
        "emission_policy": [],
    },
    texts={"extractors": OURS, "namespace": "team", "transport": str(HTTP)},
    own_texts={"auto_capture": "True"},
    known_options=frozenset(
        {"config_path", "disabled_for_operators", "extractors", "namespace", "transport"}
    ),
    own_values={
        "auto_capture": True,
        "auto_capture_include": ("*",),
        "auto_capture_exclude": (),
        "disabled": False,
        "extra_operators": {},
        "store": "xcom",
    },
    transport={**HTTP, "auth": {"type": "api_key", "apiKey": "hunter2hunter2"}},
    plugins=PLUGINS,
)
INSTALLATION = Installation(
    distributions={
        "airflow-provider-spark-lineage": "0.1.0",
        "apache-airflow": "3.3.2",
        "apache-airflow-providers-apache-spark": "6.3.4",
        "apache-airflow-providers-openlineage": "2.20.3",
        "openlineage-python": "1.54.0",
        "pandas": "2.3.3",
        "py4j": "0.10.9.9",
        "pyspark": "4.1.4",
        "pyspark-client": "4.1.4",
    },
    requirements={
        "airflow-provider-spark-lineage": (
            "apache-airflow<4,>=3.0.6",
            "apache-airflow-providers-openlineage>=2.9",
        ),
        "apache-airflow-providers-openlineage": (
            "openlineage-python>=1.52.0",
            'openlineage-sql>=9; extra == "sql"',
        ),
    },
    airflow=AIRFLOW,
)


@dataclass(frozen=True)
class Machine:
    """Data of a machine, with the files and variables that checks look at themselves."""

    installation: Installation = INSTALLATION
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    """`{here}` is the folder of the files."""

    def planted(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
        """Write the files and set the variables; by default Java 17, and PySpark's files of its version."""
        for name in ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_SUBMIT_ARGS"):
            monkeypatch.delenv(name, raising=False)
        version = self.installation.distributions.get("pyspark")
        defaults = {"jdk/bin/java": java("17.0.15"), "pyspark/version.py": f"__version__: str = '{version}'"}
        for name, text in {**defaults, **self.files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        for name, value in {"JAVA_HOME": "{here}/jdk", **self.variables}.items():
            monkeypatch.setenv(name, value.format(here=folder))
        return replace(self.installation, pyspark_folder=folder / "pyspark")


def java(version: str) -> str:
    """Return a program that answers as Java does."""
    return f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n"


def installed(**versions: str | None) -> Installation:
    """Return the healthy machine with other versions; None removes a package."""
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    all_versions = {**INSTALLATION.distributions, **names}
    return replace(
        INSTALLATION, distributions={name: version for name, version in all_versions.items() if version}
    )


def airflow(**fields: Any) -> Installation:
    return replace(INSTALLATION, airflow=replace(AIRFLOW, **fields))


def options(**values: Any) -> Installation:
    return airflow(options={**AIRFLOW.options, **values})


def unreadable(**errors: str) -> Installation:
    """Return the healthy machine with options that cannot be read."""
    values = {name: value for name, value in AIRFLOW.options.items() if name not in {*errors, "is_disabled"}}
    return airflow(options=values, unreadable=errors)


def texts(**values: str) -> Installation:
    return airflow(texts={**AIRFLOW.texts, **values})


def own(**values: Any) -> Installation:
    return airflow(own_values={**AIRFLOW.own_values, **values})


def plugins(**fields: Any) -> Installation:
    return airflow(plugins=replace(PLUGINS, **fields))


def extractor(path: str = USERS, **fields: Any) -> Installation:
    """Return the healthy machine with one more extractor."""
    return plugins(extractors=(*PLUGINS.extractors, Extractor(path, **fields)))
