"""A Python table function over a whole table reads every column of its rows; its partitioning and order are CONDITIONAL."""

from pyspark.sql.functions import udtf


def job(spark, path):
    @udtf(returnType="customer string, total double")
    class Total:
        def __init__(self):
            self.customer, self.total = None, 0.0

        def eval(self, row):
            self.customer = row["customer"]
            self.total += row["amount"]

        def terminate(self):
            yield self.customer, self.total

    spark.udtf.register("total_of", Total)
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select * from total_of(table(select customer, amount, id from o where quantity > 1) partition by customer order by id)
    """).write.parquet(path("out"))
