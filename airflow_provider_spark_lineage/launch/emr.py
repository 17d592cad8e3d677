"""Steps, serverless jobs and containers of Amazon's EMR."""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Iterator
from typing import Any

from airflow_provider_spark_lineage.launch.application import (
    SQL,
    Launch,
    LaunchedApplication,
    application_of,
    listed,
    table,
    texts,
)
from airflow_provider_spark_lineage.launch.shell.applications import of_words

_RUNNER = "command-runner.jar"


def of_steps(operator: Any) -> Launch | None:
    """Return the launch of an `EmrAddStepsOperator`; None if no step runs Spark.

    It has no run id: the operator does not store the ids of its steps, it returns them as XCom.
    """
    applications = tuple(_of_steps(_steps(operator.steps)))
    return Launch(applications, service="EMR") if applications else None


def of_serverless(operator: Any) -> Launch | None:
    """Return the launch of an `EmrServerlessStartJobOperator`; None for a query of Hive."""
    job = table(table(operator.job_driver).get("sparkSubmit"))
    if not job:
        return None
    application = _submitted(
        job.get("entryPoint"),
        job.get("entryPointArguments"),
        job.get("sparkSubmitParameters"),
        _defaults(operator),
        name=str(getattr(operator, "name", "") or ""),
    )
    run_id = str(operator.job_id or "")
    return Launch((application,), service="EMR Serverless", run_id=run_id, event_ids=("job_id",))


def of_container(operator: Any) -> Launch | None:
    """Return the launch of an `EmrContainerOperator`."""
    driver = table(operator.job_driver)
    job, sql = table(driver.get("sparkSubmitJobDriver")), table(driver.get("sparkSqlJobDriver"))
    if not (job or sql):
        return None
    application = _submitted(
        job.get("entryPoint") or sql.get("entryPoint"),
        job.get("entryPointArguments"),
        job.get("sparkSubmitParameters") or sql.get("sparkSqlParameters"),
        _defaults(operator),
        name=str(operator.name or ""),
        kind=SQL if sql else "",
    )
    run_id = str(operator.job_id or "")
    return Launch((application,), service="EMR on EKS", run_id=run_id, event_ids=("job_id",))


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


def _submitted(
    main: Any, arguments: Any, parameters: Any, defaults: dict[str, str], *, name: str, kind: str = ""
) -> LaunchedApplication:
    """Return the application of a job driver, which gives `spark-submit` options as text."""
    [command] = of_words(["spark-submit", *shlex.split(str(parameters or "")), main or ""])
    plain = application_of(
        main,
        command.main_class,
        arguments,
        conf={**defaults, **command.conf},
        name=command.name or name,
        problem=command.problem,
    )
    return LaunchedApplication(**{**vars(plain), "kind": kind or plain.kind})


def _defaults(operator: Any) -> dict[str, str]:
    """Return the properties of the classification `spark-defaults`."""
    overrides = table(operator.configuration_overrides)
    settings = (table(each) for each in listed(overrides.get("applicationConfiguration")))
    defaults = (
        texts(each.get("properties")) for each in settings if each.get("classification") == "spark-defaults"
    )
    return next(defaults, {})
