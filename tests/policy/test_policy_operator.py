"""`LineagePolicyOperator`: a policy in a DAG, on the stored lineage of the tasks before it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pendulum
import pytest
from policy.pipelines import events_of

pytest.importorskip("airflow.sdk")

from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowException
from openlineage.client.serde import Serde

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.operators.lineage_policy import LineagePolicyOperator

STORE = "AIRFLOW__SPARK_LINEAGE__STORE"
POLICY = """
tags: {personal: crm/customers.email}
rules:
- {name: no mail, datasets: gold/*, must_not_contain: personal, unless: masked}
- {name: one writer, datasets: gold/*, writers: 1}
"""
BROKEN = """
clean: silver/people.mail <- crm/customers.email
load: gold/orders.contact <- silver/people.mail
"""
FINE = """
clean: silver/people.mail <- crm/customers.email transformation masks
load: gold/orders.contact <- silver/people.mail
"""


def stored_by_task(pipeline: str) -> dict[str, Any]:
    """Return what each job of a pipeline stored as a task."""
    values = {}
    for event in events_of(pipeline):
        summary = stored_form.summary_of(event.document, try_number=1, map_index=-1, began="", ended="")
        values[event.name] = stored_form.pack([event.document], summary)
    return values


class InstanceKey(SimpleNamespace):
    """A task instance that pulls what other tasks pushed."""

    def xcom_pull(self, *, task_ids: list[str], key: str) -> list[Any]:
        assert key == stored_form.XCOM_KEY
        return [self.values[task_id] for task_id in task_ids if task_id in self.values]


def instance(values: dict[str, Any], task: Any) -> InstanceKey:
    ids = {"dag_id": "d", "run_id": "r", "task_id": "gate", "map_index": -1, "try_number": 1}
    return InstanceKey(values=values, task=task, state="running", **ids)


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Return a gate after the tasks `clean` and `load`; `plain` uses no Spark."""
    monkeypatch.setenv(STORE, "xcom")
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)

    def make(**more: Any) -> LineagePolicyOperator:
        from airflow.providers.standard.operators.empty import EmptyOperator

        with DAG("d", schedule=None, start_date=pendulum.datetime(2026, 1, 1)):
            clean, load, plain = (EmptyOperator(task_id=name) for name in ("clean", "load", "plain"))
            task = LineagePolicyOperator(task_id="gate", policy=path, **more)
            EmptyOperator(task_id="other")
            clean >> load >> task
            plain >> task
        return task

    return make


def test_a_broken_rule_fails_the_task_with_the_whole_path(gate):
    """The message has all that a person needs to mend it: rule, column, path, jobs and runs."""
    task = gate()
    with pytest.raises(AirflowException) as raised:
        task.execute({"ti": instance(stored_by_task(BROKEN), task)})
    words = str(raised.value)
    for part in (
        "no mail",
        "gold/orders.contact",
        "crm/customers.email",
        "silver/people.mail",
        "run-of-load",
    ):
        assert part in words


def test_a_policy_that_holds_lets_the_next_task_run(gate, capsys, caplog):
    """The log names the tasks that have no lineage."""
    task = gate()
    with caplog.at_level("INFO"):
        task.execute({"ti": instance(stored_by_task(FINE), task)})
    # Releases of Airflow log in either way.
    log = capsys.readouterr().out + caplog.text
    assert "Tasks without lineage: plain" in log
    assert "No rule is broken" in log


def test_severity_warn_only_logs(gate, capsys, caplog):
    """The next task runs, and the violation is in the log."""
    task = gate(severity="warn")
    task.execute({"ti": instance(stored_by_task(BROKEN), task)})
    assert "The policy is broken" in capsys.readouterr().out + caplog.text


def test_only_tasks_before_the_gate_are_asked(gate):
    """Other tasks of the DAG run are left out."""
    task = gate()
    values = {**stored_by_task(FINE), "other": stored_by_task(BROKEN)["load"]}
    task.execute({"ti": instance(values, task)})


def test_a_folder_of_stored_lineage_is_read_with_the_last_tries_of_all_instances(gate, tmp_path, monkeypatch):
    """The store is a URI; a mapped task has several instances."""
    monkeypatch.setenv(STORE, (tmp_path / "store").as_uri())
    for name, pipeline, index, number in (
        ("clean", FINE, -1, 1),
        ("load", FINE, 0, 1),
        ("load", FINE, 1, 1),
        ("load", BROKEN, 1, 2),
    ):
        where = (
            tmp_path / "store" / stored_form.file_of(stored_form.InstanceKey("d", "r", name, index), number)
        )
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(stored_form.to_file(stored_by_task(pipeline)[name]))
    task = gate()
    task.execute({"ti": instance({}, task)})
    (tmp_path / "store" / stored_form.file_of(stored_form.InstanceKey("d", "r", "clean", -1), 2)).write_bytes(
        stored_form.to_file(stored_by_task(BROKEN)["clean"])
    )
    with pytest.raises(AirflowException, match="no mail"):
        task.execute({"ti": instance({}, task)})


@pytest.mark.parametrize("severity", ["error", "warn"])
def test_the_result_is_in_the_event_at_the_datasets(gate, severity):
    """One assertion of each rule that holds, and one of each column that breaks one."""
    task = gate(severity=severity)
    ti = instance(stored_by_task(BROKEN), task)
    if severity == "error":
        with pytest.raises(AirflowException):
            task.execute({"ti": ti})
        answer = task.get_openlineage_facets_on_failure(ti)
    else:
        task.execute({"ti": ti})
        answer = task.get_openlineage_facets_on_complete(ti)
    [dataset] = map(Serde.to_dict, answer.inputs)
    assert (dataset["namespace"], dataset["name"]) == ("file", "/lake/gold/orders")
    results = {
        each["name"]: (each["success"], each.get("column"), each["severity"])
        for each in dataset["inputFacets"]["dataQualityAssertions"]["assertions"]
    }
    assert results == {"no mail": (False, "contact", severity), "one writer": (True, None, severity)}
    assert "crm/customers.email" in str(dataset)


@pytest.mark.parametrize(
    "method", ["get_openlineage_facets_on_complete", "get_openlineage_facets_on_failure"]
)
def test_a_gate_that_could_not_check_reports_nothing(gate, method):
    """No dataset is named that was not looked at; START names none either."""
    task = gate()
    answer = getattr(task, method)(instance({}, task))
    assert (answer.inputs, answer.outputs) == ([], [])
    assert task.get_openlineage_facets_on_start().inputs == []


def test_without_a_store_the_cure_is_named(gate, monkeypatch):
    """A gate that sees nothing must not say that all is well."""
    monkeypatch.setenv(STORE, "none")
    task = gate(severity="warn")
    with pytest.raises(AirflowException, match=r"`\[spark_lineage\] store` is none.*set it to xcom"):
        task.execute({"ti": instance(stored_by_task(FINE), task)})


def test_tasks_without_lineage_cannot_be_checked(gate):
    """Nothing stored is not the same as nothing wrong."""
    task = gate()
    with pytest.raises(
        AirflowException, match=r"no task before this one stored lineage \(clean, load, plain\)"
    ):
        task.execute({"ti": instance({}, task)})


def test_damaged_lineage_is_an_error_with_the_task(gate):
    """Anybody who can write XComs may have written it."""
    task = gate()
    with pytest.raises(AirflowException, match="load: The stored value is not the lineage of a task"):
        task.execute({"ti": instance({**stored_by_task(FINE), "load": "x"}, task)})


def test_a_mistake_fails_when_the_dag_is_parsed(tmp_path):
    """Not hours later, when the task runs."""
    path = tmp_path / "policy.yaml"
    path.write_text("rules: [{name: a, datasets: x, writer: 1}]")
    with pytest.raises(BadInputError, match="line 1, column 32: `writer` is not a key"):
        LineagePolicyOperator(task_id="gate", policy=path)
    path.write_text(POLICY)
    with pytest.raises(ValueError, match="severity"):
        LineagePolicyOperator(task_id="gate", policy=path, severity="low")


def test_a_relative_path_begins_beside_the_dag(tmp_path, monkeypatch):
    """Airflow parses DAG files from any working directory."""
    dags = tmp_path / "dags"
    dags.mkdir()
    (dags / "policy.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    dag = DAG("d", schedule=None, start_date=pendulum.datetime(2026, 1, 1))
    dag.fileloc = str(dags / "dag.py")
    with dag:
        LineagePolicyOperator(task_id="gate", policy="policy.yaml")
