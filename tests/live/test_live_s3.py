"""Files in a store that speaks S3, in a process of its own: its jars are no other test's."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from spark_packages import s3a

pytestmark = pytest.mark.spark

JOB = """
    import boto3
    from moto.server import ThreadedMotoServer
    from pyspark.sql import SparkSession
    from airflow_provider_spark_lineage import capture_lineage

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    url = "http://%s:%s" % server.get_host_and_port()
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local", "region_name": "us-east-1"}
    boto3.client("s3", endpoint_url=url, **keys).create_bucket(Bucket="lake")
    builder = SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.jars": JARS,
        "spark.hadoop.fs.s3a.endpoint": url,
        "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "local",
        "spark.hadoop.fs.s3a.secret.key": "local",
    }.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    orders = spark.range(3).selectExpr("id", "id % 2 as part").coalesce(1)
    orders.write.partitionBy("part").parquet("s3a://lake/in/orders")
    with capture_lineage(spark) as captured:
        spark.read.parquet("s3a://lake/in/orders/part=1").select("id").write.json("s3a://lake/out")
    print(captured.text())
    print(captured.lineage.inputs[0].dataset.identity.locations, captured.problems)
    spark.stop()
    server.stop()
"""


def test_objects_are_named_by_bucket_and_key(tmp_path):
    """`s3a` is a way to reach S3, no part of the name; the partition that was read is kept beside it."""
    text = textwrap.dedent(JOB).replace("JARS", repr(s3a()))
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # The server has its own words for its start.
    printed = done.stdout[done.stdout.index("reads ") :]
    reads, writes, edge, *_, last = printed.strip().splitlines()
    assert reads.startswith("reads   s3://lake in/orders   id bigint   rows=1 ")
    assert writes.startswith("writes  s3://lake out   create   rows=1 ")
    assert edge == "id <- orders.id    direct    identity"
    assert last == "('s3a://lake/in/orders/part=1',) []"
