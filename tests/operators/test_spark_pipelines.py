"""`SparkPipelinesLineageOperator` is Airflow's own, and reports the lineage of each flow."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest
from airflow_runs import run_dag
from packaging.version import Version
from servers.spark_home import spark_home

from airflow_provider_spark_lineage.testing import tail

OF_AIRFLOW = "airflow.providers.apache.spark.operators.spark_pipelines"
SHOP = {
    "shop/tables.sql": """
        CREATE TEMPORARY VIEW large AS SELECT customer, amount FROM orders WHERE amount > 1;
        CREATE MATERIALIZED VIEW totals AS SELECT customer, sum(amount) AS total FROM large GROUP BY customer;
    """,
    "shop/tables.py": """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession

spark = SparkSession.active()

@dp.materialized_view
def orders():
    return spark.read.schema("customer string, amount double").json("HOME/orders")

@dp.table
def clicks():
    return spark.readStream.schema("user string, page string").json("HOME/clicks")

@dp.materialized_view
def visits():
    totals = spark.read.table("totals").withColumnRenamed("customer", "user")
    return spark.read.table("clicks").join(totals, "user")
""",
    "broken/tables.sql": """
        CREATE MATERIALIZED VIEW good AS SELECT customer FROM json.`HOME/orders`;
        CREATE MATERIALIZED VIEW bad AS SELECT raise_error('broken ' || customer) AS reason FROM good;
    """,
}


@pytest.fixture
def of_airflow():
    """Skip where the Spark provider is older than 5.6."""
    return pytest.importorskip(OF_AIRFLOW)


@pytest.mark.airflow
def test_arguments_and_templates_are_those_of_airflow(of_airflow):
    """A DAG author changes the class name and nothing else."""
    from airflow_provider_spark_lineage.operators.spark_pipelines import SparkPipelinesLineageOperator as Ours

    theirs = of_airflow.SparkPipelinesOperator
    assert issubclass(Ours, theirs)
    assert inspect.signature(Ours.__init__) == inspect.signature(theirs.__init__)
    for name in ("template_fields", "template_ext", "ui_color", "shallow_copy_attrs"):
        assert getattr(Ours, name) == getattr(theirs, name)


@pytest.mark.airflow
def test_an_older_provider_is_one_sentence():
    """Whose provider has no such operator learns which one to install."""
    code = (
        f"import sys; sys.modules[{OF_AIRFLOW!r}] = None\n"
        "import airflow_provider_spark_lineage.operators.spark_pipelines"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    *_, last = done.stderr.strip().splitlines()
    assert last.startswith("ImportError: SparkPipelinesLineageOperator needs"), done.stderr
    assert "apache-airflow-providers-apache-spark 6.1 or later" in last
    assert done.stderr.count("Traceback") == 1


@pytest.fixture
def remotes(of_airflow):
    """Skip if the Spark provider is older than 6.1: its hook's arguments start no pipeline."""
    from importlib.metadata import version

    if Version(version("apache-airflow-providers-apache-spark")) < Version("6.1"):
        pytest.skip("Airflow's operator cannot start a pipeline")


@pytest.mark.usefixtures("remotes")
@pytest.mark.airflow
@pytest.mark.spark
def test_flows_of_pipelines_report_their_lineage(tmp_path):
    """Views are seen through; a dry run has no dataset; a failed run has its finished flows and a reason."""
    pyspark = pytest.importorskip("pyspark")
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1):
        pytest.skip("Spark before 4.1 has no declarative pipelines")
    for name, text in SHOP.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text.replace("HOME", f"file:{tmp_path}"))
    for name in ("shop", "broken"):
        libraries = f"libraries:\n  - glob:\n      include: {name}/**\n"
        spec = f"name: {name}\nstorage: file://{tmp_path}/state\n{libraries}"
        (tmp_path / f"{name}.yml").write_text(spec)
    rows = {"orders": {"customer": "a", "amount": 2.5}, "clicks": {"user": "a", "page": "x"}}
    for name, row in rows.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.json").write_text(json.dumps(row))
    run = run_dag(
        Path(__file__).parent / "dags" / "pipelines.py",
        home=tmp_path / "airflow",
        settings={
            "AIRFLOW_CONN_MACHINE": json.dumps({"conn_type": "spark", "host": "local[2]"}),
            "AIRFLOW_CONN_SERVER": json.dumps({"conn_type": "spark_connect", "host": "localhost"}),
            "PIPELINES_HOME": str(tmp_path),
            # A free port for each server.
            "SPARK_TESTING": "1",
            **spark_home(),
        },
    )
    assert run.tasks == {"launch": "success", "check": "success", "fails": "failed"}, tail(run.log, 60)
    ends = {
        event.name: event.document
        for event in run.read().items
        if event.type in ("complete", "fail") and "airflow" in event.document["run"]["facets"]
    }
    short = {name: shown(event, tmp_path) for name, event in ends.items()}
    assert short["pipelines.launch"] == (
        ["clicks", "orders", "warehouse/clicks"],
        {
            "warehouse/clicks": {("page", "clicks", "page"), ("user", "clicks", "user")},
            "warehouse/orders": {("amount", "orders", "amount"), ("customer", "orders", "customer")},
            "warehouse/totals": {("customer", "orders", "customer"), ("total", "orders", "amount")},
            "warehouse/visits": {
                *(("page", clicks, "page") for clicks in ("clicks", "warehouse/clicks")),
                *(("user", clicks, "user") for clicks in ("clicks", "warehouse/clicks")),
                ("total", "orders", "amount"),
            },
        },
        [],
    )
    (totals,) = (each for each in ends["pipelines.launch"]["outputs"] if each["name"].endswith("totals"))
    symlinks = totals["facets"]["symlinks"]["identifiers"]
    assert [symlink["name"] for symlink in symlinks] == ["default.totals"]
    assert totals["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "OVERWRITE"
    assert short["pipelines.check"] == ([], {}, [])
    inputs, outputs, _ = short["pipelines.fails"]
    assert inputs == ["orders"]
    assert outputs == {"warehouse/good": {("customer", "orders", "customer")}}
    failures = ends["pipelines.fails"]["run"]["facets"]["sparkLineage_failures"]
    assert "broken a" in json.dumps(failures)


@pytest.mark.usefixtures("remotes")
@pytest.mark.airflow
def test_a_pipeline_on_a_server_has_the_lineage_of_its_sql(tmp_path):
    """A gap says that this is the text's lineage, and why; a dry run there misses nothing."""
    client = tmp_path / "nothing" / "pyspark" / "pipelines" / "cli.py"
    client.parent.mkdir(parents=True)
    client.write_text("")
    (client.parent / "__init__.py").write_text("")
    (client.parents[1] / "__init__.py").write_text("")
    for name, text in {k: v for k, v in SHOP.items() if k.startswith("shop")}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    spec = "name: shop\nstorage: file:///state\nlibraries:\n  - glob: {include: shop/**}\n"
    (tmp_path / "shop.yml").write_text(spec)
    run = run_dag(
        Path(__file__).parent / "dags" / "pipelines_on_server.py",
        home=tmp_path / "airflow",
        settings={
            "AIRFLOW_CONN_SERVER": json.dumps({"conn_type": "spark_connect", "host": "localhost"}),
            "PIPELINES_HOME": str(tmp_path),
            "PIPELINES_CLIENT": str(tmp_path / "nothing"),
        },
    )
    assert run.state == "success", tail(run.log, 40)
    ends = {event.name: event.document for event in run.read().items if event.type == "complete"}
    assert shown(ends["pipelines_on_server.check"], tmp_path) == ([], {}, [])
    inputs, outputs, gaps = shown(ends["pipelines_on_server.run"], tmp_path)
    assert inputs == ["default.orders"]
    assert outputs == {"default.totals": set()}
    assert "not_recorded" in gaps
    assert "planned" in gaps
    assert "unread_program" in gaps


def shown(event, home):
    """Return the inputs of an event, the columns of each output, and the gaps."""
    short = lambda name: name.removeprefix(f"{home}/")  # noqa: E731
    outputs = {
        short(output["name"]): {
            (column, short(origin["name"]), origin["field"])
            for column, entry in output["facets"].get("columnLineage", {"fields": {}})["fields"].items()
            for origin in entry["inputFields"]
        }
        for output in event["outputs"]
    }
    gaps = event["run"]["facets"].get("sparkLineage_gaps", {"gaps": []})["gaps"]
    return sorted(short(each["name"]) for each in event["inputs"]), outputs, [gap["kind"] for gap in gaps]
