"""Changes of columns, partitions and place are outputs without edges; properties and comments are not."""


def setup(spark, path):
    for name in ("columns", "place", "more", "less", "repaired", "emptied", "one_emptied", "described"):
        spark.sql(f"create table {name} (a int, p string) using parquet partitioned by (p)")
        spark.sql(f"insert into {name} values (1, 'x')")


def job(spark, path):
    spark.sql("alter table columns add columns (b int)")
    spark.sql(f"alter table place set location '{path('elsewhere')}'")
    spark.sql("alter table more add partition (p='y')")
    spark.sql("alter table less drop partition (p='x')")
    spark.sql("repair table repaired")
    spark.sql("truncate table emptied")
    spark.sql("truncate table one_emptied partition (p='x')")
    spark.sql("alter table described set tblproperties ('k' = 'v')")
    spark.sql("comment on table described is 'text'")
    spark.sql("analyze table described compute statistics for columns a")
