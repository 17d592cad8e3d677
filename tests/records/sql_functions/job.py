"""A function defined in SQL has the lineage of its body: its arguments, and the tables that it reads."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql(
        "create temporary function taxed(a double, q int) returns double return a * 1.2 + coalesce(q, 0)"
    )
    spark.sql(
        "create temporary function city_of(c string) returns string"
        " return (select max(city) from p where p.customer = c)"
    )
    spark.sql(
        "create temporary function orders_of(c string) returns table (number bigint, price double)"
        " return select id, amount from o where customer = c and quantity > 1"
    )
    spark.sql("select id, taxed(amount, quantity) as t, city_of(customer) as c from o").write.parquet(
        path("scalar")
    )
    spark.sql("select name, number, price from p, lateral orders_of(p.customer)").write.parquet(path("table"))
