"""DROP IF EXISTS before CREATE leaves one created table; a scratch table treated so leaves nothing."""


def job(spark, path):
    for name in ("scratch", "result"):
        spark.sql(f"drop table if exists {name}")
    spark.sql(f"create table scratch using parquet as select id, item from parquet.`{path('orders')}`")
    spark.sql("create table if not exists result (id bigint, item string) using parquet")
    spark.sql("insert into result select id, upper(item) from scratch")
    spark.sql("create table if not exists result (id bigint, item string) using parquet")
    spark.sql("drop table scratch")
    spark.sql("select item from result").write.parquet(path("copy"))
