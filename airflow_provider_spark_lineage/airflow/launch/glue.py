"""Jobs of AWS Glue."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from airflow_provider_spark_lineage.airflow.launch.application import (
    PYTHON,
    Launch,
    LaunchedApplication,
    table,
    text,
    texts,
)

_OTHER_ENGINES = frozenset({"pythonshell", "glueray"})


def of_job(operator: Any) -> Launch | None:
    """Return the launch of a `GlueJobOperator`; None for jobs without Spark (Python shell, Ray)."""
    created = table(operator.create_job_kwargs)
    command = table(created.get("Command"))
    if command.get("Name") in _OTHER_ENGINES:
        return None
    arguments = {**texts(created.get("DefaultArguments")), **texts(operator.script_args)}
    main = operator.script_location or command.get("ScriptLocation") or ""
    name = text(operator.job_name)
    application = LaunchedApplication(
        kind=PYTHON if str(main).endswith(".py") or not main else "jar",
        main=str(main),
        main_class=arguments.get("--class", ""),
        arguments=tuple(word for pair in arguments.items() for word in pair if pair[0] != "--conf"),
        conf=_properties(arguments.get("--conf", "")),
        name=name,
        # The operator uploads a local script.
        is_here="://" not in str(main),
        problem="" if main else "the script is part of an existing Glue job, which is not read",
    )
    run_id = text(getattr(operator, "_job_run_id", None))
    return Launch((application,), "Glue", run_id, _page(operator, name), "run_id")


def _properties(text: str) -> dict[str, str]:
    """Return the properties in Glue's `--conf`, whose one value may hold several.

    >>> _properties("spark.a=1 --conf spark.b=2")
    {'spark.a': '1', 'spark.b': '2'}
    """
    words = (word for word in text.split() if "=" in word)
    return dict(word.split("=", 1) for word in words)


def _page(operator: Any, name: str) -> str:
    """Return the page of a run; empty if only the connection has the region."""
    region = getattr(operator, "region_name", None)
    if not region or str(region).startswith(("cn-", "us-gov-")):
        return ""
    console = f"https://console.aws.amazon.com/gluestudio/home?region={region}"
    return f"{console}#/job/{quote(name, safe='')}/run/{{}}"
