"""LATERAL VIEW and table functions are generators; several follow each other.

`stack` and `inline` of rows that the query lists give each column from its own values; `json_tuple` gives one row.
"""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql(
        "select id, t, n from o lateral view explode(tags) a as t lateral view outer explode(sequence(1, quantity)) b as n"
    ).write.parquet(path("views"))
    spark.sql("select id, a, b from o lateral view inline(array(struct(item, day))) l as a, b").write.parquet(
        path("inlined")
    )
    spark.sql("select id, x, y from o lateral view json_tuple(item, 'x', 'y') j as x, y").write.parquet(
        path("json")
    )
    spark.sql(
        "select id, k, v from o lateral view stack(2, 'a', amount, 'q', cast(quantity as double)) s as k, v"
    ).write.parquet(path("stacked"))
