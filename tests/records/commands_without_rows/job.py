"""Commands that move no rows neither write nor leave gaps; ANALYZE and CACHE count rows, a read."""


def setup(spark, path):
    spark.sql("create table kept (a int, p string) using parquet partitioned by (p)")


def job(spark, path):
    spark.sql("show tables").collect()
    spark.sql("describe table extended kept").collect()
    spark.sql("set spark.sql.ansi.enabled").collect()
    spark.sql("explain select * from kept").collect()
    spark.sql("alter table kept add partition (p='x')")
    spark.sql("alter table kept add columns (more int)")
    spark.sql("alter table kept set tblproperties ('k' = 'v')")
    spark.sql("analyze table kept compute statistics")
    spark.sql("refresh table kept")
    spark.sql("create database if not exists other")
    spark.sql("show partitions kept").collect()
    spark.sql("show create table kept").collect()
    spark.sql("drop database other")
    spark.sql("use default")
    spark.sql("cache table kept")
    spark.sql("uncache table kept")
    spark.sql("declare variable x int default 1")
    spark.sql("set variable x = 2")
    spark.catalog.listColumns("kept")
    spark.sql("comment on table kept is 'text'")
