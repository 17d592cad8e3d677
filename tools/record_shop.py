"""Records the tasks of `docs/events.md` in real Airflow with real Spark, for `tests/shop_events.py`.

    python tools/record_shop.py

It writes `tests/docs/shop.json`: for each task its records, its Spark application, and the part of its first
and last event that Airflow's provider adds. Folders, user and port of this machine are replaced. Run
`tools/events_page.py` next.
"""

from __future__ import annotations

import getpass
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "docs" / "shop.json"
TASKS = ("revenue", "ratio", "stock")

DATA = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
for name, schema, rows in (
    ("orders", "id int, customer_id int, amount double, status string",
        [(1, 10, 20.5, "paid"), (2, 10, 1.5, "paid"), (3, 11, 7.0, "open")]),
    ("customers", "id int, country string", [(10, "NL"), (11, "DE")]),
    ("returns", "country string, returned int", [("NL", 0), ("DE", 1)]),
):
    spark.createDataFrame(rows, schema).coalesce(1).write.parquet(f"{sys.argv[1]}/{name}")
for rows in ([("pen", 20), ("cup", 0)], [("cup", 7)]):
    deliveries = spark.createDataFrame(rows, "product string, pieces int")
    deliveries.coalesce(1).write.mode("append").parquet(f"{sys.argv[1]}/deliveries")
spark.stop()
"""

DAG = """
from airflow.sdk import dag, task
from record_shop import recorded

@task.pyspark_lineage
def revenue(spark):
    with recorded("revenue", spark):
        from pyspark.sql import functions as sf

        orders = spark.read.parquet("/shop/orders").where("status = 'paid'")
        customers = spark.read.parquet("/shop/customers")
        (
            orders.join(customers, orders.customer_id == customers.id)
            .groupBy("country")
            .agg(sf.sum("amount").alias("revenue"))
            .write.mode("overwrite")
            .parquet("/shop/revenue")
        )

@task.pyspark_lineage
def ratio(spark):
    with recorded("ratio", spark):
        for name in ("revenue", "returns"):
            spark.read.parquet(f"/shop/{name}").createOrReplaceTempView(name)
        spark.sql('''INSERT OVERWRITE DIRECTORY '/shop/ratio' USING parquet
SELECT country, revenue / returned AS ratio
FROM revenue JOIN returns USING (country)''')

@task.pyspark_lineage
def stock(spark):
    with recorded("stock", spark):
        deliveries = spark.readStream.schema("product string, pieces int").option("maxFilesPerTrigger", 1)
        arrived = deliveries.parquet("/shop/deliveries").where("pieces > 0")
        query = arrived.writeStream.option("checkpointLocation", "/shop/state").trigger(availableNow=True)
        query.start("/shop/stock").awaitTermination()

@dag
def shop():
    stock() >> revenue() >> ratio()

shop()
"""

RECORDED = """
import json
from contextlib import contextmanager
from dataclasses import asdict
from airflow_provider_spark_lineage import capture_lineage

@contextmanager
def recorded(task, spark):
    try:
        with capture_lineage(spark) as captured:
            yield
    finally:
        (application,) = captured.run().applications
        records = [each.to_json() for each in captured.records([])]
        content = {"application": asdict(application), "records": records}
        with open(f"/shop/{task}.json", "w") as file:
            json.dump(content, file)
"""


def main() -> int:
    """Run the tasks and write the file; return 1 if an event is missing."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        events = _run(folder)
        tasks = {task: json.loads((folder / f"{task}.json").read_text()) for task in TASKS}
    for task, content in tasks.items():
        own = [event for event in events if event["job"]["name"] == f"shop.{task}"]
        if len(own) != 2:
            print(f"{task}: {len(own)} events", file=sys.stderr)
            return 1
        content["first"], content["last"] = map(of_airflow, own)
    text = _without_machine(json.dumps(tasks, indent=1), name)
    FILE.write_text(text + "\n", encoding="utf-8")
    return 0


def of_airflow(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event without facets and datasets of this package: `tests/shop_events.py` builds them."""
    parts = {
        part: {
            **event[part],
            "facets": {
                name: facet
                for name, facet in event[part]["facets"].items()
                if "apache/airflow" in facet["_producer"]
            },
        }
        for part in ("run", "job")
    }
    return {**event, **parts, "inputs": [], "outputs": []}


def _run(folder: Path) -> list[dict[str, Any]]:
    """Run the DAG; return the events that were sent."""
    dags, events = folder / "dags", folder / "events.jsonl"
    dags.mkdir()
    for name, text in (("shop.py", DAG), ("record_shop.py", RECORDED)):
        (dags / name).write_text(text.replace("/shop/", f"{folder}/"), encoding="utf-8")
    transport = {"type": "file", "log_file_path": str(events), "append": True}
    options = {
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__OPENLINEAGE__NAMESPACE": "my_team",
        "AIRFLOW__OPENLINEAGE__TRANSPORT": json.dumps(transport),
        "AIRFLOW_CONN_SPARK": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(dags), os.environ.get("PYTHONPATH", "")]),
    }
    for command in (
        ["-c", DATA, str(folder)],
        ["-m", "airflow", "db", "migrate"],
        ["-m", "airflow", "dags", "test", "shop"],
    ):
        # The last one fails, as its task does.
        done = subprocess.run(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, **options},
            capture_output=True,
            text=True,
            check=False,
        )
    if not events.exists():
        raise AssertionError(f"{done.stdout}\n{done.stderr}")
    return [json.loads(line) for line in events.read_text(encoding="utf-8").splitlines()]


def _without_machine(text: str, folder: str) -> str:
    """Return a text without what differs between two machines."""
    text = text.replace(folder, "/shop")
    text = re.sub(r'"(user|userName)": "' + re.escape(getpass.getuser()) + '"', r'"\1": "etl"', text)
    text = re.sub(r"http://[\w.-]+:40\d\d\b", "http://driver.example:4040", text)
    text = re.sub(r'"(driver_host|driverHost)": "[^"]*"', r'"\1": "driver.example"', text)
    text = re.sub(r'"origin": \{[^{}]*\}', '"origin": {}', text)
    text = text.replace(f"{sys.prefix}/lib/python{sys.version_info[0]}.{sys.version_info[1]}", "/opt/python")
    text = text.replace(str(ROOT), "/opt/python/site-packages")
    assert sys.prefix not in text, text[max(0, text.index(sys.prefix) - 200) :][:400]
    return text


if __name__ == "__main__":
    raise SystemExit(main())
