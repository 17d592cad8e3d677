"""Spark applications that an operator launches, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

PYTHON, JAR, SQL, R, NOTEBOOK = "python", "jar", "sql", "r", "notebook"
"""Kinds of applications. A notebook is code stored by a service, in any language."""


@dataclass(frozen=True)
class LaunchedApplication:
    """One Spark application, as it is passed to Spark."""

    kind: str

    main: str = ""
    """File with its code, a path or a URI; empty if `statements` has the code."""

    main_class: str = ""

    statements: str = ""
    """Spark SQL as text."""

    arguments: tuple[str | None, ...] = ()
    """None for an argument that only the shell knows, `$(date)` for example."""

    shown: tuple[str, ...] | None = None
    """Arguments for an event, with the names of shell variables instead of their values; None if equal to
    `arguments`."""

    conf: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Environment variables of a script, or values of `${...}` in statements."""

    directory: str | None = ""
    """Folder that relative paths start from: empty if the launcher chooses it, None if it is unknown."""

    is_here: bool = False
    """`main` may be a file of this worker."""

    is_elsewhere: bool = False
    """It runs in a container, or on another machine than its command."""

    problem: str = ""
    """Sentence about missing information; empty if all is known."""

    cure: str = ""
    """End of a sentence: the option that gives observed lineage instead of planned; empty if none does."""


@dataclass(frozen=True)
class Launch:
    """Spark applications that one operator launches."""

    applications: tuple[LaunchedApplication, ...] = ()
    service: str = ""
    """System that runs the applications, `Livy` for example; empty for a shell command."""

    run_id: str = ""
    """The service's id of the run, known after `execute`."""

    page: str = ""
    """Page or address of a run, with `{}` for its id; empty if only the service knows it."""

    event_id: str = ""
    """Name of the run's id in the events of the operator's trigger."""

    problems: tuple[str, ...] = ()
    """Sentences about attributes of the operator that could not be read."""

    @property
    def link(self) -> str:
        """Page or address of the run; empty without an id."""
        return self.page.replace("{}", self.run_id) if self.run_id else ""

    def resumed(self, event: Mapping[str, Any]) -> Launch:
        """Return the launch with the id that a trigger reported: a resumed task is a new operator object.

        >>> Launch(page="https://jobs/{}", event_id="job_id").resumed({"job_id": "j-1"}).link
        'https://jobs/j-1'
        """
        # EMR Serverless reports it inside `job_details`.
        event = {**table(event.get("job_details")), **event}
        run_id = self.run_id or text(event.get(self.event_id))
        return replace(self, run_id=run_id, page=self.page or text(event.get("run_page_url")))


def kind_of(main: str, main_class: str = "") -> str:
    """Return the kind of a file, by the rules of `spark-submit`.

    >>> kind_of("s3://jobs/load.py"), kind_of("load.jar", "org.example.Load")
    ('python', 'jar')
    """
    if main.endswith(".py") and not main_class:
        return PYTHON
    return R if main.lower().endswith(".r") and not main_class else JAR


def application_of(
    main: Any, main_class: Any = "", arguments: Any = (), **fields: Any
) -> LaunchedApplication:
    """Return the application of a file or class from fields of a service's JSON, which may be None."""
    main, main_class = text(main), text(main_class)
    return LaunchedApplication(
        kind=kind_of(main, main_class),
        main=main,
        main_class=main_class,
        arguments=tuple(str(argument) for argument in listed(arguments)),
        **fields,
    )


def table(value: Any) -> dict[str, Any]:
    """Return a JSON object unchanged; an empty one for any other value."""
    return dict(value) if isinstance(value, Mapping) else {}


def member(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the object in a field, empty if the field is absent; raise ValueError for another value."""
    value = document.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise ValueError(f"`{name}` is not an object")
    return table(value)


def listed(value: Any) -> list[Any]:
    """Return a JSON array as a list; an empty one for any other value.

    >>> listed(("a", 1)), listed(None), listed("text")
    (['a', 1], [], [])
    """
    return list(value) if isinstance(value, Sequence) and not isinstance(value, (str, bytes)) else []


def text(value: Any) -> str:
    """Return a value as text; an empty one for None and other values without content, but not for 0."""
    return str(value) if value or value == 0 else ""


def texts(value: Any) -> dict[str, str]:
    """Return a JSON object with its values converted to text."""
    return {str(name): str(each) for name, each in table(value).items()}
