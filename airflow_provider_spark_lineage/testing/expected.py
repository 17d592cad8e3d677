"""Expected events by key, from `system_tests/expected/<dag_id>.yaml`, a JSON file or a folder of both.

A file that makes no sense is refused here, before a comparison could pass or fail for the wrong reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events.reader import collector_paused
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.matchers import nearest, sentence
from airflow_provider_spark_lineage.testing.notation import fill, line_of, parse_tree, read_python, read_text
from airflow_provider_spark_lineage.testing.templates import (
    SortKey,
    TemplateOptions,
    Templates,
    by_key,
    read_array,
    templates_of,
)
from airflow_provider_spark_lineage.testing.versions import WHEN, Condition, Versions, read_conditions

if TYPE_CHECKING:
    from jinja2 import Environment

Scope = Literal["all", "dags", "keys"]
"""Which emitted events are compared: all, those of the DAGs that the expected keys name, or of these keys."""

SUFFIXES = (".yaml", ".yml", ".json")

EVENT_KEYS = ("eventType", "eventTime", "producer", "schemaURL", "run", "job", "dataset", "inputs", "outputs")
"""The properties of the spec's events; another one is a typing error."""

Place = tuple[str | int, ...]
"""Keys and positions that lead to a value in an expected file."""


@dataclass(frozen=True)
class ExpectedEvent:
    """One event that must be emitted: its key, the values it must have, and the file that says so."""

    key: str
    """As it is written; `keys.parse_key` takes it apart."""

    document: Mapping[str, Any]
    source: str

    when: tuple[Condition, ...] = ()
    """The versions it is for; every condition must hold, those of its file included."""

    def filled(self, variables: Mapping[str, str]) -> ExpectedEvent:
        """Return the event with its variables replaced."""
        return replace(self, document=fill(self.document, variables, f"{self.source}: `{self.key}`"))


@dataclass(frozen=True)
class Expected:
    """Every expected event of one file, or of all files in a folder, in the order of the files."""

    events: tuple[ExpectedEvent, ...]

    scope: Scope = "all"
    """The default of a comparison: a file is about its own DAGs, a folder or a mapping about all events."""

    templates: tuple[Templates, ...] = ()
    """The expectations of files in the format of Airflow's own system tests."""

    @classmethod
    def of(cls, keys: Mapping[str, Any], source: str = "expected", scope: Scope = "all") -> Expected:
        """Return expectations from a mapping of key to one event or a list; BadInputError says what is wrong.

        Matchers are written as in a JSON file, or are what `matchers.make` returns.

        >>> run_id = {"$match": "uuid"}
        >>> Expected.of({"dag.task.event.start": {"run": {"runId": run_id}}}).events[0].document
        {'run': {'runId': Matcher(name='uuid', argument=None)}}
        """
        try:
            return cls.of_tree(read_python(keys, source), source, scope)
        except RecursionError:
            raise BadInputError(f"{source}: nested too deeply.") from None

    @classmethod
    def of_tree(cls, keys: Mapping[str, Any], source: str, scope: Scope, text: str = "") -> Expected:
        """Return expectations from what `notation` has read; with the file's text, errors have a line."""
        return cls(tuple(_events(keys, _Source(source, text))), scope)

    @classmethod
    def of_templates(
        cls,
        templates: Mapping[str, Any] | Sequence[Any],
        source: str = "expected",
        *,
        counts: Mapping[str, str | int] | None = None,
        sort: SortKey | None = None,
        helpers: Environment | None = None,
    ) -> Expected:
        """Return expectations from templates of Airflow's own system tests, by key or as an array.

        `counts` gives the number of events, for example `">=2"`, by regular expressions that cover a key.
        `sort` orders the events of a key by their documents. `helpers` is a Jinja environment whose globals,
        filters and tests the templates may use in addition to ours.
        """
        options = TemplateOptions(counts or {}, sort, helpers)
        keys = templates if isinstance(templates, Mapping) else by_key(templates, source)
        return cls((), "keys", templates_of(keys, source, options))

    def meant_for(self, versions: Versions) -> tuple[list[ExpectedEvent], dict[str, str]]:
        """Return the events that are expected of these versions, and by key why others are not.

        Raises BadInputError if nothing is left, or if two files are left that expect the same key.
        """
        meant: list[ExpectedEvent] = []
        refused: dict[str, str] = {}
        for event in self.events:
            refusal = versions.refusal(event.when)
            if refusal:
                refused[event.key] = refusal
            else:
                meant.append(event)
        if refused and not meant and not self.templates:
            names = ", ".join(sorted({event.source for event in self.events}))
            raise BadInputError(
                f"{names}: expects nothing of these versions: {next(iter(refused.values()))}."
            )
        files: dict[str, str] = {}
        for event in meant:
            if files.setdefault(event.key, event.source) != event.source:
                raise BadInputError(
                    f"{event.source}: `{event.key}` is expected in {files[event.key]} already."
                )
        return meant, refused


@collector_paused()
def read_expected(path: Path | str) -> Expected:
    """Return the expected events of a file or of a folder; BadInputError names file, line and cause.

    A JSON array is read as Airflow's own system tests read it.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise BadInputError(f"{path}: no such file or folder of expected events.")
    array = read_array(path)
    if array is not None:
        return Expected.of_templates(array, str(path))
    text = read_text(path)
    return Expected.of_tree(keys_of(text, path), str(path), "dags", text)


def keys_of(text: str, file: Path) -> dict[str, Any]:
    """Return the value of the text of an expected file: events by key, and perhaps `when`."""
    tree = parse_tree(text, file)
    if tree is None:
        raise BadInputError(f"{file}: is empty, so no event is expected.")
    if not isinstance(tree, dict):
        raise BadInputError(f"{file}: not a mapping of `<dag_id>.<task_id>.event.<type>` to events.")
    if not tree.keys() - {WHEN}:
        raise BadInputError(f"{file}: expects no event at all.")
    return tree


def _read_folder(folder: Path) -> Expected:
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise BadInputError(f"{folder}: has no file of expected events ({', '.join(SUFFIXES)}).")
    first: dict[str, Path] = {}
    events: tuple[ExpectedEvent, ...] = ()
    templates: tuple[Templates, ...] = ()
    for file in files:
        array = read_array(file)
        text = read_text(file) if array is None else ""
        keys = keys_of(text, file) if array is None else by_key(array, str(file))
        # If files are for certain versions, the versions decide which of them is left.
        for key in keys if WHEN not in keys else ():
            if first.setdefault(key, file) is not file:
                raise BadInputError(f"{file}: `{key}` is expected in {first[key].name} already.")
        if array is None:
            events += Expected.of_tree(keys, str(file), "all", text).events
        else:
            templates += templates_of(keys, str(file))
    return Expected(events, "all" if events else "keys", templates)


@dataclass(frozen=True)
class _Source:
    """What expected events are read from."""

    name: str

    text: str
    """Empty for what is written in Python."""

    def error(self, place: Place, cause: object) -> BadInputError:
        """Return the error for the value at this place."""
        line = line_of(self.text, place) if self.text else None
        return BadInputError(f"{self.name}{f', line {line}' if line else ''}: {sentence(cause)}")


def _events(keys: Mapping[str, Any], source: _Source) -> Iterator[ExpectedEvent]:
    of_file = _conditions(keys, (), source, source.name)
    for key, value in keys.items():
        if key == WHEN:
            continue
        try:
            parse_key(key)
        except ValueError as error:
            raise source.error((key,), f"the key {error}") from None
        documents = value if isinstance(value, list) else [value]
        if not documents:
            raise source.error((key,), f"`{key}` has an empty list, so no event is expected for it")
        for position, document in enumerate(documents):
            place: Place = (key, position) if isinstance(value, list) else (key,)
            _check_document(document, place, source)
            own = _conditions(document, place, source, f"{source.name}: `{key}`")
            values = {name: item for name, item in document.items() if name != WHEN}
            yield ExpectedEvent(key, values, source.name, (*of_file, *own))


def _conditions(
    document: Mapping[str, Any], place: Place, source: _Source, where: str
) -> tuple[Condition, ...]:
    if WHEN not in document:
        return ()
    try:
        return read_conditions(document[WHEN], where)
    except ValueError as error:
        raise source.error((*place, WHEN), f"{f'`{place[0]}`: ' if place else ''}{error}") from None


def _check_document(document: Any, place: Place, source: _Source) -> None:
    key = place[0]
    if not isinstance(document, dict):
        raise source.error(place, f"`{key}` is neither an event (a mapping) nor a list of events")
    for name in document:
        if name not in EVENT_KEYS and name != WHEN:
            cause = f"`{key}` has the key `{name}`, which events do not have"
            raise source.error((*place, name), f"{cause}; {nearest(name, (*EVENT_KEYS, WHEN))}")
