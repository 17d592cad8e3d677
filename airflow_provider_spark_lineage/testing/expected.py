"""Expected events by key, from `system_tests/expected/<dag_id>.yaml`, a JSON file or a folder of both.

A file that cannot mean anything is refused here, before a comparison could pass or fail for the wrong reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events.reader import collector_paused as paused
from airflow_provider_spark_lineage.testing.composite import Where, capture_names, stray_absences
from airflow_provider_spark_lineage.testing.keys import parse_key
from airflow_provider_spark_lineage.testing.matchers import nearest, sentence
from airflow_provider_spark_lineage.testing.notation import BOM, read_python, read_text, read_tree
from airflow_provider_spark_lineage.testing.places import line_of
from airflow_provider_spark_lineage.testing.reference import (
    SortKey,
    TemplateOptions,
    Templates,
    by_key,
    read_array,
    templates_of,
)
from airflow_provider_spark_lineage.testing.spec_names import misspelt_absences
from airflow_provider_spark_lineage.testing.versions import Condition, Versions, read_conditions

if TYPE_CHECKING:
    from jinja2 import Environment

Scope = Literal["all", "dags", "keys"]
"""Which emitted events are compared: all, those of the DAGs that the expected keys name, or of these keys."""

SUFFIXES = (".yaml", ".yml", ".json")

WHEN = "when"
"""The key, at the top of a file or of an event, that says for which versions it is meant."""

EVENT_KEYS = ("eventType", "eventTime", "producer", "schemaURL", "run", "job", "dataset", "inputs", "outputs")
"""What the spec's events have at the top; another key there is a typing error."""


@dataclass(frozen=True)
class ExpectedEvent:
    """One event that must be emitted: its key, the values it must have, and the file that says so."""

    key: str
    """As it is written; `keys.parse_key` takes it apart."""

    document: Mapping[str, Any]
    source: str

    when: tuple[Condition, ...] = ()
    """The versions it is for; every condition must hold, those of its file included."""

    captures: Mapping[str, int] = field(default_factory=dict)
    """The names that it captures, and how many events do so, those for other versions included."""


@dataclass(frozen=True)
class Expected:
    """Every expected event of one file, or of all files in a folder, in the order of the files."""

    events: tuple[ExpectedEvent, ...]

    scope: Scope = "all"
    """One file speaks for its own DAGs; a folder, or a mapping in code, for everything that is emitted."""

    templates: tuple[Templates, ...] = ()
    """What files in the form of Airflow's own system tests expect; they speak for their keys."""

    @classmethod
    def of(cls, keys: Mapping[str, Any], source: str = "expected", scope: Scope = "all") -> Expected:
        """From a mapping of key to one expected event or a list; BadInputError names what is wrong.

        Matchers are written as in a JSON file, or are what `composite.make` returns.

        >>> run_id = {"$match": "uuid"}
        >>> Expected.of({"dag.task.event.start": {"run": {"runId": run_id}}}).events[0].document
        {'run': {'runId': Matcher(name='uuid', argument=None, accepts_absence=False)}}
        """
        try:
            return cls.of_tree(read_python(keys, source), source, scope)
        except RecursionError:
            raise BadInputError(f"{source}: nested too deeply.") from None

    @classmethod
    def of_tree(
        cls, keys: Mapping[str, Any], source: str, scope: Scope, file: Path | None = None
    ) -> Expected:
        """The same from what `notation` has read; out of `file`, an error has a line."""
        return cls(_compared(_events(keys, _Source(source, file))), scope)

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
        """Templates as Airflow's own system tests have them, by key or as an array; see `reference`.

        `counts` says of keys, by regular expressions that cover them, how many events there may be, `">=2"`
        for example. `sort` orders the events of a key by their documents. `helpers`, a Jinja environment, has
        globals, filters and tests that templates may use besides ours; the sandbox stays.
        """
        options = TemplateOptions(counts or {}, sort, helpers)
        keys = templates if isinstance(templates, Mapping) else by_key(templates, source)
        return cls((), "keys", templates_of(keys, source, options))

    def meant_for(self, versions: Versions) -> tuple[list[ExpectedEvent], dict[str, str]]:
        """The events that are expected with these versions, and why others of their keys are not.

        Raises BadInputError where nothing is left at all, or where two files are left that expect the same.
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


@paused()
def read_expected(path: Path | str) -> Expected:
    """Expected events of a file or of a folder; BadInputError names file, line and cause.

    A JSON array is read as Airflow's own system tests would read it.
    """
    path = Path(path)
    if path.is_dir():
        return _read_folder(path)
    if not path.is_file():
        raise BadInputError(f"{path}: no such file or folder of expected events.")
    array = read_array(path)
    if array is not None:
        return Expected.of_templates(array, str(path))
    return Expected.of_tree(_keys(path), str(path), "dags", path)


def _read_folder(folder: Path) -> Expected:
    files = sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES and file.is_file())
    if not files:
        raise BadInputError(f"{folder}: holds no file of expected events ({', '.join(SUFFIXES)}).")
    first: dict[str, Path] = {}
    events: tuple[ExpectedEvent, ...] = ()
    templates: tuple[Templates, ...] = ()
    for file in files:
        array = read_array(file)
        keys = _keys(file) if array is None else by_key(array, str(file))
        # Of files for certain versions, the versions decide which is left.
        for key in keys if WHEN not in keys else ():
            if first.setdefault(key, file) is not file:
                raise BadInputError(f"{file}: `{key}` is expected in {first[key].name} already.")
        if array is None:
            events += tuple(_events(keys, _Source(str(file), file)))
        else:
            templates += templates_of(keys, str(file))
    return Expected(_compared(events), "all" if events else "keys", templates)


def _keys(file: Path) -> dict[str, Any]:
    tree = read_tree(file)
    if tree is None:
        raise BadInputError(f"{file}: is empty, so no event is expected.")
    if not isinstance(tree, dict):
        raise BadInputError(f"{file}: not a mapping of `<dag_id>.<task_id>.event.<type>` to events.")
    if not tree.keys() - {WHEN}:
        raise BadInputError(f"{file}: expects no event at all.")
    return tree


@dataclass(frozen=True)
class _Source:
    """What expected events are read from, and where in it something stands."""

    name: str

    file: Path | None = None
    """None for what is written in Python."""

    def wrong(self, path: Where, cause: object) -> BadInputError:
        """The error that says what is wrong with the value at this path."""
        line = ""
        if self.file is not None:
            text = read_text(self.file).removeprefix(BOM)
            line = f", line {line_of(text, path, is_json=self.file.suffix == '.json')}"
        return BadInputError(f"{self.name}{line}: {sentence(cause)}")


def _events(keys: Mapping[str, Any], source: _Source) -> Iterator[ExpectedEvent]:
    whole = _conditions(keys, (), source, source.name)
    for key, value in keys.items():
        if key == WHEN:
            continue
        try:
            parse_key(key)
        except ValueError as error:
            raise source.wrong((key,), f"the key {error}") from None
        documents = value if isinstance(value, list) else [value]
        if not documents:
            raise source.wrong((key,), f"`{key}` has an empty list, so no event is expected for it")
        for position, document in enumerate(documents):
            path = (key, position) if isinstance(value, list) else (key,)
            _check_document(document, path, source)
            own = _conditions(document, path, source, f"{source.name}: `{key}`")
            values = {name: item for name, item in document.items() if name != WHEN} if own else document
            yield ExpectedEvent(key, values, source.name, (*whole, *own))


def _conditions(
    document: Mapping[str, Any], path: Where, source: _Source, where: str
) -> tuple[Condition, ...]:
    if WHEN not in document:
        return ()
    try:
        return read_conditions(document[WHEN], where)
    except ValueError as error:
        raise source.wrong((*path, WHEN), f"{f'`{path[0]}`: ' if path else ''}{error}") from None


def _check_document(document: Any, path: Where, source: _Source) -> None:
    key = path[0]
    if not isinstance(document, Mapping):
        raise source.wrong(path, f"`{key}` is neither an event (a mapping) nor a list of events")
    for name in document:
        if name not in EVENT_KEYS and name != WHEN:
            help_ = nearest(name, (*EVENT_KEYS, WHEN))
            raise source.wrong((*path, name), f"`{key}` has the key `{name}`, which no event has; {help_}")
    for inner, stray in stray_absences(document):
        cause = f"`{key}` has `!{stray}` as an element of a list or in another matcher; it is for keys only"
        raise source.wrong((*path, *inner), cause)
    for inner, near in misspelt_absences(document):
        names = ".".join(str(part) for part in inner if isinstance(part, str))
        raise source.wrong((*path, *inner), f"`{key}` says of `{names}` that it may be absent; {near}")


def _compared(events: Iterable[ExpectedEvent]) -> tuple[ExpectedEvent, ...]:
    """The same events, where every captured value is compared with another one."""
    events = tuple(events)
    own = [capture_names(event.document) for event in events]
    places, holders = Counter[str](), Counter[str]()
    for names in own:
        places.update(names)
        holders.update(names.keys())
    for event, names in zip(events, own, strict=True):
        for name in names:
            if places[name] == 1:
                others = [other for other in places if other != name]
                help_ = f"; {nearest(name, others)}" if others else "."
                raise BadInputError(
                    f"{event.source}: `{event.key}` captures `{name}`, which nothing else does,"
                    f" so it would be compared with nothing{help_}"
                )
    return tuple(
        replace(event, captures={name: holders[name] for name in names}) if names else event
        for event, names in zip(events, own, strict=True)
    )
