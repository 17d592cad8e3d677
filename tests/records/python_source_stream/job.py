"""A stream from and into sources written in Python reads and writes them as a batch does."""

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamWriter,
    SimpleDataSourceStreamReader,
    WriterCommitMessage,
)


class Rows(SimpleDataSourceStreamReader):
    def initialOffset(self):  # noqa: N802  Spark's name
        return {"row": 0}

    def read(self, start):
        return iter([] if start["row"] else [(1, "ann")]), {"row": 1}

    def readBetweenOffsets(self, start, end):  # noqa: N802  Spark's name
        return iter([(1, "ann")])


class Sink(DataSourceStreamWriter):
    def write(self, iterator):
        list(iterator)
        return WriterCommitMessage()


class Shop(DataSource):
    @classmethod
    def name(cls):
        return "shop"

    def schema(self):
        return "id int, name string"

    def simpleStreamReader(self, schema):  # noqa: N802  Spark's name
        return Rows()

    def streamWriter(self, schema, overwrite):  # noqa: N802  Spark's name
        return Sink()


def job(spark, path):

    spark.dataSource.register(Shop)
    people = spark.readStream.format("shop").option("table", "people").load()
    write = people.selectExpr("id", "upper(name) as name").writeStream.format("shop")
    write = write.option("table", "copies").option("checkpointLocation", path("state"))
    write.trigger(once=True).start().awaitTermination()
