"""The closed set of kinds: in the package, in the schema of the facet, in records, in events, on the page."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from gap_kinds import gap_kinds

from airflow_provider_spark_lineage.airflow import stored_form
from airflow_provider_spark_lineage.openlineage.events import runs as event_runs
from airflow_provider_spark_lineage.openlineage.events.model import Event
from airflow_provider_spark_lineage.openlineage.events.validation import problems_of
from airflow_provider_spark_lineage.openlineage.viewer import document as view_document
from airflow_provider_spark_lineage.spark.gaps import of_plans
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason, joined, kind_named, reason_of
from airflow_provider_spark_lineage.spark.guard import harmless
from airflow_provider_spark_lineage.spark.lineage.document import document
from airflow_provider_spark_lineage.spark.lineage.model import Gap, Lineage
from airflow_provider_spark_lineage.spark.records.record import Record
from airflow_provider_spark_lineage.spark.runs.executions import execution_lineage

KINDS = [kind.value for kind in GapKind]
TESTS = Path(__file__).resolve().parents[1]
RECORD = Record(
    "app", "job", "4.1.4", 1, "save", "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:01+00:00", "success"
)


def test_each_kind_has_a_name_and_one_line_of_meaning():
    """The page of events shows both."""
    page = (TESTS.parent / "docs" / "events.md").read_text(encoding="utf-8")
    for kind in GapKind:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.value)
        assert re.fullmatch(r"[A-Z].*[.]", kind.meaning)
        assert f"| `{kind.value}` | {kind.meaning} |" in page
    assert len({kind.meaning for kind in GapKind}) == len(GapKind)


def test_the_schema_of_the_facet_lists_the_same_kinds():
    """A kind that the schema does not have would make each event with it invalid."""
    folder = resources.files("airflow_provider_spark_lineage") / "spark" / "facets" / "schemas"
    schema = json.loads((folder / "SparkLineageGapsRunFacet.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["Gap"]["properties"]["kind"]["enum"] == KINDS


def test_the_viewer_decides_by_kinds_of_the_set():
    """It reads events of any producer and imports none of this, so it has the names as texts."""
    assert GapKind.PLANNED.value == view_document.PLANNED
    assert GapKind.LIMIT_REACHED.value == view_document.MANY_FLOWS
    assert GapKind.TASK_STOPPED.value == event_runs.STOPPED


def test_a_copy_of_a_sentence_has_its_kind():
    """Lineage is copied, and redacted by Airflow's provider."""
    reason = of_plans.UNKNOWN_LEAF(name="{Future}")
    pickled = pickle.loads(pickle.dumps(reason))  # noqa: S301  our own bytes
    for each in (reason, copy.deepcopy(reason), pickled, reason.reworded("cut")):
        assert each.kind is GapKind.UNKNOWN_NODE
    assert joined([]) is None
    both = joined([reason, of_plans.NO_QUERY()])
    assert both is not None
    assert (both.kind, str(both).count("; ")) == (reason.kind, 1)
    assert type(str(reason)) is str


def test_the_name_of_a_later_release_is_an_unknown_kind():
    """As is a record without kinds: none is guessed from a sentence."""
    for name in ("kind of 2031", "", None, 7, ["planned"], {}):
        assert kind_named(name) is GapKind.UNKNOWN
    assert [kind_named(name).value for name in KINDS] == KINDS


def test_a_loss_in_a_harmless_block_keeps_the_kind_of_its_sentence():
    """The reason of the failure becomes part of the sentence."""
    problems: list[str] = []
    for lost in (of_plans.NOT_READ(), "a call could not be recorded"):
        with harmless(lost, problems):
            raise ValueError("on purpose")
    assert [reason_of(each).kind for each in problems] == [GapKind.UNREAD_PLAN, GapKind.NOT_RECORDED]
    assert problems[0] == "the plan could not be read: ValueError: on purpose"


def test_a_record_keeps_the_kinds_of_its_losses():
    """In JSON they are a list beside the sentences, which earlier releases read, too."""
    lost = [of_plans.NOT_READ(), "row counts could not be read"]
    stored = json.loads(json.dumps(replace(RECORD, problems=lost).to_json()))
    assert stored["problems"] == lost
    lineage = execution_lineage(Record.from_json(stored)).lineage
    assert gap_kinds(lineage) == ["unread_plan", "not_recorded"]
    assert "problem_kinds" not in RECORD.to_json()


@pytest.mark.parametrize("kinds", [None, [], ["unread_plan"], "unread_plan", [1, {}]])
def test_a_record_of_an_earlier_release_is_read(kinds):
    """It has no kinds; one with other kinds than sentences is read as if it had none."""
    stored = replace(RECORD, problems=["the plan could not be read: E", "other"]).to_json()
    if kinds is None:
        del stored["problem_kinds"]
    else:
        stored["problem_kinds"] = kinds
    assert gap_kinds(execution_lineage(Record.from_json(stored)).lineage) == ["unknown"] * 2


def test_an_event_of_an_earlier_release_is_valid_stored_and_shown():
    """Its gaps have no kind, and the first version of the schema; nothing is derived from their sentences."""
    lines = (TESTS / "testing" / "emitted" / "nycflights.jsonl").read_text(encoding="utf-8").splitlines()
    [former] = [each for each in map(json.loads, lines) if "sparkLineage_gaps" in each["run"]["facets"]][:1]
    gaps = former["run"]["facets"]["sparkLineage_gaps"]
    assert "kind" not in gaps["gaps"][0]
    assert not [each for each in problems_of(former) if "sparkLineage_gaps" in each]
    gaps["gaps"] += [
        {"where": "text", "reason": "read from the text of the program; not what ran"},
        {
            "where": "task",
            "reason": "Airflow asked the task to stop: what it did after that is not in this event",
        },
    ]
    summary = stored_form.summary_of(former, try_number=1, map_index=-1, began="", ended="")
    [unpacked] = stored_form.unpack(stored_form.pack([former], summary)).events
    shown = view_document.document_of([Event(unpacked)])
    assert {gap["kind"] for gap in shown["gaps"]} == {None}
    assert shown["planned"] is False


def test_the_json_of_a_lineage_has_the_kind():
    """For programs that read the model instead of events."""
    [gap] = document(Lineage(gaps=(Gap("Future#1", of_plans.UNKNOWN_LEAF(name="Future")),)))["gaps"]
    assert (gap["kind"], gap["where"]) == ("unknown_node", "Future#1")


def test_reasons_are_texts_of_facets_without_more():
    """A client may serialize by exact types."""
    assert type(Reason(GapKind.PLANNED, "x").kind.value) is str
