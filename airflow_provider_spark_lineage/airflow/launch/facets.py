"""Run facets of a task that launches Spark by another system, without secrets.

The kind of an application is here because the provider sets the job facet `jobType` last, and overwrites
ours.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import Launch, LaunchedApplication
from airflow_provider_spark_lineage.airflow.launch.secret_names import words_without_secrets
from airflow_provider_spark_lineage.spark import REMOVED, launched_facets, without_secrets

MAX_APPLICATIONS = 100
"""Number of applications that an event lists at most."""

_VARIABLES = re.compile(r"(?:[\w@%+=:,./-]|\$\{\w+\})+")
"""Word that needs no quotes, also with shell variables."""


def launch_facets(launch: Launch, *, with_arguments: bool) -> dict[str, Any]:
    """Return the facets of a launch; empty without applications.

    Arguments are the user's data: `with_arguments` is false if SQL texts are left out of events, too.
    """
    if not launch.applications:
        return {}
    entries = [_entry(application, with_arguments) for application in launch.applications[:MAX_APPLICATIONS]]
    return launched_facets(entries, service=launch.service, run_id=launch.run_id, link=launch.link)


def _entry(application: LaunchedApplication, with_arguments: bool) -> tuple[str, str, str, str, str]:
    """Return type, name, main file, main class and arguments of an application."""
    given = application.arguments if application.shown is None else application.shown
    words = [REMOVED if word is None else word for word in given]
    return (
        application.kind,
        without_secrets(application.name),
        without_secrets(application.main),
        application.main_class,
        _without_secrets(words) if with_arguments else "",
    )


def _without_secrets(words: list[str]) -> str:
    """Return arguments as one line, with values of secret options masked.

    >>> _without_secrets(["--password", "hunter2", "a b", "--token=x1"])
    "--password *** 'a b' --token=***"
    """
    return " ".join(
        word if REMOVED in word or _VARIABLES.fullmatch(word) else shlex.quote(word)
        for word in words_without_secrets(words)
    )
