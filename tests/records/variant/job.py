"""A variant, and whatever is taken out of it, comes from the text that it was parsed from; exploding it is a generator."""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.sql("""
        select id, try_parse_json(item) as parsed, try_variant_get(try_parse_json(day), '$.a', 'int') as a,
               try_parse_json(customer):b::int as b, schema_of_variant(try_parse_json(day)) as shape,
               to_variant_object(named_struct('q', quantity)) as made
        from o
    """).select("id", "a", "b", "shape").write.parquet(path("out"))
    spark.sql("""
        select id, cast(v.key as string) as key, cast(v.value as int) as value
        from o, lateral variant_explode(try_parse_json(concat('{"q":', quantity, '}'))) v
    """).write.parquet(path("exploded"))
