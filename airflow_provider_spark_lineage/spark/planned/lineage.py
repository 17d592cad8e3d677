"""Planned lineage of a program's text: datasets without columns; each unknown part is a gap.

Nothing has run yet. A planned lineage is for the START of a run, and for runs that left no records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from airflow_provider_spark_lineage.spark.gaps import of_programs, of_queries
from airflow_provider_spark_lineage.spark.gaps.kinds import Reason
from airflow_provider_spark_lineage.spark.lineage.columns import evaluate
from airflow_provider_spark_lineage.spark.lineage.compose import Composer
from airflow_provider_spark_lineage.spark.lineage.leaves import gaps_of
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Gap, Input, Lineage, Mode, Output
from airflow_provider_spark_lineage.spark.plan.database_sql.reader import SqlError, read_query
from airflow_provider_spark_lineage.spark.plan.database_sql.scope import Dialect
from airflow_provider_spark_lineage.spark.planned import sources as described
from airflow_provider_spark_lineage.spark.planned.program import UNKNOWN_FORMAT, Access, Program, Unread
from airflow_provider_spark_lineage.spark.sources import identify, source_of
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Facts, Identity
from airflow_provider_spark_lineage.spark.sources.patterns import alternatives


class Planner:
    """Names the datasets that a program reads and writes, step by step.

    `directory` is the working directory of the driver, if known.
    """

    def __init__(self, settings: Mapping[str, str], directory: str) -> None:
        self._settings = settings
        self._directory = directory
        self._gaps: dict[Gap, None] = {}
        self._unplaced: dict[DatasetId, Gap] = {}
        """Name of a dataset -> the gap about that name."""

        self._places: dict[tuple[str, tuple[str, ...]], Access] = {}
        """Table -> the step that created it at a location."""

        self._uncertain: set[DatasetId] = set()
        """Datasets that may have been written before."""

        self._absent: set[DatasetId] = set()
        """Datasets that the program dropped; a dataset that is created again is new."""

        self._inputs: dict[DatasetId, Input] = {}
        """Reads of uncertain datasets, which may be reads of rows from before the program."""

        self._drops: dict[DatasetId, Output] = {}

    def lineage(self, program: Program) -> Lineage:
        """Return the lineage of all steps."""
        composer = Composer()
        for step in program.steps:
            if isinstance(step, Unread):
                self._gaps[Gap(_where(step), step.reason)] = None
            else:
                composer.add(self._step(step))
        composed = composer.lineage()
        inputs = {**self._inputs, **{read.dataset.id: read for read in composed.inputs}}
        outputs = {**self._drops, **{output.dataset.id: output for output in composed.outputs}}
        # A gap about the name of a table that was only an intermediate is left out.
        hidden = {gap for name, gap in self._unplaced.items() if name not in {*inputs, *outputs}}
        return Lineage(
            inputs=tuple(inputs[name] for name in sorted(inputs)),
            outputs=tuple(outputs[name] for name in sorted(outputs)),
            gaps=(
                Gap("text", of_programs.PLANNED),
                *sorted((gap for gap in self._gaps if gap not in hidden), key=_place),
            ),
        )

    def _step(self, access: Access) -> Lineage:
        datasets = [Dataset(identity) for identity in self._identities(access)]
        if not access.change:
            inputs = tuple(Input(dataset) for dataset in datasets)
            self._inputs.update(
                (read.dataset.id, read) for read in inputs if read.dataset.id in self._uncertain
            )
            return Lineage(inputs=inputs)
        outputs = tuple(self._output(access, dataset) for dataset in datasets)
        ids = {dataset.id for dataset in datasets}
        is_sure = access.is_certain and not access.partial and not access.rewrites
        if access.change == "create" and access.if_exists and not ids <= self._absent:
            # Rows from before may still exist, and be read.
            self._uncertain |= ids
        elif is_sure and access.change in ("create", "overwrite", "drop"):
            self._uncertain -= ids
        if is_sure and access.change == "drop":
            self._absent |= ids
        if not access.is_certain:
            self._uncertain |= ids
            if access.change == "drop":
                self._drops.update((output.dataset.id, output) for output in outputs)
                return Lineage()
        return Lineage(outputs=outputs)

    def _output(self, access: Access, dataset: Dataset) -> Output:
        previous = None
        if access.previous:
            before = replace(access, table=access.previous, paths=(), previous=())
            previous = next((identity.id for identity in self._of_table(before)), None)
        return Output(
            dataset,
            Mode(access.change),
            partial=access.partial,
            rewrites=access.rewrites,
            has_rows=access.has_rows,
            may_be_absent=access.change == "drop" and access.if_exists,
            previous=previous,
        )

    def _gap(self, access: Access, reason: Reason) -> None:
        self._gaps[Gap(_where(access), reason)] = None

    # --- Names

    def _identities(self, access: Access) -> tuple[Identity, ...]:
        if not access.table:
            return self._of_relation(access)
        is_new = access.change in ("create", "overwrite") and not access.if_exists and access.is_certain
        if access.paths and is_new:
            self._places[_key(access)] = access
        identities = self._of_table(access)
        if access.change in ("drop", "rename") or (access.change == "alter" and access.paths):
            self._places.pop(_key(access), None)
        if access.change == "alter" and access.paths and access.is_certain:
            # From now on the table is at its new location.
            self._places[_key(access)] = access
        return identities

    def _of_table(self, access: Access) -> tuple[Identity, ...]:
        """Return a table by its location in the text, or by its name in its catalog."""
        name = ".".join((*filter(None, [access.catalog]), *access.table))
        place = self._places.get(_key(access))
        if place is not None and (access.change in ("alter", "drop", "rename") or not access.has_rows):
            # The catalog does not own the data, so only its entry changes.
            entries = source_of(described.of_table(access.catalog, access.table, self._settings)).entries()
            if entries:
                return entries
        relation = self._relation(place) if place is not None else None
        facts = described.of_table(access.catalog, access.table, self._settings, relation)
        if access.is_view:
            view: Any = {**facts, "view": list(facts.get("table") or ())}
            return source_of(view).entries() or self._by_entry(access, facts, name)
        identities = identify(facts)
        if identities and all(identity.known for identity in identities):
            return identities
        return self._by_entry(access, facts, name)

    def _by_entry(self, access: Access, facts: Facts, name: str) -> tuple[Identity, ...]:
        """Return a table by its entry in the catalog, with a gap, because its data have another name."""
        entries = source_of(facts).entries() or identify(facts)
        if not all(identity.known for identity in entries):
            reason = of_programs.UNKNOWN_CATALOG(name=name)
        else:
            reason = of_programs.UNKNOWN_LOCATION(name=name)
        # One gap for each table, at the line of its first use.
        if entries and entries[0].id not in self._unplaced:
            self._unplaced[entries[0].id] = gap = Gap(_where(access), reason)
            self._gaps[gap] = None
        # The name of the entry is the only known name of the data, so it is not marked as an entry.
        return tuple(replace(entry, type="VIEW" if access.is_view else "") for entry in entries)

    def _of_relation(self, access: Access) -> tuple[Identity, ...]:
        if access.format in described.NO_DATASET:
            return ()
        option = described.needs(access.format, access.paths, access.unknown_options)
        if option is not None:
            sentence = of_programs.UNKNOWN_OPTIONS if option == "*" else of_programs.UNKNOWN_OPTION
            self._gap(access, sentence(name=option))
            return ()
        options, missing = described.with_servers(access.format, dict(access.options), self._settings)
        if missing:
            self._gap(access, of_programs.NO_SERVERS(name=missing))
            return ()
        facts = self._relation(replace(access, options=tuple(options.items())))
        if facts is None:
            return ()
        query = None if access.change else self._of_query(access, facts)
        identities = identify(facts) if query is None else query
        for gap in gaps_of("", identities) if identities or query is None else ():
            self._gap(access, gap.reason)
        return identities

    def _of_query(self, access: Access, facts: Facts) -> tuple[Identity, ...] | None:
        """Return the tables of a query that a database runs; None without a query."""
        query = source_of(facts).query()
        if query is None:
            return None
        try:
            scans = evaluate(read_query(query.text, Dialect(query.dialect, query.fold), [])).scans
        except SqlError as error:
            self._gap(access, of_queries.UNREAD_QUERY(error=error))
            return (query.database,)
        return tuple(dict.fromkeys(query.identify(scan.relation) for scan in scans))

    def _relation(self, access: Access) -> described.Described | None:
        """Return the facts of paths and options; None if no path has a name."""
        paths = tuple(self._paths(access))
        if access.paths and not paths:
            return None
        file_format = "" if access.format == UNKNOWN_FORMAT else access.format
        if paths and not access.format and not access.table:
            file_format = self._settings.get("spark.sql.sources.default", "parquet")
        return described.of_relation(file_format, paths, dict(access.options), writes=bool(access.change))

    def _paths(self, access: Access) -> Iterator[str]:
        if access.format in described.NAMED:
            yield from access.paths
            return
        for path in access.paths:
            # A target is not a pattern.
            places = [(path, None)] if access.change else map(described.without_pattern, alternatives(path))
            for written, unmatched in places:
                full, problem = written, unmatched
                if not problem:
                    full, problem = described.full_path(written, self._settings, self._directory)
                if full.startswith("/"):
                    self._gaps[Gap("text", of_programs.NO_FILE_SYSTEM)] = None
                if problem:
                    self._gap(access, problem)
                else:
                    yield full


def _where(step: Access | Unread) -> str:
    return f"{step.file} line {step.line}".lstrip() if step.line else step.file or "text"


def _place(gap: Gap) -> tuple[str, int]:
    """Return the file and the line of a gap; the script's own are first."""
    file, _, line = gap.where.rpartition("line ")
    return (file, int(line)) if file != gap.where and line.isdecimal() else ("", 0)


def _key(access: Access) -> tuple[str, tuple[str, ...]]:
    return access.catalog, tuple(part.lower() for part in access.table)
