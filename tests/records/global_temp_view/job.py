"""A global temp view is looked through like any view."""


def job(spark, path):
    spark.read.parquet(path("people")).where("age > 20").createOrReplaceGlobalTempView("adults")
    spark.table("global_temp.adults").select("name").write.parquet(path("out"))
