"""`spark-lineage changes` as a command: its forms, its statuses, and sentences that name the cure."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from graph.estate import SHOP
from warehouse.plain_tables import plain_warehouse
from warehouse.two_times import Documents, keep_current, over_midnight

from airflow_provider_spark_lineage.cli import main
from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events.instants import instant_ns
from airflow_provider_spark_lineage.openlineage.warehouse.asking import loaded_tables
from airflow_provider_spark_lineage.openlineage.warehouse.changes_between import changes_between
from airflow_provider_spark_lineage.openlineage.warehouse.retention import retain
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import CURRENT, StoredTables, publish


def shop_events() -> Documents:
    """Return events of a shop whose report loses a column on the second day, and its customers a mask."""
    text = json.dumps(SHOP).replace("2026-01-01", "2026-01-02").replace("-1-", "-2-")
    later = json.loads(text)
    clean = later[0]["outputs"][0]["facets"]
    clean["columnLineage"]["fields"]["email_hash"]["inputFields"][0]["transformations"][0]["masking"] = False
    clean["schema"]["fields"][1]["type"] = "string"
    return [*SHOP, *later]


def shop(path: Path) -> Path:
    return plain_warehouse(path, shop_events())


def invoke(path: Path, *words: str) -> Any:
    return CliRunner().invoke(main, ["changes", "--warehouse", str(path), *words])


def test_a_run_whose_events_are_gone_is_left_out_and_the_ended_ones_are_not(tmp_path):
    """The row of a task that had ended suffices, although the run of its DAG went on."""
    path = plain_warehouse(tmp_path / "w", over_midnight())
    retain(path, events_days=1, runs_days=99, today=date(2026, 1, 3))
    done = invoke(path, "2026-01-02", "2026-01-04")
    assert done.exit_code == 2
    sentence = (
        "Not compared, because `warehouse retain` dropped the runs or events that show their lineage"
        " at FROM or TO: jobs/shop.late.\n"
    )
    assert done.stdout == f"2 added\n\nadded\n  x: is new\n  y: is new\n\n{sentence}"
    assert done.stderr == f"spark-lineage: {sentence}"
    document = json.loads(invoke(path, "2026-01-02", "2026-01-04", "--format", "json").stdout)
    assert document["left_out"] == [{"namespace": "jobs", "name": "shop.late"}]
    markdown = invoke(path, "2026-01-02", "2026-01-04", "--format", "markdown").stdout
    assert "jobs/shop.late" in markdown


def test_the_forms_and_statuses_are_those_of_diff(tmp_path):
    """The same words for the same change, whoever compares."""
    path = shop(tmp_path / "w")
    text = invoke(path, "2026-01-02", "2026-01-03")
    assert text.exit_code == 1
    assert text.stdout == (
        "2 breaking\n\nbreaking\n"
        "  orders.amount: is string instead of double\n      used by shop.report\n"
        "  orders.email_hash: shows s3://lake/raw/orders.email, which was masked\n      used by shop.report\n"
    )
    assert invoke(path, "2026-01-02", "2026-01-03", "--fail-on", "never").exit_code == 0
    document = json.loads(invoke(path, "2026-01-02", "--format", "json").stdout)
    assert [each["kind"] for each in document["changes"]] == ["type_changed", "unmasked"]
    assert invoke(path, "2026-01-02", "--format", "markdown").stdout.startswith(
        "### Data flow\n\n2 breaking\n"
    )
    same = invoke(path, "2026-01-02", "2026-01-02T00:30:00Z")
    assert (same.exit_code, same.stdout) == (0, "The data flow is the same.\n")


def test_a_date_is_its_first_moment_in_utc(tmp_path):
    """What happened on the date TO is not in it, and in another zone the moment is another one."""
    path = shop(tmp_path / "w")
    assert invoke(path, "2026-01-01T12:00:00Z", "2026-01-02").stdout == "The data flow is the same.\n"
    assert invoke(path, "2026-01-02T02:00:00+01:00").exit_code == 0
    assert invoke(path, "2026-01-02T01:59:00+01:00").exit_code == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["2026-01-03", "2026-01-02"],
            "FROM (2026-01-03) is after TO (2026-01-02): give the earlier time first",
        ),
        (["2999-01-03"], "FROM (2999-01-03) is after TO (now): give the earlier time first"),
        (
            ["2025-12-31"],
            "FROM is before the first event in {path} (2026-01-01T01:00:00Z): give a later time.",
        ),
        (
            ["yesterday"],
            "FROM yesterday is not an RFC 3339 date-time with an offset: give a date (2026-01-31) or a time"
            " (2026-01-31T06:00:00Z)",
        ),
        (
            ["2026-01-02", "2026-02-30"],
            "TO 2026-02-30 is not a date and time that exists: give a date (2026-01-31) or a time"
            " (2026-01-31T06:00:00Z)",
        ),
        ([], "Missing argument 'FROM': see `main changes --help`"),
    ],
)
def test_times_that_do_not_fit_are_one_sentence(tmp_path, words, sentence):
    """With the cure, and the status 2."""
    path = shop(tmp_path / "w")
    done = invoke(path, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"spark-lineage: {sentence.format(path=path)}\n"


def test_a_time_whose_runs_were_dropped_is_refused(tmp_path):
    """The sentence names the first date that is whole; of two retentions that of the later one."""
    path = shop(tmp_path / "w")
    keep_current(path, shop_events())
    retain(path, events_days=0, runs_days=0, today=date(2026, 1, 1))
    retain(path, events_days=99, runs_days=99, today=date(2026, 1, 3))
    with pytest.raises(BadInputError, match=r"FROM is before 2026-01-02, and `warehouse retain` has dropped"):
        changes_between(path, instant_ns("2026-01-01T12:00:00Z"), instant_ns("2026-01-03T00:00:00Z"))


def test_a_folder_that_cannot_be_asked_is_one_sentence(tmp_path):
    """Without a warehouse, with one that has no runs, and with one of a newer release."""
    none = invoke(tmp_path / "none", "2026-01-01")
    assert (none.exit_code, none.stdout) == (2, "")
    assert none.stderr == (
        f"spark-lineage: {tmp_path / 'none'} has no warehouse: `spark-lineage warehouse load` makes one.\n"
    )
    (tmp_path / "w").mkdir()
    publish(StoredTables(tmp_path / "w", "1"))
    empty = invoke(tmp_path / "w", "2026-01-01")
    assert empty.exit_code == 2
    assert empty.stderr == (
        f"spark-lineage: {tmp_path / 'w'} has no runs yet: load events with `spark-lineage warehouse load`.\n"
    )
    file = tmp_path / "w" / CURRENT
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 2}))
    newer = invoke(tmp_path / "w", "2026-01-01")
    assert newer.exit_code == 2
    assert "the warehouse has format 2, and this release reads 1" in newer.stderr


@pytest.mark.parametrize("text", [None, b"not parquet"])
@pytest.mark.parametrize(
    "table", ["runs", "run_inputs", "run_outputs", "lineage_versions", "datasets", "dataset_schemas", "jobs"]
)
def test_a_file_that_is_gone_or_broken_is_one_sentence(tmp_path, table, text):
    """Not another answer, and not the status of a change."""
    path = shop(tmp_path / "w")
    file = next(Path(loaded_tables(path).folders(table)[0]).glob("*.parquet"))
    file.unlink()
    if text is not None:
        file.write_bytes(text)
    done = invoke(path, "2026-01-02", "2026-01-03")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"spark-lineage: {path} cannot be read (")
    assert done.stderr.endswith("delete the folder of the warehouse, and load the events again.\n")


def test_a_file_in_place_of_a_warehouse_is_one_sentence(tmp_path):
    """With the cure."""
    (tmp_path / "w").write_text("")
    done = invoke(tmp_path / "w", "2026-01-02")
    assert done.stderr == f"spark-lineage: {tmp_path / 'w'} is a file: give a folder for the warehouse.\n"
