"""A table of a JDBC catalog has the name of its database, whatever the catalog is called."""


def setup(spark, path):
    spark.sql("create namespace if not exists derby.app")
    spark.sql("drop table if exists derby.app.target")
    spark.sql("drop table if exists derby.app.made")
    spark.sql("create table derby.app.target (id bigint, item string)")


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    orders.select("id", "item").writeTo("derby.app.target").append()
    orders.select("id", "quantity").writeTo("derby.app.made").create()
    spark.table("derby.app.target").selectExpr("upper(item) as item").write.parquet(path("out"))
