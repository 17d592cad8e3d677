"""A CTE counts each time it is referenced; without a reference its tables are not inputs."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("orders")
    spark.read.parquet(path("people")).createOrReplaceTempView("people")
    spark.sql("""
        with big as (select customer, amount from orders where amount > 1),
             unused as (select * from people),
             totals as (with once as (select * from big) select customer, sum(amount) as total from once group by customer)
        select t.customer, t.total, b.amount as single
        from totals t join big b on t.customer = b.customer
    """).write.parquet(path("out"))
