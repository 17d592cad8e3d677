"""Mistakes in a check that is part of a DAG end its parsing, with one sentence that has the cure."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from testing.whole_run import whole_run

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.events import Events
from airflow_provider_spark_lineage.events.variables import emitted_at, prefix_of, prefix_of_dag, variable_key
from airflow_provider_spark_lineage.testing.in_dag import OpenLineageTestOperator
from airflow_provider_spark_lineage.testing.in_dag.dag_run import AskingRun
from airflow_provider_spark_lineage.testing.in_dag.stores import FileStore, VariableStore, store_of

KEY = "dag.task.event.start"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either event_templates or file_path"),
        ({"event_templates": {KEY: {}}, "file_path": "x.json"}, "give either event_templates or file_path"),
        ({"event_templates": {}}, "expects no event at all"),
        ({"event_templates": {"dag.task.start": {}}}, "`dag.task.start` is not `<dag_id>.<task_id>.event"),
        ({"event_templates": {KEY: {"run": "{{ is_uid(result) }}"}}}, "unknown name `is_uid`; .*`is_uuid`"),
        ({"event_templates": {KEY: {}}, "event_count_assertions": {".*": "many"}}, "`many` is no count"),
        ({"event_templates": {KEY: {}}, "allow_duplicate_events_regex": "("}, "is no regular expression"),
        ({"file_path": "nowhere.json"}, "nowhere.json: no such file"),
        ({"file_path": "ours.yaml", "event_sort_fn": len}, "`event_sort_fn` has no meaning for it"),
        ({"file_path": "wrong.json"}, "wrong.json, line 1: not JSON"),
    ],
)
def test_a_mistake_ends_parsing(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has to run the DAG to learn of it."""
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(f"{KEY}: {{}}\n")
    Path("wrong.json").write_text("[{]")
    with pytest.raises(BadInputError, match=message):
        OpenLineageTestOperator(task_id="check", **arguments)


STARTED = datetime(2024, 5, 1, 10, tzinfo=timezone.utc)
RUN = AskingRun("shop", "manual__1", STARTED)


class Transport:
    """What a transport of OpenLineage's client shows."""

    def __init__(self, kind: str, **shown: Any) -> None:
        self.kind = kind
        self.__dict__.update(shown)


def test_events_lie_where_the_client_writes_them() -> None:
    """Also where it writes them to several places, or changes them before."""
    file = Transport("file", config=Transport("", log_file_path="file:///data/events"))
    both = Transport("composite", transports=[Transport("http"), Transport("transform", transport=file)])
    found = store_of(both, RUN, "check", ())
    assert isinstance(found, FileStore)
    assert str(found) == "/data/events"
    assert isinstance(store_of(Transport("variable"), RUN, "check", ()), VariableStore)
    with pytest.raises(BadInputError, match=r"by transport http, kafka here.*`events=`"):
        store_of(Transport("composite", transports=[Transport("http"), Transport("kafka")]), RUN, "c", ())


def test_a_run_takes_its_own_events_and_what_came_since_it_started() -> None:
    """Not those of other runs of its DAG, nor of their children, nor what other jobs did before."""
    mine = whole_run()
    assert len(RUN.events(Events.of(mine))) == len(mine)
    assert len(AskingRun("shop", "manual__2", STARTED).events(Events.of(mine))) == 0
    # Its children say nothing of Airflow, and DAGs that it triggered are other DAGs.
    other = {"eventType": "START", "run": {"runId": "9"}, "job": {"name": "elsewhere"}}
    times = "2024-05-01T09:59:59Z", "2024-05-01T12:00:00+02:00", "nonsense"
    found = AskingRun("other", "r", STARTED).events(Events.of({**other, "eventTime": time} for time in times))
    assert [event.document["eventTime"] for event in found] == list(times[1:])


@pytest.mark.parametrize(
    "event_key",
    [
        "shop.load.event.start",
        "shop." + "x" * 400 + ".event.start",
        "shop.läden / 1.event.start",
        "a.b.event.job",
    ],
)
def test_the_key_of_a_variable_says_its_event_and_when(event_key: str) -> None:
    """It fits into Airflow's 250 letters, holds no odd ones, is found by event and DAG, and sorts by time."""
    keys = [variable_key(event_key) for _ in range(3)]
    assert len(set(keys)) == 3
    assert [key.rsplit("-", 1)[0] for key in keys] == sorted(key.rsplit("-", 1)[0] for key in keys)
    for key in keys:
        assert len(key) <= 250
        assert key.isascii()
        assert " " not in key
        assert "/" not in key
        assert key.startswith(prefix_of(event_key))
        assert key.startswith(prefix_of_dag(event_key.split(".", maxsplit=1)[0]))
        assert emitted_at(key) is not None
    assert prefix_of(event_key) != prefix_of(event_key.replace("event.", "events."))


def test_other_variables_are_no_events() -> None:
    """A team's own Variables may begin with the name of a DAG."""
    assert emitted_at("shop.settings") is None
