"""No secret that a user hands to Spark is found in what is written down of it."""

from __future__ import annotations

import gzip
import json
import logging
import threading

import pytest

from airflow_provider_spark_lineage import capture_lineage

pytestmark = pytest.mark.spark

SECRET = "hunter2planted"  # noqa: S105
TOKEN = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJodW50ZXIyIn0.c2lnbmF0dXJlcGxhbnRlZA"


def test_no_planted_secret_is_written_down(spark, tmp_path, caplog):
    """Options, URLs, SQL, literals, settings, errors: no byte of records, text, events or logs has it."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

    def attempt(run):
        with pytest.raises((PySparkException, Py4JError)):
            run()

    url = f"jdbc:postgresql://etl:{SECRET}@localhost:1/sales?password={SECRET}"
    path = str(tmp_path / "in")
    spark.range(5).withColumn("token", F.lit("x")).write.parquet(path)
    frame = spark.read.parquet(path)
    frame.createOrReplaceTempView("tokens")
    # What the user's own calls send is py4j's to log: here, only what other threads do for capture.
    for name in ("py4j", "airflow_provider_spark_lineage"):
        caplog.set_level(logging.DEBUG, name)
    with capture_lineage(spark) as captured:
        frame.select(F.col("id").alias("i", metadata={"comment": f"password={SECRET}"})).collect()
        frame.write.parquet(str(tmp_path / f"token={SECRET}"))
        spark.sql(f"create table commented (a int comment 'api_key={SECRET}') using parquet")
        spark.table("commented").collect()
        spark.sql("drop table commented")
        frame.filter(F.col("token") != SECRET).collect()
        frame.withColumn("key", F.lit(SECRET)).collect()
        frame.filter(F.col("token").isin(*[f"{SECRET}{n}" for n in range(20)])).collect()
        frame.select(F.expr(f"aes_encrypt(token, '{SECRET}pl') as c")).collect()
        spark.read.option("password", SECRET).option("fs.s3a.secret.key", SECRET).parquet(path).collect()
        frame.write.option("sfPassword", SECRET).mode("overwrite").csv(str(tmp_path / "out"))
        spark.createDataFrame([(SECRET,)], ["a"]).collect()
        spark.createDataFrame([(SECRET,)], ["a"]).write.json(str(tmp_path / "rows"))
        spark.sql(f"set spark.hadoop.fs.s3a.secret.key={SECRET}")
        spark.sql(f"set spark.my.password={SECRET}")
        spark.sql(f"select aes_encrypt(token, '{SECRET}pl') c from tokens").collect()  # noqa: S608
        spark.sql(f"select '{TOKEN}' t, 'password={SECRET}' p from tokens").collect()  # noqa: S608
        spark.sql(
            "create table with_options (a int) using parquet "
            f"options (password '{SECRET}', `api_key` '{SECRET}') tblproperties ('my.secret' = '{SECRET}')"
        )
        spark.sql("insert into with_options values (1)")
        spark.sql("drop table with_options")
        options = {"url": url, "dbtable": "orders", "password": SECRET, "user": "etl"}
        attempt(lambda: spark.read.format("jdbc").options(**options).load().collect())
        attempt(lambda: frame.write.format("jdbc").options(**options).mode("append").save())
        attempt(
            lambda: spark.sql(
                f"create table j using jdbc options (url '{url}', dbtable 't', password '{SECRET}')"
            )
        )
        attempt(lambda: spark.sql(f"select raise_error('no access with password={SECRET}')").collect())
        with pytest.raises(PySparkException):
            frame.select(F.raise_error(F.lit(f"at https://etl:{SECRET}@host/"))).collect()
    records = sorted(captured.directory.glob("*.gz"))
    assert len(records) > 15
    written = {path.name: gzip.decompress(path.read_bytes()).decode() for path in records}
    talk = [one for one in caplog.records if one.threadName != threading.current_thread().name]
    written["log"] = "\n".join(logging.Formatter().format(one) for one in talk)
    written["text"] = captured.text()
    written["events"] = json.dumps(captured.events(namespace="tests", job="secrets"))
    for name, text in written.items():
        for secret in (SECRET, TOKEN):
            at = text.find(secret)
            assert at < 0, f"{name}: {text[max(0, at - 200) : at + 100]}"
