"""Pipe syntax has the lineage of the nested query; its operators leave no gap."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        from o
        |> where quantity > 1
        |> extend amount * quantity as total
        |> left join p using (customer)
        |> aggregate sum(total) as total, count(*) as number group by city
        |> order by total desc
        |> limit 3
    """).write.parquet(path("out"))
    spark.sql(
        "from o |> set amount = coalesce(amount, 0) |> drop tags, day |> as x |> select x.id, x.amount"
    ).write.parquet(path("kept"))
