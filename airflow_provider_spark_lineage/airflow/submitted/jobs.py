"""Spark jobs of Airflow's hooks: one interface to read the properties of a job and to add some.

A job is created when the hook runs it: by then its application, connection and properties are final.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from airflow_provider_spark_lineage.airflow.known_operators import SPARK_PIPELINES, SPARK_SQL, SPARK_SUBMIT
from airflow_provider_spark_lineage.airflow.submitted.properties import default_properties

ON_SERVER = (
    "nothing is captured: the pipeline runs in a Spark Connect server; its inputs and outputs are in the "
    "server's own event log, if it writes one"
)
PY_FILES = "spark.submit.pyFiles"
_OPTIONS = {
    "spark.jars": "_jars",
    "spark.jars.packages": "_packages",
    "spark.jars.excludes": "_exclude_packages",
    "spark.jars.repositories": "_repositories",
    "spark.driver.extraClassPath": "_driver_class_path",
}
"""Property -> attribute of the hook that sets it by an option."""


def pairs(conf: Any) -> dict[str, str]:
    """Return the properties of an operator or a hook: a dict, None, or text such as `k=v,k=v`."""
    if isinstance(conf, str):
        return dict(pair.split("=", 1) for pair in conf.split(",") if "=" in pair)
    return {str(name): str(value) for name, value in (conf or {}).items()}


class Job:
    """A job that a hook is about to start; a job of `SparkSqlHook`, if no subclass says otherwise."""

    driver = ""
    """Kind of the driver (`known_operators`); empty for the one of the operator's class."""

    run_method = "submit"
    """Method of the hook that starts the job."""

    def __init__(self, hook: Any, application: str) -> None:
        self.hook = hook
        self.application = application

    @property
    def is_python(self) -> bool:
        """Return whether the driver runs Python, by the rule of `spark-submit`."""
        return self.application.endswith(".py")

    @property
    def is_dry(self) -> bool:
        """Return whether the job is a dry run."""
        return False

    @property
    def obstacle(self) -> str:
        """Return the reason why this job cannot be captured at all; empty if it can."""
        return ""

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the user gave to the hook."""
        return pairs(self.hook._conf)

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties, and a file to `PYTHONPATH`; the user's own are kept."""
        self.hook._conf = {**self.conf, **conf}

    @property
    def is_on_cluster(self) -> bool:
        """Return whether the driver runs on another machine; Spark refuses that for `spark-sql`."""
        return False

    @property
    def is_on_kubernetes(self) -> bool:
        """Return whether the master is Kubernetes."""
        return "k8s" in str(self.hook._master)

    @property
    def spark_submit(self) -> list[str]:
        """Command that starts Spark here."""
        return ["spark-submit"]

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the hook's `spark-submit`."""
        # On Kubernetes, the user's variables are set only in the driver.
        own = {} if self.is_on_kubernetes else pairs(getattr(self.hook, "_env_vars", None))
        return {**os.environ, **own}

    @property
    def options(self) -> list[str]:
        """Options of `spark-submit` that name a file of properties, or the user for whom the job runs."""
        file = getattr(self.hook, "_properties_file", None)
        return ["--properties-file", file] if file else []

    @property
    def properties(self) -> dict[str, str]:
        """All known properties of the job, also from files that `spark-submit` reads."""
        binary, file = self.spark_submit[0], getattr(self.hook, "_properties_file", None)
        return {**default_properties(binary, file, self.environment), **self.conf}


class SparkSqlJob(Job):
    """A job of `SparkSqlHook`."""

    driver = SPARK_SQL
    run_method = "run_query"


class SparkSubmitJob(Job):
    """A job of `SparkSubmitHook` and of its subclass for JDBC."""

    driver = SPARK_SUBMIT

    @property
    def properties(self) -> dict[str, str]:
        """All known properties of the job, also from options of the hook."""
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
        given = [word for option, value in users.items() if value for word in (option, value)]
        return [*super().options, *given]

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties, and a file to `PYTHONPATH`; the user's own are kept."""
        if python_file:
            # `--py-files` replaces the property, so the property's files are repeated in the option.
            files = self.hook._py_files or self.properties.get(PY_FILES)
            self.hook._py_files = f"{files},{python_file}" if files else python_file
        super().add(conf)

    @property
    def is_on_cluster(self) -> bool:
        """Return whether the driver runs on another machine."""
        mode = self.hook._connection["deploy_mode"] or self.properties.get("spark.submit.deployMode")
        return bool(mode == "cluster")

    @property
    def is_on_kubernetes(self) -> bool:
        """Return whether the master is Kubernetes."""
        return "k8s" in self.hook._connection["master"]

    @property
    def spark_submit(self) -> list[str]:
        """Command that starts Spark here."""
        return list(self.hook._get_spark_binary_path())


class SparkPipelinesJob(SparkSubmitJob):
    """A job of `SparkPipelinesHook`: the command's Python starts a child process with the Spark of the flows.

    `spark-pipelines` passes properties to that child in groups of ten, but the child reads only one group
    (`PYSPARK_REMOTE_INIT_CONF_*`, 4.1 to 4.3): ours could displace the user's. So ours go into the variable
    `VARIABLE`, which the child reads, too.
    """

    VARIABLE = "PYSPARK_SUBMIT_ARGS"
    driver = SPARK_PIPELINES
    run_method = "submit_pipeline"

    @property
    def is_dry(self) -> bool:
        """Return whether the job only checks its definitions."""
        return bool(self.hook.pipeline_command == "dry-run")

    @property
    def obstacle(self) -> str:
        """Return the reason why the job cannot be captured, a Spark Connect server; empty without one."""
        # Only connections of the type `spark_connect` have one; `local[*]` is a server inside the job.
        server = str(self.hook._connection.get("spark_remote") or "")
        remote = server and (pairs(self.hook._env_vars).get("SPARK_REMOTE") or server)
        return ON_SERVER if remote.startswith("sc:") else ""

    @property
    def conf(self) -> dict[str, str]:
        """Properties that the user gave to the hook or in `VARIABLE`."""
        words = shlex.split(self._arguments)
        of_variable = [word for option, word in pairwise(words) if option == "--conf"]
        return {**super().conf, **dict(word.split("=", 1) for word in of_variable if "=" in word)}

    @property
    def _arguments(self) -> str:
        own = pairs(self.hook._env_vars).get(self.VARIABLE)
        return own or os.environ.get(self.VARIABLE) or "pyspark-shell"

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        """Add properties to `VARIABLE`; the user's own are kept."""
        ours = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
        variable = {self.VARIABLE: f"{shlex.join(ours)} {self._arguments}"}
        if self.hook._env_vars:
            self.hook._env_vars = {**self.hook._env_vars, **variable}
        else:
            # Not `_env_vars`: with it, the hook refuses cluster mode.
            self.hook._env = variable

    is_on_cluster = False
    """The command refuses cluster mode."""

    @property
    def spark_submit(self) -> list[str]:
        """Command that starts Spark here; not `spark-pipelines`, which cannot run a class."""
        return ["spark-submit"]


JOBS = {job.driver: job for job in (SparkSubmitJob, SparkSqlJob, SparkPipelinesJob)}
"""Kind of driver -> class of its jobs."""
