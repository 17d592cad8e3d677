"""Lineage from the files that a driver left for the worker, whatever release its agent had."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gap_kinds import gap_kinds
from recordings import EVENTS, Recording

from airflow_provider_spark_lineage.airflow.submitted.collector import REDACTION, Submitted
from airflow_provider_spark_lineage.airflow.submitted.jobs import Job, SparkSqlJob
from airflow_provider_spark_lineage.airflow.submitted.records_folder import RecordsFolder
from airflow_provider_spark_lineage.spark.agent.settings import PROPERTIES, RECORDS, SQL_TEXT
from airflow_provider_spark_lineage.spark.records.record import Record, encode_record
from airflow_provider_spark_lineage.spark.records.status import DriverNote
from airflow_provider_spark_lineage.spark.runs.executions import Execution

RECORD = Record.from_json(json.loads(Recording("scan_write_parquet").lines[0]))


class OwnJob(Job):
    """A job of a hook that has nothing but a folder."""

    is_on_cluster = is_on_kubernetes = False
    spark_submit = ("spark-submit",)
    conf: dict[str, str] = {}  # noqa: RUF012  a property of the class above

    def add(self, conf: Mapping[str, str], python_file: str = "") -> None:
        self.hook.conf = conf


class SparkSubmitOperator:
    """An operator by its name, whose hook starts a driver in this process."""

    application = application_args = conf = None

    def __init__(self, driver: Callable[[Path], None]) -> None:
        self.started = SimpleNamespace(submit=lambda application: driver(Path(self.started.conf[RECORDS])))

    def _get_hook(self) -> Any:
        return self.started


@pytest.fixture
def collected(tmp_path: Path):
    """Return a function that has a driver write its files, and gives the collector that has read them."""

    def run(
        driver: Callable[[Path], None],
        application: str = "",
        error: type[BaseException] = SystemExit,
        on_execution: Callable[[Submitted], None] = lambda _: None,
        on_begin: Callable[[Execution], None] | None = None,
        *,
        sql_text: str = "full",
        keep: bool = False,
    ) -> Submitted:
        def prepared(folder: Path) -> None:
            folder.mkdir(parents=True, exist_ok=True)
            driver(folder)

        task = SparkSubmitOperator(prepared)
        task.application = application
        instance = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
        settings = {SQL_TEXT: sql_text, PROPERTIES: "spark.master"}
        place = RecordsFolder(str(tmp_path / "records"), instance)
        collector = Submitted(task, place, job_class=OwnJob, settings=settings, keep=keep)
        collector.on_execution, collector.on_begin = lambda _: on_execution(collector), on_begin
        collector.start()
        with suppress(error):
            task._get_hook().submit("app.py")
        collector.stop()
        return collector

    return run


def write(folder: Path, note: DriverNote, attempt: str = "", version: int = 1) -> None:
    """Write a record of a real execution, and the note of its driver, as an agent does."""
    for name, content in (encode_record(RECORD, attempt), note.encode(attempt)):
        text = gzip.decompress(content) if name.endswith(".gz") else content
        document = {**json.loads(text), "version": version}
        text = json.dumps(document).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def note(**fields: Any) -> DriverNote:
    return DriverNote("application_1", "load", "4.1.0", **{"is_complete": True, **fields})


@pytest.mark.parametrize("listeners", ["", "a.Other,io.openlineage.spark.agent.OpenLineageSparkListener"])
def test_the_java_agent_is_seen_before_the_first_execution(collected, listeners: str):
    """No event of an execution is sent then; a log has the properties, and a driver's note the answer."""
    seen: list[bool] = []

    def log(folder: Path) -> None:
        lines = Recording("ctas", kind=EVENTS).lines
        mark = '"Spark Properties":{'
        assert mark in "".join(lines)
        named = f'{mark}"spark.extraListeners":"{listeners}",'
        text = "\n".join(line.replace(mark, named) for line in lines)
        (folder / "app-1").write_text(text)

    def notes(folder: Path) -> None:
        write(folder, note(agent_configured=bool(listeners)))

    for driver in (log, notes):
        seen.clear()
        collector = collected(driver, on_execution=lambda collector: seen.append(collector.agent_configured))
        assert seen
        assert set(seen) == {bool(listeners)}
        assert collector.agent_configured is bool(listeners)


def test_an_event_log_that_the_author_turned_off_stays_off(tmp_path: Path):
    """`conf` of the operator is the author's wish; the event says what it costs."""
    hook = SimpleNamespace(_conf="spark.eventLog.enabled=false", _master="local[1]", run_query=lambda: None)
    task = SimpleNamespace(_get_hook=lambda: hook, sql="select 1", conf=hook._conf)
    instance = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
    place = RecordsFolder(str(tmp_path / "records"), instance)
    settings = {SQL_TEXT: "full", PROPERTIES: "spark.master"}
    collector = Submitted(task, place, job_class=SparkSqlJob, settings=settings)
    collector.start()
    task._get_hook().run_query()
    collector.stop()
    assert hook._conf == "spark.eventLog.enabled=false"
    assert "not_captured" in gap_kinds(collector.run().lineage)


def test_the_java_agent_is_told_the_task_of_a_job_that_the_user_did_not_tell(tmp_path: Path, monkeypatch):
    """Airflow's hook of `spark-sql` does not; properties in a file of this machine are the user's."""
    (tmp_path / "spark-defaults.conf").write_text("spark.openlineage.namespace mine\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    hook = SimpleNamespace(_conf="spark.a=1", _master="local[1]", run_query=lambda: None)
    task = SimpleNamespace(_get_hook=lambda: hook, sql="select 1")
    instance = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
    place = RecordsFolder(str(tmp_path / "records"), instance)
    settings = {SQL_TEXT: "full", PROPERTIES: "spark.master"}
    collector = Submitted(task, place, job_class=SparkSqlJob, settings=settings)
    asked: list[set[str]] = []

    def added(present: Iterable[str]) -> dict[str, str]:
        asked.append(set(present))
        return {"spark.openlineage.parentRunId": "1", "spark.openlineage.transport.auth.apiKey": "planted"}

    collector.added_properties = added
    collector.start()
    task._get_hook().run_query()
    assert asked == [{"spark.openlineage.namespace", "spark.a"}]
    assert hook._conf["spark.a"] == "1"
    assert hook._conf["spark.openlineage.parentRunId"] == "1"
    # The event log is ours, and in a shared folder.
    for name in ("auth.apiKey", "headers.X-Team", "transports.main.headers.X-Team"):
        assert re.search(hook._conf[REDACTION], f"spark.openlineage.transport.{name}"), name
    collector.added_properties = lambda _: {}[""]
    task._get_hook().run_query()
    collector.stop()


@pytest.mark.parametrize("version", [0, 2])
def test_records_of_another_release_of_the_agent_are_a_gap(collected, tmp_path: Path, version: int):
    """A zip that was uploaded once may be older or newer; the text of the job is still read."""
    script = tmp_path / "app.py"
    script.write_text("spark.read.parquet('/lake/orders').write.parquet('/lake/copy')")
    collector = collected(lambda folder: write(folder, note(), version=version), str(script))
    run = collector.run()
    assert gap_kinds(run.lineage) == ["not_recorded", "not_recorded"], "of the status file and of the record"
    assert not run.lineage.outputs
    assert [output.dataset.id.name for output in collector.planned.outputs] == ["/lake/copy"]


def test_each_attempt_of_a_driver_has_files_of_its_own(collected):
    """YARN starts a driver that failed again, with the same id of the application."""

    def driver(folder: Path) -> None:
        write(folder, note(is_complete=False), attempt="1")
        write(folder, note(problems=["something was lost"]), attempt="2")

    run = collected(driver).run()
    assert len(run.executions) == 2
    assert gap_kinds(run.lineage) == ["not_recorded", "not_recorded"], "what was lost, and the end"


def test_a_driver_without_files_is_reported_with_its_folder(collected):
    """Three causes look alike here; only the driver's log has the right one."""
    assert gap_kinds(collected(lambda folder: None).run().lineage) == ["not_captured"]


@pytest.mark.parametrize(("end", "stays"), [(RuntimeError, False), (KeyboardInterrupt, True)])
def test_files_of_a_driver_that_was_killed_are_removed(collected, tmp_path: Path, end, stays):
    """`spark-submit` has ended, so no file is written any more; one stopped from outside may still run."""

    def driver(folder: Path) -> None:
        write(folder, note(is_complete=False))
        raise end

    collector = collected(driver, error=end)
    assert gap_kinds(collector.run().lineage) == ["not_recorded"]
    assert any((tmp_path / "records").rglob("*.gz")) == stays


@pytest.mark.parametrize("sql_text", ["full", "masked", "none"])
def test_a_log_is_not_kept_against_the_option_that_keeps_texts_back(collected, tmp_path: Path, sql_text):
    """Spark writes statements into its log as they are; records of the agent have what the option shows."""

    def log(folder: Path) -> None:
        (folder / "app-1").write_text("\n".join(Recording("ctas", kind=EVENTS).lines))

    def records(folder: Path) -> None:
        write(folder, note())

    for driver, stays in ((log, sql_text == "full"), (records, True)):
        collector = collected(driver, sql_text=sql_text, keep=True)
        assert collector.run().executions
        files = [path for path in (tmp_path / "records").rglob("*") if path.is_file()]
        assert bool(files) is stays
        for path in files:
            path.unlink()


@pytest.mark.parametrize("listens", [False, True])
def test_an_execution_is_passed_on_while_the_driver_runs(collected, listens: bool):
    """The backend shows what a job of hours has done, also if the worker is killed; nothing comes twice.

    Whether the Java agent sends the same events is known by then.
    """
    began, ended = threading.Event(), threading.Event()
    seen: list[bool] = []

    def on_execution(collector: Submitted) -> None:
        seen.append(collector.agent_configured)
        ended.set()

    def driver(folder: Path) -> None:
        written = note(details={"master": "yarn"}, agent_configured=listens, is_complete=False)
        for name, content in (written.encode(), encode_record(replace(RECORD, number=0, execution_id=5))):
            (folder / name).write_bytes(content)
        assert began.wait(60), "the driver ended first"
        write(folder, written)
        assert ended.wait(60), "the driver ended first"

    collector = collected(
        driver, "app.py", error=(), on_execution=on_execution, on_begin=lambda _: began.set()
    )
    assert seen == [listens]
    assert len(collector.run().executions) == 1
