"""Tables of all kinds; both flows into `events` have a batch 0; the file sink keeps the first."""

from pyspark import pipelines as dp
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.active()


@dp.materialized_view
def orders():
    return spark.read.schema("customer string, amount double").json("file:/data/orders")


@dp.table
def clicks():
    return spark.readStream.schema("user string, page string").json("file:/data/clicks")


@dp.append_flow(target="events")
def clicks_to_events():
    read = spark.readStream.schema("user string, page string").json("file:/data/clicks")
    return read.select(F.col("user").alias("who"), F.upper("page").alias("what"))


@dp.temporary_view
def ranked():
    return spark.read.table("totals").where("total > 0")


@dp.materialized_view
def report():
    visits = spark.read.table("visits").withColumnRenamed("user", "customer")
    joined = spark.read.table("ranked").join(visits, "customer")
    return joined.select("customer", (F.col("total") * 2).alias("twice"), "page")


dp.create_sink("lengths", "json", {"path": "file:/data/lengths"})


@dp.append_flow(target="lengths")
def visits_to_lengths():
    return spark.readStream.table("visits").select("user", F.length("page").alias("size"))
