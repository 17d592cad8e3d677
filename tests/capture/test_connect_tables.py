"""Reading DESCRIBE TABLE EXTENDED, and the tables of a plan that need it."""

from __future__ import annotations

from airflow_provider_spark_lineage.spark.capture.connect.tables import (
    described_by,
    inserted_table,
    names_in_plan,
)


def row(name, kind="", comment=""):
    return {"col_name": name, "data_type": kind, "comment": comment}


def test_sections_are_told_apart():
    """A column may have the name of a property, and partition columns are listed again in their section."""
    rows = [
        row("Location", "string"),
        row("part", "int"),
        row("# Partition Information"),
        row("# col_name", "data_type", "comment"),
        row("part", "int"),
        row(""),
        row("# Detailed Table Information"),
        row("Catalog", "spark_catalog"),
        row("Database", "sales"),
        row("Table", "orders"),
        row("Type", "MANAGED"),
        row("Provider", "parquet"),
        row("Location", "s3a://user:secret@bucket/orders"),
        row("Owner", "ann"),
    ]
    table = described_by(rows)
    assert table["columns"] == [["Location", "string"], ["part", "int"]]
    assert table["partition_columns"] == ["part"]
    assert (table["database"], table["table"], table["type"]) == ("sales", "orders", "MANAGED")
    assert "secret" not in table["location"]
    assert "ann" not in table.values()


def test_tables_of_a_plan_are_described():
    """The location of a V2 or a Hive table is nowhere in a plan, that of a file table not in every plan."""
    text = """
+- RelationV2[id#1L, name#2] lake.sales.orders lake.sales.orders
+- HiveTableRelation [`spark_catalog`.`db`.`t`, org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe, Data]
+- Relation spark_catalog.default.files[id#3] parquet
"""
    assert names_in_plan(text) == [
        "lake.sales.orders",
        "spark_catalog.default.files",
        "`spark_catalog`.`db`.`t`",
    ]


INSERT = (
    "InsertIntoHadoopFsRelationCommand file:/w/{0}, false, Parquet, [path=file:/w/{0}], Append, "
    "`spark_catalog`.`db`.`{0}`, org.apache.spark.sql.execution.datasources.CatalogFileIndex(file:/w), [a]\n"
)


def test_a_table_that_a_plan_inserts_into_has_its_full_name():
    """Of several inserts the right one is unknown; a write to a path has no table."""
    assert (
        inserted_table(INSERT.format("t") + "+- Project\n" + INSERT.format("t")) == "`spark_catalog`.`db`.`t`"
    )
    assert inserted_table(INSERT.format("t") + INSERT.format("u")) == ""
    path = "InsertIntoHadoopFsRelationCommand file:/out, false, Parquet, [path=/out], Append, [a]\n"
    assert inserted_table(path) == ""


def test_the_default_collation_is_not_named() -> None:
    """Spark 4.3 names it for some columns; any other collation is a part of the type."""
    default, other = row("a", "array<string collate UTF8_BINARY>"), row("b", "string collate UTF8_LCASE")
    assert described_by([default, other])["columns"] == [
        ["a", "array<string>"],
        ["b", "string collate UTF8_LCASE"],
    ]
