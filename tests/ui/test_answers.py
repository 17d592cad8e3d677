"""Answers of the routes: lineage as it was stored, or a reason, for any content of the store."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey

pytestmark = pytest.mark.airflow

DAG, TASK = "shop", "load"
RUNS = ["run 3", "run 2", "run 1"]
"""Newest first."""


def event(name: str = "/out", column: str = "a", kind: str = "COMPLETE", rows: int = 3) -> dict[str, Any]:
    edge = {"namespace": "file", "name": "/in", "field": "x", "transformations": [{"type": "DIRECT"}]}
    output = {
        "namespace": "file",
        "name": name,
        "facets": {
            "schema": {"fields": [{"name": column, "type": "long"}]},
            "columnLineage": {"fields": {column: {"inputFields": [edge]}}},
        },
        "outputFacets": {"outputStatistics": {"rowCount": rows, "size": 2 * rows}},
    }
    return {
        "eventType": kind,
        "eventTime": "2026-11-24T00:00:00Z",
        "run": {"runId": "1", "facets": {}},
        "job": {"namespace": "n", "name": f"{DAG}.{TASK}"},
        "inputs": [{"namespace": "file", "name": "/in", "facets": {}}],
        "outputs": [] if kind == "FAIL" else [output],
    }


def value(document: dict[str, Any], try_number: int = 1, map_index: int = -1) -> dict[str, Any]:
    summary = stored_form.summary_of(
        document, try_number=try_number, map_index=map_index, began="2026-11-24T00:00:00+00:00", ended=""
    )
    return stored_form.pack([document], summary)


@dataclass
class World:
    """Airflow's database and the store, in memory."""

    tasks: dict[InstanceKey, tuple[str, str, int]] = field(default_factory=dict)
    """Instance -> Airflow's state, the class of its operator, and its last try."""

    values: dict[InstanceKey, Any] = field(default_factory=dict)
    all_tries: dict[tuple[InstanceKey, int], Any] = field(default_factory=dict)
    labels: dict[InstanceKey, str] = field(default_factory=dict)

    def add(self, run: str, task: str = TASK, index: int = -1, **also: Any) -> InstanceKey:
        """Add a task instance; `stored` is what it stored."""
        instance = InstanceKey(DAG, run, task, index)
        operator = also.get("operator", "PySparkLineageOperator")
        self.tasks[instance] = also.get("state", "success"), operator, also.get("try_number", 1)
        if "stored" in also:
            self.values[instance] = also["stored"]
        return instance

    # The store.

    max_summaries = 100

    def tries(self, instance: InstanceKey) -> list[int]:
        return [number for each, number in self.all_tries if each == instance]

    def of_task(self, instance: InstanceKey, try_number: int | None) -> Any:
        if self.all_tries:
            return self.all_tries.get((instance, try_number or max(self.tries(instance))))
        return self.values.get(instance)

    def instances(self, dag_id: str, run_id: str, task_id: str = "") -> Any:
        return [
            each for each in self.values if each[:2] == (dag_id, run_id) and task_id in ("", each.task_id)
        ]

    def runs_with_lineage(
        self, dag_id: str, run_ids: list[str], task_id: str = "", map_index: int = -1
    ) -> Any:
        return {run for run in run_ids if self.instances(dag_id, run, task_id)}

    def summaries(self, dag_id: str, run_id: str, task_id: str, map_index: int) -> Any:
        return {
            each: partial(self.of_task, each, None)
            for each in self.instances(dag_id, run_id, task_id)
            if map_index in (-1, each.map_index)
        }

    # Airflow's database.

    def runs(self, session: Any, dag_id: str, task_id: str = "", map_index: int = -1) -> Any:
        from airflow_provider_spark_lineage.airflow.ui.database import RunFacts

        known = {
            each.run_id for each in self.tasks if each.dag_id == dag_id and task_id in ("", each.task_id)
        }
        return [RunFacts(run, f"label of {run}", "complete", "") for run in RUNS if run in known]

    def earlier(self, session: Any, dag_id: str, run_id: str, task_id: str = "", map_index: int = -1) -> Any:
        runs = self.runs(session, dag_id, task_id, map_index)
        return [run for run in runs if RUNS.index(run.run_id) > RUNS.index(run_id)]

    def run(self, session: Any, dag_id: str, run_id: str) -> Any:
        return next((run for run in self.runs(session, dag_id) if run.run_id == run_id), None)

    def facts(
        self, session: Any, dag_id: str, run_ids: list[str], task_id: str = "", map_index: int | None = None
    ) -> Any:
        from airflow_provider_spark_lineage.airflow.ui.database import TaskFacts

        return [
            TaskFacts(
                each, state, number, "2026-11-24T00:00:00+00:00", "", operator, self.labels.get(each, "")
            )
            for each, (state, operator, number) in self.tasks.items()
            if each.dag_id == dag_id
            and each.run_id in run_ids
            and task_id in ("", each.task_id)
            and map_index in (None, each.map_index)
        ]


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Any:
    from airflow_provider_spark_lineage.airflow.ui import answers as module

    return module


@pytest.fixture
def world(answers: Any, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World()
    replaced = {"newest_runs": world.runs, "earlier_runs": world.earlier, "run_facts": world.run}
    for name, function in {**replaced, "task_facts": world.facts}.items():
        monkeypatch.setattr(answers, name, function)
    return world


def of_task(answers: Any, world: World, instance: InstanceKey, try_number: int | None = None) -> Any:
    answer = answers.of_task(world, None, tuple(instance), try_number)
    json.dumps(answer, allow_nan=False)
    return answer


def test_a_task_instance_has_its_document(answers, world):
    """With what Airflow knows about it: an event may name another DAG."""
    forged = event() | {"run": {"runId": "1", "facets": {"airflow": {"dag": {"dag_id": "other"}}}}}
    instance = world.add("run 2", index=4, try_number=2, stored=value(forged, 2, 4))
    world.add("run 1", index=4, stored=value(event()))
    answer = of_task(answers, world, instance)
    assert (answer["version"], answer["kind"], answer["reason"]) == (1, "task_instance", None)
    assert (answer["tries"], answer["try"]) == ([2], 2)
    assert answer["previous"] == [{"id": "run 1", "label": "label of run 1"}]
    run = answer["document"]["run"]
    names = ("dag_id", "dag_run_id", "task_id", "map_index", "try", "state")
    assert [run[name] for name in names] == ["shop", "run 2", "load", 4, 2, "complete"]
    assert [each["name"] for each in answer["document"]["datasets"]] == ["/in", "/out"]


def test_what_does_not_exist_has_no_answer(answers, world):
    """The route says 404."""
    world.add("run 1")
    assert of_task(answers, world, InstanceKey(DAG, "run 9", TASK)) is None
    assert answers.of_run(world, None, DAG, "run 9") is None
    assert answers.history(world, None, DAG, "other", -1) is None
    assert answers.latest(world, None, "other") is None


EMPTY = [
    ({"state": "running"}, "still running"),
    ({"state": "deferred"}, "still running"),
    ({"state": ""}, "has not run yet"),
    ({"state": "queued"}, "has not run yet"),
    ({"state": "skipped"}, "did not run: it is skipped"),
    ({"state": "upstream_failed"}, "did not run: it is upstream failed"),
    ({"state": "up_for_retry"}, "will be retried"),
    ({}, "did nothing on Spark"),
    ({"operator": "_SparkCheckDecoratedOperator"}, "did nothing on Spark"),
    ({"operator": "SparkSubmitOperator"}, "`[spark_lineage] auto_capture` is off"),
]
EMPTY_WITH_AUTO_CAPTURE = [
    ({"operator": "PythonOperator"}, "opened no Spark session"),
    ({"operator": "_PythonDecoratedOperator"}, "opened no Spark session"),
    ({"operator": "SparkSubmitOperator"}, "started no Spark application"),
    ({"operator": "LivyOperator"}, "started no Spark application"),
    ({"operator": "EmailOperator"}, "is not known as an operator of Spark"),
]


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenLineage has a transport."""
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", '{"type": "console"}')
    _forget()


def _forget() -> None:
    from airflow.providers.openlineage import conf

    for function in vars(conf).values():
        getattr(function, "cache_clear", lambda: None)()


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    ("task", "sentence", "auto_capture"),
    [(*case, "False") for case in EMPTY] + [(*case, "True") for case in EMPTY_WITH_AUTO_CAPTURE],
)
def test_an_empty_answer_says_why(*, answers, world, monkeypatch, task, sentence, auto_capture):
    """In one sentence; where the cause may be a setting, with the command that finds out."""
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", auto_capture)
    answer = of_task(answers, world, world.add("run 1", **task))
    assert answer["document"] is None
    assert sentence in answer["reason"]["sentence"]
    assert answer["reason"]["command"] in ("", "spark-lineage doctor")
    assert (answer["reason"]["command"] == "") == (task.get("state", "up_for_retry") != "up_for_retry")


@pytest.mark.usefixtures("on")
@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("AIRFLOW__SPARK_LINEAGE__DISABLED", "`[spark_lineage] disabled` is True"),
        ("AIRFLOW__OPENLINEAGE__DISABLED", "OpenLineage is disabled, or has no transport"),
    ],
)
def test_what_is_switched_off_is_named(answers, world, monkeypatch, setting, sentence):
    """Before anything about the task."""
    monkeypatch.setenv(setting, "True")
    _forget()
    assert sentence in of_task(answers, world, world.add("run 1"))["reason"]["sentence"]


def test_without_a_store_every_answer_says_so(answers, world):
    """`store = none`."""
    instance = world.add("run 1", stored=value(event()))
    for answer in (
        answers.of_task(None, None, tuple(instance), None),
        answers.of_run(None, None, DAG, "run 1"),
        answers.history(None, None, DAG, TASK, -1),
        answers.latest(None, None, DAG),
    ):
        assert "`[spark_lineage] store` is `none`" in answer["reason"]["sentence"]


def test_a_try_that_is_gone_is_not_mixed_up_with_the_last(answers, world):
    """An XCom has the last try only."""
    instance = world.add("run 1", try_number=2, stored=value(event(), 2))
    assert of_task(answers, world, instance, 2)["document"]
    answer = of_task(answers, world, instance, 1)
    assert answer["document"] is None
    assert "of try 2 only, not of try 1" in answer["reason"]["sentence"]
    assert (answer["tries"], answer["try"]) == ([2], None)


def test_a_store_of_files_has_every_try(answers, world):
    """Each is shown by its number; without one, the last."""
    instance = world.add("run 1", try_number=2)
    world.all_tries = {(instance, n): value(event(f"/out{n}"), n) for n in (1, 2)}
    for asked, shown in ((1, 1), (2, 2), (None, 2)):
        answer = of_task(answers, world, instance, asked)
        assert (answer["try"], answer["tries"]) == (shown, [1, 2])
        assert answer["document"]["datasets"][1]["name"] == f"/out{shown}"


GOOD = value(event())


def packed(content: Any) -> dict[str, Any]:
    return GOOD | {"data": base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()}


HOSTILE: list[Any] = [
    "text",
    7,
    [GOOD],
    GOOD | {"version": 99},
    GOOD | {"data": "AAAA"},
    packed({"events": [{}]}),
    packed({"events": [{"run": {}, "job": {"name": "x"}, "eventType": 7}]}),
    packed({"events": [event() | {"inputs": {"a": 1}, "outputs": 5, "run": {"facets": [1]}}]}),
    packed({"events": [event() | {"outputs": [None, 7, {"facets": {"columnLineage": {"fields": [1]}}}]}]}),
    packed({"events": [event("\ud800<script>\u202e\x00" * 1000, "javascript:alert(1)")]}),
    packed({"events": [event() | {"job": {"name": ["x"]}}]}),
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_a_forged_value_is_drawn_or_is_a_sentence(answers, world, hostile):
    """Whoever may write XComs may write this; the others of the run are drawn."""
    instance = world.add("run 1", stored=hostile)
    world.add("run 1", "other", stored=value(event("/other")))
    answer = of_task(answers, world, instance)
    assert bool(answer["document"]) != bool(answer["reason"])
    run = answers.of_run(world, None, DAG, "run 1")
    assert "/other" in [each["name"] for each in run["document"]["datasets"]]
    assert bool(run["notes"]) == (answer["document"] is None)
    assert answers.history(world, None, DAG, TASK, -1)
    json.dumps([run, answer])


def test_a_run_names_its_tasks_without_lineage(answers, world):
    """They are in the list of tasks, so that nobody takes the picture for all of the run."""
    world.add("run 2", stored=value(event()))
    world.add("run 2", "more", 0, stored=value(event("/more")))
    world.add("run 2", "plain", operator="EmailOperator")
    world.add("run 2", "plain mapped", 3, state="failed")
    world.add("run 1", stored=value(event()))
    answer = answers.of_run(world, None, DAG, "run 2")
    assert (answer["kind"], answer["document"]["title"]) == ("dag_run", "shop · run 2")
    tasks = {task["title"]: (task["state"], task["note"]) for task in answer["document"]["tasks"]}
    bare = {
        "plain": ("complete", "no lineage recorded"),
        "plain mapped [3]": ("fail", "no lineage recorded"),
    }
    assert bare.items() <= tasks.items()
    assert len(tasks) == 4
    assert answer["previous"] == [{"id": "run 1", "label": "label of run 1"}]


def test_states_and_mapped_instances_have_the_words_of_airflow(answers, world):
    """Also those that a view document has no state for; `map_index_template` names an instance."""
    first = world.add("run 2", index=0, stored=value(event(), map_index=0))
    world.labels[first] = "Berlin"
    world.labels[world.add("run 2", index=1, state="upstream_failed")] = "Bonn"
    world.add("run 2", "later", state="")
    tasks = answers.of_run(world, None, DAG, "run 2")["document"]["tasks"]
    assert {task["title"]: task["state"] for task in tasks} == {
        "load [Berlin]": "complete",
        "load [Bonn]": "upstream failed",
        "later": "not started",
    }
    assert of_task(answers, world, first)["document"]["title"] == "shop.load [Berlin]"


def test_a_run_without_lineage_says_so(answers, world):
    """And the newest one that has some is shown for the DAG, with its name."""
    world.add("run 3")
    world.add("run 2", stored=value(event()))
    assert answers.of_run(world, None, DAG, "run 3")["reason"]["sentence"].startswith("No task of this run")
    answer = answers.latest(world, None, DAG)
    assert answer["kind"] == "dag"
    assert "newest run with lineage: run 2 (label of run 2)" in answer["about"]
    assert answer["notes"] == []
    world.values.clear()
    assert "newest runs" in answers.latest(world, None, DAG)["reason"]["sentence"]


def test_a_history_marks_where_schema_and_edges_changed(answers, world):
    """Compared with the run before; a run that failed wrote nothing and is no change."""
    world.add("run 1", stored=value(event()))
    world.add("run 2", state="failed", stored=value(event(kind="FAIL")))
    world.add("run 3", stored=value(event(column="b", rows=8)))
    answer = answers.history(world, None, DAG, TASK, -1)
    names = ("id", "state", "rows", "size_bytes", "schema_changed", "edges_changed")
    assert [tuple(entry[name] for name in names) for entry in answer["history"]] == [
        ("run 3", "complete", 8, 16, True, True),
        ("run 2", "fail", None, None, False, False),
        ("run 1", "complete", 3, 6, False, False),
    ]
    assert answer["document"]["run"]["dag_run_id"] == "run 3"


def test_lineage_that_was_cut_is_no_change(answers, world):
    """It was too large for the store, so its edges are not all of them."""
    cut = value(event(column="b"))
    world.add("run 1", stored=value(event(column="b")))
    world.add("run 2", stored=cut | {"summary": cut["summary"] | {"edges": ""}})
    world.add("run 3", stored=value(event(column="b")))
    history = answers.history(world, None, DAG, TASK, -1)["history"]
    assert [entry["edges_changed"] for entry in history] == [False, False, False]


def test_the_history_of_a_mapped_task_has_all_instances(answers, world):
    """Rows are summed, and the newest lineage is composed."""
    for index in (0, 1):
        world.add("run 1", index=index, stored=value(event(f"/out{index}"), map_index=index))
    answer = answers.history(world, None, DAG, TASK, -1)
    assert [entry["rows"] for entry in answer["history"]] == [6]
    names = {each["name"] for each in answer["document"]["datasets"]}
    assert names == {"/in", "/out0", "/out1"}
    one = answers.history(world, None, DAG, TASK, 1)
    assert [entry["rows"] for entry in one["history"]] == [3]
