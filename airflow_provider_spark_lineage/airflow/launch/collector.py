"""Lineage of one try of a task that launches Spark by another system: from records, else from source texts.

The application is not changed. It has records if its own settings name a place for them; the place is read if
it is below `[spark_lineage] records`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import unquote

from airflow_provider_spark_lineage.airflow.launch.application import Launch
from airflow_provider_spark_lineage.airflow.launch.planned_applications import planned_of
from airflow_provider_spark_lineage.spark import (
    RECORDS,
    Gap,
    GapKind,
    Lineage,
    OnExecution,
    OtherProcess,
    Run,
    RunBuilder,
    harmless,
    local_path,
    of_tasks,
    tell,
    without_secrets,
)


class Launched(OtherProcess):
    """Lineage of a launch's applications, as far as this worker can read it.

    `base` is `[spark_lineage] records`. Files and applications from before `since`, the start of the try,
    belong to other runs. A place with `run_id` in its name belongs to this run.
    """

    def __init__(
        self,
        launch: Launch,
        base: str,
        since: datetime | None,
        on_execution: OnExecution | None = None,
        run_id: str = "",
    ) -> None:
        super().__init__()
        self._run_id = _letters(run_id)
        self._launch = launch
        self._base = base.rstrip("/")
        self._since = since.timestamp() if since is not None else None
        self._on_execution = on_execution

    @property
    def launch(self) -> Launch:
        """Applications of the task; after a command with the agent, as it called them."""
        return self._launch

    def start(self) -> None:
        """Do nothing: the application is not changed."""

    def stop(self) -> None:
        """Read records, else source texts; `run` and `planned` return the result from now on."""
        if self._final is not None:
            return
        lost: list[str] = []
        for problem in self._launch.problems:
            tell(GapKind.UNREAD_TEXT.reason(problem), lost)
        run = None
        with harmless("the records of the application could not be read", lost):
            run = self._read(lost)
        if run is None or not (run.executions or self._notes):
            unread: tuple[Gap, ...] = ()
            with harmless("the text of the application could not be read", lost):
                self.planned, unread = planned_of(self._launch.applications)
            for gap in unread:
                if gap.kind is GapKind.UNREAD_PROGRAM:
                    tell(f"{gap.where}: {gap.reason}")
            run = RunBuilder().run(lost)
            run = replace(run, lineage=Lineage(gaps=(*run.lineage.gaps, *unread)))
        self._final = run

    def run(self, problems: Sequence[str] = ()) -> Run:
        """Return the final run after `stop`; before, a run without executions."""
        return self._final if self._final is not None else RunBuilder().run(problems)

    def _read(self, lost: list[str]) -> Run:
        builder = RunBuilder()
        uris = (application.conf.get(RECORDS, "").rstrip("/") for application in self._launch.applications)
        for uri, count in Counter(filter(None, uris)).items():
            if self._base or self._is_own(uri):
                folder = self._folder(uri, lost)
                if folder is not None:
                    self._read_folder(folder, uri, count, builder, lost)
        return builder.run(lost)

    def _is_own(self, uri: str) -> bool:
        """Return whether a place is used by this try only."""
        return False

    def _folder(self, uri: str, lost: list[str]) -> Path | None:
        """Return the folder of a place that may be read here; else report the reason and return None."""
        clean = without_secrets(uri)
        if not f"{uri}/".startswith(f"{self._base}/") or "/../" in f"{uri}/":
            tell(of_tasks.NOT_BELOW(place=clean), lost)
            return None
        folder = local_path(uri)
        if folder is None:
            tell(of_tasks.NOT_A_DISK(place=clean), lost)
        return folder

    def _read_folder(self, folder: Path, uri: str, count: int, builder: RunBuilder, lost: list[str]) -> None:
        is_own = self._is_own(uri)

        def is_of_this_try(path: Path) -> bool:
            return is_own or (self._since is not None and path.stat().st_mtime >= self._since)

        files = self._open_shared(folder, lost, is_of_this_try, None if is_own else self._is_earlier)
        place = without_secrets(uri)
        if files.is_empty:
            tell(of_tasks.APPLICATION_WROTE_NOTHING(place=place), lost)
        known = len(files.application_ids)
        if known > count and not is_own:
            tell(of_tasks.SEVERAL_APPLICATIONS(place=place, count=known), lost)
            return
        if known and not is_own and not (self._run_id and self._run_id in _letters(uri)):
            tell(of_tasks.MAY_BE_OF_OTHERS(place=place), lost)
        self._notes += files.notes
        for loss in files.losses():
            tell(loss, lost)
        builder.read(files.executions(lost), files.applications(), self._on_execution)

    def _is_earlier(self, started_at: str) -> bool:
        """Return whether an application's first record is from before the try."""
        # `fromisoformat` of Python 3.10 does not accept `Z`.
        at = datetime.fromisoformat(started_at.replace("Z", "+00:00"))
        at = at if at.tzinfo else at.replace(tzinfo=timezone.utc)
        return self._since is None or at.timestamp() < self._since


def _letters(text: str) -> str:
    """Return letters and digits only: folder names have other characters in place of `:` and `+`."""
    return re.sub(r"[\W_]", "", unquote(text))
