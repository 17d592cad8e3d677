"""MERGE, UPDATE and DELETE of an Iceberg table that rewrites its files."""

NEEDS = ("iceberg",)
CONF = {
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type": "hadoop",
    "spark.sql.catalog.lake.warehouse": "{root}/lake",
}


def setup(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("people")
    spark.sql(
        "create table lake.db.targets (customer string, name string, city string, age int) using iceberg"
    )
    spark.sql("insert into lake.db.targets select * from people where customer < 'b'")


def job(spark, path):
    spark.sql(
        "merge into lake.db.targets t using people p on t.customer = p.customer "
        "when matched and p.age > 40 then delete "
        "when matched then update set name = upper(p.name), age = t.age + p.age "
        "when not matched and p.city = 'Rome' "
        "then insert (customer, name, city, age) values (p.customer, p.name, null, null) "
        "when not matched by source and t.age < 18 then update set city = null"
    )
    spark.sql("update lake.db.targets set city = concat(name, city) where age > 30")
    spark.sql("delete from lake.db.targets where customer = 'eve' and age > 20")
