"""Column names with dots, spaces, backticks and other alphabets are kept as they are."""


def setup(spark, path):
    spark.sql("select 1 as `a.b`, 2 as `a b`, 3 as `größe`, 4 as `日本`, 5 as `x``y`, 6 as `c,d`").write.json(
        path("odd")
    )


def job(spark, path):
    odd = spark.read.json(path("odd"))
    odd.selectExpr(
        "`a.b`", "`a b` + 1 as `sum of a b`", "`größe`", "`日本` as `本`", "`x``y`", "`c,d`"
    ).write.json(path("out dir/größe"))
