"""The stores: what tasks wrote is found by run, task, map index and try."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version
from providers import AIRFLOW

from airflow_provider_spark_lineage import stored
from airflow_provider_spark_lineage.stored import Instance

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.skipif(Version("3.1") > AIRFLOW, reason="Airflow 3.0 has no tabs"),
]

RUN, OTHER_RUN = "manual__2026-11-24T00:00:00+00:00", "../../etc"
LOAD, MAPPED = Instance("shop", RUN, "load"), Instance("shop", RUN, "group/of.mapped", 3)
WRITTEN = {
    (LOAD, 1): {"try": 1},
    (LOAD, 2): {"try": 2},
    (MAPPED, 1): {"map": 3},
    (Instance("shop", OTHER_RUN, "load"), 1): {"run": "other"},
    (Instance("other", RUN, "load"), 1): {"dag": "other"},
}


@pytest.fixture
def files(tmp_path: Path) -> Any:
    from airflow_provider_spark_lineage.airflow_ui.stores import Files

    for (instance, number), value in WRITTEN.items():
        file = tmp_path / stored.file_of(instance, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(stored.to_file(value))
    assert all(file.is_relative_to(tmp_path) for file in tmp_path.rglob("*"))
    return Files(tmp_path.as_uri())


def test_a_try_is_found_by_its_number(files):
    """Without one, the last; of what is not there, nothing."""
    assert files.tries(LOAD) == [1, 2]
    assert files.of_task(LOAD, None) == {"try": 2}
    assert files.of_task(LOAD, 1) == {"try": 1}
    assert files.of_task(LOAD, 3) is None
    assert files.of_task(LOAD._replace(task_id="none"), None) is None


def test_a_run_has_the_last_try_of_each_instance(files):
    """Of this DAG and this run alone, whatever their ids are."""
    assert dict(files.of_run("shop", RUN)) == {LOAD: {"try": 2}, MAPPED: {"map": 3}}
    assert dict(files.of_run("shop", RUN, "load")) == {LOAD: {"try": 2}}
    assert dict(files.of_run("shop", "..")) == {}
    assert dict(files.of_run("..", "shop")) == {}


def test_runs_with_lineage_are_found_without_reading_a_file(files, tmp_path):
    """A DAG has many runs, and each file is a request."""
    for file in tmp_path.rglob(f"*{stored.SUFFIX}"):
        file.unlink()
        file.mkdir()
    runs = [RUN, OTHER_RUN, "none"]
    assert files.runs_with_lineage("shop", runs) == {RUN, OTHER_RUN}
    assert files.runs_with_lineage("shop", runs, MAPPED.task_id, 3) == {RUN}
    assert files.runs_with_lineage("shop", runs, MAPPED.task_id, 4) == set()


def test_a_history_reads_a_limited_number_of_files(files, monkeypatch):
    """Of the newest runs, which come first."""
    from airflow_provider_spark_lineage.airflow_ui import stores

    monkeypatch.setattr(stores, "MAX_INSTANCES", 1)
    assert dict(files.summaries("shop", [RUN, OTHER_RUN], "load")) == {LOAD: {"try": 2}}


def test_summaries_are_of_the_runs_that_are_asked_for(files):
    """Of one task, of one of its instances, or of all tasks."""
    both = [RUN, OTHER_RUN, "none"]
    assert {instance.run_id for instance, _ in files.summaries("shop", both, "load")} == {RUN, OTHER_RUN}
    assert dict(files.summaries("shop", [RUN], MAPPED.task_id, 3)) == {MAPPED: {"map": 3}}
    assert dict(files.summaries("shop", [RUN], MAPPED.task_id, 4)) == {}
    assert len(dict(files.summaries("shop", [RUN]))) == 2


def test_a_torn_file_is_no_lineage(files, tmp_path):
    """The answer says what is wrong with it."""
    file = tmp_path / stored.file_of(LOAD, 2)
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(stored.StoredLineageError, match="ends in the middle"):
        stored.unpack(files.of_task(LOAD, None))


@pytest.fixture
def xcoms() -> Iterator[Any]:
    """The XComs of two runs; Airflow's own `set` has stored the second, as JSON in JSON."""
    from airflow.models.xcom import XComModel
    from sqlalchemy import create_engine, insert
    from sqlalchemy.orm import Session

    from airflow_provider_spark_lineage.airflow_ui.stores import XComs

    engine = create_engine("sqlite://")
    XComModel.__table__.create(engine)
    with Session(engine) as session:
        values = {RUN: SUMMARIZED, OTHER_RUN: json.dumps(SUMMARIZED)}
        for number, (run_id, value) in enumerate(values.items()):
            ids = {"dag_run_id": number, **LOAD._replace(run_id=run_id)._asdict()}
            for key in (stored.XCOM_KEY, "return_value"):
                session.execute(insert(XComModel).values(**ids, key=key, value=value))
        yield XComs(session)


SUMMARIZED = {"version": 1, "summary": {"state": "complete"}, "data": "x"}


def test_xcoms_of_any_writer_are_read_alike(xcoms):
    """Whole or in part."""
    other = LOAD._replace(run_id=OTHER_RUN)
    assert xcoms.of_task(LOAD, None) == xcoms.of_task(other, None) == SUMMARIZED
    parts = dict(xcoms.summaries("shop", [RUN, OTHER_RUN], "load"))
    assert {each: part["summary"] for each, part in parts.items()} == dict.fromkeys(
        (LOAD, other), SUMMARIZED["summary"]
    )


def test_xcoms_are_those_of_the_dag_the_runs_and_the_task(xcoms):
    """Other keys are no lineage."""
    assert dict(xcoms.of_run("shop", RUN)) == {LOAD: SUMMARIZED}
    assert dict(xcoms.of_run("shop", RUN, "other")) == {}
    assert xcoms.runs_with_lineage("shop", [RUN, OTHER_RUN, "none"]) == {RUN, OTHER_RUN}
    assert xcoms.runs_with_lineage("shop", [RUN], "load", -1) == {RUN}
    assert xcoms.runs_with_lineage("shop", [RUN], "load", 3) == set()
    assert xcoms.runs_with_lineage("other", [RUN]) == set()


@pytest.mark.parametrize("uri", ["no-such-scheme://bucket/lineage", "s3://no-such-connection@bucket/lineage"])
def test_a_store_that_cannot_be_read_is_one_sentence(uri):
    """The API server lacks the provider, the connection or the permission."""
    from airflow_provider_spark_lineage.airflow_ui.stores import Files

    with pytest.raises(stored.StoredLineageError, match=r"cannot be read \(\w+\): run"):
        Files(uri)
