"""Steps, serverless jobs and containers of Amazon's EMR."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    SQL,
    Launch,
    LaunchedApplication,
    application_of,
    listed,
    table,
    text,
    texts,
)
from airflow_provider_spark_lineage.airflow.launch.shell.applications import of_words

_RUNNER = "command-runner.jar"


def of_steps(operator: Any) -> Launch | None:
    """Return the launch of an `EmrAddStepsOperator`; None if no step runs Spark.

    It has no run id: the operator does not store the ids of its steps, it returns them as XCom.
    """
    applications = tuple(_of_steps(_steps(operator.steps)))
    return Launch(applications, "EMR") if applications else None


def of_serverless(operator: Any) -> Launch | None:
    """Return the launch of an `EmrServerlessStartJobOperator`; None for a query of Hive."""
    job = table(table(operator.job_driver).get("sparkSubmit"))
    return _of_job(operator, job, {}, "EMR Serverless")


def of_container(operator: Any) -> Launch | None:
    """Return the launch of an `EmrContainerOperator`."""
    driver = table(operator.job_driver)
    job, sql = table(driver.get("sparkSubmitJobDriver")), table(driver.get("sparkSqlJobDriver"))
    return _of_job(operator, job, sql, "EMR on EKS")


def _of_job(operator: Any, job: dict[str, Any], sql: dict[str, Any], service: str) -> Launch | None:
    """Return the launch of a job or of statements, whose `spark-submit` options are a text."""
    if not (job or sql):
        return None
    main = job.get("entryPoint") or sql.get("entryPoint")
    options = text(job.get("sparkSubmitParameters") or sql.get("sparkSqlParameters"))
    [command] = of_words(["spark-submit", *shlex.split(options), main or ""])
    application = application_of(
        main,
        command.main_class,
        job.get("entryPointArguments"),
        conf={**_defaults(operator), **command.conf},
        name=command.name or text(getattr(operator, "name", "")),
        problem=command.problem,
    )
    application = replace(application, kind=SQL) if sql else application
    return Launch((application,), service, text(operator.job_id), event_id="job_id")


def _steps(given: Any) -> list[Any]:
    """Return the steps from a list, or from its text in Python or JSON."""
    if not isinstance(given, str):
        return listed(given)
    try:
        return listed(ast.literal_eval(given))
    except (SyntaxError, ValueError):
        return listed(json.loads(given))


def _of_steps(steps: list[Any]) -> Iterator[LaunchedApplication]:
    for step in steps:
        jar = table(table(step).get("HadoopJarStep"))
        if str(jar.get("Jar", "")).endswith(_RUNNER):
            # After `bash -c`, one word is a whole script.
            yield from of_words(listed(jar.get("Args")))


def _defaults(operator: Any) -> dict[str, str]:
    """Return the properties of the classification `spark-defaults`."""
    overrides = table(operator.configuration_overrides)
    settings = (table(each) for each in listed(overrides.get("applicationConfiguration")))
    defaults = (
        texts(each.get("properties")) for each in settings if each.get("classification") == "spark-defaults"
    )
    return next(defaults, {})
