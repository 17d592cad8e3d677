"""Planned lineage of the script of a `SparkSubmitOperator`."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.known_operators import SPARK_SUBMIT
from airflow_provider_spark_lineage.airflow.submitted.planned import certain, planned_of

READS = "def read(path): spark.read.csv(path)"


@pytest.mark.parametrize("by_option", [True, False])
def test_modules_of_the_script_are_read(tmp_path: Path, *, by_option: bool) -> None:
    """Those beside it, and those of `py_files`, which replaces the property."""
    script, given = tmp_path / "jobs" / "job.py", tmp_path / "given.py"
    script.parent.mkdir()
    script.write_text("import beside, given\nbeside.read('s3://b/in')\ngiven.read('s3://b/given')")
    script.with_name("beside.py").write_text(READS)
    given.write_text(READS)
    task = SimpleNamespace(
        application=str(script),
        application_args=None,
        conf={"spark.submit.pyFiles": "s3://b/other.zip" if by_option else str(given)},
        py_files=str(given) if by_option else None,
    )
    lineage = planned_of(task, SPARK_SUBMIT)
    assert lineage is not None
    assert [read.dataset.id.name for read in lineage.inputs] == ["given", "in"]
    assert certain(lineage)


def test_a_call_that_is_not_followed_makes_the_lineage_uncertain(tmp_path: Path) -> None:
    """A script whose work is in another module must not look as if it read and wrote nothing."""
    script = tmp_path / "job.py"
    script.write_text("from pkg.helpers import run\nrun()")
    lineage = planned_of(
        SimpleNamespace(application=str(script), application_args=None, conf=None), SPARK_SUBMIT
    )
    assert lineage is not None
    assert not certain(lineage)
