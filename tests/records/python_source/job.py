"""A source written in Python is named by itself and by the options with the place of its data."""

from pyspark.sql.datasource import DataSource, DataSourceReader


class Rows(DataSourceReader):
    def read(self, partition):
        yield (1, "ann")


class Shop(DataSource):
    @classmethod
    def name(cls):
        return "shop"

    def schema(self):
        return "id int, name string"

    def reader(self, schema):
        return Rows()


def job(spark, path):

    spark.dataSource.register(Shop)
    read = spark.read.format("shop").option("url", "https://etl:hunter2@shop.example/v1?token=abc")
    people = read.option("table", "people").option("pin", "1234").load()
    people.selectExpr("id + 1 as id", "name").write.parquet(path("out"))
