"""OpenLineage's Java agent beside us: who sends what, and what the agent is told about the task."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pendulum
import pytest

from airflow_provider_spark_lineage.airflow.task import java_agent, provider
from airflow_provider_spark_lineage.spark.runs.captured import Captured

pytestmark = pytest.mark.airflow

ROOT = "01941f29-7c00-7087-8940-40e509050000"
PARENT = "01941f29-7c00-7743-963e-b6f26e4b0000"
OF_ROOT = {"rootParentRunId": ROOT, "rootParentJobNamespace": "other", "rootParentJobName": "nightly"}
OF_PARENT = {"parentRunId": PARENT, "parentJobNamespace": "caller", "parentJobName": "nightly.start"}


class Operator:
    """An operator without arguments for the agent."""


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return a function that sets options of `[openlineage]`, which the provider caches."""
    from airflow.providers.openlineage import conf

    monkeypatch.setattr(provider, "is_active", lambda _: True)
    cached = [each for each in vars(conf).values() if hasattr(each, "cache_clear")]

    def set_options(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"AIRFLOW__OPENLINEAGE__{name.upper()}", value)
        for each in cached:
            each.cache_clear()
        for each in (provider._client, provider._adapter):
            each.cache_clear()

    set_options(namespace="here")
    yield set_options
    monkeypatch.undo()
    set_options()


def instance(conf: dict[str, Any] | None = None, **arguments: bool) -> SimpleNamespace:
    """A task instance whose DAG run has a `conf`, and whose operator has arguments."""
    operator = Operator()
    vars(operator).update(arguments)
    dag_run = SimpleNamespace(
        logical_date=pendulum.datetime(2026, 1, 1), run_after=None, clear_number=0, conf=conf or {}
    )
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(
        **fields, task=operator, get_template_context=lambda: {"dag_run": dag_run, "task": operator}
    )


def added(task_instance: Any, *present: str) -> dict[str, str]:
    function = java_agent.properties_for_java_agent(task_instance)
    return dict(function(present)) if function is not None else {}


def test_the_agent_is_told_nothing_unless_airflow_asks(options):
    """Without Airflow's options, an application has the properties that the user gave it."""
    assert java_agent.properties_for_java_agent(instance()) is None


def test_the_properties_of_the_parent_are_those_that_airflow_sets(options):
    """Operators of Airflow and ours tell the agent the same task."""
    from airflow.providers.openlineage.utils.spark import inject_parent_job_information_into_spark_properties

    options(spark_inject_parent_job_info="True")
    task_instance = instance()
    theirs = inject_parent_job_information_into_spark_properties({}, {"ti": task_instance})
    assert added(task_instance) == theirs
    assert theirs["spark.openlineage.parentJobName"] == "d.t"


@pytest.mark.parametrize("prefix", ["", "_"])
@pytest.mark.parametrize("asks", [True, False])
def test_an_operators_argument_is_stronger_than_the_option(options, prefix, asks):
    """Airflow's operators keep their argument with or without an underscore."""
    options(spark_inject_parent_job_info=str(not asks))
    assert bool(added(instance(**{f"{prefix}openlineage_inject_parent_job_info": asks}))) is asks


def test_what_the_user_set_stays(options):
    """Half of the user's transport and half of ours would send events to neither place."""
    options(
        spark_inject_parent_job_info="True",
        spark_inject_transport_info="True",
        transport='{"type": "http", "url": "http://backend:5000"}',
    )
    both = added(instance())
    assert both["spark.openlineage.transport.url"] == "http://backend:5000"
    parent = {name: value for name, value in both.items() if not name.startswith(java_agent.TRANSPORT)}
    assert added(instance(), "spark.openlineage.transport.type") == parent
    own = added(instance(), "spark.openlineage.parentRunId", "spark.openlineage.namespace")
    assert own == {name: value for name, value in both.items() if name not in parent}


def test_nothing_is_added_where_lineage_is_off(options, monkeypatch):
    """The agent would point to a run without events."""
    options(spark_inject_parent_job_info="True")
    monkeypatch.setattr(provider, "is_active", lambda _: False)
    assert added(instance()) == {}


def test_the_key_of_a_backend_is_masked_in_logs(options, monkeypatch):
    """It is in the command of the job, which hooks log, and repeated in the error of a failed job."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    masked: list[str] = []
    monkeypatch.setattr(java_agent, "mask_secret", masked.append)
    options(
        spark_inject_transport_info="True",
        transport='{"type": "http", "url": "http://backend:5000",'
        ' "auth": {"type": "api_key", "apiKey": "planted-key"},'
        ' "custom_headers": {"X-Team": "planted-header"}}',
    )
    properties = added(instance())
    assert properties["spark.openlineage.transport.auth.apiKey"].endswith("planted-key")
    assert masked == ["planted-key", "planted-header"]
    assert get_openlineage_listener().adapter._client is None, "its forked children create their own"


def test_a_backend_that_the_agent_cannot_use_does_not_cost_the_parent(options):
    """An unusable transport is a warning; the agent may have its own."""
    asks = {"spark_inject_parent_job_info": "True", "spark_inject_transport_info": "True"}
    options(**asks, transport='{"type": "no"}')
    assert set(added(instance())) == set(java_agent._parent(instance()))


@pytest.mark.parametrize(
    ("conf", "root"),
    [
        ({"openlineage": OF_ROOT}, ("other", "nightly", ROOT)),
        ({"openlineage": {**OF_ROOT, **OF_PARENT}}, ("other", "nightly", ROOT)),
        ({"openlineage": OF_PARENT}, ("caller", "nightly.start", PARENT)),
    ],
)
def test_the_root_of_a_dag_run_is_the_root_of_its_applications(options, conf, root):
    """Who started the DAG run named the root in its `conf`: with its own namespace."""
    options(spark_inject_parent_job_info="True")
    properties = added(instance(conf))
    names = ("rootParentJobNamespace", "rootParentJobName", "rootParentRunId")
    assert tuple(properties[f"spark.openlineage.{name}"] for name in names) == root
    assert properties["spark.openlineage.parentJobNamespace"] == "here"


def test_one_line_says_that_executions_are_left_to_the_agent(caplog):
    """Who misses the events of executions finds the reason in the task's log."""
    collector = Captured()
    is_left = java_agent.left_to_java_agent(collector)
    with caplog.at_level("INFO", logger=java_agent.__name__):
        assert not is_left()
        assert caplog.messages == []
        collector._capture.agent_configured = True
        assert is_left()
        assert is_left()
    [line] = caplog.messages
    assert "Java agent" in line
