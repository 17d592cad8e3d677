"""Planned lineage of launched applications, from their scripts and statements.

The text is an operator's attribute or a file of this worker; nothing is downloaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

from airflow_provider_spark_lineage.airflow.launch.application import PYTHON, SQL, LaunchedApplication
from airflow_provider_spark_lineage.airflow.submitted.planned import is_readable
from airflow_provider_spark_lineage.spark import (
    Gap,
    GapKind,
    Lineage,
    composed,
    of_tasks,
    planned_lineage,
    without_secrets,
)


def planned_of(applications: Iterable[LaunchedApplication]) -> tuple[Lineage | None, tuple[Gap, ...]]:
    """Return the planned lineage of applications in their order, and a gap for each unread application.

    The lineage is None if no text was read.
    """
    lineages, gaps, unread = list[Lineage](), dict[Gap, None](), dict[Gap, None]()
    for application in applications:
        reason = _unread(application)
        try:
            lineage = _of_application(application)
        except (OSError, UnicodeError) as error:
            lineage, reason = None, Gap(_where(application), of_tasks.UNREAD_TEXT(error=type(error).__name__))
        if lineage is None:
            unread[_with_cure(reason, application)] = None
            continue
        lineages.append(replace(lineage, gaps=()))
        for gap in lineage.gaps:
            gaps[_with_cure(gap, application) if gap.kind is GapKind.PLANNED else gap] = None
        if application.problem:
            gaps[_problem(application)] = None
    planned = replace(composed(lineages), gaps=tuple(gaps)) if lineages else None
    return planned, tuple(unread)


def _of_application(application: LaunchedApplication) -> Lineage | None:
    language: Literal["python", "sql"] = "sql" if application.kind == SQL else "python"
    if application.kind not in (PYTHON, SQL):
        return None
    directory = application.directory or ""
    text: str | Path = application.statements
    gaps, path = list[Gap](), None
    if not text:
        path = _path(application.main, directory)
        if path is None or not is_readable(path):
            return None
        text = path
        if not application.is_here:
            gaps.append(Gap(_where(application), of_tasks.OTHER_MACHINE(path=path)))
    arguments = list[str]()
    for number, argument in enumerate(application.arguments, 1):
        if argument is None:
            # It may be several words, so the numbers of later arguments are unknown.
            gaps.append(Gap(_where(application), of_tasks.UNKNOWN_ARGUMENTS(number=number)))
            break
        arguments.append(argument)
    lineage = planned_lineage(
        text,
        language=language,
        arguments=arguments,
        variables=application.variables,
        conf=application.conf,
        directory=directory if os.path.isabs(directory) else "",
        path=str(path or ""),
    )
    return replace(lineage, gaps=(*lineage.gaps, *gaps))


def _path(main: str, directory: str) -> Path | None:
    """Return the path of a local file; None for another URI, and for a relative path in an unknown folder."""
    parts = urlsplit(main)
    if parts.scheme in ("file", "local"):
        return Path(url2pathname(parts.path))
    path = Path(directory, main)
    return path if main and not parts.scheme and path.is_absolute() else None


def _where(application: LaunchedApplication) -> str:
    name = application.main_class or application.main or application.name
    return without_secrets(name) or "application"


def _problem(application: LaunchedApplication) -> Gap:
    return Gap(_where(application), GapKind.NOT_CONSTANT.reason(application.problem))


def _with_cure(gap: Gap, application: LaunchedApplication) -> Gap:
    """Return a gap with the option that gives what Spark did instead."""
    if not application.cure:
        return gap
    return replace(gap, reason=gap.reason.reworded(f"{gap.reason}; {application.cure}"))


def _unread(application: LaunchedApplication) -> Gap:
    """Return the gap of an application that has no planned lineage."""
    if application.problem:
        return _problem(application)
    if application.kind in (PYTHON, SQL):
        return Gap(_where(application), of_tasks.TEXT_ELSEWHERE())
    return Gap(_where(application), of_tasks.UNREAD_CODE(kind=application.kind))
