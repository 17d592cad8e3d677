"""Columns that a condition tests are CONDITIONAL, chosen ones stay as they were; COALESCE does both."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select case when amount > 1 then item when quantity > 2 then customer else day end as cased,
               case day when '2024-01-01' then 1 else 0 end as flag,
               if(id > 1, item, 'none') as chosen, coalesce(customer, item) as first, nullif(item, customer) as differing,
               nvl(customer, 'nobody') as named, nvl2(day, item, customer) as either, ifnull(item, day) as i,
               decode(customer, 'ann', item, 'else') as decoded, nanvl(amount, 0.0) as number, greatest(id, quantity) as most
        from o
    """).write.parquet(path("out"))
