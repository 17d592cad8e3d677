"""Syntax of Spark 4.3: QUALIFY, AS OF joins in SQL, joins to the nearest, JSON_TABLE, frames side by side."""

from pyspark.sql import functions as F

SINCE = "4.3"


def job(spark, path):
    orders = spark.read.parquet(path("orders"))
    people = spark.read.parquet(path("people"))
    orders.createOrReplaceTempView("o")
    people.createOrReplaceTempView("p")
    spark.sql("""
        select id, row_number() over (partition by customer order by day) as n from o
        qualify n = 1 and sum(amount) over (partition by item) > 1
    """).write.parquet(path("qualified"))
    spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
    spark.sql("""
        select o.id, p.name from o asof join p match_condition (o.quantity >= p.age) on o.customer = p.customer
    """).write.parquet(path("asof"))
    nearest = orders.alias("o").nearestByJoin(
        people.alias("p"), F.expr("abs(quantity - age)"), 1, "exact", "distance"
    )
    nearest.select("id", "name").write.parquet(path("nearest"))
    spark.sql("""
        select o.id, j.* from o, lateral json_table(o.item, '$[*]' columns (a int path '$.a', b string path '$.b')) j
    """).write.parquet(path("json"))
    orders.select("id").zip(orders.select("amount")).write.parquet(path("zipped"))
