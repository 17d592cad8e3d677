"""Compares the datasets of a lineage with the disk and the catalog.

The same comparison is of a whole program and of each of its steps. A difference counts unless the lineage
has a gap about that dataset, or one about everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from disk import Columns, File, Moment
from steps import KEPT

from airflow_provider_spark_lineage.spark.lineage.model import Lineage, Mode, Statistics
from airflow_provider_spark_lineage.spark.runs.collected import PROGRAM

PROPERTIES = "set tblproperties"
"""In the text of a step that changes the properties of a table."""

Difference = tuple[str, str]
"""The name of a dataset, and a sentence about it."""


@dataclass(frozen=True)
class TakenStep:
    """A step that a program took, with real paths in the place of folders' names."""

    text: str
    reads: tuple[str, ...]
    counted: tuple[str, ...]
    raised: str
    """The error that it raised, empty for none."""

    before: Moment
    after: Moment
    began_ms: int
    ended_ms: int
    written: Mapping[str, Columns] = field(default_factory=dict)
    """Place -> its columns after this step, for files that do not tell their types."""

    lineage: Lineage = field(default_factory=Lineage)
    """The lineage of this step alone."""

    @property
    def failed_in_a_task(self) -> bool:
        """Return whether Spark had begun when it failed."""
        return "USER_RAISED_EXCEPTION" in self.raised


@dataclass(frozen=True)
class Span:
    """A lineage, and the steps that it is about."""

    lineage: Lineage
    steps: Sequence[TakenStep]

    @property
    def start(self) -> Moment:
        """Return the state before."""
        return self.steps[0].before

    @property
    def end(self) -> Moment:
        """Return the state afterwards."""
        return self.steps[-1].after

    @property
    def moments(self) -> list[Moment]:
        """Return the states before and after each step."""
        return [self.start, *(step.after for step in self.steps)]

    @cached_property
    def old(self) -> set[str]:
        """The files that were there before, wherever they are now."""
        return {name for place in self.start.places.values() for name in place.files}

    @cached_property
    def moved(self) -> dict[str, str]:
        """The places that a step gave another name, and their names at the end."""
        renamed: dict[str, str] = {}
        for step in self.steps:
            gone = step.before.places.keys() - step.after.places.keys()
            new = step.after.places.keys() - step.before.places.keys()
            if len(gone) == len(new) == 1:
                (old,), (now,) = gone, new
                renamed = {name: now if at == old else at for name, at in renamed.items()} | {old: now}
        return renamed

    def is_from_before(self, place: str, step: TakenStep) -> bool:
        """Return whether some files that a step finds in a place were there before all steps."""
        is_as_it_was = self.start.has(place) and self.start.place(place) == step.before.place(place)
        return is_as_it_was or bool(self.old & step.before.place(place).files.keys())

    def rewrites(self, place: str, step: TakenStep) -> bool:
        """Return whether a step made a place anew of its own rows: UPDATE, for example."""
        removed = step.before.place(place).files.keys() - step.after.place(place).files.keys()
        return place in step.reads and bool(removed)

    def written(self, place: str) -> list[File]:
        """Return the files that were written into a place and are still in it."""
        return [file for name, file in self.end.place(place).files.items() if name not in self.old]

    def changed(self) -> Iterator[str]:
        """Yield the places whose rows or columns have changed: Delta commits changes of properties, too."""
        has_properties = any(PROPERTIES in step.text for step in self.steps)
        for place in sorted({*self.start.places, *self.end.places}):
            before, after = self.start.place(place), self.end.place(place)
            is_same = before.files == after.files and before.is_there == after.is_there
            if before != after and not (is_same and has_properties):
                yield place


def differences(lineage: Lineage, steps: Sequence[TakenStep], more: Sequence[Check] = ()) -> list[str]:
    """Return a sentence for each false or missing statement of a lineage."""
    span = Span(lineage, steps)
    # A gap for collected rows is about edges; all datasets and counts are known.
    gaps = (gap for gap in lineage.gaps if gap.where != PROGRAM)
    unsure = {gap.output.name if gap.output else "" for gap in gaps}
    listed = [difference for check in (*CHECKS, *more) for difference in check(span)]
    return [f"{name}: {text}" for name, text in listed if not unsure & {name, ""}]


Check = Callable[[Span], Iterator[Difference]]


def existence(span: Span) -> Iterator[Difference]:
    """Outputs exist at the end, dropped ones do not, created ones had no data before."""
    for output in span.lineage.outputs:
        name, mode = output.dataset.id.name, output.mode
        is_entry = output.dataset.identity.is_entry
        there = [name in moment.tables if is_entry else moment.has(name) for moment in span.moments]
        if mode is Mode.DROP and there[-1]:
            yield name, "said to be dropped, and there"
        if mode is Mode.DROP and not any(there):
            yield name, "said to be dropped, and was never there"
        if mode is not Mode.DROP and not (there[-1] or name in span.end.places):
            yield name, f"said to be there ({mode.value}), and not there"
        if mode is Mode.CREATE and all(there[:-1]) and span.start.place(name).readable():
            yield name, "said to be made, and had data before"
        if mode is Mode.TRUNCATE and span.end.place(name).files:
            yield name, "said to be emptied, and has files"


def renames(span: Span) -> Iterator[Difference]:
    """A former name was there, and is not any more."""
    for output in span.lineage.outputs:
        if output.previous is None:
            continue
        before = output.previous.name
        if before not in {**span.start.places, **span.start.tables}:
            yield output.dataset.id.name, f"said to have been {before}, which was never there"
        if before in {**span.end.places, **span.end.tables}:
            yield output.dataset.id.name, f"said to have been {before}, which is there"


def changes(span: Span) -> Iterator[Difference]:
    """Whatever changed on the disk is an output, or the former name of one."""
    names = {output.dataset.id.name for output in span.lineage.outputs}
    before = {output.previous.name for output in span.lineage.outputs if output.previous}
    for place in span.changed():
        is_gone = not span.end.place(place).is_there
        owners = {name for name, table in span.start.tables.items() if table.place == place}
        if place not in names and not (is_gone and {place, *owners} & before):
            yield place, "changed, and is not an output"


def entries(span: Span) -> Iterator[Difference]:
    """Names that began or ended are reported; no dataset has a name of another one."""
    outputs = span.lineage.outputs
    names = {output.dataset.id.name: output for output in outputs}
    reported = set(names)
    for output in outputs:
        for link in output.dataset.identity.symlinks:
            if link.type == "LOCATION":
                continue
            reported.add(link.name)
            table = span.end.tables.get(link.name)
            if output.mode is Mode.DROP:
                if table is not None:
                    yield link.name, "a name of something dropped, and there"
            elif table is None:
                yield output.dataset.id.name, f"said to be the table {link.name}, which is not there"
            elif table.place != output.dataset.id.name:
                yield output.dataset.id.name, f"said to be the table {link.name}, which is {table.place}"
    for name in sorted(span.end.tables.keys() - span.start.tables.keys()):
        if name not in reported:
            yield name, "is a new table, and not said"
    before = {output.previous.name for output in outputs if output.previous}
    ended = [output.dataset.identity for output in outputs if output.mode is Mode.DROP]
    dropped = {identity.id.name for identity in ended} | {
        link.name for identity in ended for link in identity.symlinks
    }
    for name in sorted(span.start.tables.keys() - span.end.tables.keys()):
        if not {name, span.start.tables[name].place} & (before | dropped):
            yield name, "is a table no more, and not said"


def reads(span: Span) -> Iterator[Difference]:
    """Data from before that were read are inputs, and nothing else is."""
    inputs = {source.dataset.id.name for source in span.lineage.inputs}
    for step in span.steps:
        for place in step.reads:
            # A checkpoint of no rows runs no job; a write of it reads the dataset.
            is_kept = KEPT in step.text and not any(f.rows for f in step.before.place(place).readable())
            if span.is_from_before(place, step) and place not in inputs and not is_kept:
                yield place, f"read, and is not an input: {step.text}"
    read = {place for step in span.steps for place in step.reads}
    for name in sorted(inputs - read - {span.moved.get(place, "") for place in read}):
        yield name, "is an input, and was not read"


def counts_of_outputs(span: Span) -> Iterator[Difference]:
    """Counts are of rows that were written and are still there."""
    for output in span.lineage.outputs:
        name = output.dataset.id.name
        if output.mode is not Mode.DROP and not output.dataset.identity.is_entry:
            yield from _unequal(name, "written", output.statistics, _total(span.written(name)))


def counts_of_inputs(span: Span) -> Iterator[Difference]:
    """Counts are of the largest read."""
    for source in span.lineage.inputs:
        name = source.dataset.id.name
        reading = [step for step in span.steps if name in step.reads]
        # What the program wrote itself and read back is an input only where there is nothing else.
        if span.start.place(name).files:
            reading = [step for step in reading if span.is_from_before(name, step)] or reading
        anew = next((n for n, step in enumerate(reading) if span.rewrites(name, step)), len(reading))
        # A place rewritten from its own rows is the program's own, though it has old files.
        first = reading[: anew + 1]
        if anew < len(reading):
            # UPDATE, DELETE and MERGE leave it the dataset that it was: its largest read may come after them.
            reading = [step for step in span.steps if name in step.reads]
        every = [_total(step.before.place(name).readable()) for step in reading]
        sure = [_total(step.before.place(name).readable()) for step in first if name in step.counted]
        for count in ("rows", "files", "size_bytes"):
            claim = getattr(source.statistics, count)
            # If the place was empty before, no file tells which read is the program's own.
            smallest = max if span.start.place(name).files else min
            least = smallest((getattr(total, count) for total in sure), default=0)
            most = max((getattr(total, count) for total in every), default=0)
            if claim is not None and all(step.raised for step in reading):
                yield name, f"{claim} {count} said to be read by what failed"
            elif claim is not None and not least <= claim <= most:
                yield name, f"{claim} {count} said to be read, {least} to {most} there"


def versions(span: Span) -> Iterator[Difference]:
    """An output's version is the last one whose rows or columns differ from those before.

    Delta commits a version for a change of properties, too, which is not reported.
    """
    for output in span.lineage.outputs:
        name, version = output.dataset.id.name, output.dataset.identity.version
        there = span.end.place(name).version
        for step in reversed(span.steps):
            if PROPERTIES in step.text and step.after.place(name).version == there:
                there = step.before.place(name).version
        if version and output.mode is not Mode.DROP and version != there:
            yield name, f"said to be at version {version}, is at {there}"


def failures(span: Span) -> Iterator[Difference]:
    """A failed execution is reported, and no other."""
    has_failures = bool(span.lineage.failures)
    if has_failures and not any(step.raised for step in span.steps):
        yield "failures", f"told, and nothing failed: {span.lineage.failures}"
    if not has_failures and any(step.failed_in_a_task for step in span.steps):
        yield "failures", "none told"


CHECKS = (
    existence,
    renames,
    changes,
    entries,
    reads,
    counts_of_outputs,
    counts_of_inputs,
    versions,
    failures,
)
"""All are made; each yields differences."""


def _total(files: object) -> Statistics:
    listed = list(files)  # type: ignore[call-overload]
    return Statistics(sum(file.rows for file in listed), sum(file.size_bytes for file in listed), len(listed))


def _unequal(name: str, verb: str, claimed: Statistics, true: Statistics) -> Iterator[Difference]:
    for count in ("rows", "files", "size_bytes"):
        claim = getattr(claimed, count)
        if claim is not None and claim != getattr(true, count):
            yield name, f"{claim} {count} said to be {verb}, {getattr(true, count)} there"
