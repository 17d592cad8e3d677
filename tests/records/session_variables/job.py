"""A variable set by a query carries that query's columns, and the conditions of its row, to its uses."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("declare or replace variable limit_of double default 1")
    spark.sql("declare or replace variable plain int default 3")
    spark.sql("declare or replace variable oldest int")
    spark.sql("declare or replace variable where_oldest string")
    spark.sql("select amount * limit_of as unset from o").write.parquet(path("unset"))
    spark.sql("set variable limit_of = (select avg(amount) from o where quantity > 1)")
    spark.sql("set variable (oldest, where_oldest) = (select max(age), max_by(city, age) from p)")
    spark.sql(
        "select id * session.LIMIT_OF as scaled, plain, where_oldest as city from o where quantity < oldest"
    ).write.parquet(path("out"))
    # Set from itself and from another.
    spark.sql("set variable limit_of = limit_of + oldest")
    spark.sql("select name, limit_of as total from p").write.parquet(path("summed"))
