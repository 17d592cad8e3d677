"""A dataset that replaces itself is its own input; read afterwards it gives its former columns."""


def setup(spark, path):
    spark.sql("create table state (k string, v double) using parquet")
    spark.sql("insert into state values ('a', 1.0D)")


def job(spark, path):
    new = spark.table("state").selectExpr("upper(k) as k", "v + 1 as v").localCheckpoint()
    new.write.mode("overwrite").insertInto("state")
    spark.table("state").select("v").write.parquet(path("out"))
