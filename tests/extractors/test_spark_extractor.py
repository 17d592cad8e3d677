"""The extractor answers from the plugin's capture in the same process, else from the text of a job."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from airflow_provider_spark_lineage.airflow.known_operators import COMMAND, DRIVERS, PYTHON, driver_kind
from airflow_provider_spark_lineage.airflow.task import task_lineage
from airflow_provider_spark_lineage.airflow.task.process import TASK
from airflow_provider_spark_lineage.spark.gaps.kinds import GapKind, Reason
from airflow_provider_spark_lineage.spark.lineage.model import Dataset, Gap, Input, Lineage
from airflow_provider_spark_lineage.spark.runs.run import Run
from airflow_provider_spark_lineage.spark.sources.dataset import DatasetId, Identity

pytestmark = pytest.mark.airflow

ORDERS = DatasetId("file", "/in/orders")


def instance(**changes: object) -> SimpleNamespace:
    fields = {"dag_id": "d", "task_id": "t", "run_id": "r", "map_index": -1, "try_number": 1}
    return SimpleNamespace(**{**fields, **changes})


class PySparkOperator:
    dag_id = "d"
    task_id = "t"


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch):
    """The extractor of a task that read one dataset; its text names more."""
    from airflow_provider_spark_lineage.extractors import SparkExtractor

    run = Run(Lineage(inputs=(Input(Dataset(Identity(ORDERS))),)))
    planned = Lineage(gaps=(Gap("text", Reason(GapKind.PLANNED, "not what ran")),))
    captured = SimpleNamespace(run=lambda: run, planned=planned, findings=())
    monkeypatch.setattr(TASK, "capture", None)
    TASK.set_capture(instance(), task_lineage.TaskLineage(captured))
    return SparkExtractor(PySparkOperator())


def gaps(lineage) -> list[str]:
    facet = lineage.run_facets.get("sparkLineage_gaps")
    return [gap.kind for gap in facet.gaps] if facet else []


def test_a_failed_or_skipped_task_has_no_lineage_of_its_text(extractor):
    """The text of a job is a plan: after a failure or a skip it is unknown how much of it happened."""
    failed = extractor.extract_on_failure(instance())
    assert ([each.name for each in failed.inputs], gaps(failed)) == (["/in/orders"], [])
    ended = extractor.extract_on_complete(instance())
    assert gaps(ended) == ["planned"]
    skipped = extractor.extract_on_complete(instance(state="skipped"))
    assert ([each.name for each in skipped.inputs], gaps(skipped)) == (["/in/orders"], [])


@pytest.mark.parametrize("method", ["extract_on_complete", "extract_on_failure"])
@pytest.mark.parametrize("other", [{"try_number": 2}, {"map_index": 3}])
def test_a_task_that_was_not_captured_has_a_gap_with_the_cure(extractor, monkeypatch, method, other):
    """Another try, another mapped instance: no guess."""
    answer = getattr(extractor, method)(instance(**other))
    assert (answer.inputs, answer.outputs, gaps(answer)) == ([], [], ["not_captured"])
    monkeypatch.setenv("AIRFLOW__SPARK_LINEAGE__AUTO_CAPTURE", "True")
    assert gaps(getattr(extractor, method)(instance(**other))) == ["not_captured"]


@pytest.mark.parametrize(
    ("option", "value"), [("DISABLED", "True"), ("AUTO_CAPTURE_EXCLUDE", "d"), ("AUTO_CAPTURE_INCLUDE", "e")]
)
def test_it_is_silent_where_the_user_wants_nothing(extractor, monkeypatch, option, value):
    """Not even a gap."""
    monkeypatch.setenv(f"AIRFLOW__SPARK_LINEAGE__{option}", value)
    for answer in (extractor.extract(), extractor.extract_on_complete(instance(try_number=2))):
        assert (answer.inputs, answer.outputs, answer.run_facets) == ([], [], {})


def test_the_provider_gets_it_by_the_documented_names(monkeypatch):
    """By Airflow's own names of classes, and those that the user adds; a broken option does not raise."""
    from airflow.providers.openlineage.utils.utils import try_import_from_string

    package = "airflow_provider_spark_lineage.extractors"
    spark = try_import_from_string(f"{package}.SparkExtractor")
    pyspark = try_import_from_string(f"{package}.pyspark.PySparkExtractor")
    session = {"PySparkOperator", "_PySparkDecoratedOperator"}
    jobs = {"SparkSubmitOperator", "SparkJDBCOperator", "SparkSqlOperator", "SparkPipelinesOperator"}
    assert set(pyspark.get_operator_classnames()) == session
    assert set(spark.get_operator_classnames()) == session | jobs
    monkeypatch.setenv(
        "AIRFLOW__SPARK_LINEAGE__EXTRA_OPERATORS", "a.Submit = spark-submit; a.May = python; a.Bad; = ;"
    )
    assert set(spark.get_operator_classnames()) == session | jobs | {"Submit"}


def test_an_operator_that_breaks_its_reader_raises_nothing():
    """Others' operators may have anything in their attributes, or none of them."""
    from airflow_provider_spark_lineage.extractors import SparkExtractor

    class SparkSqlOperator(PySparkOperator):
        @property
        def sql(self):
            raise RuntimeError("on purpose")

    for operator, kinds in (
        (SparkSqlOperator(), ["not_captured", "unread_program"]),
        (object(), []),
    ):
        extractor = SparkExtractor(operator)
        start, end = extractor.extract(), extractor.extract_on_complete(instance(dag_id="other"))
        for answer in (start, end):
            assert (answer.inputs, answer.outputs) == ([], [])
        # The option is known at the end; before, only the text is.
        assert (gaps(start), gaps(end)) == (kinds[1:], kinds)


def test_the_table_names_operators_that_airflow_has():
    """A class that Airflow renames would be captured no more."""
    from importlib import import_module

    operators = "airflow.providers.apache.spark.operators"
    for module, name in (
        (f"{operators}.spark_pyspark", "PySparkOperator"),
        ("airflow.providers.apache.spark.decorators.pyspark", "_PySparkDecoratedOperator"),
        (f"{operators}.spark_submit", "SparkSubmitOperator"),
        (f"{operators}.spark_jdbc", "SparkJDBCOperator"),
        (f"{operators}.spark_sql", "SparkSqlOperator"),
        ("airflow.providers.standard.operators.python", "PythonOperator"),
        ("airflow.providers.standard.operators.python", "_BasePythonVirtualenvOperator"),
        ("airflow.providers.standard.sensors.python", "PythonSensor"),
    ):
        assert name in DRIVERS
        assert hasattr(import_module(module), name)


DECORATORS = {
    "python": PYTHON,
    "branch_python": PYTHON,
    "short_circuit": PYTHON,
    "sensor": PYTHON,
    "python_virtualenv": None,
    "external_python": None,
    "branch_virtualenv": None,
    "branch_external_python": None,
    "bash": COMMAND,
    "stub": None,
}
OPERATORS = {
    "BranchPythonOperator": PYTHON,
    "ShortCircuitOperator": PYTHON,
    "PythonVirtualenvOperator": None,
    "ExternalPythonOperator": None,
    "BranchPythonVirtualenvOperator": None,
    "BranchExternalPythonOperator": None,
}


def test_every_decorator_of_airflow_is_captured_or_left_alone():
    """A function that runs in the task's process is captured; one that runs in another one cannot be."""
    import pkgutil
    from importlib import import_module

    from airflow.providers.standard import decorators

    for listed in pkgutil.iter_modules(decorators.__path__):
        module = import_module(f"{decorators.__name__}.{listed.name}")
        classes = (value for value in vars(module).values() if isinstance(value, type))
        (operator,) = (value for value in classes if value.__module__ == module.__name__)
        assert driver_kind(operator) == DECORATORS[listed.name], listed.name


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_of_a_function_is_captured_or_left_alone(name):
    """The same without the decorators."""
    from airflow.providers.standard.operators import python

    assert driver_kind(getattr(python, name)) == OPERATORS[name]
