"""Statements of an SQL script, of EXECUTE IMMEDIATE and with parameters are read one by one, with the script's variables.

The values that a FOR loop puts into its variable are literals by then, as in a program that collects rows.
"""


def job(spark, path):
    spark.read.parquet(path("orders")).createOrReplaceTempView("o")
    spark.read.parquet(path("people")).createOrReplaceTempView("p")
    spark.sql("create table t (a bigint, b double) using parquet")
    spark.sql("""
        begin
            declare x double default 1;
            set x = (select max(amount) from o);
            insert into t select id, x from o where quantity > 1;
            if (select count(*) > 1 from p) then
                insert into t select age, 0 from p;
            end if;
            for r as (select quantity as q from o) do
                insert into t values (r.q, 2);
            end for;
        end
    """)
    spark.sql(
        "declare or replace query string default 'select id, amount from o where quantity > ? and item <> :i'"
    )
    spark.sql("execute immediate 'select id, amount from o where quantity > ?' using 1").write.parquet(
        path("immediate")
    )
    spark.sql(
        "select name, age * :f as scaled from p where city = :c", args={"f": 2, "c": "Rome"}
    ).write.parquet(path("named"))
    spark.sql("select name, ? as mark from p where city = ?", args=["x", "Rome"]).write.parquet(
        path("positional")
    )
