"""A column of a recursive CTE comes from its anchor and from every step, whatever turns it took."""


def setup(spark, path):
    spark.sql("select 1 as child, 0 as parent, 'a' as name").write.parquet(path("tree"))


def job(spark, path):
    spark.read.parquet(path("tree")).createOrReplaceTempView("tree")
    spark.sql("""
        with recursive walk(node, depth, label) as (
            select child, 0, name from tree where parent = 0
            union all
            select t.child, w.depth + 1, concat(w.label, t.name) from tree t join walk w on t.parent = w.node
        )
        select node, depth, label from walk
    """).write.parquet(path("out"))
