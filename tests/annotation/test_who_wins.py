"""The table of docs/annotation.md, row by row: real operators, and the provider's own extractor manager."""

from __future__ import annotations

import functools
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from openlineage.client.event_v2 import Dataset as OpenLineageDataset
from openlineage.client.event_v2 import InputDataset, OutputDataset
from openlineage.client.facet_v2 import (
    data_quality_metrics_input_dataset,
    documentation_dataset,
    input_statistics_input_dataset,
    schema_dataset,
    symlinks_dataset,
)
from providers import import_or_skip, needs_openlineage

from airflow_provider_spark_lineage import task
from airflow_provider_spark_lineage.annotation import joined
from airflow_provider_spark_lineage.hook_reports import reported_so_far
from airflow_provider_spark_lineage.lineage.model import Lineage
from airflow_provider_spark_lineage.pipeline import Run, RunBuilder, executions
from airflow_provider_spark_lineage.record import Record

pytestmark = pytest.mark.airflow

RECORDS = Path(__file__).parents[1] / "records" / "ctas" / "record-4.1.json.gz"
ORDERS = ("file", "/data/orders")
TOTALS = ("file", "/data/warehouse/totals")
"""What the recorded job reads and writes; the table `default.totals` of the warehouse is its symlink."""

CAPTURED = "captured"
"""Stands for a dataset with the facets of Spark, and without the one that says who stated it."""


@pytest.fixture(scope="module")
def spark_did() -> Run:
    builder = RunBuilder()
    lines = gzip.decompress(RECORDS.read_bytes()).splitlines()
    for execution in executions(Record.from_json(json.loads(line)) for line in lines):
        builder.add(execution)
    return builder.run()


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch):
    """OpenLineage has a transport and no settings that were read before; hooks have reported nothing."""
    from airflow.providers.common.compat.lineage import hook
    from airflow.providers.openlineage import conf

    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__TRANSPORT", '{"type": "console"}')
    caches = [each for each in vars(conf).values() if hasattr(each, "cache_clear")]
    for cache in caches:
        cache.cache_clear()
    monkeypatch.setattr(task, "_latest", None)
    collector = hook.get_hook_lineage_collector()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()
    for collected in ("_inputs", "_outputs", "_input_counts", "_output_counts", "_extra", "_extra_counts"):
        getattr(collector, collected, {}).clear()


def instance(operator: Any) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**fields, task=operator)


def operator_of(kind: str, **stated: Any) -> Any:
    """Return a real operator in a DAG: ours, or Airflow's own."""
    from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
    from airflow.providers.apache.spark.operators.spark_sql import SparkSqlOperator
    from airflow.providers.standard.operators.python import PythonOperator
    from airflow.sdk import DAG

    from airflow_provider_spark_lineage.operators.pyspark import PySparkLineageOperator
    from airflow_provider_spark_lineage.operators.spark_sql import SparkSqlLineageOperator

    classes: dict[str, Any] = {
        "ours": PySparkLineageOperator,
        "ours, sql": SparkSqlLineageOperator,
        "extractor": PySparkOperator,
        "extractor, sql": SparkSqlOperator,
        "auto-capture": PySparkOperator,
        "function": PythonOperator,
    }
    what = {"sql": COPY} if "sql" in kind else {"python_callable": lambda spark: None}
    with DAG("d"):
        return classes[kind](task_id="t", **what, **stated)


COPY = "insert into parquet.`file:/data/copies` select * from parquet.`file:/data/orders`"


def asked(kind: str, operator: Any, run: Run, state: str = "success") -> Any:
    """Return what the provider's manager makes of a task whose capture has ended with `run`."""
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.extractors import SparkExtractor
    from airflow_provider_spark_lineage.plugins import added
    from airflow_provider_spark_lineage.plugins.tasks import CapturedTask

    manager = get_openlineage_listener().extractor_manager
    before = dict(manager.extractors)
    lineage = task.TaskLineage(SimpleNamespace(run=lambda: run, planned=None))
    subject = instance(operator)
    try:
        if kind.startswith("ours"):
            operator._task_lineage = lineage
        elif kind.startswith("extractor"):
            manager.extractors |= dict.fromkeys(SparkExtractor.get_operator_classnames(), SparkExtractor)
            task._latest = (task.key_of(subject), lineage)
        else:
            captured = CapturedTask(subject, "python" if kind == "function" else "in process", is_named=False)
            captured._report_by()(lineage)
        return manager.extract_metadata(
            dagrun=SimpleNamespace(run_id="r"),
            task=operator,
            task_instance_state=state,
            task_instance=subject,
        )
    finally:
        manager.extractors = before
        added._latest = None


def named(datasets: list[Any]) -> dict[tuple[str, str], str]:
    """Return the datasets with who named them: `inlets`, `outlets`, CAPTURED, or nobody of ours."""
    names = [(each.namespace, each.name) for each in datasets]
    assert len(set(names)) == len(names)
    return {
        (each.namespace, each.name): stated.by
        if (stated := (each.facets or {}).get("sparkLineage_stated"))
        else (CAPTURED if "dataSource" in (each.facets or {}) else "")
        for each in datasets
    }


def assets(*uris: str) -> list[Any]:
    from airflow.sdk import Asset

    return [Asset(uri=uri) for uri in uris]


def report_by_hooks() -> None:
    """Report as hooks do, with the collector of this process."""
    from airflow.providers.common.compat.lineage.hook import get_hook_lineage_collector

    collector = get_hook_lineage_collector()
    if type(collector).__name__ == "NoOpCollector":
        pytest.fail("the provider's reader of hooks is not registered")
    collector.add_input_asset(object(), uri="file:///data/hooked")


HOOKED = ("file", "/data/hooked")
RATES, REPORT = ("file", "/data/rates"), ("file", "/data/report")
STATED = {"inlets": ["file:///data/rates", "file:///data/orders"], "outlets": ["file:///data/report"]}
EVERYWHERE = pytest.mark.parametrize("kind", ["ours", "extractor", "auto-capture", "function"])
ENDS = pytest.mark.parametrize("state", ["success", "failed"])


def stated() -> dict[str, Any]:
    return {argument: assets(*uris) for argument, uris in STATED.items()}


def written(state: str) -> dict[tuple[str, str], str]:
    """Return the outputs of a task that wrote one dataset and states another."""
    return {TOTALS: CAPTURED} if state == "failed" else {TOTALS: CAPTURED, REPORT: "outlets"}


@ENDS
@EVERYWHERE
def test_spark_did_something_and_the_author_states_more(kind, state, spark_did):
    """Each once; what only the author says has a facet that says so, and is no output of a failed task."""
    lineage = asked(kind, operator_of(kind, **stated()), spark_did, state)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    assert named(lineage.outputs) == written(state)
    entries = getattr(lineage.job_facets.get("lineage"), "entries", None)
    if entries is not None:
        assert [each.name for each in entries] == [name for _, name in written(state)]
    [orders] = [each for each in lineage.inputs if each.name == ORDERS[1]]
    assert orders.inputFacets["inputStatistics"].rowCount == 3


@ENDS
@EVERYWHERE
def test_spark_did_something_and_hooks_report_more(kind, state, spark_did):
    """A hook's datasets are facts as Spark's are."""
    report_by_hooks()
    lineage = asked(kind, operator_of(kind, **stated()), spark_did, state)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets", HOOKED: ""}
    assert named(lineage.outputs) == written(state)


@ENDS
@EVERYWHERE
def test_spark_did_nothing_and_hooks_report_something(kind, state):
    """The provider's rule: hooks hide what is stated."""
    report_by_hooks()
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), state)
    assert (named(lineage.inputs), named(lineage.outputs)) == ({HOOKED: ""}, {})


@needs_openlineage("2.16", "OpenLineage's provider converts no assets of inlets and outlets")
@ENDS
@EVERYWHERE
def test_spark_did_nothing_and_neither_did_hooks(kind, state):
    """The provider's rule: what is stated is all that there is."""
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), state)
    assert named(lineage.inputs) == {RATES: "", ORDERS: ""}
    assert named(lineage.outputs) == {REPORT: ""}


@pytest.mark.parametrize("kind", ["ours, sql", "extractor, sql"])
def test_what_a_text_names_before_it_runs_is_completed_too(kind):
    """START has the datasets that are certain, and those that are stated."""
    lineage = asked(kind, operator_of(kind, **stated()), Run(Lineage()), "running")
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    assert named(lineage.outputs) == {("file", "/data/copies"): CAPTURED, REPORT: "outlets"}


def test_an_extractor_replaces_the_methods_of_an_operator(spark_did):
    """The provider's rule, for our operators too: whoever adds an extractor for them has the last word."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.base import BaseExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    class Theirs(BaseExtractor):
        @classmethod
        def get_operator_classnames(cls):
            return ["PySparkLineageOperator"]

        def _execute_extraction(self):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

        def extract_on_complete(self, task_instance):
            return self.extract()

    manager = get_openlineage_listener().extractor_manager
    manager.add_extractor("PySparkLineageOperator", Theirs)
    try:
        lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    finally:
        manager.extractors.pop("PySparkLineageOperator", None)
    assert (named(lineage.inputs), lineage.outputs) == ({("theirs", "a"): ""}, [])


def test_auto_capture_leaves_an_operator_with_an_extractor_of_yours_alone():
    """Its author has said what it reports."""
    from airflow.providers.openlineage.extractors.base import DefaultExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.plugins.tasks import CapturedTask

    class Theirs(DefaultExtractor):
        pass

    manager = get_openlineage_listener().extractor_manager
    subject = instance(operator_of("auto-capture"))
    assert CapturedTask(subject, "in process", is_named=False)._report_by() is not None
    manager.add_extractor("PySparkOperator", Theirs)
    try:
        assert CapturedTask(subject, "in process", is_named=False)._report_by() is None
    finally:
        del manager.extractors["PySparkOperator"]


def test_an_operator_that_you_name_has_both(monkeypatch, spark_did):
    """`extra_operators` says that its class runs Spark, whoever else reports on it."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.base import BaseExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    from airflow_provider_spark_lineage.plugins import added
    from airflow_provider_spark_lineage.plugins.tasks import CapturedTask

    class Theirs(BaseExtractor):
        @classmethod
        def get_operator_classnames(cls):
            return ["PySparkOperator"]

        def _execute_extraction(self):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

        def extract_on_complete(self, task_instance):
            return self.extract()

    manager = get_openlineage_listener().extractor_manager
    manager.add_extractor("PySparkOperator", Theirs)
    operator = operator_of("auto-capture")
    subject = instance(operator)
    try:
        lineage = task.TaskLineage(SimpleNamespace(run=lambda: spark_did, planned=None))
        CapturedTask(subject, "in process", is_named=True)._report_by()(lineage)
        both = manager.extract_metadata(
            dagrun=SimpleNamespace(run_id="r"),
            task=operator,
            task_instance_state="success",
            task_instance=subject,
        )
    finally:
        del manager.extractors["PySparkOperator"]
        added._latest = None
    assert named(both.inputs) == {ORDERS: CAPTURED, ("theirs", "a"): ""}
    assert named(both.outputs) == {TOTALS: CAPTURED}


def test_of_two_extractors_for_one_class_the_provider_takes_one(monkeypatch):
    """Its rule, and its warning: the set of their names has no order."""
    from airflow.providers.openlineage.extractors.manager import ExtractorManager

    ours = "airflow_provider_spark_lineage.extractors"
    pair = {f"{ours}.SparkExtractor", f"{ours}.pyspark.PySparkExtractor"}
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EXTRACTORS", ";".join(pair))
    manager = ExtractorManager()
    assert manager.extractors["PySparkOperator"].__name__ in ("SparkExtractor", "PySparkExtractor")
    assert manager.extractors["SparkSubmitOperator"].__name__ == "SparkExtractor"


def test_hooks_are_not_asked_where_the_policy_forbids(monkeypatch, spark_did):
    """`emission_policy` decides for the datasets of hooks, whoever reports them."""
    import_or_skip("airflow.providers.openlineage.utils.emission_policy", "this provider has no policy")
    policy = '[{"scope": {"dag_id": "d"}, "controls": {"hook_lineage": false}}]'
    monkeypatch.setenv("AIRFLOW__OPENLINEAGE__EMISSION_POLICY", policy)
    report_by_hooks()
    lineage = asked("ours", operator_of("ours"), spark_did)
    assert named(lineage.inputs) == {ORDERS: CAPTURED}


def table(cluster: str, database: str, name: str, **also: Any) -> Any:
    from airflow.providers.common.compat.lineage.entities import Table

    return Table(cluster=cluster, database=database, name=name, **also)


def file(url: str) -> Any:
    from airflow.providers.common.compat.lineage.entities import File

    return File(url=url)


def described(namespace: str, name: str) -> Any:
    """A dataset of OpenLineage with one facet that Spark has, and one that it lacks."""
    return OpenLineageDataset(
        namespace,
        name,
        facets={
            "documentation": documentation_dataset.DocumentationDatasetFacet(description="by hand"),
            "schema": schema_dataset.SchemaDatasetFacet(fields=[]),
        },
    )


@pytest.mark.parametrize(
    "entity",
    [
        lambda: assets("file:///data/warehouse/totals")[0],
        lambda: file("file:///data/warehouse/totals"),
        lambda: described(*TOTALS),
        lambda: table("file:/data/warehouse", "default", "totals"),
    ],
    ids=["Asset", "File", "Dataset", "Table"],
)
@EVERYWHERE
def test_a_dataset_that_is_stated_and_captured_is_there_once(kind, entity, spark_did):
    """By its place or by its name in the catalog: with the facets of Spark, which saw it."""
    lineage = asked(kind, operator_of(kind, outlets=[entity()]), spark_did)
    assert named(lineage.outputs) == {TOTALS: CAPTURED}
    [totals] = lineage.outputs
    assert [field.name for field in totals.facets["schema"].fields] == ["customer", "total"]
    assert "columnLineage" in totals.facets


def test_what_the_author_knows_about_a_captured_dataset_is_kept(spark_did):
    """Owners and descriptions are nowhere in a plan."""
    from airflow.providers.common.compat.lineage.entities import Column, User

    owned = table(
        "file:/data/warehouse",
        "default",
        "totals",
        description="per customer",
        columns=[Column(name="customer", data_type="string")],
        owners=[User(email="a@company.example")],
    )
    orders = described(*ORDERS)
    lineage = asked("ours", operator_of("ours", inlets=[orders], outlets=[owned]), spark_did)
    [totals], [read] = lineage.outputs, lineage.inputs
    assert totals.facets["documentation"].description == "per customer"
    assert totals.facets["ownership"].owners[0].name == "user:<a@company.example>"
    assert len(totals.facets["schema"].fields) == 2
    assert read.facets["documentation"].description == "by hand"
    assert set(orders.facets) == {"documentation", "schema"}, "the author's object is not changed"


def test_what_is_no_dataset_is_left_out_and_takes_nothing_with_it(spark_did, caplog):
    """As the provider does; an entity that cannot be converted is one warning."""
    from airflow.providers.common.compat.lineage.entities import Column, User
    from airflow.sdk import Asset, AssetAlias

    inlets = [
        Asset.ref(name="a"),
        AssetAlias("b"),
        Column(name="c", data_type="int"),
        User(email="d"),
        *assets("x-unknown:e"),
        object(),
        file("no-path"),
        table("c", "d", "columns without names", columns=["a", "b"]),
        *assets("file:///data/rates"),
    ]
    lineage = asked("ours", operator_of("ours", inlets=inlets), spark_did)
    assert named(lineage.inputs) == {ORDERS: CAPTURED, RATES: "inlets"}
    [warning] = [each for each in caplog.messages if "inlets or outlets" in each]
    assert "Table in inlets or outlets is not in the lineage of this task" in warning


def pairs(lineage: Any) -> set[tuple[str, str]]:
    """Return the names of whole datasets in explicit lineage: output, input."""
    if "lineage" not in lineage.job_facets:
        pytest.skip("OpenLineage's client has no such facet")
    return {
        (each.name, read.name)
        for each in lineage.job_facets["lineage"].entries
        for read in each.inputs
        if not getattr(read, "field", None)
    }


def test_explicit_lineage_has_stated_outlets(spark_did):
    """Spark says what its own outputs come from: an inlet is no source of theirs. Hooks are in no pair."""
    report_by_hooks()
    lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    assert pairs(lineage) == {(TOTALS[1], ORDERS[1]), (REPORT[1], ORDERS[1]), (REPORT[1], RATES[1])}


@pytest.mark.parametrize("uri", ["file:///data/orders", "file:///data/rates"])
def test_a_stated_outlet_does_not_come_from_itself(uri, spark_did):
    """Neither from what Spark read by its name, nor from an inlet, whoever writes the slashes."""
    named_twice = operator_of("ours", inlets=[file(uri), *assets("file:///data/rates")], outlets=assets(uri))
    lineage = asked("ours", named_twice, spark_did)
    own = "/" + uri.removeprefix("file:///")
    assert (own, {ORDERS[1]: RATES[1], RATES[1]: ORDERS[1]}[own]) in pairs(lineage)
    assert not [pair for pair in pairs(lineage) if pair[0].strip("/") == pair[1].strip("/")]


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
    ended = SimpleNamespace(run=lambda: spark_did, planned=None, finish=lambda: None)
    expected = [
        {ORDERS: CAPTURED, HOOKED: ""},
        {ORDERS: CAPTURED},
        {ORDERS: CAPTURED, ("file", "/third"): ""},
    ]
    for number, inputs in enumerate(expected):
        operator = operator_of("ours")
        subject = SimpleNamespace(**{**vars(instance(operator)), "task_id": f"t{number}"})
        lineage = task.start_capture(subject)
        assert lineage is not None
        if number == 0:
            report_by_hooks()
            sql("first")
        if number == 2:
            get_hook_lineage_collector().add_input_asset(object(), uri="file:///third")
            sql("third")
        lineage.finish()
        monkeypatch.setattr(lineage, "_collector", ended)
        operator._task_lineage = lineage
        for _ in range(2):
            assert named(operator.get_openlineage_facets_on_complete(subject).inputs) == inputs
    assert seen == [["first"], ["first"], ["third"], ["third"]]
    assert len(get_hook_lineage_collector().collected_assets.inputs) == 2, "it is as it was"


def test_hooks_that_a_function_calls_before_its_session_are_its_own(monkeypatch):
    """Capture of a function starts in the middle of it."""
    from airflow_provider_spark_lineage.hook_reports import hook_datasets
    from airflow_provider_spark_lineage.plugins import added
    from airflow_provider_spark_lineage.plugins.tasks import CapturedTask

    monkeypatch.setattr(added, "_latest", None)
    subject = instance(operator_of("function"))
    captured = CapturedTask(subject, "python", is_named=False)
    captured.start()
    try:
        report_by_hooks()
        captured._start()
    finally:
        captured.finish()
    before = task.lineage_of(subject).hooks_before
    assert [
        (each.namespace, each.name) for each in hook_datasets(subject, failed=False, before=before)[0]
    ] == [HOOKED]
    assert hook_datasets(subject, failed=False, before=reported_so_far()) == ([], [])


def test_nobody_creates_the_collector_to_see_that_it_is_empty():
    """That would import the asset handlers of all providers, in every Python task."""
    program = """if True:
        from airflow_provider_spark_lineage.hook_reports import hook_datasets, reported_so_far
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


def test_hooks_are_asked_where_an_extractor_of_yours_names_datasets(spark_did):
    """The provider asks them only where it names none."""
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.providers.openlineage.extractors.python import PythonExtractor
    from airflow.providers.openlineage.plugins.listener import get_openlineage_listener

    class Theirs(PythonExtractor):
        def extract_on_complete(self, task_instance):
            return OperatorLineage(inputs=[OpenLineageDataset("theirs", "a")])

    Theirs.__module__ = "airflow.providers.openlineage.theirs"
    manager = get_openlineage_listener().extractor_manager
    before = manager.extractors["PythonOperator"]
    manager.extractors["PythonOperator"] = Theirs
    report_by_hooks()
    try:
        lineage = asked("function", operator_of("function"), spark_did)
    finally:
        manager.extractors["PythonOperator"] = before
    assert named(lineage.inputs) == {ORDERS: CAPTURED, HOOKED: "", ("theirs", "a"): ""}
    assert not {"get_hook_lineage", "extract_inlets_and_outlets"} & set(vars(manager))


def test_data_are_not_merged_into_the_catalogs_entry_that_points_to_them():
    """An external table is both: its own name decides before another's symlink does."""
    link = symlinks_dataset.Identifier("file", "/data/t", "LOCATION")
    links = symlinks_dataset.SymlinksDatasetFacet(identifiers=[link])
    entry = OutputDataset("file:/wh", "default.t", facets={"symlinks": links})
    both = joined([entry, OutputDataset("file", "/data/t")], [described("file", "/data/t")], by="outlets")
    assert [sorted(each.facets) for each in both] == [["symlinks"], ["documentation", "schema"]]
    [alone] = joined([entry], [described("file", "/data/t")], by="outlets")
    assert sorted(alone.facets) == ["documentation", "schema", "symlinks"]


def test_facets_of_inputs_and_outputs_are_completed_too():
    """Ours stay. A dataset of another kind gives what both kinds have."""
    quality = data_quality_metrics_input_dataset.DataQualityMetricsInputDatasetFacet(
        columnMetrics={}, rowCount=1
    )
    theirs = InputDataset("file", "/a", inputFacets={"dataQualityMetrics": quality, "inputStatistics": None})
    counts = input_statistics_input_dataset.InputStatisticsInputDatasetFacet(rowCount=3)
    [merged] = joined([InputDataset("file", "/a", inputFacets={"inputStatistics": counts})], [theirs])
    assert merged.inputFacets == {"dataQualityMetrics": quality, "inputStatistics": counts}
    [output] = joined([OutputDataset("file", "/a")], [theirs])
    assert not output.outputFacets


def test_assets_that_the_tasks_code_gives_to_aliases_are_outputs(spark_did, monkeypatch):
    """Also to the alias that events of Spark's own assets go by, which are no second datasets."""
    from airflow.providers.openlineage.utils import utils
    from airflow.sdk import AssetAlias

    if not hasattr(utils, "get_runtime_outlet_assets"):
        pytest.skip("this provider reports no such assets")
    resolved = [*assets("file:///data/warehouse/totals", "file:///by/pandas"), *assets("file:///data/report")]
    pairs = [
        (asset, AssetAlias(name)) for asset, name in zip(resolved, ["d.t", "d.t", "theirs"], strict=True)
    ]
    monkeypatch.setattr(utils, "get_runtime_outlet_assets", lambda _: pairs)
    lineage = asked("ours", operator_of("ours"), spark_did)
    expected = {TOTALS: CAPTURED, ("file", "/by/pandas"): "outlets", REPORT: "outlets"}
    assert named(lineage.outputs) == expected
    assert named(asked("ours", operator_of("ours"), spark_did, "failed").outputs) == {TOTALS: CAPTURED}


def test_facets_are_those_of_the_schema(spark_did):
    """An event with the facet is valid for the harness, which has its schema."""
    from openlineage.client.serde import Serde

    lineage = asked("ours", operator_of("ours", **stated()), spark_did)
    [rates] = [each for each in lineage.inputs if each.name == RATES[1]]
    facet = Serde.to_dict(rates)["facets"]["sparkLineage_stated"]
    assert facet["by"] == "inlets"
    assert re.search(r"/SparkLineageStatedDatasetFacet\.json#", facet["_schemaURL"])
