"""The assets of a task's outputs: their URIs, and when Airflow gets them."""

from __future__ import annotations

import logging
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.version import Version
from providers import AIRFLOW

from airflow_provider_spark_lineage.airflow.task import assets, task_lineage
from airflow_provider_spark_lineage.airflow.task.assets import add_asset_events, asset_uri
from airflow_provider_spark_lineage.spark.facets.joined import joined
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Lineage, Mode, Output, Statistics
from airflow_provider_spark_lineage.spark.runs.run import Run
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

pytestmark = pytest.mark.airflow

URIS = {
    ("file", "/shop/orders"): "file:///shop/orders",
    ("file", "/a b/ü=1/c%20d"): "file:///a b/ü=1/c%20d",
    ("file", "/a?b#c"): "file:///a%3Fb%23c",
    ("file", "/"): "file:///",
    ("s3://shop", "orders/2026"): "s3://shop/orders/2026",
    ("s3://shop", "/"): "s3://shop/",
    ("gs://shop", "orders"): "gs://shop/orders",
    ("hdfs://nn:8020", "/shop/orders"): "hdfs://nn:8020/shop/orders",
    ("abfss://c@a.dfs.core.windows.net", "/orders"): "abfss://c@a.dfs.core.windows.net/orders",
    ("postgres://db:5432", "sales.public.orders"): "postgres://db:5432/sales/public/orders",
    ("mysql://db:3306", "sales.orders"): "mysql://db:3306/sales/orders",
    ("trino://t:8080", "hive.shop.orders"): "trino://t:8080/hive/shop/orders",
    ("bigquery", "project.shop.orders"): "bigquery://project/shop/orders",
    ("redshift://c.eu:5439", "dev.public.orders"): "redshift://c.eu:5439/dev/public/orders",
    # A dot inside a name makes the parts of the name unclear.
    (
        "postgres://db:5432",
        "sales.public.v1.0",
    ): "x-openlineage://postgres%3A%2F%2Fdb%3A5432/sales.public.v1.0",
    ("hive://metastore:9083", "shop.orders"): "hive://metastore:9083/shop.orders",
    ("kafka://broker:9092", "orders"): "kafka://broker:9092/orders",
    ("sqlserver://h:1433", "db.dbo.orders"): "sqlserver://h:1433/db.dbo.orders",
    ("file:/warehouse", "shop.orders"): "x-openlineage://file%3A%2Fwarehouse/shop.orders",
    ("my_catalog", "shop.a b"): "x-openlineage://my_catalog/shop.a%20b",
    ("sqlite:/data/a.db", "orders"): "x-openlineage://sqlite%3A%2Fdata%2Fa.db/orders",
}
"""Dataset -> URI. The first rows are those that Airflow's converters and handlers know."""


BEFORE_3_1 = {
    ("file", "/a b/ü=1/c%20d"): "x-openlineage://file/a%20b/%C3%BC%3D1/c%2520d",
    ("abfss://c@a.dfs.core.windows.net", "/orders"): "abfss://a.dfs.core.windows.net/orders",
}
"""URIs that Airflow 3.0 changes: it allows ASCII only, and removes a possible user and password."""


def event_uri(dataset):
    """Return the URI of a dataset's asset in Airflow."""
    return assets._asset(*dataset).uri


@pytest.mark.parametrize(("dataset", "uri"), URIS.items())
def test_airflow_keeps_the_uri_of_an_asset_as_it_is(dataset, uri):
    """Whoever writes the same text as a schedule waits for the same asset."""
    from airflow.sdk import Asset

    assert asset_uri(*dataset) == uri
    if Version("3.1") <= AIRFLOW or dataset not in BEFORE_3_1:
        assert event_uri(dataset) == Asset(uri=uri).uri == uri
    else:
        assert event_uri(dataset) == BEFORE_3_1[dataset]


@pytest.mark.parametrize("dataset", [each for each in URIS if each[0] == "file" and "?" not in each[1]])
def test_airflows_converter_gets_the_dataset_back(dataset):
    """The asset of a task's outlets, and the dataset that another task reads, are one node."""
    from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset
    from airflow.sdk import Asset

    uri = event_uri(dataset)
    if uri.startswith("x-openlineage:"):
        pytest.skip("this Airflow does not allow the URI")
    back = translate_airflow_asset(Asset(uri=uri), None)
    assert (back.namespace, back.name) == dataset


@pytest.mark.parametrize("dataset", URIS)
def test_an_asset_of_ours_is_not_a_second_dataset_of_its_task(dataset):
    """The provider reports assets of aliases as outputs, where it has a converter for them."""
    from airflow.providers.common.compat.openlineage.utils.utils import translate_airflow_asset
    from airflow.sdk import Asset
    from openlineage.client.event_v2 import OutputDataset

    back = translate_airflow_asset(Asset(uri=event_uri(dataset)), None)
    assert len(joined([OutputDataset(*dataset)], [] if back is None else [back])) == 1


def wrote(*names: str, mode: Mode = Mode.APPEND) -> Lineage:
    outputs = (Output(Dataset(Identity(DatasetId("file", name))), mode, Statistics(rows=3)) for name in names)
    return Lineage(outputs=tuple(outputs))


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the context of a running task, where no DAG knows any asset."""
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
    from airflow.sdk.execution_time import context as sdk
    from airflow.sdk.execution_time.comms import ErrorResponse

    def not_found(**_: str) -> None:
        raise AirflowRuntimeError(ErrorResponse(error=ErrorType.ASSET_NOT_FOUND))

    monkeypatch.setattr(sdk.OutletEventAccessor, "_get_asset_from_db", staticmethod(not_found))
    operator = SimpleNamespace(
        outlets=[],
        execute=lambda context: None,
        resume_execution=lambda next_method, next_kwargs, context: None,
        post_execute=lambda context: context["calls"].append("theirs"),
    )
    instance = SimpleNamespace(dag_id="d", task_id="t", task=operator)
    return {"ti": instance, "outlet_events": sdk.OutletEventAccessors(), "calls": []}


def events(context: dict[str, Any]) -> list[str]:
    from airflow.sdk import AssetAlias

    added = context["outlet_events"][AssetAlias("d.t")].asset_alias_events
    return [each.dest_asset_key.uri for each in added]


def test_an_asset_that_cannot_be_takes_no_other_with_it(context, caplog):
    """Airflow's limit is 1,500 characters."""
    add_asset_events(context, wrote("/a", "/" + "b" * 1500, "/c"))
    assert events(context) == ["file:///a", "file:///c"]


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("is_counted", [False, True])
def test_new_data_trigger_an_event(context, mode, is_counted):
    """Making, moving, emptying or dropping a dataset triggers no event; CREATE with rows is a CTAS."""
    dataset = Dataset(Identity(DatasetId("file", "/a")))
    output = Output(dataset, mode, Statistics(rows=3) if is_counted else Statistics())
    add_asset_events(context, Lineage(outputs=(output,)))
    if mode in (Mode.APPEND, Mode.OVERWRITE) or (mode is Mode.CREATE and is_counted):
        assert events(context) == ["file:///a"]
    else:
        assert (context["ti"].task.outlets, len(context["outlet_events"])) == ([], 0)


def known_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> list[str]:
    """Have DAGs know all assets by one name; return the URIs that Airflow is asked for."""
    from airflow.sdk import Asset
    from airflow.sdk.execution_time import context as sdk

    calls: list[str] = []

    def known(uri: str = "", **_: str) -> Asset:
        calls.append(uri)
        return Asset(name=name, uri=uri)

    monkeypatch.setattr(sdk.OutletEventAccessor, "_get_asset_from_db", staticmethod(known))
    monkeypatch.setattr(sdk.OutletEventAccessor, "_asset_ref_cache", {})
    return calls


def test_an_asset_that_is_declared_by_its_name_has_one_event(context, monkeypatch):
    """Airflow records it by itself."""
    from airflow.sdk import Asset

    known_by_name(monkeypatch, "orders")
    context["ti"].task.outlets = [Asset.ref(name="orders")]
    add_asset_events(context, wrote("/a"))
    assert events(context) == []
    assert context["outlet_events"][Asset(name="orders", uri="file:///a")].extra["rows"] == 3


def test_an_asset_that_the_tasks_code_gave_to_an_alias_has_one_event(context):
    """Its author's, with the author's facts. An alias that the task does not declare has no events."""
    from airflow.sdk import Asset, AssetAlias

    outlet_events = context["outlet_events"]
    context["ti"].task.outlets = [AssetAlias("theirs")]
    outlet_events[AssetAlias("theirs")].add(Asset("file:///a"))
    outlet_events[AssetAlias("undeclared")].add(Asset("file:///b"))
    add_asset_events(context, wrote("/a", "/b"))
    assert events(context) == ["file:///b"]


def test_an_error_of_airflow_does_not_say_that_nobody_knows_an_asset(context, monkeypatch, caplog):
    """An event by another name would reach no DAG. Airflow that fails is not asked for the next asset."""
    from airflow.sdk.exceptions import AirflowRuntimeError, ErrorType
    from airflow.sdk.execution_time import context as sdk
    from airflow.sdk.execution_time.comms import ErrorResponse

    def broken(**_: str) -> None:
        raise AirflowRuntimeError(ErrorResponse(error=ErrorType.API_SERVER_ERROR))

    monkeypatch.setattr(sdk.OutletEventAccessor, "_get_asset_from_db", staticmethod(broken))
    add_asset_events(context, wrote("/a", "/b"))
    assert events(context) == []
    assert [record.levelname for record in caplog.records] == ["WARNING"]


@pytest.mark.parametrize(("limit", "value"), [("MAX_ASSETS", 2), ("ASSETS_TIMEOUT_SECONDS", -1.0)])
def test_a_task_does_not_wait_for_ever_for_its_assets(context, monkeypatch, caplog, limit, value):
    """Each is a question to Airflow's API. One warning has the number of lost ones."""
    monkeypatch.setattr(assets, limit, value)
    calls = known_by_name(monkeypatch, "known")
    add_asset_events(context, wrote("/a", "/b", "/c", "/d"))
    assert len(calls) == max(value, 0)
    [warning] = caplog.messages
    assert f"{4 - len(calls)} of the 4 assets" in warning


def test_the_list_of_outlets_that_other_runs_share_stays(context):
    """`dag.test()` and mapped tasks have one operator for several runs."""
    shared = context["ti"].task.outlets
    for _ in range(2):
        add_asset_events(context, wrote("/a"))
    assert (shared, [alias.name for alias in context["ti"].task.outlets]) == ([], ["d.t"])


class Ended:
    """The lineage of a task; `calls` lists the calls to it."""

    def __init__(self, calls: list[str], *, is_broken: bool = False) -> None:
        self._calls = calls
        self._is_broken = is_broken

    def stop(self) -> None:
        self._calls.append("stop")
        if self._is_broken:
            raise ValueError("on purpose")

    def succeed(self, context: dict[str, Any]) -> None:
        self._calls.append("succeed")
        collector = SimpleNamespace(run=lambda: Run(wrote("/a")), planned=None, findings=())
        task_lineage.TaskLineage(collector).succeed(context)

    def pause(self, task_instance: Any) -> None:
        self._calls.append("pause")


def captured(operator: Any, lineage: Ended) -> None:
    """Replace an operator's methods as auto-capture does."""
    from airflow_provider_spark_lineage.airflow.plugins.tasks import CapturedTask, _succeed_after_execute

    subject = CapturedTask(SimpleNamespace(task=operator, dag_id="d", task_id="t"), "python", is_named=False)
    subject._lineage = lineage
    _succeed_after_execute(operator, subject._succeed)


@pytest.mark.parametrize("is_generator", [False, True])
@pytest.mark.parametrize("is_on", [False, True])
def test_ours_runs_after_post_execute_of_an_operator(context, monkeypatch, is_generator, is_on):
    """Its Spark work counts as the task's. Airflow runs a generator to its end: it stays a generator."""
    from airflow.sdk import Asset, Metadata
    from airflow.sdk.execution_time.callback_runner import create_executable_runner

    def generator(context: dict[str, Any], result: Any = None) -> Any:
        context["calls"].append("theirs")
        yield Metadata(Asset("mine"), {"by": "hand"})

    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__ASSET_EVENTS", str(is_on))
    operator, calls = context["ti"].task, context["calls"]
    if is_generator:
        operator.post_execute = generator
    before = dict(vars(operator))
    captured(operator, Ended(calls))
    assert (vars(operator) == before) is not is_on
    outlet_events, log = context["outlet_events"], logging.getLogger(__name__)
    create_executable_runner(operator.post_execute, outlet_events, logger=log).run(context)
    assert calls == ["theirs", *(["stop", "succeed"] if is_on else [])]
    assert events(context) == (["file:///a"] if is_on else [])
    assert outlet_events[Asset("mine")].extra == ({"by": "hand"} if is_generator else {})


def test_an_error_of_ours_does_not_fail_a_task_that_has_ended(context, monkeypatch, caplog):
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__ASSET_EVENTS", "True")
    operator = context["ti"].task
    captured(operator, Ended(context["calls"], is_broken=True))
    operator.post_execute(context)
    assert context["calls"] == ["theirs", "stop"]
    assert caplog.text.count("on purpose") == 1


def ending(name: str) -> BaseException:
    from datetime import datetime, timezone

    from airflow.exceptions import AirflowRescheduleException
    from airflow.providers.common.compat.sdk import DownstreamTasksSkipped, TaskDeferred

    now = datetime.now(tz=timezone.utc)
    return {
        "skips": lambda: DownstreamTasksSkipped(tasks=["b"]),
        "defers": lambda: TaskDeferred(trigger=SimpleNamespace(), method_name="execute"),
        "reschedules": lambda: AirflowRescheduleException(now),
        "fails": lambda: ValueError("theirs"),
    }[name]()


@pytest.mark.parametrize("kind", ["auto-capture", "auto-capture, resumed", "ours"])
@pytest.mark.parametrize("end", ["skips", "defers", "reschedules", "fails"])
def test_ends_by_an_exception(context, monkeypatch, kind, end):
    """`@task.branch` succeeds by one. A task that goes on elsewhere is not asked for its lineage here."""
    from airflow_provider_spark_lineage.operators.reporting import ReportsLineage

    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__ASSET_EVENTS", "True")
    raised, calls = ending(end), context["calls"]

    class Operator:
        outlets: tuple[Any, ...] = ()

        def execute(self, context: dict[str, Any]) -> None:
            calls.append("execute")
            raise raised

        def resume_execution(self, next_method: str, next_kwargs: Any, context: dict[str, Any]) -> None:
            self.go_on(context)

        go_on = execute

        def post_execute(self, context: dict[str, Any], result: Any = None) -> None:
            pytest.fail("Airflow does not call it then")

    class Ours(ReportsLineage, Operator):
        pass

    lineage = Ended(calls)
    if kind == "ours":
        monkeypatch.setattr(task_lineage, "start_capture", lambda _: lineage)
        context["ti"].task = Ours()
    else:
        context["ti"].task = Operator()
        captured(context["ti"].task, lineage)
    run = context["ti"].task.execute
    if kind == "auto-capture, resumed":
        run = partial(context["ti"].task.resume_execution, next_method="go_on", next_kwargs=None)
    with pytest.raises(type(raised)) as caught:
        run(context=context)
    assert caught.value is raised
    # Auto-capture hears of the others from Airflow's listener.
    ends = {"skips": ["stop", "succeed"]}
    if kind == "ours":
        ends |= {"defers": ["stop", "pause"], "reschedules": ["stop", "pause"], "fails": ["stop"]}
    assert calls == ["execute", *ends.get(end, [])]
    assert events(context) == (["file:///a"] if end == "skips" else [])


def test_airflow_runs_a_branch_whose_execute_is_replaced(context, monkeypatch):
    """Its guard against calls of `execute` by hand lets ours pass."""
    from airflow.providers.common.compat.sdk import DownstreamTasksSkipped
    from airflow.providers.standard.operators.empty import EmptyOperator
    from airflow.providers.standard.operators.python import BranchPythonOperator
    from airflow.sdk import DAG
    from airflow.sdk.execution_time import task_runner

    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__ASSET_EVENTS", "True")
    with DAG("d") as dag:
        branch = BranchPythonOperator(task_id="t", python_callable=lambda: "a")
        branch >> [EmptyOperator(task_id="a"), EmptyOperator(task_id="b")]
    captured(branch, Ended(context["calls"]))
    run = SimpleNamespace(run_id="r")
    instance = SimpleNamespace(
        **{**vars(context["ti"]), "task": branch},
        _ti_context_from_server=None,
        map_index=-1,
        xcom_push=lambda *_, **__: None,
    )
    given = {
        "ti": instance,
        "task": branch,
        "task_instance": instance,
        "dag_run": run,
        "dag": dag,
        "params": {},
    }
    with pytest.raises(DownstreamTasksSkipped):
        task_runner._execute_task({**context, **given, "run_id": "r"}, instance, logging.getLogger(__name__))
    assert context["calls"] == ["stop", "succeed"]
    assert events(context) == ["file:///a"]
