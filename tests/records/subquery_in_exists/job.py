"""IN and EXISTS in a WHERE are FILTER; the columns that EXISTS selects do not matter, only its rows."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("select id from o where customer in (select customer from p where age > 30)").write.parquet(
        path("in")
    )
    spark.sql("select id from o where customer not in (select name from p)").write.parquet(path("not_in"))
    spark.sql("select id from o where exists (select * from p where p.customer = o.customer)").write.parquet(
        path("exists")
    )
    spark.sql(
        "select id from o where not exists (select 1 from p where p.name = o.item and age > 1)"
    ).write.parquet(path("not_exists"))
    spark.sql(
        "select id from o where amount > (select avg(age) from p where p.customer = o.customer)"
    ).write.parquet(path("compared"))
