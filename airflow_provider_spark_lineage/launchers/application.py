"""What an operator says of the Spark applications that it launches, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PYTHON, JAR, SQL, R, NOTEBOOK = "python", "jar", "sql", "r", "notebook"
"""Kinds of applications. A notebook is code that a service keeps, in any language."""


@dataclass(frozen=True)
class Application:
    """One Spark application, as it is given to Spark."""

    kind: str

    main: str = ""
    """The file with its code: a path or a URI; empty where the statements are given as text."""

    main_class: str = ""

    statements: str = ""
    """Spark SQL as text."""

    arguments: tuple[str | None, ...] = ()
    """None for one that is known to the shell alone, `$(date)` for example."""

    conf: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of a script, or what `${...}` in statements stands for."""

    directory: str | None = ""
    """Folder that relative paths start from: empty for the one that the launcher chooses, None where it is
    not known."""

    is_here: bool = False
    """Whether `main` is a path of the worker's own file system, or may be."""

    problem: str = ""
    """What is not known of it, a sentence; empty where all is."""


@dataclass(frozen=True)
class Launch:
    """What one operator launches."""

    applications: tuple[Application, ...] = ()
    problems: tuple[str, ...] = ()
    """What could not be read of the operator, a sentence each."""

    service: str = ""
    """The system that runs the applications, `Livy` for example; empty for a command of a shell."""

    run_id: str = ""
    """The service's id of the run, known after `execute`."""

    link: str = ""
    """Page or address of that run, where the operator can say it without asking the service."""


def kind_of(main: str, main_class: str = "") -> str:
    """Return the kind of a file as `spark-submit` decides it.

    >>> kind_of("s3://jobs/load.py"), kind_of("load.jar", "org.example.Load")
    ('python', 'jar')
    """
    if main.endswith(".py") and not main_class:
        return PYTHON
    return R if main.lower().endswith(".r") and not main_class else JAR


def application_of(main: Any, main_class: Any = "", arguments: Any = (), **fields: Any) -> Application:
    """Return the application of a file or class, whose fields a service gave as JSON: any may be absent."""
    main, main_class = str(main or ""), str(main_class or "")
    return Application(
        kind=kind_of(main, main_class),
        main=main,
        main_class=main_class,
        arguments=tuple(str(argument) for argument in listed(arguments)),
        **fields,
    )


def table(value: Any) -> dict[str, Any]:
    """Return a JSON object as it is; empty for everything else."""
    return dict(value) if isinstance(value, Mapping) else {}


def listed(value: Any) -> list[Any]:
    """Return a JSON array as it is; empty for everything else.

    >>> listed(("a", 1)), listed(None), listed("text")
    (['a', 1], [], [])
    """
    return list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else []


def texts(value: Any) -> dict[str, str]:
    """Return a JSON object with its values as text."""
    return {str(name): str(each) for name, each in table(value).items()}
