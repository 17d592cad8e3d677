"""Reading the files of a declarative pipeline, without running it."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_provider_spark_lineage.airflow.submitted.pipeline_files import definitions, read_spec, statements
from airflow_provider_spark_lineage.spark.planned.texts import planned_lineage

SPEC = """
name: shop
storage: file:///state
catalog: lake
database: sales
libraries:
  - glob: {include: flows/**}
  - glob: {include: more.sql}
"""


def planned(text: str, file: Path) -> tuple[list[str], list[str]]:
    file.write_text(text)
    lineage = planned_lineage(statements({"database": "db"}, [file]), language="sql")
    assert {output.dataset.identity.type for output in lineage.outputs} == {""}
    reads = [read.dataset.id.name for read in lineage.inputs]
    return reads, [output.dataset.id.name for output in lineage.outputs]


@pytest.mark.parametrize(
    ("statement", "reads"),
    [
        ("create materialized view m as select a from t", ["db.t"]),
        ("CREATE OR REFRESH MATERIALIZED VIEW m AS SELECT a FROM t", ["db.t"]),
        ("create streaming table m as select a from stream t", ["db.t"]),
        ("create streaming table m as select a from stream(t)", ["db.t"]),
        (
            "create flow f as insert into m by name select a from stream `t` join u using (a)",
            ["db.t", "db.u"],
        ),
        (
            "create temporary view v as select a from t; create materialized view m as select a from v",
            ["db.t"],
        ),
    ],
)
def test_a_flow_is_read_as_a_statement_over_tables(tmp_path: Path, statement: str, reads: list[str]):
    """A materialized view holds rows, so it is an output under its name, not a view to see through."""
    assert planned(statement, tmp_path / "flows.sql") == (reads, ["db.m"])


def test_files_are_those_that_the_specification_includes(tmp_path: Path):
    """`folder/**` is every file below, except Python's caches."""
    for name in ("flows/a.sql", "flows/deep/b.py", "flows/__pycache__/b.pyc", "more.sql", "other.sql"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("create materialized view m as select a from t")
    path = tmp_path / "spec.yml"
    path.write_text(SPEC)
    spec = read_spec(path)
    files = definitions(path, spec)
    assert [str(file.relative_to(tmp_path)) for file in files] == [
        "flows/a.sql",
        "flows/deep/b.py",
        "more.sql",
    ]
    assert statements(spec, files).startswith("USE `lake`.`sales`;")


def test_a_file_that_is_not_a_specification_has_no_files(tmp_path: Path):
    """An empty file, for example: Spark refuses it, and it has no lineage."""
    path = tmp_path / "spec.yml"
    path.write_text("")
    assert definitions(path, read_spec(path)) == []
