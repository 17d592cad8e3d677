from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from openlineage.client.serde import Serde
from openlineage_client import needs_newest_client

from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.spark.facets.datasets import input_datasets
from airflow_provider_spark_lineage.spark.facets.events import (
    EventFacets,
    RunIdentity,
    events_of,
    execution_events,
    task_event,
)
from airflow_provider_spark_lineage.spark.facets.failures import FAILURES
from airflow_provider_spark_lineage.spark.facets.jobs import job_type_facet
from airflow_provider_spark_lineage.spark.facets.producer import PRODUCER
from airflow_provider_spark_lineage.spark.facets.runs import GAPS, engine_facet

DAG = RunIdentity("018cc778-5000-7a46-aca6-85a986a44f75", "ns", "dag")
TASK = RunIdentity("018cc778-5000-7a46-aca6-85a986a44f76", "ns", "dag.task", root=DAG)
NAMED = {"namespace": "ns", "job": "sales"}


@needs_newest_client
def test_the_run_encloses_a_pair_for_each_execution(execution, whole):
    events = events_of([execution, replace(execution, job="sales.totals.2")], whole, **NAMED)
    assert [(e["eventType"], e["job"]["name"]) for e in events] == [
        ("START", "sales"),
        ("START", "sales.totals"),
        ("COMPLETE", "sales.totals"),
        ("START", "sales.totals.2"),
        ("COMPLETE", "sales.totals.2"),
        ("COMPLETE", "sales"),
    ]
    assert {e["job"]["namespace"] for e in events} == {"ns"}
    assert {e["producer"] for e in events} == {PRODUCER}
    assert len({e["run"]["runId"] for e in events}) == 3


@needs_newest_client
def test_every_event_is_valid(execution, whole, failures):
    lineage = replace(execution.lineage, failures=failures)
    failed = replace(execution, job="sales.totals.2", lineage=lineage)
    ended = replace(whole, lineage=failed.lineage)
    for event in events_of([execution, failed], ended, **NAMED):
        assert problems_of(event) == []


def test_a_batch_of_a_stream_is_streaming_and_the_run_is_not(execution, whole):
    """A run ends, like the Airflow task that it is; the query may be one that never does."""
    events = events_of([execution, replace(execution, job="sales.totals.2", streaming=True)], whole, **NAMED)
    types = {e["job"]["name"]: e["job"]["facets"]["jobType"]["processingType"] for e in events}
    assert types == {"sales": "BATCH", "sales.totals": "BATCH", "sales.totals.2": "STREAMING"}


def test_start_claims_nothing_that_is_known_only_at_the_end(execution, whole):
    of_run, of_execution, *_ = events_of([execution], whole, **NAMED)
    assert (of_run["inputs"], of_run["outputs"]) == ([], [])
    for event in (of_run, of_execution):
        assert "lineage" not in event["job"]["facets"]
        assert GAPS not in event["run"]["facets"]
    for dataset in (*of_execution["inputs"], *of_execution["outputs"]):
        assert not {"inputStatistics", "outputStatistics"} & dataset.get("inputFacets", {}).keys()
        assert not dataset.get("outputFacets")


def test_start_may_leave_out_what_is_not_written_yet(execution):
    """A backend that takes an output of START for written gets only inputs; the end is not changed."""
    plain, reduced = (
        [*execution_events([execution], TASK, application_id="app-1", start_outputs=outputs)]
        for outputs in (True, False)
    )
    assert reduced[0].outputs == []
    assert reduced[0].inputs == plain[0].inputs
    assert reduced[1] == plain[1]


def test_start_says_what_it_leaves_out(execution):
    """Without the gap, a START whose columns did not fit would claim to have no sources."""
    output = execution.lineage.outputs[0]
    edges = tuple(replace(edge, column=f"{edge.column}{n}") for edge in output.edges for n in range(2000))
    wide = replace(execution, lineage=replace(execution.lineage, outputs=(replace(output, edges=edges),)))
    events = [*execution_events([wide], TASK, application_id="app-1", max_bytes=100_000)]
    for started_or_ended in events:
        gap = started_or_ended.run.facets[GAPS].gaps[0]
        assert gap.kind == "event_too_large"
    small = next(execution_events([execution], TASK, application_id="app-1", max_bytes=900_000))
    assert GAPS not in small.run.facets


def test_start_of_an_execution_has_its_columns(execution, whole):
    """The plan of a query is known when it begins: what it will write comes from these columns."""
    _, started, ended, _ = events_of([execution], whole, **NAMED)
    (planned,), (written,) = started["outputs"], ended["outputs"]
    assert planned["facets"]["columnLineage"]["fields"] == written["facets"]["columnLineage"]["fields"]


def test_start_of_an_execution_names_its_datasets(execution, whole):
    """With their schemas, as its end does: a plan has them before it runs. No version is made yet."""
    _, started, ended, _ = events_of([execution], whole, **NAMED)
    for side in ("inputs", "outputs"):
        assert (
            [dataset["name"] for dataset in started[side]]
            == [dataset["name"] for dataset in ended[side]]
            != []
        )
        for before, after in zip(started[side], ended[side], strict=True):
            assert before["facets"]["schema"] == after["facets"]["schema"]
            assert before["facets"]["dataSource"] == after["facets"]["dataSource"]
    assert "version" not in started["outputs"][0]["facets"]


@needs_newest_client
def test_the_end_carries_datasets_gaps_engine_and_explicit_lineage(execution, whole):
    *_, of_execution, of_run = events_of([execution], whole, **NAMED)
    for event in (of_execution, of_run):
        assert [d["name"] for d in event["inputs"]] == ["/in/orders", "in/customers"]
        assert [d["name"] for d in event["outputs"]] == ["/out/totals"]
        assert event["run"]["facets"][GAPS]["gaps"]
        assert event["run"]["facets"]["processing_engine"]["version"] == "4.1.0"
        assert event["job"]["facets"]["lineage"]["entries"]


def test_types_of_jobs(execution, whole):
    started, of_execution, *_ = events_of([execution], whole, **NAMED)
    assert started["job"]["facets"]["jobType"]["jobType"] == "APPLICATION"
    assert "sql" not in started["job"]["facets"]
    assert of_execution["job"]["facets"]["jobType"]["jobType"] == "SQL_JOB"
    assert of_execution["job"]["facets"]["sql"]["query"] == "SELECT 1"


def test_nothing_that_nobody_wrote_is_documentation(execution, whole):
    """Spark's names of executions and applications are names; catalogs would show them as descriptions."""
    for event in events_of([execution], whole, **NAMED):
        assert "documentation" not in event["job"]["facets"]


def test_all_events_of_a_run_have_the_facets_of_its_start(execution, whole, failures):
    """Of the run and of its job, unchanged: consumers replace earlier facets by the latest event's."""
    failed = replace(execution, job="sales.failed", lineage=replace(execution.lineage, failures=failures))
    streaming = replace(execution, job="sales.batch", streaming=True)
    rdd = replace(execution, job="sales.rdd", job_type="RDD_JOB", sql="")
    events = events_of([execution, failed, streaming, rdd], whole, **NAMED)
    identity = RunIdentity(events[0]["run"]["runId"], "ns", "sales")
    given = EventFacets(engine_facet("4.1.0"), job_type_facet("APPLICATION"))
    facets, reads, writes = given.of(whole.lineage), input_datasets(whole.lineage), []
    events.append(Serde.to_dict(task_event("OTHER", identity, facets, reads, writes)))
    started: dict[str, dict[str, Any]] = {}
    for event in events:
        first = started.setdefault(event["run"]["runId"], event)
        for about in ("run", "job"):
            facets = first[about]["facets"]
            assert {key: event[about]["facets"].get(key) for key in facets} == facets
    assert len(started) == 5
    assert events[-1]["eventType"] == "OTHER"


def test_an_execution_is_a_child_of_the_run(execution, whole):
    started, child, *_ = events_of([execution], whole, **NAMED)
    parent = child["run"]["facets"]["parent"]
    assert parent["run"]["runId"] == started["run"]["runId"]
    assert (parent["job"]["namespace"], parent["job"]["name"]) == ("ns", "sales")
    assert parent["root"]["run"]["runId"] == started["run"]["runId"]
    assert "parent" not in started["run"]["facets"]


def test_an_execution_under_an_airflow_task_has_the_dag_run_as_root(execution):
    started, ended = execution_events([execution], TASK, application_id="app-1")
    assert started.job.name == ended.job.name == "sales.totals"
    facet = ended.run.facets["parent"]
    assert (facet.run.runId, facet.root.run.runId) == (TASK.run_id, DAG.run_id)
    assert (facet.job.name, facet.root.job.name) == ("dag.task", "dag")


def test_a_parent_has_the_producer_of_its_events(execution, whole):
    """DataHub reads the orchestrator of a task from it, and refuses an event of an unknown one."""
    airflow = "https://github.com/apache/airflow/tree/providers-openlineage/2.20.3"
    for event in execution_events([execution], replace(TASK, producer=airflow), application_id="app-1"):
        facets = Serde.to_dict(event)["run"]["facets"]
        assert facets["parent"]["_producer"] == airflow
        assert facets["processing_engine"]["_producer"] == PRODUCER
    ours = events_of([execution], whole, **NAMED)[1]
    assert ours["run"]["facets"]["parent"]["_producer"] == PRODUCER


def test_a_failed_execution_says_why_and_lists_only_what_the_model_lists(execution, whole, failures):
    """Outputs that were not finished are not in the model, so FAIL must not name any."""
    failed = replace(execution, lineage=replace(execution.lineage, outputs=(), failures=failures))
    _, _, event, _ = events_of([failed], whole, **NAMED)
    assert event["eventType"] == "FAIL"
    assert event["outputs"] == []
    assert "lineage" not in event["job"]["facets"]
    assert len(event["inputs"]) == 2
    assert event["run"]["facets"]["errorMessage"]["message"].startswith(
        "org.apache.spark.SparkArithmeticException (SQLSTATE 22012)"
    )


@pytest.mark.parametrize(
    ("failed", "state", "has_error"), [(None, "FAIL", True), (True, "FAIL", True), (False, "COMPLETE", False)]
)
def test_a_failure_that_the_program_survived_does_not_fail_the_run(whole, failures, failed, state, has_error):
    ended = replace(whole, failed=failed, lineage=replace(whole.lineage, failures=failures))
    event = events_of([], ended, **NAMED)[-1]
    assert event["eventType"] == state
    assert ("errorMessage" in event["run"]["facets"]) is has_error
    assert len(event["run"]["facets"][FAILURES]["failures"]) == 2


def test_a_program_that_failed_outside_spark_fails_without_an_error_of_spark(whole):
    event = events_of([], replace(whole, failed=True), **NAMED)[-1]
    assert event["eventType"] == "FAIL"
    assert "errorMessage" not in event["run"]["facets"]


def test_times_are_utc_in_milliseconds_and_a_missing_zone_is_utc(whole):
    """A record read on a machine in another time zone must give the same event."""
    shifted = whole.started_at.astimezone(timezone(timedelta(hours=5)))
    naive = whole.started_at.replace(tzinfo=None)
    for started_at in (whole.started_at, shifted, naive):
        first = events_of([], replace(whole, started_at=started_at), **NAMED)[0]
        assert first["eventTime"] == "2026-03-01T12:00:00.250+00:00"
        assert first["run"] == events_of([], whole, **NAMED)[0]["run"]


def test_equal_input_gives_equal_events_in_another_process(execution, whole, tmp_path):
    """Hash seeds and clocks differ there; a run id or an order that hangs on them would too."""
    (tmp_path / "input").write_bytes(pickle.dumps(([execution], whole)))
    code = (
        "import json, pickle, pathlib, sys\n"
        "from airflow_provider_spark_lineage.spark.facets.events import events_of\n"
        "executions, whole = pickle.loads(pathlib.Path('input').read_bytes())\n"
        "print(json.dumps(events_of(executions, whole, namespace='ns', job='sales')))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )
    assert printed.stdout.decode().strip() == json.dumps(events_of([execution], whole, **NAMED))


def test_run_ids_differ_with_anything_that_makes_another_run(execution, whole):
    ids = {
        events_of([], run, namespace=namespace, job=job)[0]["run"]["runId"]
        for run, namespace, job in [
            (whole, "ns", "sales"),
            (whole, "other", "sales"),
            (whole, "ns", "other"),
            (replace(whole, application_id="local-18"), "ns", "sales"),
            (replace(whole, started_at=datetime(2026, 3, 2, tzinfo=timezone.utc)), "ns", "sales"),
        ]
    }
    assert len(ids) == 5
    assert all(UUID(run_id) for run_id in ids)


def test_a_given_run_id_is_kept(execution, whole):
    given = "018cc778-5000-7a46-aca6-85a986a44f75"
    started, child, *_ = events_of([execution], whole, **NAMED, run_id=given)
    assert started["run"]["runId"] == given
    assert child["run"]["facets"]["parent"]["run"]["runId"] == given


def test_option_reaches_the_events(execution, whole):
    events = events_of([execution], whole, **NAMED, dataset_edges_per_field=True)
    for event in (events[2], events[3]):
        assert "one" in event["outputs"][0]["facets"]["columnLineage"]["fields"]


def test_events_are_plain_json(execution, whole):
    events = events_of([execution], whole, **NAMED)
    assert json.loads(json.dumps(events)) == events
