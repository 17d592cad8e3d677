"""Values that one place of an event is given a name by, and that every later place must have again."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from airflow_provider_spark_lineage.testing.matchers import json_type
from airflow_provider_spark_lineage.testing.paths import Path, path_text


class Captured(NamedTuple):
    """The value that a name stands for, and where it was first seen."""

    value: str | float
    path: Path
    event: str

    chosen: bool = False
    """It was first seen where another value could have been meant, too."""

    places: int = 0
    """How many places of the events have been asked for it."""


class Captures:
    """What the names of one comparison stand for; the first use of a name binds it.

    >>> captures = Captures()
    >>> captures.of_event("dag.task.event.start").refuses("run", "018f", ("run", "runId"))
    ''
    >>> captures.of_event("dag.task.event.fail").refuses("run", "0190", ("run", "runId"))
    'is not what `run` was captured as, "018f" at run.runId of dag.task.event.start'
    """

    def __init__(
        self, bound: dict[str, Captured] | None = None, event: str = "an event", *, chosen: bool = False
    ) -> None:
        """`bound` is shared: what is captured here is captured there."""
        self._bound = {} if bound is None else bound
        self._event = event
        self._chosen = chosen

    def attempt(self) -> Captures:
        """The same names for a comparison that may not count: what it binds is forgotten with it."""
        return Captures(dict(self._bound), self._event, chosen=self._chosen)

    def of_event(self, event: str) -> Captures:
        """The same names, shared, for places in the event that is called like this."""
        return Captures(self._bound, event)

    def of_choice(self) -> Captures:
        """The same names, shared, for one of several values that may all be meant."""
        return Captures(self._bound, self._event, chosen=True)

    def captured(self, name: str) -> Captured | None:
        """What the name stands for, if any place was there to bind it."""
        return self._bound.get(name)

    def refuses(self, name: str, actual: Any, path: Path) -> str:
        """Why the value cannot stand for this name; empty where it does from now on."""
        if isinstance(actual, bool) or not isinstance(actual, str | int | float):
            return f"is not a string or a number to be captured but {json_type(actual)}"
        if actual == "":
            return "is an empty string, which tells nothing apart"
        known = self._bound.get(name) or Captured(actual, path, self._event, self._chosen)
        self._bound[name] = known._replace(places=known.places + 1)
        # A string never equals a number, in Python as in JSON; booleans were refused above.
        if known.value == actual:
            return ""
        value = json.dumps(known.value, ensure_ascii=False)
        other = "; there was a choice there, and no other one was tried" if known.chosen else ""
        where = f"{path_text(known.path)} of {known.event}"
        return f"is not what `{name}` was captured as, {value} at {where}{other}"
