"""Mistakes in a check that is part of a DAG end its parsing, with one sentence that has the cure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from airflow_provider_spark_lineage.errors import BadInputError
from airflow_provider_spark_lineage.openlineage.events import Event
from airflow_provider_spark_lineage.openlineage.events.variables import (
    emitted_ns,
    prefix_of_dag,
    variable_key,
)
from airflow_provider_spark_lineage.openlineage.testing.event_places import (
    CheckingTask,
    FileStore,
    VariableStore,
    store_of,
)
from airflow_provider_spark_lineage.testing.in_dag import OpenLineageTestOperator

KEY = "dag.task.event.start"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give either file_path or expected"),
        ({"expected": {KEY: {}}, "file_path": "x.json"}, "give either file_path or expected"),
        ({"expected": {}}, "expects no events"),
        ({"expected": {"dag.task.start": {}}}, "`dag.task.start` is not `<dag_id>.<task_id>.event"),
        ({"expected": {KEY: {"run": {"$match": "uid"}}}}, "unknown matcher `uid`; did you mean `uuid`"),
        (
            {"file_path": "templates.json"},
            "templates.json: not a mapping .* `spark-lineage expect` writes one",
        ),
        ({"file_path": "nowhere.json"}, "nowhere.json: no such file"),
        ({"file_path": "ours.yaml", "without": ["one_terminals"]}, "`one_terminals` is not a relation"),
        ({"file_path": "unfilled.yaml"}, r"the variable \${NAME} has no value"),
        ({"file_path": "wrong.json"}, "wrong.json, line 1: not JSON"),
    ],
)
def test_a_mistake_ends_parsing(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has to run the DAG to learn of it."""
    monkeypatch.chdir(tmp_path)
    Path("ours.yaml").write_text(f"{KEY}: {{}}\n")
    Path("unfilled.yaml").write_text(f"{KEY}: {{run: {{runId: '${{NAME}}'}}}}\n")
    Path("templates.json").write_text('[{"eventType": "START", "job": {"name": "dag.task"}}]')
    Path("wrong.json").write_text("[{]")
    with pytest.raises(BadInputError, match=message):
        OpenLineageTestOperator(task_id="check", **arguments)


TASK = CheckingTask("shop", "manual__1", "check")


class Transport:
    """A transport with the attributes of OpenLineage's client."""

    def __init__(self, kind: str, **shown: Any) -> None:
        self.kind = kind
        self.__dict__.update(shown)


def test_events_lie_where_the_client_writes_them() -> None:
    """Also where it writes them to several places, or changes them before."""
    file = Transport("file", config=Transport("", log_file_path="file:///data/events"))
    both = Transport("composite", transports=[Transport("http"), Transport("transform", transport=file)])
    store = store_of(both, TASK)
    assert isinstance(store, FileStore)
    assert str(store) == "/data/events"
    assert isinstance(store_of(Transport("variable"), TASK), VariableStore)
    with pytest.raises(BadInputError, match=r"by transport http, kafka here.*`events=`"):
        store_of(Transport("composite", transports=[Transport("http"), Transport("kafka")]), TASK)


@pytest.mark.parametrize(
    "event_key",
    [
        "shop.load.event.start",
        "shop." + "x" * 400 + ".event.start",
        "shop.läden / 1.event.start",
        "läden.a.b.event.complete",
    ],
)
def test_the_key_of_a_variable_has_its_event_and_time(event_key: str) -> None:
    """It fits into Airflow's 250 letters, holds no odd ones, is found by DAG, and sorts by time."""
    subject, _, kind = event_key.rpartition(".event.")
    event = Event({"run": {}, "eventType": kind.upper(), "job": {"name": subject}})
    keys = [variable_key(event) for _ in range(3)]
    assert len(set(keys)) == 3
    assert keys == sorted(keys, key=emitted_ns)
    for key in keys:
        assert len(key) <= 250
        assert key.isascii()
        assert not set(key) & set(" /%?#")
        assert key.startswith(prefix_of_dag(event.key.split(".")[0]))


def test_other_variables_are_not_events() -> None:
    """A team's own Variables may begin with the name of a DAG."""
    assert emitted_ns("shop.settings") is None


def test_one_relation_may_be_left_out_by_its_name_alone() -> None:
    """A name is not a list of letters."""
    check = OpenLineageTestOperator(task_id="check", expected={KEY: {}}, without="schemas")
    assert check.without == ("schemas",)


def test_parsing_a_dag_loads_no_schemas() -> None:
    """A DAG is parsed again and again, and its expectations with it."""
    code = (
        "import sys\n"
        "from airflow_provider_spark_lineage.testing.in_dag import OpenLineageTestOperator\n"
        f"OpenLineageTestOperator(task_id='check', expected={{'{KEY}': {{}}}})\n"
        "assert 'airflow_provider_spark_lineage.openlineage.events.validation' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
