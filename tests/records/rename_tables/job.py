"""Rows of the task follow their table to the new name; an older table is an output with its former name.

The last three statements put a new table in the place of an old one.
"""


def setup(spark, path):
    spark.sql("create table before (a int) using parquet")
    spark.sql("create table current (id bigint) using parquet")


def job(spark, path):
    spark.sql("alter table before rename to after")
    spark.read.parquet(path("orders")).select("id").write.saveAsTable("fresh")
    spark.sql("alter table current rename to replaced")
    spark.sql("alter table fresh rename to current")
    spark.sql("drop table replaced")
    spark.table("current").write.parquet(path("copy"))
