"""The store of files: what tasks wrote is found by run, task, map index and try.

XComs: `test_answers_from_stores`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version
from providers import AIRFLOW

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.airflow.stored_form import InstanceKey

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.skipif(Version("3.1") > AIRFLOW, reason="Airflow 3.0 has no tabs"),
]

RUN, OTHER_RUN = "manual__2026-11-24T00:00:00+00:00", "../../etc"
LOAD, MAPPED = InstanceKey("shop", RUN, "load"), InstanceKey("shop", RUN, "group/of.mapped", 3)
WRITTEN = {
    (LOAD, 1): {"try": 1},
    (LOAD, 2): {"try": 2},
    (MAPPED, 1): {"map": 3},
    (InstanceKey("shop", OTHER_RUN, "load"), 1): {"run": "other"},
    (InstanceKey("other", RUN, "load"), 1): {"dag": "other"},
}


@pytest.fixture
def files(tmp_path: Path) -> Any:
    from airflow_provider_spark_lineage.airflow.task.stored_files import LineageFiles

    for (instance, number), value in WRITTEN.items():
        file = tmp_path / stored_form.file_of(instance, number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(stored_form.to_file(value))
    assert all(file.is_relative_to(tmp_path) for file in tmp_path.rglob("*"))
    return LineageFiles(tmp_path.as_uri())


def test_a_try_is_found_by_its_number(files):
    """Without one, the last; of what is not there, nothing."""
    assert files.tries(LOAD) == [1, 2]
    assert files.of_task(LOAD, None) == {"try": 2}
    assert files.of_task(LOAD, 1) == {"try": 1}
    assert files.of_task(LOAD, 3) is None
    assert files.of_task(LOAD._replace(task_id="none"), None) is None


def test_a_run_has_its_instances(files):
    """Of this DAG and this run alone, whatever their ids are."""
    assert files.instances("shop", RUN) == {LOAD, MAPPED}
    assert files.instances("shop", RUN, "load") == {LOAD}
    assert files.instances("shop", "..") == set()
    assert files.instances("..", "shop") == set()


def test_runs_with_lineage_are_among_those_that_are_asked_for(files):
    """By one task, by one of its instances, or by any task."""
    runs = [RUN, OTHER_RUN, "none"]
    assert files.runs_with_lineage("shop", runs, "load") == {RUN, OTHER_RUN}
    assert files.runs_with_lineage("shop", runs) == {RUN, OTHER_RUN}
    assert files.runs_with_lineage("shop", runs, MAPPED.task_id, 3) == {RUN}
    assert files.runs_with_lineage("shop", runs, MAPPED.task_id, 4) == set()


def test_summaries_are_of_the_instances_that_are_asked_for(files):
    """Of one instance, or of all; each is read when it is asked for."""

    def summaries(task_id: str, map_index: int = -1) -> dict[InstanceKey, Any]:
        return {each: read() for each, read in files.summaries("shop", RUN, task_id, map_index).items()}

    assert summaries("load") == {LOAD: {"try": 2}}
    assert summaries(MAPPED.task_id) == summaries(MAPPED.task_id, 3) == {MAPPED: {"map": 3}}
    assert summaries(MAPPED.task_id, 4) == {}


def test_a_torn_file_is_no_lineage(files, tmp_path):
    """The sentence says that it is damaged, not that it is something else."""
    file = tmp_path / stored_form.file_of(LOAD, 2)
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(stored_form.StoredLineageError, match=r"ends in the middle"):
        files.of_task(LOAD, None)


@pytest.mark.parametrize("uri", ["no-such-scheme://bucket/lineage", "s3://no-such-connection@bucket/lineage"])
def test_a_store_that_cannot_be_read_is_one_sentence(uri):
    """The API server lacks the provider, the connection or the permission."""
    from airflow_provider_spark_lineage.airflow.task.stored_files import LineageFiles

    with pytest.raises(stored_form.StoredLineageError, match=r"cannot be read \(\w+\): run"):
        LineageFiles(uri)
