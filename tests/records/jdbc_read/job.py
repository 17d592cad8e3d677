"""A table behind JDBC has the name of its database, however it is read."""

URL = "jdbc:derby:memory:lineage;create=true"


def setup(spark, path):
    people = spark.read.parquet(path("people"))
    for table in ("people", "cities"):
        people.write.mode("overwrite").jdbc(URL, f"app.{table}")
    spark.sql(f"create table listed using jdbc options (url '{URL}', dbtable 'app.cities')")


def job(spark, path):
    people = spark.read.format("jdbc").option("url", URL).option("dbtable", "app.people").load()
    parts = spark.read.jdbc(URL, '"APP"."PEOPLE"', column="age", lowerBound=0, upperBound=50, numPartitions=2)
    some = spark.read.jdbc(URL, "APP.people p", predicates=["1 = 1", "1 = 0"])
    people.union(parts).union(some).select("name", "age").write.parquet(path("people_out"))
    spark.table("listed").selectExpr("upper(city) as city").write.parquet(path("cities_out"))
