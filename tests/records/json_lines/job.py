"""JSON is read and written like any other file; a nested field is a transformation of its column."""


def setup(spark, path):
    spark.sql("select 1 as id, named_struct('city', 'Rome', 'zip', 1) as address").write.json(
        path("people_json")
    )


def job(spark, path):
    spark.read.json(path("people_json")).selectExpr("id", "address.city as city").write.json(path("out"))
