"""Arguments of `assert_lineage`, and its refusals: a sentence in place of a traceback."""

from __future__ import annotations

import json

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.testing import (
    RELATIONS,
    Events,
    Expected,
    LineageDiffersError,
    assert_lineage,
    compare,
)

KEY = "dag.task.event.start"
EVENT = {"eventType": "START", "run": {"runId": "1"}, "job": {"namespace": "n", "name": "dag.task"}}


@pytest.mark.parametrize("events", [[EVENT], (EVENT,), iter([EVENT]), Events.of([EVENT])])
def test_events_may_be_plain(events):
    """Whoever has events as dictionaries passes them as they are."""
    assert assert_lineage({KEY: {}}, events, without=RELATIONS).matched == 1


@pytest.mark.parametrize(
    ("expected", "events", "message"),
    [
        ({KEY: {}}, EVENT, "The events are an object; give a file, a folder, or a list of events."),
        ({KEY: {}}, 5, "The events are an integer; give"),
        ({KEY: {}}, [EVENT, 5], "The list of events has an item that is not a mapping."),
        ({5: {}}, [EVENT], "a key is not a string."),
        ([EVENT], [EVENT], "The expected events are a list; give a file, a folder, or a mapping of"),
        (None, [EVENT], "The expected events are null; give"),
    ],
)
def test_other_arguments_are_refused(expected, events, message):
    """A wrong argument is named, and the right one."""
    with pytest.raises(BadInputError) as error:
        assert_lineage(expected, events)
    assert message in str(error.value)


def test_one_rule_needs_no_list():
    """A rule that is turned off as a string is that rule, and not its letters."""
    report = compare(Expected.of({KEY: {}}), Events.of([EVENT]), without="schemas")
    assert "schemas" not in report.relations
    assert len(report.relations) == len(RELATIONS) - 1
    with pytest.raises(BadInputError, match=r"`strat_first` is not a relation .* did you mean `start_first`"):
        compare(Expected.of({KEY: {}}), Events.of([EVENT]), without="strat_first")


def test_a_failure_names_the_kept_events(tmp_path):
    """A failure has the place of the events; for events in memory it has no such line."""
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(EVENT))
    with pytest.raises(LineageDiffersError) as error:
        assert_lineage({KEY: {"job": {"name": "x"}}}, file, without=RELATIONS)
    assert error.value.lines[-1].text == f"kept: events in {file}"
    with pytest.raises(LineageDiffersError) as error:
        assert_lineage({KEY: {"job": {"name": "x"}}}, [EVENT], without=RELATIONS)
    assert "kept" not in str(error.value)
