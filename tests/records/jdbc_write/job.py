"""Writes to a database by every way that there is, and a read of the written table."""

URL = "jdbc:derby:memory:lineage;create=true"


def setup(spark, path):
    people = spark.read.parquet(path("people"))
    people.select("name", "age").limit(0).write.mode("overwrite").jdbc(URL, "app.filled")
    spark.sql(f"create table filled using jdbc options (url '{URL}', dbtable 'app.filled')")


def job(spark, path):
    people = spark.read.parquet(path("people"))
    people.select("name", "age").write.mode("overwrite").jdbc(URL, "app.written")
    options = {"url": URL, "dbtable": "APP.WRITTEN"}
    people.selectExpr("upper(name) name", "age").write.format("jdbc").options(**options).mode("append").save()
    people.select("name", "age").write.insertInto("filled")
    back = spark.read.jdbc(URL, "app.written")
    back.select("name").write.parquet(path("back"))
