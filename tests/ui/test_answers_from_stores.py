"""Answers from Airflow's tables and from both stores: what is stored is shown, or it is said why not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from packaging.version import Version
from providers import AIRFLOW

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.skipif(Version("3.1") > AIRFLOW, reason="Airflow 3.0 has no tabs"),
]

DAG = "shop"
MOMENT = datetime(2026, 11, 24, tzinfo=timezone.utc)


def value(
    name: str = "/out", *, try_number: int | None = 1, kind: str = "COMPLETE", job: str = "shop.load"
) -> dict[str, Any]:
    """Return what a task stores that wrote a dataset."""
    event = {
        "eventType": kind,
        "eventTime": "2020-01-01T00:00:00Z",
        "run": {"runId": "1", "facets": {"sparkLineage_gaps": {"gaps": []}}},
        "job": {"namespace": "n", "name": job},
        "producer": "airflow-provider-spark-lineage",
        "inputs": [],
        "outputs": [
            {"namespace": "file", "name": name, "outputFacets": {"outputStatistics": {"rowCount": 1}}}
        ],
    }
    summary = stored_form.summary_of(event, try_number=try_number, map_index=-1, began="", ended="")
    return stored_form.pack([event], summary)


@dataclass
class Airflow:
    """The tables of Airflow that the viewer reads, a store, and what was asked of the store's files."""

    session: Any
    store: Any
    put: Callable[[InstanceKey, Any, int], None]
    opened: list[str]
    runs: int = 0

    def add_run(self, run_id: str) -> None:
        """Add a run, newer than the runs before."""
        from airflow.models.dagrun import DagRun

        self.runs += 1
        self._insert(
            DagRun,
            id=self.runs,
            dag_id=DAG,
            run_id=run_id,
            run_type="manual",
            state="success",
            run_after=MOMENT + timedelta(hours=self.runs),
            # Its default is a query of a table that is not created.
            log_template_id=None,
        )

    def add(self, run_id: str, task_id: str, index: int = -1, **also: Any) -> InstanceKey:
        """Add a task instance; `stored` is what it stored, in the try `of_try`."""
        from airflow.models.taskinstance import TaskInstance

        instance = InstanceKey(DAG, run_id, task_id, index)
        known = {"state": "success", "try_number": 1, "start_date": MOMENT, "end_date": MOMENT}
        self._insert(
            TaskInstance,
            id=uuid4(),
            **{**instance._asdict(), **known, **{name: also[name] for name in known if name in also}},
            pool="default",
            operator="PySparkLineageOperator",
        )
        if "stored" in also:
            self.put(instance, also["stored"], also.get("of_try", 1))
        return instance

    def _insert(self, model: Any, **columns: Any) -> None:
        self.session.execute(model.__table__.insert().values(**columns))


@pytest.fixture
def session() -> Iterator[Any]:
    from airflow.models import import_all_models
    from airflow.models.dagrun import DagRun
    from airflow.models.taskinstance import TaskInstance
    from airflow.models.xcom import XComModel
    from sqlalchemy import create_engine
    from sqlalchemy.orm import Session

    # Tables refer to others, which are not created.
    import_all_models()
    engine = create_engine("sqlite://")
    tables = [model.__table__ for model in (DagRun, TaskInstance, XComModel)]
    DagRun.metadata.create_all(engine, tables=tables)
    with Session(engine) as session:
        yield session


@pytest.fixture
def xcoms(session: Any) -> Airflow:
    """XComs as the store."""
    from airflow.models.xcom import XComModel

    from airflow_provider_spark_lineage.airflow.ui.stores import XComs

    def put(instance: InstanceKey, content: Any, try_number: int) -> None:
        airflow._insert(
            XComModel, **instance._asdict(), dag_run_id=airflow.runs, key=stored_form.XCOM_KEY, value=content
        )

    airflow = Airflow(session, XComs(session), put, [])
    return airflow


@pytest.fixture
def files(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Airflow:
    """A folder as the store."""
    from airflow_provider_spark_lineage.airflow.task.stored_files import LineageFiles

    def put(instance: InstanceKey, content: Any, try_number: int) -> None:
        file = tmp_path / stored_form.file_of(instance, try_number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else stored_form.to_file(content))

    opened: list[str] = []
    from_file = stored_form.from_file
    monkeypatch.setattr(stored_form, "from_file", lambda content: opened.append("file") or from_file(content))
    return Airflow(session, LineageFiles(tmp_path.as_uri()), put, opened)


@pytest.fixture(params=["xcoms", "files"])
def airflow(request: pytest.FixtureRequest) -> Airflow:
    """Each store in turn."""
    world: Airflow = request.getfixturevalue(request.param)
    world.add_run("run 1")
    return world


@pytest.fixture
def answers() -> Any:
    from airflow_provider_spark_lineage.airflow.ui import answers

    return answers


def of_run(answers: Any, airflow: Airflow, run_id: str = "run 1") -> Any:
    answer = answers.of_run(airflow.store, airflow.session, DAG, run_id)
    json.dumps(answer, allow_nan=False)
    return answer


def history(answers: Any, airflow: Airflow, task_id: str, index: int = -1) -> Any:
    return answers.history(airflow.store, airflow.session, DAG, task_id, index)


def notes_of(answer: Any) -> dict[str, str]:
    return {task["title"]: task["note"] for task in answer["document"]["tasks"] if task["note"]}


def names_of(answer: Any) -> set[str]:
    return {dataset["name"] for dataset in answer["document"]["datasets"]}


def test_what_is_beyond_the_limit_is_not_called_unrecorded(answers, airflow):
    """Lineage that is stored and not read is `not shown`."""
    for index in range(600):
        airflow.add("run 1", "load", index, stored=value())
    airflow.add("run 1", "plain")
    notes = notes_of(of_run(answers, airflow))
    assert notes.pop("plain") == "no lineage recorded"
    assert len(notes) == 100
    assert set(notes.values()) == {"not shown: more than 500 task instances"}


def test_many_instances_of_one_task_do_not_hide_another(answers, airflow):
    """The limit is of the task that is asked for."""
    for index in range(500):
        airflow.add("run 1", "a", index, stored=value())
    airflow.add("run 1", "z", 0, stored=value("/z"))
    assert names_of(history(answers, airflow, "z")) == {"/z"}


def test_what_is_not_listed_is_said(answers, airflow):
    """A list of tasks has an end."""
    airflow.add("run 1", "load", stored=value())
    for index in range(502):
        airflow.add("run 1", "mapped", index)
    answer = of_run(answers, airflow)
    assert len(answer["document"]["tasks"]) == 501
    assert answer["notes"] == ["Only the first 500 task instances that are not shown are listed."]


def test_the_lineage_of_an_old_try_is_not_the_tasks(answers, airflow):
    """Its state and its datasets are of a try that no longer counts."""
    airflow.add("run 1", "load", try_number=2, stored=value("/old"))
    airflow.add("run 1", "other", stored=value("/other"))
    answer = of_run(answers, airflow)
    assert names_of(answer) == {"/other"}
    assert notes_of(answer) == {"load": "lineage of try 1 only"}
    assert {task["title"]: task["state"] for task in answer["document"]["tasks"]}["load"] == "complete"
    assert [entry["rows"] for entry in history(answers, airflow, "load")["history"]] == [None]
    alone = answers.of_task(airflow.store, airflow.session, (DAG, "run 1", "load", -1), None)
    assert alone["notes"] == ["This is the lineage of try 1, not of try 2."]


def test_a_later_try_of_a_deleted_run_is_not_the_tasks(answers, files):
    """A run may be deleted and created again with its id; its files stay."""
    files.add_run("run 1")
    instance = files.add("run 1", "load", stored=value("/new"))
    files.put(instance, value("/deleted", try_number=2), 2)
    assert names_of(of_run(answers, files)) == {"/new"}
    alone = answers.of_task(files.store, files.session, tuple(instance), None)
    assert (names_of(alone), alone["notes"]) == ({"/new"}, [])


def test_a_run_with_old_tries_only_does_not_say_that_nothing_is_stored(answers, airflow):
    """There is lineage; it is not of the last try."""
    airflow.add("run 1", "load", try_number=2, stored=value())
    answer = of_run(answers, airflow)
    assert answer["document"] is None
    assert answer["reason"]["sentence"] == (
        "No lineage of this run can be shown: it cannot be read, or is of earlier tries."
    )


def test_no_file_is_opened_to_list_runs(answers, files):
    """Folders tell which runs have lineage."""
    for number in range(3):
        files.add_run(f"run {number}")
        for task in ("load", "other"):
            files.add(f"run {number}", task, stored=value())
    files.add_run("empty")
    files.add("empty", "load")
    answer = of_run(answers, files, "empty")
    assert [run["id"] for run in answer["previous"]] == ["run 2", "run 1", "run 0"]
    answer = answers.of_task(files.store, files.session, (DAG, "empty", "load", -1), None)
    assert [run["id"] for run in answer["previous"]] == ["run 2", "run 1", "run 0"]
    assert files.opened == []


def test_runs_with_lineage_are_those_of_the_task(answers, airflow):
    """And of the instance, of a mapped task."""
    for number in (2, 3, 4):
        airflow.add_run(f"run {number}")
        for index in (0, 1):
            stores = {"stored": value()} if index < number - 2 else {}
            airflow.add(f"run {number}", "load", index, **stores)
    store = airflow.store
    runs = ["run 1", "run 2", "run 3"]
    assert set(store.runs_with_lineage(DAG, [*runs, "run 4"])) == {"run 3", "run 4"}
    assert set(store.runs_with_lineage(DAG, runs, "load", 0)) == {"run 3"}
    assert set(store.runs_with_lineage(DAG, runs, "load", 1)) == set()
    assert set(store.runs_with_lineage(DAG, runs, "other")) == set()


def test_a_history_has_figures_of_whole_runs(answers, airflow):
    """The sum over some instances of a run is not the run's."""
    airflow.store.max_summaries = 5
    for number in (2, 3, 4):
        airflow.add_run(f"run {number}")
        for index in (0, 1):
            airflow.add(f"run {number}", "load", index, stored=value(f"/out{index}"))
    answer = history(answers, airflow, "load")
    assert [entry["rows"] for entry in answer["history"]] == [2, 2, None]
    assert answer["notes"] == ["Not all runs have figures: there are more than 5 task instances."]
    assert names_of(answer) == {"/out0", "/out1"}
    assert len(airflow.opened) <= 4 + 2


def test_the_newest_runs_tasks_are_read_first(answers, airflow, monkeypatch):
    """The limit of task instances leaves out those of old runs."""
    from airflow_provider_spark_lineage.airflow.ui import database

    monkeypatch.setattr(database, "MAX_LISTED", 2)
    airflow.add("run 1", "load", 0)
    airflow.add("run 1", "load", 1)
    airflow.add_run("run 2")
    airflow.add("run 2", "load", 0, stored=value("/new"))
    airflow.add("run 2", "load", 1)
    answer = history(answers, airflow, "load")
    assert [entry["state"] for entry in answer["history"]] == ["complete", "other"]
    assert names_of(answer) == {"/new"}


def test_a_history_without_the_newest_runs_tasks_is_answered(answers, airflow, monkeypatch):
    """They may be deleted while it is read."""
    airflow.add("run 1", "load", stored=value())
    monkeypatch.setattr(answers, "task_facts", lambda *_: [])
    answer = history(answers, airflow, "load")
    assert answer["document"] is None
    assert [entry["state"] for entry in answer["history"]] == ["other"]


def test_json_in_json_is_read_everywhere(answers, xcoms):
    """Airflow's own `XComModel.set` writes it, as its REST API does."""
    xcoms.add_run("run 1")
    xcoms.add("run 1", "load", stored=json.dumps(value()))
    answer = history(answers, xcoms, "load")
    assert answer["notes"] == []
    assert [entry["rows"] for entry in answer["history"]] == [1]
    assert names_of(answer) == names_of(of_run(answers, xcoms)) == {"/out"}


@pytest.mark.parametrize("length", [600_000, 60_000_000])
def test_an_xcom_that_is_too_large_stays_in_the_database(answers, xcoms, length):
    """Nobody limits what others write."""
    xcoms.add_run("run 1")
    instance = xcoms.add("run 1", "load", stored={"version": 1, "summary": {"try": "x" * length}})
    answer = answers.of_task(xcoms.store, xcoms.session, tuple(instance), None)
    assert answer["reason"]["sentence"] == "The stored lineage is larger than a task stores."
    assert history(answers, xcoms, "load")["notes"] == [
        "A run has no figures. The stored lineage is larger than a task stores."
    ]


def test_a_summary_that_is_too_large_has_no_figures(answers, airflow):
    """All summaries of a history are in memory at once."""
    content = value()
    airflow.add("run 1", "load", stored=content | {"summary": content["summary"] | {"schema": "x" * 70_000}})
    answer = history(answers, airflow, "load")
    assert [entry["rows"] for entry in answer["history"]] == [None]
    assert answer["notes"] == ["A run has no figures. The summary of the stored lineage is too large."]
    assert names_of(answer) == {"/out"}


def test_a_damaged_file_says_how(answers, files):
    """Not that it is of something else; the others of the run are shown, and those of its past."""
    files.add_run("run 1")
    instance = files.add("run 1", "load", stored=stored_form.to_file(value())[:-3])
    files.add("run 1", "other", stored=value("/other"))
    sentence = "The stored lineage ends in the middle."
    with pytest.raises(stored_form.StoredLineageError, match=sentence):
        files.store.of_task(instance, None)
    alone = answers.of_task(files.store, files.session, tuple(instance), None)
    assert alone["reason"]["sentence"] == sentence
    answer = of_run(answers, files)
    assert (answer["notes"], names_of(answer)) == ([f"load: {sentence}"], {"/other"})
    assert notes_of(answer) == {"load": "its lineage cannot be read"}
    assert history(answers, files, "load")["notes"] == [f"A run has no figures. {sentence}"]


def test_a_task_cannot_pose_as_another(answers, airflow):
    """Names, begin and end are Airflow's."""
    airflow.add("run 1", "load", 3, end_date=MOMENT + timedelta(1), stored=value(job="bank.pay"))
    answer = answers.of_task(airflow.store, airflow.session, (DAG, "run 1", "load", 3), None)
    document = answer["document"]
    assert (document["title"], document["job"]["name"]) == ("shop.load [3]", "shop.load")
    airflow.add("run 1", "other", state="failed", stored=value(try_number=None))
    other = answers.of_task(airflow.store, airflow.session, (DAG, "run 1", "other", -1), None)
    assert other["document"]["run"]["state"] == "fail"
    run = document["run"]
    assert (run["began"], run["ended"]) == ("2026-11-24T00:00:00+00:00", "2026-11-25T00:00:00+00:00")


def test_times_of_an_old_try_are_its_own(answers, files):
    """Airflow's are of the last try."""
    files.add_run("run 1")
    files.add("run 1", "load", try_number=2, stored=value())
    answer = answers.of_task(files.store, files.session, (DAG, "run 1", "load", -1), 1)
    assert answer["document"]["run"]["ended"].startswith("2020-01-01")


def test_a_history_keeps_each_note_once(answers, airflow):
    """Those of its runs, and those of the lineage that it shows."""
    airflow.add("run 1", "load", 0, stored=value() | {"summary": {}})
    airflow.add_run("run 2")
    airflow.add("run 2", "load", 0, stored=value() | {"version": 99})
    airflow.add("run 2", "load", 1, stored=value("/out1"))
    airflow.add_run("run 3")
    airflow.add("run 3", "load", 0, stored=value() | {"version": 99})
    airflow.add("run 3", "load", 1, stored=value("/out1"))
    first, second, third = history(answers, airflow, "load")["notes"]
    assert first.startswith("A run has no figures. The lineage was stored as version 99")
    assert second == "A run has no figures. The summary of the stored lineage is damaged."
    assert third.startswith("load [0]: The lineage was stored as version 99")
    airflow.add_run("run 4")
    airflow.add("run 4", "load", stored=value(), try_number=2)
    *others, last = history(answers, airflow, "load")["notes"]
    assert others == [first, second]
    assert last == "This is the lineage of try 1, not of try 2."


def test_a_run_with_much_lineage_is_shown_in_part(answers, airflow, monkeypatch):
    """A page has an end, and the server's memory too."""
    monkeypatch.setattr(answers, "MAX_DOCUMENT_BYTES", 2_000)
    for number in range(9):
        airflow.add("run 1", f"load{number}", stored=value(f"/{number}"))
    answer = of_run(answers, airflow)
    assert "/0" in names_of(answer)
    notes = notes_of(answer)
    assert notes.keys() >= {"load7", "load8"}
    assert set(notes.values()) == {"not shown: the run has too much lineage for one page"}
    assert len(airflow.opened) in (0, 9 - len(notes))


@pytest.mark.parametrize(
    ("task", "is_complete"),
    [
        ({"stored": value("/b")}, True),
        ({}, False),
        ({"stored": value() | {"data": "AAAA"}}, False),
        ({"stored": value(), "try_number": 2}, False),
    ],
    ids=["shown", "without", "damaged", "old try"],
)
def test_a_run_is_complete_if_every_task_is_shown(answers, airflow, task, is_complete):
    """Only tasks that are listed count."""
    airflow.add("run 1", "a", stored=value("/a"))
    airflow.add("run 1", "b", **task)
    assert of_run(answers, airflow)["document"]["reports_gaps"] is is_complete
