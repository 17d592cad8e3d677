"""IN and EXISTS in the SELECT list act on their own column."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        select id, customer in (select customer from p where age > 30) as known,
               exists (select 1 from p where p.name = o.item) as named,
               case when exists (select * from p where city = 'Oslo') then item end as sometimes
        from o
    """).write.parquet(path("out"))
