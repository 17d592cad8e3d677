"""Launches of shell commands, on the worker or on another machine.

Most commands do not mention Spark; the modules that read scripts are imported only if one does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.airflow.launch.shell.mention import mentions_spark

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.airflow.launch.application import Launch

NOT_READ = "the command line could not be read, so its Spark application is unknown: {}"


def of_bash(operator: Any) -> Launch | None:
    """Return the launch of a `BashOperator`, on this machine."""
    if not mentions_spark(operator.bash_command):
        return None
    from airflow_provider_spark_lineage.airflow.launch.application import PYTHON, texts
    from airflow_provider_spark_lineage.spark import is_secret

    plain = {name: value for name, value in texts(operator.env).items() if not is_secret(name)}
    launch = of_script(operator.bash_command, environment_of_bash(operator), is_here=True)
    if launch is None:
        return None
    # Without `cwd`, the command runs in a temporary folder.
    folder = str(operator.cwd or "")
    applications = (
        replace(
            application,
            directory=None if application.directory is None else os.path.join(folder, application.directory),
            variables={**plain, **application.variables}
            if application.kind == PYTHON
            else application.variables,
        )
        for application in launch.applications
    )
    return replace(launch, applications=tuple(applications))


def environment_of_bash(operator: Any) -> dict[str, str]:
    """Return the environment of a `BashOperator`'s command: `env`, and the worker's if it is inherited."""
    from airflow_provider_spark_lineage.airflow.launch.application import texts

    inherits = operator.env is None or getattr(operator, "append_env", False)
    return {**(os.environ if inherits else {}), **texts(operator.env)}


def of_ssh(operator: Any) -> Launch | None:
    """Return the launch of an `SSHOperator`, on another machine."""
    if not mentions_spark(operator.command):
        return None
    from airflow_provider_spark_lineage.airflow.launch.application import texts

    return of_script(operator.command, texts(operator.environment), is_here=False)


def of_script(script: Any, variables: Mapping[str, str], *, is_here: bool) -> Launch | None:
    """Return the launch of a script; None if it does not mention a Spark command."""
    if not mentions_spark(script):
        return None
    from airflow_provider_spark_lineage.airflow.launch.application import Launch
    from airflow_provider_spark_lineage.airflow.launch.shell.applications import applications_of
    from airflow_provider_spark_lineage.airflow.launch.shell.script import MalformedError

    try:
        applications = tuple(applications_of(script, variables, is_here=is_here))
    except MalformedError as error:
        return Launch(problems=(NOT_READ.format(error),))
    except RecursionError:
        return Launch(problems=(NOT_READ.format("it is nested too deeply"),))
    return Launch(applications) if applications else None
