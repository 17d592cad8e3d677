"""A column that a Delta table computes comes from its expression's columns, a numbered one from nothing."""

NEEDS = ("delta",)
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def setup(spark, path):
    spark.sql("drop table if exists sales")
    spark.sql(
        "create table sales (id bigint, amount double, taxed double generated always as (amount * 1.2),"
        " number bigint generated always as identity) using delta"
    )


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.sql("insert into sales (id, amount) select id, amount * quantity from orders where id > 1")
    orders = spark.table("orders").select("id", "amount")
    orders.write.format("delta").mode("append").save(path("warehouse") + "/sales")
    spark.table("sales").groupBy("id").sum("taxed").write.parquet(path("out"))
