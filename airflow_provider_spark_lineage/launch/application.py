"""What an operator says of the Spark applications that it launches, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
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

    shown: tuple[str, ...] | None = None
    """The arguments for an event, where these are others: no variable of a shell has its value in them."""

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

    options_at: int | None = None
    """Where in the operator's script more options can stand; None where that is not known."""

    py_files_at: int | None = None
    """Where in the script the value of its `--py-files` ends; None without that option."""

    program: str | None = "spark-submit"
    """The name or the path of the command; None where that is not known."""

    fixed: str = ""
    """Why the command must stay as it is, half a sentence; empty where options may be added."""

    is_other_user: bool = False
    """Whether the command may run as another user."""

    sourced: tuple[str | None, ...] = ()
    """Files that the shell has run itself before the command."""


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

    page: str = ""
    """Page or address of a run, with `{}` for its id; empty where only the service knows it."""

    event_ids: tuple[str, ...] = ()
    """Names that the operator's trigger has for that id."""

    @property
    def link(self) -> str:
        """Page or address of the run; empty without an id."""
        return self.page.replace("{}", self.run_id) if self.run_id else ""

    def resumed(self, event: Mapping[str, Any]) -> Launch:
        """Return the launch with the id that a trigger reported: who resumes a task is another object.

        >>> Launch(page="https://jobs/{}", event_ids=("job_id",)).resumed({"job_id": "j-1"}).link
        'https://jobs/j-1'
        """
        # EMR Serverless has it inside of the details.
        event = {**table(event.get("job_details")), **event}
        found = (str(event[name]) for name in self.event_ids if event.get(name))
        run_id = self.run_id or next(found, "")
        return replace(self, run_id=run_id, page=self.page or str(event.get("run_page_url") or ""))


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


def part(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an object of a JSON object, empty where there is none; raise ValueError for another value."""
    value = document.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"`{name}` is no object")
    return table(value)


def listed(value: Any) -> list[Any]:
    """Return a JSON array as it is; empty for everything else.

    >>> listed(("a", 1)), listed(None), listed("text")
    (['a', 1], [], [])
    """
    return list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else []


def texts(value: Any) -> dict[str, str]:
    """Return a JSON object with its values as text."""
    return {str(name): str(each) for name, each in table(value).items()}
