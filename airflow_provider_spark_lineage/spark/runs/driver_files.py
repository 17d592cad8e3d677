"""Files that the driver of another process wrote: in a folder of its own, or of drivers of several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from airflow_provider_spark_lineage.spark.agent.settings import PROPERTIES, SQL_TEXT
from airflow_provider_spark_lineage.spark.event_log import is_event_log
from airflow_provider_spark_lineage.spark.records.application import Application
from airflow_provider_spark_lineage.spark.records.record import SUFFIX, file_stem, read_records, record_paths
from airflow_provider_spark_lineage.spark.records.sql_text import FULL
from airflow_provider_spark_lineage.spark.records.status import SUFFIX as NOTE_SUFFIX
from airflow_provider_spark_lineage.spark.records.status import DriverNote, losses, read_notes
from airflow_provider_spark_lineage.spark.runs.executions import Execution, executions
from airflow_provider_spark_lineage.spark.runs.recorded import RecordedFolder


class DriverFolder(RecordedFolder):
    """Files of one driver: records and status files, or Spark's event log.

    `settings` are the `spark.lineage.*` properties of its job, if they are needed to read a log. Unreadable
    status files are added to `problems`.
    """

    def __init__(
        self,
        directory: Path,
        settings: Mapping[str, str] | None = None,
        problems: list[str] | None = None,
    ) -> None:
        if settings is None:
            super().__init__(directory)
        else:
            super().__init__(directory, settings[SQL_TEXT], settings[PROPERTIES].split(";"))
        self.notes: list[DriverNote] = [] if problems is None else read_notes(directory, problems)

    @property
    def is_log(self) -> bool:
        """Return whether there is an event log in the folder."""
        return is_event_log(self.directory)

    @property
    def has_records(self) -> bool:
        """Return whether there is at least one record."""
        return any(self.directory.glob("*" + SUFFIX))

    @property
    def has_hidden_statements(self) -> bool:
        """Return whether the files have statements that the settings leave out: a log has all of them."""
        return self.is_log and self._sql_text != FULL

    def losses(self) -> Iterable[str]:
        """Return sentences about losses that the driver reports."""
        return losses(self.notes)


class FoundFiles:
    """Records and status files of one run, in a folder that drivers of other runs may use, too.

    `is_of_run` says whether a file may be of this run; `is_earlier`, if given, whether an application that
    began at a time (ISO 8601) is from before. Unreadable files are added to `problems`.
    """

    def __init__(
        self,
        folder: Path,
        problems: list[str],
        is_of_run: Callable[[Path], bool],
        is_earlier: Callable[[str], bool] | None = None,
    ) -> None:
        has_records = any(folder.glob("*" + SUFFIX))
        paths = [*filter(is_of_run, record_paths(folder) if has_records else ())]
        files = [path.name for path in folder.glob("*" + NOTE_SUFFIX) if is_of_run(path)]
        notes = [
            note
            for note in (read_notes(folder, problems) if files else ())
            for stem in [file_stem(note.application_id)]
            if any(name.startswith((f"{stem}.", f"{stem}_")) for name in files)
        ]
        first = {path.name.rpartition("-")[0]: path for path in reversed(paths)}
        started = {record.application_id: record.started_at for record in read_records([*first.values()], [])}
        if is_earlier is not None:
            earlier = {name for name, at in started.items() if is_earlier(at)}
            stems = tuple(f"{file_stem(name)}{end}" for name in earlier for end in "-_")
            paths = [path for path in paths if not path.name.startswith(stems)]
            notes = [note for note in notes if note.application_id not in earlier]
            started = {name: at for name, at in started.items() if name not in earlier}
        self._paths = paths
        self.notes = notes
        self.application_ids = {*started, *(note.application_id for note in notes)}

    @property
    def is_empty(self) -> bool:
        """Return whether the run has neither a record nor a status file."""
        return not (self._paths or self.notes)

    def losses(self) -> Iterable[str]:
        """Return sentences about losses that the drivers report."""
        return losses(self.notes)

    def executions(self, problems: list[str]) -> Iterator[Execution]:
        """Yield the executions in the order of their ends; add unreadable records to `problems`."""
        return executions(read_records(self._paths, problems))

    def applications(self) -> Iterator[Application]:
        """Yield the applications that the status files describe."""
        return (note.application for note in self.notes)
