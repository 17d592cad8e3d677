"""The jobs that hooks of Airflow start: what is read of a hook and set in it, under one name for all hooks.

A job is known when the hook runs it: then its application, its connection and its properties are settled.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from airflow_provider_spark_lineage.submitted.properties import default_properties

PY_FILES = "spark.submit.pyFiles"
_OPTIONS = {
    "spark.jars": "_jars",
    "spark.jars.packages": "_packages",
    "spark.jars.excludes": "_exclude_packages",
    "spark.jars.repositories": "_repositories",
    "spark.driver.extraClassPath": "_driver_class_path",
}
"""Property -> attribute of the hook that takes its place."""


def pairs(conf: Any) -> dict[str, str]:
    """Return the properties of an operator or a hook: a dict, None, or text such as `k=v,k=v`."""
    if isinstance(conf, str):
        return dict(pair.split("=", 1) for pair in conf.split(",") if "=" in pair)
    return {str(name): str(value) for name, value in (conf or {}).items()}


class Job(ABC):
    """A job that a hook is about to start."""

    def __init__(self, hook: Any, application: str) -> None:
        self.hook = hook
        self.application = application

    @property
    def is_python(self) -> bool:
        """Whether the driver runs Python, as `spark-submit` decides it."""
        return self.application.endswith(".py")

    @property
    @abstractmethod
    def conf(self) -> dict[str, str]:
        """Properties that the user gave to the hook."""

    @abstractmethod
    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties, and a file to `PYTHONPATH`; what the user gave stays."""

    @property
    @abstractmethod
    def is_on_cluster(self) -> bool:
        """Whether the driver runs on another machine."""

    @property
    @abstractmethod
    def is_on_kubernetes(self) -> bool:
        """Whether the master is Kubernetes."""

    @property
    @abstractmethod
    def spark_submit(self) -> list[str]:
        """The command that starts Spark here."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which the hook runs `spark-submit`."""
        # On Kubernetes, variables that the user gave are the driver's alone.
        own = {} if self.is_on_kubernetes else getattr(self.hook, "_env_vars", None) or {}
        return {**os.environ, **{name: str(value) for name, value in own.items()}}

    @property
    def options(self) -> list[str]:
        """Options of `spark-submit` that name a file of properties, or the user for whom the job runs."""
        file = getattr(self.hook, "_properties_file", None)
        return ["--properties-file", file] if file else []

    @property
    def properties(self) -> dict[str, str]:
        """All properties of the job that are known here: also those in files that `spark-submit` reads."""
        binary, file = self.spark_submit[0], getattr(self.hook, "_properties_file", None)
        return {**default_properties(binary, file, self.environment), **self.conf}


class SparkSubmitJob(Job):
    """A job of `SparkSubmitHook` and of its subclass for JDBC."""

    @property
    def properties(self) -> dict[str, str]:
        """All properties of the job that are known here; options of the hook are properties, too."""
        options = {name: getattr(self.hook, attribute) for name, attribute in _OPTIONS.items()}
        return {**super().properties, **{name: value for name, value in options.items() if value}}

    @property
    def options(self) -> list[str]:
        """Options of `spark-submit` that name a file of properties, or the user for whom the job runs."""
        users = {
            "--principal": self.hook._connection["principal"],
            "--keytab": self.hook._connection["keytab"],
            "--proxy-user": self.hook._proxy_user,
        }
        given = [part for option, value in users.items() if value for part in (option, value)]
        return [*super().options, *given]

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the user gave to the hook."""
        return pairs(self.hook._conf)

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties, and a file to `PYTHONPATH`; what the user gave stays."""
        if python_file:
            # The option replaces the property, so what the property names moves there.
            files = self.hook._py_files or self.properties.get(PY_FILES)
            self.hook._py_files = f"{files},{python_file}" if files else python_file
        self.hook._conf = {**self.conf, **conf}

    @property
    def is_on_cluster(self) -> bool:
        """Whether the driver runs on another machine."""
        mode = self.hook._connection["deploy_mode"] or self.properties.get("spark.submit.deployMode")
        return bool(mode == "cluster")

    @property
    def is_on_kubernetes(self) -> bool:
        """Whether the master is Kubernetes."""
        return "k8s" in self.hook._connection["master"]

    @property
    def spark_submit(self) -> list[str]:
        """The command that starts Spark here."""
        return list(self.hook._get_spark_binary_path())


class SparkSqlJob(Job):
    """A job of `SparkSqlHook`: `spark-sql` runs in client mode alone."""

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the user gave to the hook, as a dict or as `k=v,k=v`."""
        return pairs(self.hook._conf)

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties; what the user gave stays."""
        self.hook._conf = {**self.conf, **conf}

    @property
    def is_on_cluster(self) -> bool:
        """Return False: Spark refuses cluster mode for `spark-sql`."""
        return False

    @property
    def is_on_kubernetes(self) -> bool:
        """Whether the master is Kubernetes."""
        return "k8s" in str(self.hook._master)

    @property
    def spark_submit(self) -> list[str]:
        """The command that starts Spark here."""
        return ["spark-submit"]
