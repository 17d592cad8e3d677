"""USING and NATURAL compare the columns of that name; a full join's key is a COALESCE of both sides."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("select customer, name, id from o join p using (customer)").write.parquet(path("out_using"))
    spark.sql("select customer, city from o natural join p").write.parquet(path("out_natural"))
    spark.sql("select customer from o full join p using (customer)").write.parquet(path("out_full"))
    spark.sql("select customer from o right join p using (customer)").write.parquet(path("out_right"))
