"""Tables that a job makes, alters, renames and drops in a JDBC catalog are tables of the database."""


def setup(spark, path):
    spark.sql("create namespace if not exists derby.app")
    for table in ("scratch", "grown", "older", "newer", "gone", "maybe", "`Made Here`"):
        spark.sql(f"drop table if exists derby.app.{table}")
    for table in ("grown", "older", "gone"):
        spark.sql(f"create table derby.app.{table} (id bigint, item string)")


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    spark.sql("create table derby.app.scratch (id bigint, item string)")
    orders.select("id", "item").writeTo("derby.app.scratch").append()
    spark.table("derby.app.scratch").write.parquet(path("out"))
    spark.sql("drop table derby.app.scratch")
    spark.sql("alter table derby.app.grown add columns (quantity int)")
    spark.sql("alter table derby.app.older rename to newer")
    spark.sql("drop table derby.app.gone")
    spark.sql("drop table if exists derby.app.maybe")
    spark.sql("create table derby.app.`Made Here` (id bigint)")
