"""Hashes, mask and counts cannot be read back; masking survives later steps."""


def job(spark, path):
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("""
        select sha2(name, 256) as h, substr(md5(concat(customer, 'salt')), 1, 8) as short, mask(city) as m, hash(age) as number,
               xxhash64(name, age) as both, crc32(cast(name as binary)) as c, sha1(name) as s1
        from p
    """).write.parquet(path("hashed"))
    spark.read.parquet(path("hashed")).selectExpr("count(h) as n", "max(short) as top").write.parquet(
        path("out")
    )
