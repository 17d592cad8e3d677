"""Datasets that hooks report: those of the task itself, and only where they may be asked."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from annotation.asked_tasks import (
    CAPTURED,
    HOOKED,
    ORDERS,
    asked,
    instance,
    named,
    operator_of,
    report_by_hooks,
)
from providers import import_or_skip

from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.airflow.task.hook_reports import reported_so_far
from airflow_provider_spark_lineage.airflow.task.process import TASK

pytestmark = [pytest.mark.airflow, pytest.mark.usefixtures("provider")]


def test_hooks_are_not_asked_where_the_policy_forbids(monkeypatch, spark_did):
    """`emission_policy` decides for the datasets of hooks, whether the provider or ours reports them."""
    import_or_skip("airflow.providers.openlineage.utils.emission_policy", "this provider has no policy")
    policy = '[{"scope": {"dag_id": "d"}, "controls": {"hook_lineage": false}}]'
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EMISSION_POLICY", policy)
    report_by_hooks()
    lineage = asked("ours", operator_of("ours"), spark_did)
    assert named(lineage.inputs) == {ORDERS: CAPTURED}


@pytest.mark.parametrize(("state", "expected"), [("failed", "failed"), ("skipped", "success")])
def test_statements_of_a_task_that_skipped_itself_did_not_fail(state, expected, monkeypatch, spark_did):
    """The provider sends an event of each with that end."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    manager = get_openlineage_listener().extractor_manager
    if len(inspect.signature(manager.get_hook_lineage).parameters) < 2:
        pytest.skip("this provider sends no events of statements")
    asked_for: list[str] = []
    monkeypatch.setattr(manager, "get_hook_lineage", lambda _, state: asked_for.append(state))
    report_by_hooks()
    asked("ours", operator_of("ours"), spark_did, state)
    assert asked_for == [expected]


def test_hooks_of_an_earlier_task_in_the_process_are_not_in_the_event(spark_did, monkeypatch):
    """`dag.test()` runs tasks in one process, which has one collector; SQL would be sent a second time."""
    from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    def sql(text: str) -> None:
        get_hook_lineage_collector().add_extra(object(), "test", {"sql": text})

    seen: list[list[str]] = []

    manager = type(get_openlineage_listener().extractor_manager)
    original = manager.get_hook_lineage

    @functools.wraps(original)  # Its arguments depend on the provider.
    def ask(self: Any, *arguments: Any) -> Any:
        seen.append([each.value["sql"] for each in get_hook_lineage_collector().collected_assets.extra])
        return original(self, *arguments)

    monkeypatch.setattr(manager, "get_hook_lineage", ask)
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__EXECUTION_EVENTS", "False")
    expected = [
        {ORDERS: CAPTURED, HOOKED: ""},
        {ORDERS: CAPTURED},
        {ORDERS: CAPTURED, ("file", "/third"): ""},
    ]
    for number, inputs in enumerate(expected):
        operator = operator_of("ours")
        subject = SimpleNamespace(**{**vars(instance(operator)), "task_id": f"t{number}"})
        lineage = task_lineage.start_capture(subject)
        assert lineage is not None
        if number == 0:
            report_by_hooks()
            sql("first")
        if number == 2:
            get_hook_lineage_collector().add_input_asset(object(), uri="file:///third")
            sql("third")
        lineage.stop()
        monkeypatch.setattr(lineage, "_report", replace(lineage.report, run=spark_did, measured=None))
        operator._task_lineage = lineage
        for _ in range(2):
            assert named(operator.get_openlineage_facets_on_complete(subject).inputs) == inputs
    assert seen == [["first"], ["first"], ["third"], ["third"]]
    assert len(get_hook_lineage_collector().collected_assets.inputs) == 2, "it is as it was"


def test_hooks_that_a_function_calls_before_its_session_are_its_own():
    """Capture of a function starts in the middle of it."""
    from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask
    from airflow_provider_spark_lineage.airflow.task.hook_reports import hook_datasets

    subject = instance(operator_of("function"))
    captured = CapturedTask(subject, "python", is_named=False)
    captured.start()
    try:
        report_by_hooks()
        captured._start()
    finally:
        captured.stop()
    before = TASK.report_of(subject).hooks_before
    assert [
        (each.namespace, each.name) for each in hook_datasets(subject, failed=False, before=before)[0]
    ] == [HOOKED]
    assert hook_datasets(subject, failed=False, before=reported_so_far()) == ([], [])


def test_nobody_creates_the_collector_to_see_that_it_is_empty():
    """That would import the asset handlers of all providers, in every Python task."""
    program = """if True:
        from airflow_provider_spark_lineage.airflow.task.hook_reports import hook_datasets, reported_so_far
        try:
            from airflow.sdk import lineage
        except ImportError:  # Airflow before 3.2
            from airflow.lineage import hook
            is_there = lambda: hook._hook_lineage_collector is not None
        else:
            is_there = lambda: lineage.get_hook_lineage_collector.cache_info().currsize > 0
        assert not any(reported_so_far().values())
        assert not is_there()
    """
    subprocess.run([sys.executable, "-c", program], check=True)
