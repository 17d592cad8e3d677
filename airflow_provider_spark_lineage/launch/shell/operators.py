"""Commands of a shell, on the worker or on another machine.

Most have nothing to do with Spark: their readers are loaded for those that have.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_provider_spark_lineage.launch.shell.mention import mentions_spark

if TYPE_CHECKING:
    from airflow_provider_spark_lineage.launch.application import Launch

NOT_READ = "the command line could not be read, so its Spark application is not known: {}"


def of_bash(operator: Any) -> Launch | None:
    """Return what a `BashOperator` launches on this machine."""
    if not mentions_spark(operator.bash_command):
        return None
    from airflow_provider_spark_lineage.launch.application import PYTHON, texts
    from airflow_provider_spark_lineage.launch.secret_names import is_secret

    plain = {name: value for name, value in texts(operator.env).items() if not is_secret(name)}
    launch = of_script(operator.bash_command, environment_of_bash(operator), is_here=True)
    if launch is None:
        return None
    # Without a folder of its own, the command runs in a temporary one.
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
    """Return the environment of a `BashOperator`'s command: its own, and the worker's where it has that."""
    from airflow_provider_spark_lineage.launch.application import texts

    inherits = operator.env is None or getattr(operator, "append_env", False)
    return {**(os.environ if inherits else {}), **texts(operator.env)}


def of_ssh(operator: Any) -> Launch | None:
    """Return what an `SSHOperator` launches on another machine."""
    if not mentions_spark(operator.command):
        return None
    from airflow_provider_spark_lineage.launch.application import texts

    return of_script(operator.command, texts(operator.environment), is_here=False)


def of_script(script: Any, variables: Mapping[str, str], *, is_here: bool) -> Launch | None:
    """Return what a script launches; None where it does not mention a command of Spark."""
    if not mentions_spark(script):
        return None
    from airflow_provider_spark_lineage.launch.application import Launch
    from airflow_provider_spark_lineage.launch.shell.applications import applications_of
    from airflow_provider_spark_lineage.launch.shell.words import MalformedError

    try:
        applications = tuple(applications_of(script, variables, is_here=is_here))
    except MalformedError as error:
        return Launch(problems=(NOT_READ.format(error),))
    except RecursionError:
        return Launch(problems=(NOT_READ.format("it is nested too deeply"),))
    return Launch(applications) if applications else None
