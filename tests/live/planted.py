"""A program that hands Spark a secret, or an ordinary literal, at every door: for tests to look for them.

Run as a script it does the same in an application of its own: `python planted.py FOLDER`.
"""

# ruff: noqa: S608  this module consists of statements with secrets in them

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import runpy
import sys
from pathlib import Path

DOORS = (
    *("app_name", "aws_env", "bearer", "check", "column_comment", "conf_of_builder", "conf_of_session"),
    *("connection_extra", "connection_password", "description", "derby_url"),
    *("env_name", "env_url", "executor_env", "traceback_argument", "traceback_line"),
    *("folder_of_partition", "frame_error", "https_path", "jaas_in_sql", "jaas_option"),
    *(
        "jdbc_init",
        "jdbc_option",
        "jdbc_query",
        "jdbc_subquery",
        "jdbc_userinfo",
        "list_of_rows",
        "literal_of_frame",
    ),
    *("option_access_key", "option_of_reader", "option_of_writer", "option_token", "path_query"),
    *("property", "raised", "raised_later", "rdd_error", "s3_userinfo", "sas", "set_command"),
    *("sf_password", "sql_comment", "sql_literal", "stream_option", "table_of_jdbc"),
    *("table_option", "udf_error", "view"),
)
SECRETS = {door: f"hunter2x{door.replace('_', 'x')}xplanted" for door in DOORS}
"""Door -> the secret handed over there; all secrets are different."""

SECRETS["aes"] = "hunter2xaesxxxxx"  # a key has 16 bytes

TOKEN = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiJodW50ZXIyIn0.c2lnbmF0dXJlcGxhbnRlZA"

TEXT, NUMBER = "ordinary-literal-4711", 4242424242
"""Literals that are not secrets: `full` may show them, `masked` and `none` may not."""

ROW = "row-of-a-checked-table"
"""Begins the texts of rows that are checked: no option shows them, only Spark's own errors with `full`."""

ENVIRONMENT = {
    "AWS_SECRET_ACCESS_KEY": SECRETS["aws_env"],
    # Sent with the events on purpose, without secrets.
    "AIRFLOW__SPARK_LINEAGE__SPARK_ENVIRONMENT": "WAREHOUSE_URL; API_TOKEN; TEAM",
    "WAREHOUSE_URL": f"postgres://etl:{SECRETS['env_url']}@db/sales",
    "API_TOKEN": SECRETS["env_name"],
    "TEAM": "sales",
    "AIRFLOW_CONN_WAREHOUSE": json.dumps(
        {
            "conn_type": "jdbc",
            "login": "etl",
            "password": SECRETS["connection_password"],
            "extra": {"token": SECRETS["connection_extra"]},
        }
    ),
}

BUILDER = {
    "spark.hadoop.fs.s3a.secret.key": SECRETS["conf_of_builder"],
    "spark.jdbc.password": SECRETS["conf_of_builder"],
    "spark.executorEnv.DB_PASSWORD": SECRETS["executor_env"],
    "spark.app.name": f"etl password={SECRETS['app_name']}",
}


def jaas(secret):
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return f'{module} required username="etl" password="{secret}";'


def attempt(run, *args, **kwargs):
    """Run a failing step, and ignore its error."""
    # Whatever Spark, a driver or a function of this module raises.
    with contextlib.suppress(Exception):
        run(*args, **kwargs)


def run(spark, folder):
    """Do all of it; return what the checks of operators found."""
    source = f"{folder}/in"
    spark.range(5).selectExpr("id", "'x' as token").write.mode("overwrite").parquet(source)
    frame = spark.read.parquet(source)
    frame.createOrReplaceTempView("tokens")
    spark.sparkContext.setJobDescription(f"password={SECRETS['description']}")
    _frames(spark, frame, source, folder)
    _statements(spark, folder)
    _databases(spark, frame)
    _paths(spark, frame, folder)
    _errors(spark, frame, folder)
    _stream(spark, source, folder)
    return _checks(spark, folder)


def _frames(spark, frame, source, folder):
    from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

    secret = SECRETS["literal_of_frame"]
    frame.filter((F.col("token") != secret) & (F.col("token") != TEXT) & (F.col("id") < NUMBER)).collect()
    frame.withColumn("key", F.lit(secret)).withColumn("text", F.lit(TEXT)).collect()
    frame.filter(F.col("token").isin(*[f"{secret}{n}" for n in range(20)])).collect()
    frame.select(F.col("id").alias("i", metadata={"comment": f"password={secret}"}), F.lit(NUMBER)).collect()
    frame.select(F.expr(f"aes_encrypt(token, '{SECRETS['aes']}') as c")).collect()
    options = {"password": SECRETS["option_of_reader"], "fs.s3a.secret.key": SECRETS["option_of_reader"]}
    spark.read.options(**options).parquet(source).collect()
    options = {
        "sfPassword": SECRETS["sf_password"],
        "password": SECRETS["option_of_writer"],
        "token": SECRETS["option_token"],
        "accessKey": SECRETS["option_access_key"],
        "kafka.sasl.jaas.config": jaas(SECRETS["jaas_option"]),
    }
    frame.write.options(**options).mode("overwrite").csv(f"{folder}/out")
    rows = spark.createDataFrame([(SECRETS["list_of_rows"], TEXT)], ["a", "b"])
    rows.collect()
    rows.write.mode("overwrite").json(f"{folder}/rows")


def _statements(spark, folder):
    secret = SECRETS
    spark.conf.set("spark.my.password", secret["conf_of_session"])
    for text in (
        f"set spark.hadoop.fs.s3a.secret.key={secret['set_command']}",
        f"set spark.my.words = {TEXT}",
        f"set spark.kafka.sasl.jaas.config={jaas(secret['jaas_in_sql'])[:-1]}",
        f"select aes_encrypt(token, '{secret['aes']}') c from tokens",
        f"select '{TOKEN}' t, 'password={secret['sql_literal']}' p from tokens",
        f"select 'bearer {secret['bearer']}0123456789' b from tokens",
        f"select '{TEXT}', {NUMBER}, date '2021-02-03' d from tokens where id < {NUMBER} -- {TEXT} {NUMBER}",
        f"select /* password={secret['sql_comment']} {TEXT} */ id from tokens"
        f" where token like '{TEXT}%' limit 7",
        f"create table planted (a int comment 'api_key={secret['column_comment']} {TEXT}' default 4711,"
        f" p string) using parquet partitioned by (p) comment '{TEXT}'"
        f" options (password '{secret['table_option']}', `api_key` '{secret['table_option']}')"
        f" tblproperties ('my.secret' = '{secret['property']}', 'about' = '{TEXT}')",
        f"insert into planted partition (p = '{TEXT}') values (4711)",
        f"select a from planted where p = '{TEXT}'",
        f"create view shown as select a, 'password={secret['view']}' b, '{TEXT}' c from planted"
        f" where a < {NUMBER}",
        "select * from shown",
        f"cache table copied as select '{TEXT}' x, {NUMBER} y, 'token={secret['view']}' z",
        f"comment on table planted is '{TEXT}'",
        f"insert overwrite directory '{folder}/dir' using csv"
        f" select a, '{TEXT}' b from planted where a < {NUMBER}",
        "uncache table copied",
        "drop view shown",
        "drop table planted",
        f"alter user etl identified by '{secret['sql_literal']}'",
    ):
        attempt(lambda text: spark.sql(text).collect(), text)


def _databases(spark, frame):
    warehouse = json.loads(os.environ["AIRFLOW_CONN_WAREHOUSE"])
    url = (
        f"jdbc:postgresql://etl:{SECRETS['jdbc_userinfo']}@localhost:1/sales?password={SECRETS['jdbc_query']}"
    )
    options = {"url": url, "dbtable": "orders", "user": "etl", "password": SECRETS["jdbc_option"]}
    attempt(lambda: spark.read.format("jdbc").options(**options).load().collect())
    attempt(lambda: frame.write.format("jdbc").options(**options).mode("append").save())
    attempt(
        spark.sql,
        f"create table reached using jdbc options"
        f" (url '{url}', dbtable 't', password '{SECRETS['table_of_jdbc']}')",
    )
    # Derby comes with Spark.
    derby = f"jdbc:derby:memory:planted;create=true;user=etl;password={SECRETS['derby_url']}"
    options = {
        "url": derby,
        "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        "user": "etl",
        "password": warehouse["password"],
        "token": warehouse["extra"]["token"],
    }
    attempt(lambda: frame.write.format("jdbc").options(**options, dbtable="people").mode("overwrite").save())
    query = f'select "id" + {NUMBER} as n, \'{TEXT}\' as w from people where "id" < {NUMBER}'
    attempt(lambda: spark.read.format("jdbc").options(**options, query=query).load().collect())
    attempt(lambda: spark.read.format("jdbc").options(**options, dbtable=f"({query}) q").load().collect())
    secret = SECRETS["jdbc_subquery"]
    subquery = f"(select * from people where \"token\" <> '{secret}' /* password={secret} */) q"
    attempt(lambda: spark.read.format("jdbc").options(**options, dbtable=subquery).load().collect())
    options["sessionInitStatement"] = f"values 'password={SECRETS['jdbc_init']}'"
    people = spark.read.format("jdbc").options(**options, dbtable="people")
    attempt(lambda: people.load().filter(f"id < {NUMBER}").collect())


def _paths(spark, frame, folder):
    for path in (
        f"s3a://AKIAIOSFODNN7EXAMPLE:{SECRETS['s3_userinfo']}@bucket/orders",
        f"wasbs://c@account.blob.core.windows.net/orders?sv=2021&sig={SECRETS['sas']}",
        f"https://etl:{SECRETS['https_path']}@host.invalid/orders",
    ):
        attempt(lambda path: spark.read.text(path).collect(), path)
        attempt(frame.write.parquet, path)
        attempt(lambda path: spark.sparkContext.textFile(path).count(), path)
    notes = Path(folder, f"token={SECRETS['path_query']}.txt")
    notes.write_text(TEXT)
    spark.sparkContext.textFile(str(notes)).count()
    frame.write.mode("overwrite").parquet(f"{folder}/token={SECRETS['folder_of_partition']}")
    attempt(lambda: frame.write.mode("overwrite").parquet(f"{folder}/signed?token={SECRETS['path_query']}"))
    attempt(lambda: spark.read.parquet(f"{folder}/signed?token={SECRETS['path_query']}").collect())


def _module_that_fails(folder):
    """Return a function whose traceback quotes a line of source with a secret in it."""
    source = f"""
def connect(**options):
    raise ConnectionError(f"refused: {{options}}") from KeyError("token={SECRETS["traceback_argument"]}")


def fails(value):
    return connect(user="etl", password="{SECRETS["traceback_line"]}", value=value)
"""
    path = Path(folder, "connecting.py")
    path.write_text(source)
    return runpy.run_path(str(path))["fails"]


def _errors(spark, frame, folder):
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.functions import udf

    attempt(spark.sql(f"select raise_error('no access, password={SECRETS['raised']} {TEXT}')").collect)
    attempt(
        frame.select(F.raise_error(F.lit(f"at https://etl:{SECRETS['raised_later']}@host/ {TEXT}"))).collect
    )
    attempt(spark.sql(f"select cast('{TEXT}' as int) from tokens").collect)
    # Behind as many letters as a message may have: a secret cut in the middle is still a secret.
    far, secret = "x" * 3950, SECRETS["frame_error"] * 3
    attempt(frame.select(F.raise_error(F.lit(f"{far} jdbc://etl:{secret}@host/"))).collect)

    def fails(value):
        raise ValueError(f"no access for {value} with password={SECRETS['udf_error']} {TEXT}")

    def fails_too(row):
        raise RuntimeError(f"no access with token={SECRETS['rdd_error']} {TEXT} {NUMBER}")

    attempt(frame.select(udf(fails)("id").alias("u")).collect)
    attempt(frame.select(udf(_module_that_fails(folder))("id").alias("u")).collect)
    attempt(frame.rdd.map(fails_too).collect)
    attempt(lambda: spark.sql(f"select no_such_column, '{TEXT}' from tokens where id < {NUMBER}").collect())
    attempt(lambda: spark.sql(f"selec '{TEXT}' fro tokens"))


def _stream(spark, source, folder):
    stream = spark.readStream.schema("id long, token string").option("password", SECRETS["stream_option"])
    query = (
        stream.parquet(source)
        .where(f"token <> '{TEXT}' and id < {NUMBER}")
        .writeStream.option("checkpointLocation", f"{folder}/checkpoint")
        .option("secret", SECRETS["stream_option"])
        .trigger(availableNow=True)
        .format("parquet")
        .start(f"{folder}/streamed")
    )
    attempt(query.awaitTermination, 60)


def _checks(spark, folder):
    from airflow_provider_spark_lineage.checks import Assertion, check, report_assertions
    from airflow_provider_spark_lineage.spark.checks.checks import run, samples
    from airflow_provider_spark_lineage.spark.checks.column_checks import column_checks
    from airflow_provider_spark_lineage.spark.checks.row_checks import row_checks

    table, copy = f"{folder}/checked", f"{folder}/written"
    rows = [(1, f"{ROW} 1"), (2, f"{ROW} 2"), (3, None)]
    spark.createDataFrame(rows, "id int, name string").coalesce(1).write.mode("overwrite").parquet(table)
    frame = spark.read.parquet(table)
    clause = f"(name <> '{TEXT}' or id < {NUMBER}) and name <> 'password={SECRETS['check']}'"
    columns = {
        "name": {
            "null_check": {"equal_to": 0, "partition_clause": clause},
            "min": {"geq_to": TEXT},
            "max": {"leq_to": f"password={SECRETS['check']}"},
            "min_length": {"geq_to": 4711},
            "accepted_values": [TEXT, f"password={SECRETS['check']}"],
            "matches": f"^{TEXT}|password={SECRETS['check']}$",
        },
        "id": {"max": {"leq_to": 1}},
        f"concat(name, '{TEXT}')": {"max": {"equal_to": TEXT}},
    }
    rules = {
        "like": f"name like '{TEXT}%' and id < {NUMBER}",
        "all": {"check_statement": f"max(name) = '{TEXT}'", "partition_clause": clause},
    }
    # Spark's error quotes the text of the row.
    number = {"number": "cast(name as int) > 0"}
    checks = [*column_checks({**columns, "id": {"unique_check": {"equal_to": 0}}})]
    checks += row_checks({**rules, **number})
    found = run(frame, checks, clause=f"name <> '{TEXT}' or id < {NUMBER}", of_dataset=table)
    shown = samples(frame, checks, found.assertions, 2, clause=clause)
    assert ROW in str([*shown]), "no row was sampled"
    for rules_of_write, arguments in (
        # Spark measures no statement with a clause in a write.
        ({**rules, "all": f"max(name) = '{TEXT}'"}, {}),
        ({"like": rules["like"]}, {"on_violation": "drop"}),
        ({"like": rules["like"]}, {"on_violation": "fail"}),
        (number, {}),
    ):
        checked = check(frame, columns=columns, rows=rules_of_write, **arguments)
        attempt(checked.write.mode("overwrite").parquet, copy)
    reported = Assertion("lowest", False, "lowest", "accepted_range", column="name", content=clause)
    report_assertions(table, [dataclasses.replace(reported, expected=TEXT, actual=f"{ROW} 1")])
    return found


def main(folder):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name, value in {**BUILDER, "spark.sql.warehouse.dir": f"{folder}/warehouse"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    run(spark, folder)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
