"""Delta and Iceberg overwrite the partitions of the written rows: both sides' partitions decide what stays."""

NEEDS = ("delta", "iceberg")
CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "{root}/lake",
}


def setup(spark, path):
    spark.sql("create table targets (id bigint, day string) using delta partitioned by (day)")
    spark.sql(
        "create table lake.db.targets (id bigint, day string) using iceberg partitioned by (truncate(7, day))"
    )
    for table in ("targets", "lake.db.targets"):
        spark.sql(f"insert into {table} values (1, '2023-12-31')")


def job(spark, path):
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        for table in ("targets", "lake.db.targets"):
            orders = spark.read.parquet(path("orders")).select("id", "day")
            orders.write.mode("overwrite").insertInto(table)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")
    spark.table("targets").select("id").write.parquet(path("of_delta"))
    spark.table("lake.db.targets").select("id").write.parquet(path("of_iceberg"))
