"""A query that a database ran is read as SQL: the datasets are the tables inside, columns are traced to theirs."""

URL = "jdbc:derby:memory:lineage;create=true"
TYPES = "customer varchar(20), {} varchar(20)"


def setup(spark, path):
    people = spark.read.parquet(path("people"))
    people.write.mode("overwrite").option("createTableColumnTypes", TYPES.format("name")).jdbc(
        URL, "app.people"
    )
    orders = spark.read.parquet(path("orders")).drop("tags", "day")
    orders.write.mode("overwrite").option("createTableColumnTypes", TYPES.format("item")).jdbc(
        URL, "app.orders"
    )


def job(spark, path):
    def read(**options):
        return spark.read.format("jdbc").options(url=URL, **options).load()

    query = """
        select p."name" as who, sum(o."amount") as total
        from app.orders o join app.people p on p."customer" = o."customer"
        where p."age" > 18 and p."name" <> 'Bob B' -- not him
        group by p."name"
    """
    read(query=query).write.parquet(path("totals"))
    star = read(dbtable='(select * from app.people where "age" > 18) adults')
    star.withColumnRenamed("name", "called").write.parquet(path("adults"))
    both = read(query="select o.* from app.orders o, app.people p")
    both.write.parquet(path("both"))
