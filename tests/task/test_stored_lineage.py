"""The lineage that a task stores for the viewer: of any capture, after any ending, and in time."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pluggy
import pytest
from airflow.sdk.execution_time import supervisor, task_runner
from gap_kinds import gap_kinds
from packaging.version import Version
from providers import AIRFLOW
from task_instances import instance, record

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.plugins.task_ends import StoredLineage
from airflow_provider_spark_lineage.airflow.task import answers, provider, task_lineage
from airflow_provider_spark_lineage.airflow.task import store as task_store
from airflow_provider_spark_lineage.airflow.task.answers import reported
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.airflow.task.task_lineage import TaskLineage
from airflow_provider_spark_lineage.spark.checks.assertion import Assertion, Findings
from airflow_provider_spark_lineage.spark.lineage.model import (
    Dataset,
    Edge,
    Field,
    Input,
    Kind,
    Lineage,
    Mode,
    Output,
)
from airflow_provider_spark_lineage.spark.runs.captured import Captured
from airflow_provider_spark_lineage.spark.runs.run import Run
from airflow_provider_spark_lineage.spark.runs.sender import Sender
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

pytestmark = pytest.mark.airflow

HAS_PATHS = pytest.mark.skipif(
    Version("3.1") > AIRFLOW, reason="Airflow 3.0's paths refuse each scheme of newer universal_pathlib"
)
SOURCE, TARGET = DatasetId("file", "/in"), DatasetId("file", "/out")
STORE = "AIRFLOW__SPARK_LINEAGE__STORE"


@pytest.fixture
def xcoms(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The values of the XComs that tasks write, of a deployment with OpenLineage."""
    values: list[Any] = []
    monkeypatch.setattr(task_store, "_put_xcom", lambda _, value: values.append(value))
    monkeypatch.setattr(provider, "is_active", lambda _: True)
    monkeypatch.setattr(provider, "emit", lambda _: True)
    monkeypatch.setattr(TASK, "capture", None)
    # What is imported for the first time may take longer than a task may wait.
    monkeypatch.setattr(task_store, "MAX_SECONDS", 60)
    monkeypatch.setattr(task_lineage, "KILL_TIMEOUT_SECONDS", 60)
    return values


@pytest.fixture
def listeners() -> Any:
    """Airflow's own hooks with our listener."""
    try:
        from airflow.sdk._shared.listeners.spec import taskinstance
    except ImportError:  # Airflow before 3.2
        from airflow.listeners.spec import taskinstance

    manager = pluggy.PluginManager("airflow")
    manager.add_hookspecs(taskinstance)
    manager.register(StoredLineage())
    return manager.hook


def ran(task_instance: SimpleNamespace, *numbers: int) -> TaskLineage:
    """The lineage of a task whose operator has ended; an execution for each number."""
    captured = Captured()
    for number in numbers:
        captured.write(record(number))
    lineage = TaskLineage(captured)
    lineage.stop()
    TASK.set_capture(task_instance, lineage)
    return lineage


SUCCESS = ("on_task_instance_success", {})
SKIPPED = ("on_task_instance_skipped", {})
FAILED = ("on_task_instance_failed", {"error": ValueError("password=hunter2hunter2 is wrong")})


def end(listeners: Any, task_instance: SimpleNamespace, ending: tuple[str, Any] = SUCCESS) -> None:
    name, also = ending
    getattr(listeners, name)(previous_state=None, task_instance=task_instance, **also)


@pytest.mark.parametrize(
    ("ending", "state"), [(SUCCESS, "COMPLETE"), (SKIPPED, "COMPLETE"), (FAILED, "FAIL")]
)
def test_the_end_of_a_task_is_stored(listeners, xcoms, ending, state):
    """As the event that Airflow's provider sends: names, facets, datasets, and how the task ended."""
    task_instance = instance()
    ran(task_instance, 1)
    end(listeners, task_instance, ending)
    [value] = xcoms
    item = stored_form.unpack(value)
    [event] = item.events
    assert (event["eventType"], event["job"]["name"]) == (state, "d.t")
    assert [read["name"] for read in event["inputs"]] == ["/in/orders"]
    assert {"parent", "airflow", "processing_engine", "sparkLineage_executions"} <= event["run"][
        "facets"
    ].keys()
    assert event["job"]["facets"]["jobType"]["jobType"] == "TASK"
    assert (item.summary["try"], item.summary["map_index"]) == (1, None)
    assert item.summary["state"] == state.lower()


def test_a_failed_task_says_why(listeners, xcoms, monkeypatch):
    """The text of its exception without secrets; with another `sql_text`, its class alone."""
    for sql_text in ("full", "none"):
        monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__SQL_TEXT", sql_text)
        ran(task := instance(), 1)
        end(listeners, task, FAILED)
    full, none = (
        stored_form.unpack(value).events[0]["run"]["facets"]["errorMessage"]["message"] for value in xcoms
    )
    assert full.startswith("ValueError: ")
    assert "is wrong" in full
    assert "hunter2" not in full
    assert none == "ValueError"


def test_results_of_checks_are_stored(listeners, xcoms):
    """Those of the operators that check data: the viewer shows them at the dataset."""
    not_null = Assertion("not_null", success=False, name="id.not_null", check_type="not_null", column="id")
    task_instance = instance()
    captured = Captured()
    captured.write(record(1))
    lineage = TaskLineage(captured)
    lineage.add_findings([Findings((not_null,), of_dataset="/in/orders")])
    lineage.stop()
    TASK.set_capture(task_instance, lineage)
    end(listeners, task_instance)
    assert "not_null" in json.dumps(stored_form.unpack(xcoms[0]).events)


def test_a_task_that_did_nothing_on_spark_stores_nothing(listeners, xcoms):
    """Neither one that never was captured, nor one whose session did nothing."""
    end(listeners, instance())
    task_instance = instance()
    ran(task_instance)
    end(listeners, task_instance)
    assert xcoms == []


def test_the_lineage_of_another_try_is_not_stored(listeners, xcoms):
    """A process may run several tasks, one after another."""
    ran(instance(), 1)
    end(listeners, instance(try_number=2))
    assert xcoms == []


def test_nothing_is_stored_against_the_users_will(listeners, xcoms, monkeypatch):
    """By `store`, or with an option of OpenLineage's provider that turns the events of a task off."""
    task_instance = instance()
    ran(task_instance, 1)
    monkeypatch.setenv(STORE, "none")
    end(listeners, task_instance)
    monkeypatch.setenv(STORE, "xcom")
    monkeypatch.setattr(provider, "is_active", lambda _: False)
    end(listeners, task_instance)
    assert xcoms == []


def test_datasets_that_the_event_leaves_to_executions_are_stored(listeners, xcoms, monkeypatch):
    """`task_datasets` is for backends that show both; the viewer has only this."""
    task_instance = instance()
    captured, sender = Captured(), Sender(provider.identity_of(task_instance), provider.emit)
    captured.write(record(1))
    lineage = TaskLineage(captured, sender)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__TASK_DATASETS", "False")
    lineage.stop()
    TASK.set_capture(task_instance, lineage)
    assert reported(lineage.report).inputs == []
    end(listeners, task_instance)
    assert stored_form.unpack(xcoms[0]).events[0]["inputs"]


@pytest.mark.parametrize("ends", ["on_kill", "pause"])
def test_a_task_that_may_not_come_back_stores_what_it_has(xcoms, ends):
    """It is killed next, or continues in a process that does not know."""
    captured = Captured()
    captured.write(record(1))
    getattr(TaskLineage(captured), ends)(instance(map_index=3))
    [value] = xcoms
    assert stored_form.unpack(value).events[0]["eventType"] == "OTHER"
    assert (value["summary"]["state"], value["summary"]["map_index"]) == ("other", 3)


def events_in(store: str, xcoms: list[Any], folder: Path) -> list[dict[str, Any]]:
    """The events of the last task, wherever they are stored."""
    if store == "file":
        [file] = folder.rglob("*.z")
        return [*stored_form.unpack(stored_form.from_file(file.read_bytes())).events]
    return [*stored_form.unpack(xcoms[-1]).events]


STORES = pytest.mark.parametrize("store", ["xcom", pytest.param("file", marks=HAS_PATHS)])


def pause_first(monkeypatch: pytest.MonkeyPatch, store: str, folder: Path) -> None:
    """Run the first process of a task, which continues in another one."""
    monkeypatch.setenv(STORE, "xcom" if store == "xcom" else folder.as_uri())
    task_store.prepare()
    ran(instance(), 1).pause(instance())


@STORES
def test_what_a_task_did_before_it_deferred_itself_stays(listeners, xcoms, monkeypatch, tmp_path, store):
    """Its other parts run in other processes, and each stores all; also if it defers itself again."""
    pause_first(monkeypatch, store, tmp_path)
    resumed = instance(
        _ti_context_from_server=SimpleNamespace(next_method="resume", next_kwargs={}, start_date=None),
        xcom_pull=lambda key, task_ids, map_indexes: xcoms[-1],
    )
    second = ran(resumed, 2)
    second.pause(resumed)
    ran(resumed, 3)
    end(listeners, resumed)
    events = events_in(store, xcoms, tmp_path)
    assert [event["eventType"] for event in events] == ["OTHER", "OTHER", "COMPLETE"]
    if store == "xcom":
        assert xcoms[-1]["summary"]["state"] == "complete"


@STORES
def test_a_sensor_that_looked_before_says_what_is_missing(listeners, xcoms, monkeypatch, tmp_path, store):
    """Airflow deletes the XComs of a task that was rescheduled; a folder has all of the try."""
    pause_first(monkeypatch, store, tmp_path)
    context = SimpleNamespace(next_method=None, task_reschedule_count=1)
    again = instance(_ti_context_from_server=context)
    ran(again, 2)
    end(listeners, again)
    events = events_in(store, xcoms, tmp_path)
    assert [event["eventType"] for event in events] == ["OTHER", "COMPLETE"][store == "xcom" :]
    gaps = events[-1]["run"]["facets"].get("sparkLineage_gaps", {"gaps": []})["gaps"]
    assert len(gaps) == (store == "xcom")


def test_a_task_with_many_parts_keeps_its_end(listeners, xcoms, monkeypatch):
    """The first parts are left out, and a gap says so."""
    monkeypatch.setattr(stored_form, "MAX_UNPACKED_BYTES", 15_000)
    resumed = instance(
        _ti_context_from_server=SimpleNamespace(next_method="resume", next_kwargs={}, start_date=None),
        xcom_pull=lambda key, task_ids, map_indexes: xcoms[-1],
    )
    ran(instance(), 1).pause(instance())
    for number in range(2, 12):
        ran(resumed, number).pause(resumed)
    ran(resumed, 12)
    end(listeners, resumed)
    events = stored_form.unpack(xcoms[-1]).events
    assert events[-1]["eventType"] == "COMPLETE"
    assert 1 < len(events) < 12
    assert any("first ones are left out" in str(event) for event in events)


def test_what_airflow_masks_in_an_event_is_masked_in_the_store(listeners, xcoms, monkeypatch):
    """Also by the name of a key; a column may be called `password`."""
    from airflow.providers.common.compat.openlineage.facet import Dataset as Reported
    from airflow.providers.openlineage.extractors import OperatorLineage
    from openlineage.client.facet_v2 import schema_dataset

    field = schema_dataset.SchemaDatasetFacetFields("password", "string")
    schema = schema_dataset.SchemaDatasetFacet([field])
    named = Reported("file", "/a", facets={"schema": schema, "own": {"token": "hunter4"}})  # type: ignore[dict-item]
    task_instance = instance()
    ran(task_instance, 1)
    monkeypatch.setattr(answers, "rendered", lambda *_: OperatorLineage(inputs=[named]))
    end(listeners, task_instance)
    [event] = stored_form.unpack(xcoms[0]).events
    [read] = event["inputs"]
    assert "hunter" not in json.dumps(event)
    assert [field["name"] for field in read["facets"]["schema"]["fields"]] == ["password"]


@pytest.mark.parametrize("ends", ["on_kill", "pause"])
def test_an_interim_event_that_is_too_large_is_made_smaller(xcoms, monkeypatch, ends):
    """As the last one; a gap says what is missing."""
    monkeypatch.setattr(stored_form, "MAX_STORED_BYTES", 20_000)
    run = Run(wide(300))
    collector: Any = SimpleNamespace(run=lambda *_: run, planned=None, findings=(), drain=lambda _: [])
    lineage = TaskLineage(collector, emit_timeout_seconds=60)
    getattr(lineage, ends)(instance())
    [value] = xcoms
    [event] = stored_form.unpack(value).events
    assert [output["name"] for output in event["outputs"]] == ["/out"]
    assert "event_too_large" in gap_kinds(event)
    assert value["summary"]["edges"] == ""


def test_a_store_that_hangs_does_not_hold_the_task(listeners, xcoms, monkeypatch, caplog):
    """Airflow's supervisor may be busy: one warning, and the process may end."""
    woken = threading.Event()
    monkeypatch.setattr(task_store, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(task_store, "_put_xcom", lambda *_: woken.wait(30))
    task_instance = instance()
    ran(task_instance, 1)
    with caplog.at_level("WARNING"):
        end(listeners, task_instance)
    assert "could not be stored within 0.1 s. This has no impact on the task." in caplog.text
    assert not woken.is_set()
    woken.set()


def test_no_thread_is_left_behind_where_the_supervisor_is_in_the_process(listeners, xcoms, monkeypatch):
    """`dag.test()` runs the next task in it, which would find no supervisor."""
    for thread in threading.enumerate():
        # Of a test before, whose store was late.
        if "_store_end" in thread.name:
            thread.join(60)
    comms = supervisor.InProcessSupervisorComms(supervisor=None)
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", comms, raising=False)
    threads: list[threading.Thread] = []
    monkeypatch.setattr(task_store, "_put_xcom", lambda *_: threads.append(threading.current_thread()))
    ran(task := instance(), 1)
    end(listeners, task)
    assert threads == [threading.current_thread()]


def test_a_file_system_is_imported_when_a_task_starts(monkeypatch):
    """At its end there is one second for all."""
    loaded: list[Any] = []
    sdk = pytest.importorskip("airflow.providers.common.compat.sdk")
    path = property(lambda self: loaded.append(str(self)))
    monkeypatch.setattr(sdk, "ObjectStoragePath", type("Path", (str,), {"fs": path}), raising=False)
    task_store.prepare()
    monkeypatch.setenv(STORE, "s3://bucket/lineage")
    task_store.prepare()
    assert loaded == ["s3://bucket/lineage"]


def test_a_file_system_that_hangs_does_not_hold_the_start_of_a_task(monkeypatch):
    """Its connection may be asked of a server that does not answer."""
    woken = threading.Event()
    monkeypatch.setattr(task_store, "MAX_SECONDS", 0.1)
    monkeypatch.setattr(task_store, "_open_store", lambda: woken.wait(30))
    monkeypatch.setenv(STORE, "s3://bucket/lineage")
    task_store.prepare()
    assert not woken.is_set()
    woken.set()


def test_a_store_that_fails_is_a_warning(listeners, xcoms, monkeypatch, caplog):
    """The supervisor refuses, or the bucket does not exist."""

    def refuse(*_: object) -> None:
        msg = "413 Request Entity Too Large"
        raise RuntimeError(msg)

    monkeypatch.setattr(task_store, "_put_xcom", refuse)
    ran(task := instance(), 1)
    with caplog.at_level("WARNING"):
        end(listeners, task)
    assert "the viewer will not show the lineage of this task: RuntimeError: 413" in caplog.text


def wide(columns: int) -> Lineage:
    """A copy of columns whose names cannot be compressed; each depends on three others, too."""
    chance = random.Random(1)  # noqa: S311  names
    names = [f"{chance.getrandbits(200):x}" for _ in range(columns)]
    fields = tuple(Field(name, "string") for name in names)
    edges = [Edge(SOURCE, name, Kind.IDENTITY, column=name) for name in names]
    for name in names:
        others = chance.sample(names, 3)
        edges += [Edge(SOURCE, other, Kind.CONDITIONAL, column=name) for other in others]
    edges.sort(key=lambda edge: edge.order)
    write = Output(Dataset(Identity(TARGET), fields), Mode.OVERWRITE, edges=tuple(edges), inputs=(SOURCE,))
    return Lineage((Input(Dataset(Identity(SOURCE), fields)),), (write,))


@pytest.mark.parametrize(("columns", "is_whole"), [(10, True), (300, False)])
def test_what_is_too_large_to_store_leaves_out_columns(listeners, xcoms, monkeypatch, columns, is_whole):
    """A gap says what is missing; the datasets stay."""
    monkeypatch.setattr(stored_form, "MAX_STORED_BYTES", 20_000)
    run = Run(wide(columns))
    collector: Any = SimpleNamespace(run=lambda: run, planned=None, findings=(), stop=lambda: None)
    task_instance = instance()
    TASK.set_capture(task_instance, TaskLineage(collector))
    end(listeners, task_instance)
    [value] = xcoms
    assert stored_form.excess_of([], value) <= 1
    [event] = stored_form.unpack(value).events
    assert [output["name"] for output in event["outputs"]] == ["/out"]
    assert gap_kinds(event) == ([] if is_whole else ["event_too_large"])


def test_three_thousand_outputs_are_sent_and_stored_within_their_limits(listeners, xcoms):
    """What cannot be listed is counted: a viewer without the task would say that it did nothing."""
    outputs = [
        Output(
            Dataset(Identity(DatasetId("file", f"/out/{number:05}")), (Field("a", "string"),)),
            Mode.OVERWRITE,
            edges=(Edge(SOURCE, "a", Kind.IDENTITY, column="a"),),
            inputs=(SOURCE,),
        )
        for number in range(3_000)
    ]
    run = Run(Lineage((Input(Dataset(Identity(SOURCE))),), tuple(outputs)))
    collector: Any = SimpleNamespace(run=lambda: run, planned=None, findings=(), stop=lambda: None)
    task_instance, lineage = instance(), TaskLineage(collector)
    lineage.stop()
    TASK.set_capture(task_instance, lineage)
    end(listeners, task_instance)
    [value] = xcoms
    [event] = stored_form.unpack(value).events
    sent = reported(lineage.report)
    for listed, gap in (
        (len(sent.outputs), gap_kinds(sent.run_facets)[0]),
        (len(event["outputs"]), gap_kinds(event)[0]),
    ):
        assert gap == "event_too_large"
        assert 500 < listed < 3_000


@HAS_PATHS
def test_a_uri_has_every_try(listeners, xcoms, monkeypatch, tmp_path):
    """In a folder for each task instance, also for ids that no file could have."""
    monkeypatch.setenv(STORE, tmp_path.as_uri())
    task_store.prepare()
    for number in (1, 2):
        task_instance = instance(run_id="a/../+:b", try_number=number)
        ran(task_instance, 1)
        end(listeners, task_instance)
    assert xcoms == []
    files = sorted(str(file.relative_to(tmp_path)) for file in Path(tmp_path).rglob("*.z"))
    assert files == [f"d/a%2F..%2F%2B%3Ab/t/-1/{number}.json.z" for number in (1, 2)]
    value = stored_form.from_file((tmp_path / files[1]).read_bytes())
    assert stored_form.unpack(value).summary["try"] == 2
