"""Ways to write three checked rows into a table of a lake, and the results that must be known then."""

from __future__ import annotations

from airflow_provider_spark_lineage import capture_lineage
from airflow_provider_spark_lineage.checks import check

COLUMNS = {
    "id": {"null_check": {"equal_to": 0}, "max": {"leq_to": 9}, "sum": {"geq_to": 0}},
    "s": {"min": {"geq_to": "a"}},
}
RULES = {"row_count": "count(*) = 3", "positive": "id > 0"}
ALL = {"id.null_check": "0", "id.max": "3", "id.sum": "6", "s.min": "a", "row_count": "3", "positive": "0"}
NO_BROKEN_ROW = {"id.null_check": "0", "positive": "0"}


def _merge(frame, table):
    frame.createOrReplaceTempView("checked")
    frame.sparkSession.sql(
        f"MERGE INTO {table} t USING checked c ON t.id = c.id WHEN MATCHED THEN UPDATE SET s = c.s"  # noqa: S608
        " WHEN NOT MATCHED THEN INSERT (id, s) VALUES (c.id, 'new')"
    )


WRITES = {
    "append": (lambda frame, table: frame.writeTo(table).append(), ALL),
    "by position": (lambda frame, table: frame.write.mode("overwrite").insertInto(table), ALL),
    "a part": (lambda frame, table: frame.where("id > 1").writeTo(table).append(), NO_BROKEN_ROW),
    # It may leave out rows, and change columns.
    "merge": (_merge, {}),
}
"""Name -> function that writes a frame into a table, and what must be found."""


def written(spark, table, kind, write):
    """Return what the checks of the rows found, without missing results, when `write` wrote them."""
    spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(f"CREATE TABLE {table} (id BIGINT, s STRING) USING {kind}")
    frame = spark.sql("SELECT * FROM VALUES (1L, 'a'), (2L, 'b'), (3L, 'c') AS t(id, s)")
    with capture_lineage(spark) as captured:
        write(check(frame, columns=COLUMNS, rows=RULES, severity="warn"), table)
    return {each.name: each.actual for each in captured.checks if not each.not_evaluated}
