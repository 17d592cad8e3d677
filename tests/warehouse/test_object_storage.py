"""A warehouse in object storage, loaded by Spark's connector, in a process of its own: its jars are no other
test's."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from soundness.session import LAKES
from spark_packages import need, s3a, settings

pytestmark = pytest.mark.spark

START = """
    import json
    import os
    from datetime import date
    from pathlib import Path

    import boto3
    from moto.server import ThreadedMotoServer
    from pyspark.sql import SparkSession
    from servers.kafka import kafka
    from warehouse.histories import comparable, graph_of, history
    from warehouse.test_load import contents

    from airflow_provider_spark_lineage.errors import BadInputError
    from airflow_provider_spark_lineage.openlineage.warehouse import load as loads
    from airflow_provider_spark_lineage.openlineage.warehouse.asking import current_lineage, rows_of
    from airflow_provider_spark_lineage.openlineage.warehouse.invariants import findings_of
    from airflow_provider_spark_lineage.openlineage.warehouse.load import load
    from airflow_provider_spark_lineage.openlineage.warehouse.retention import compact, retain
    from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import read_tables
    from airflow_provider_spark_lineage.openlineage.warehouse.tables import IMPACT_TABLES
    from airflow_provider_spark_lineage.warehouse import views, write_impact

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    url = "http://%s:%s" % server.get_host_and_port()
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local", "region_name": "us-east-1"}
    os.environ.update({key.upper(): value for key, value in keys.items()}, AWS_ENDPOINT_URL=url)
    client = boto3.client("s3", endpoint_url=url, **keys)
    client.create_bucket(Bucket="lake")
    builder = SparkSession.builder.master("local[2]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.jars": JARS,
        **SETTINGS,
        "spark.hadoop.fs.s3a.endpoint": url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "local",
        "spark.hadoop.fs.s3a.secret.key": "local",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    documents = history(3, days=2, jobs=2)
    half = len(documents) // 2
    parts = {
        # The second part is older than the first.
        "first": documents[half:],
        "second": [*documents[:half], *documents[half : half + 5]],
    }
    for name, some in parts.items():
        text = "".join(f"{json.dumps(each)}\\n" for each in some)
        Path(f"{name}.jsonl").write_text(text)
        client.put_object(Bucket="lake", Key=f"events/{name}/events.jsonl", Body=text.encode())

    def current(target):
        key = target.removeprefix("s3a://lake/") + "/current.json"
        return client.get_object(Bucket="lake", Key=key)["Body"].read()

    def load_that_dies(source, target):
        # The tables are as before, for each reader.
        before, rows = current(target), contents(target)
        publish = loads.publish

        def dies(snapshot):
            raise MemoryError

        loads.publish = dies
        try:
            load(spark, source, target)
            raise SystemExit("the load did not die")
        except MemoryError:
            pass
        loads.publish = publish
        assert current(target) == before
        assert contents(target) == rows
"""

PARQUET = """
    target = "s3a://lake/a b/lineage"
    for name in parts:
        load(spark, f"{name}.jsonl", "local")
    first = load(spark, "s3a://lake/events/first", target)
    assert (first.files, first.new_events) == (1, len(parts["first"])), first
    load_that_dies("second.jsonl", target)
    second = load(spark, "second.jsonl", target)
    assert second.new_events == half, second
    assert load(spark, "s3a://lake/events/first/events.jsonl", target).files == 0
    expected = contents(Path("local"))
    found = contents(target)
    assert [table for table in expected if found[table] != expected[table]] == []
    assert comparable(current_lineage(target)) == comparable(graph_of(documents))
    assert findings_of(target) == []
    views(spark, target)
    assert spark.table("runs").count() == len(expected["runs"])

    impacts = []
    for place in ("local", target):
        write_impact(spark, place)
        rows = [row for table in IMPACT_TABLES for row in rows_of(read_tables(place), table)]
        impacts.append(sorted(str({**row, "load_id": ""}) for row in rows))
    assert impacts[0] == impacts[1] != []

    joined = compact(target)
    assert joined.files_before > joined.dates > 0, joined
    assert contents(target) == expected
    retain(target, events_days=0, runs_days=0, today=date(2026, 6, 1))
    assert read_tables(target).tables["events"] == {}
    assert comparable(current_lineage(target)) == comparable(graph_of(documents))
    assert findings_of(target) == []
"""

LAKE = """
    for name in parts:
        load(spark, f"{name}.jsonl", "local")
    for name in ("iceberg", "delta"):
        target = f"s3a://lake/a b/{name}"
        first = load(spark, "s3a://lake/events/first", target, stored_as=name)
        assert first.new_events == len(parts["first"]), first
        load_that_dies("second.jsonl", target)
        assert load(spark, "second.jsonl", target).new_events == half
        assert contents(target) == contents(Path("local")), name
        assert {file.partition("/")[0] for file in read_tables(target).tables["runs"]["2026-01-01"]} == {name}
        assert findings_of(target) == []
        views(spark, target)
        assert spark.table("runs").count() == len(contents(target)["runs"])
"""

TOPIC = """
    def send(*documents):
        rows = spark.createDataFrame([(json.dumps(each),) for each in documents], "value STRING")
        options = {"kafka.bootstrap.servers": servers, "topic": "lineage"}
        rows.write.format("kafka").options(**options).save()

    with kafka() as servers:
        topic, target = f"kafka://{servers}/lineage", "s3a://lake/a b/topic"
        send(*parts["first"])
        assert load(spark, topic, target).new_events == len(parts["first"])
        send(*parts["second"])
        load_that_dies(topic, target)
        second = load(spark, topic, target)
        assert (second.events, second.new_events) == (len(parts["second"]), half), second
        assert load(spark, topic, target).events == 0
    assert comparable(current_lineage(target)) == comparable(graph_of(documents))
"""

END = """
    spark.stop()
    server.stop()
    print("done")
"""


def ends(folder: Path, job: str, jars: str, settings: dict[str, str]) -> None:
    """Run a job between START and END, in a folder."""
    text = textwrap.dedent(START + job + END).replace("JARS", repr(jars)).replace("SETTINGS", repr(settings))
    tests = str(Path(__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path[:0] = [{tests!r}]\n{text}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.rstrip().endswith("done")


def test_a_warehouse_in_object_storage_is_that_of_a_folder(tmp_path):
    """The tables are equal, late events and a load that died included; upkeep works on it."""
    ends(tmp_path, PARQUET, s3a(), {})


def test_a_lake_in_object_storage_has_the_rows_of_a_folder_of_parquet(tmp_path):
    """Delta and Iceberg: late events and a load that died included."""
    need("delta", "iceberg")
    ends(tmp_path, LAKE, f"{s3a()},{settings()['spark.jars']}", LAKES)


def test_a_topic_is_loaded_into_object_storage_once(tmp_path):
    """The offsets lie there, too: after a load that died, its messages are loaded again."""
    ends(tmp_path, TOPIC, f"{s3a()},{settings()['spark.jars']}", {})
