"""Reading operators: objects with their attributes, and the real classes if they are installed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from launch.operators import ROWS, Row
from providers import import_or_skip

from airflow_provider_spark_lineage.airflow.launch.application import Launch, LaunchedApplication
from airflow_provider_spark_lineage.airflow.launch.table import LAUNCHERS, launch_of


def name_of(row: Row) -> str:
    return row.class_name


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_an_operator_says_what_it_launches(row):
    """By its attributes alone: nothing is asked, and no provider is imported."""
    assert_same(written(launch_of(row.plain())), row.expected)


@pytest.mark.airflow
@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_the_real_class_has_these_attributes(row):
    """A class of another release that renames one would be read as launching nothing."""
    module, _, name = f"airflow.providers.{row.path}".rpartition(".")
    operator = getattr(import_or_skip(module), name)(task_id="t", **row.given)
    # Livy's keeps its arguments in one attribute.
    for attribute in row.kept if "spark_params" in row.kept else row.attributes:
        assert hasattr(operator, attribute), attribute
    for attribute, value in row.ran.items():
        assert attribute == "hook" or getattr(operator, attribute) is None, attribute
        vars(operator)[attribute] = value
    assert_same(written(launch_of(operator)), row.expected)


def test_every_row_of_the_table_is_tried():
    """With each class of another module; commands of a shell have tests of their own."""
    tried = {row.class_name for row in ROWS} | {"BashOperator", "_BashDecoratedOperator"}
    assert tried == set(LAUNCHERS)


def test_a_subclass_is_read_as_its_base():
    livy = next(row for row in ROWS if row.class_name == "LivyOperator")

    class OwnLivyOperator(type(livy.plain())):
        pass

    own = OwnLivyOperator(spark_params={"file": "s3://a.py"})
    assert written(launch_of(own)) == "python s3://a.py []; Livy"


@pytest.mark.parametrize("class_name", sorted(LAUNCHERS))
def test_an_operator_of_another_shape_is_a_problem_and_no_exception(class_name):
    """No attribute at all, and attributes with values of any type."""

    class Odd:
        def __getattr__(self, name: str) -> object:
            return 7

    for odd in (type(class_name, (), {})(), type(class_name, (Odd,), {})()):
        launch = launch_of(odd)
        assert launch is None or launch.problems or launch.applications


@pytest.mark.parametrize(
    ("class_name", "event"),
    [
        ("EmrServerlessStartJobOperator", {"status": "success", "job_details": {"job_id": "r-1"}}),
        ("EmrContainerOperator", {"status": "success", "job_id": "r-1"}),
        ("GlueJobOperator", {"status": "success", "run_id": "r-1"}),
    ],
)
def test_the_id_of_a_deferred_task_comes_from_its_triggers_report(class_name, event):
    """As the triggers of the amazon provider report it: the operator that resumes is another object."""
    row = next(row for row in ROWS if row.class_name == class_name and row.ran)
    launch = launch_of(type(class_name, (SimpleNamespace,), {})(**row.attributes), event)
    assert launch.run_id == "r-1"
    assert launch_of(row.plain(), event).run_id == next(iter(row.ran.values()))


def test_a_message_of_google_is_read_as_a_dict_is():
    """The operators take both."""

    class Job:
        @classmethod
        def to_dict(cls, job: Job) -> dict[str, object]:
            return {"pyspark_job": {"main_python_file_uri": "gs://a.py"}}

    operator = type("DataprocSubmitJobOperator", (SimpleNamespace,), {})
    launch = launch_of(operator(job=Job(), job_id=None, project_id=None, region="r"))
    assert written(launch) == "python gs://a.py []; Dataproc"


def assert_same(actual: str, expected: str) -> None:
    """Compare texts; of an exception, its class alone."""
    if expected.startswith("!") and "Error" in expected:
        assert expected[1:] in actual
    else:
        assert actual == expected


def written(launch: Launch | None) -> str:
    if launch is None:
        return ""
    words = ", ".join([*map(line, launch.applications), *(f"!{problem}" for problem in launch.problems)])
    about = " ".join(each for each in (launch.service, launch.run_id, launch.link) if each)
    return f"{words}; {about}" if about else words


def line(application: LaunchedApplication) -> str:
    fields = {
        "text": application.statements.replace("\n", "\\n"),
        "class": application.main_class,
        "conf": pairs(application.conf),
        "name": application.name,
        "with": pairs(application.variables),
        "in": application.directory,
    }
    arguments = "|".join("?" if word is None else word for word in application.arguments)
    words = [application.kind, application.main, f"[{arguments}]"]
    words += [f"{name}={value}" for name, value in fields.items() if value]
    words += [f"!{application.problem}"] * bool(application.problem)
    return " ".join(words)


def pairs(values: dict[str, str]) -> str:
    return ",".join(f"{name}:{value}" for name, value in sorted(values.items()))
