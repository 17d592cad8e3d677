"""Writes the tables without dates: folds of partials, and of the rows that a load derives."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from airflow_provider_spark_lineage.openlineage.events.shapes import Id
from airflow_provider_spark_lineage.openlineage.warehouse.asking import names_in
from airflow_provider_spark_lineage.openlineage.warehouse.folding import QUERIES, columns_of, folded
from airflow_provider_spark_lineage.openlineage.warehouse.ids import id_of_names
from airflow_provider_spark_lineage.openlineage.warehouse.partial_files import frame_of, frame_with
from airflow_provider_spark_lineage.openlineage.warehouse.snapshots import StoredTables
from airflow_provider_spark_lineage.openlineage.warehouse.storage import dataset_at
from airflow_provider_spark_lineage.openlineage.warehouse.tables import TABLES, WarehouseColumn
from airflow_provider_spark_lineage.openlineage.warehouse.workspace import Frame, Workspace


class UndatedTables:
    """The tables without dates of one load."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self.new_versions = 0
        """Versions of lineage that no earlier load had."""

    def write(self, derived: Frame) -> list[int]:
        """Write the tables without dates; return the ids of names that meant several datasets."""
        frames = self._work.partials.seen()
        statements = columns_of("dataset_names", "namespace", "name", "dataset_id")
        frames["names"] = self._contents(derived, "names", "datasets", "dataset_id", "namespace", "name")
        frames["names"], frames["dataset_names"], symlinks = self._names(derived, frames["names"], statements)
        meanings, moving = symlinks
        columns = {"dataset_id": "BIGINT", "canonical_id": "BIGINT"}
        frames["meanings"] = frame_with(self._work.spark, columns, meanings)
        frames["schemas"] = self._contents(derived, "schemas", "dataset_schemas", "schema_id", "columns")
        content = [each.name for each in TABLES["lineage_versions"].columns if "seen" not in each.name]
        frames["versions"] = self._contents(derived, "versions", "lineage_versions", *content)
        for table, query in QUERIES.items():
            used = {key: frame for key, frame in frames.items() if f"{{{key}}}" in query}
            frames[table] = self._work.write_whole(table, self._work.sql(query, **used))
        known = _versions_in(self._work.before)
        self.new_versions = sum(each not in known for each in _versions_in(self._work.after))
        return moving

    def _contents(self, derived: Frame, kind: str, table: str, key: str, *names: str) -> Frame:
        """Return the contents behind ids: of a table before this load, or derived by it."""
        known = frame_of(self._work.spark, self._work.before, table).select(key, *names)
        new = self._work.of_kind(derived, kind, columns_of(table, key, *names))
        return known.unionByName(new).dropDuplicates([key])

    def _names(
        self, derived: Frame, contents: Frame, columns: list[WarehouseColumn]
    ) -> tuple[Frame, Frame, tuple[list[tuple[int, int]], list[int]]]:
        """Write `dataset_names`; return the names of all datasets, the table, and what its names mean."""
        more = [
            WarehouseColumn("dataset_namespace", "STRING", ""),
            WarehouseColumn("dataset_name", "STRING", ""),
            WarehouseColumn("said_ns", "DECIMAL(21,0)", ""),
        ]
        stated = self._work.of_kind(derived, "statements", [*columns, *more])
        all_names = self._work.sql(
            """
            SELECT * FROM {contents}
            UNION ALL SELECT dataset_id, dataset_namespace, dataset_name FROM {said}
            UNION ALL SELECT xxhash64(namespace, name), namespace, name FROM {said}
            """,
            contents=contents,
            said=stated,
        )
        contents = self._work.staged("names", all_names.dropDuplicates(["dataset_id"]))
        folded = self._work.sql(
            """
            SELECT namespace, name, dataset_id, min(first_ns) AS first_said_ns, max(last_ns) AS last_said_ns
            FROM (SELECT namespace, name, dataset_id, said_ns AS first_ns, said_ns AS last_ns FROM {said}
                  UNION ALL
                  SELECT namespace, name, dataset_id, first_said_ns, last_said_ns FROM {known})
            GROUP BY namespace, name, dataset_id
            """,
            said=stated,
            known=frame_of(self._work.spark, self._work.before, "dataset_names"),
        )
        rows = [row.asDict() for row in folded.collect()]
        owners = {row["dataset_id"] for row in rows}
        datasets: dict[int, Id] = {
            row["dataset_id"]: (row["namespace"], row["name"])
            for batch in dataset_at(self._work.path("staged_names")).to_batches()
            for row in batch.to_pylist()
            if row["dataset_id"] in owners
        }
        names = names_in(rows, datasets)
        written = self._frame("dataset_names", [*_intervals(rows, names, datasets)])
        meanings = [(id_of_names(*alias), id_of_names(*dataset)) for alias, dataset in names.aliases()]
        moving = [id_of_names(*alias) for alias in names.depending_on_time()]
        return contents, self._work.write_whole("dataset_names", written), (meanings, moving)

    def write_tags(self, derived: Frame) -> None:
        """Write the newest tags of each dataset, of this load or of one before."""
        if self._work.before.tables["dataset_tags"] and not self._work.has_kind("tags"):
            self._work.tables.keep("dataset_tags")
            return
        rows = self._work.sql(
            folded(
                "dataset_tags",
                """
                SELECT *, struct(said_ns, event_id) AS place FROM {said}
                UNION ALL SELECT *, struct(said_ns, event_id) AS place FROM {known}
                """,
            ),
            said=self._work.of_kind(derived, "tags", columns_of("dataset_tags")),
            known=frame_of(self._work.spark, self._work.before, "dataset_tags"),
        )
        self._work.write_whole("dataset_tags", rows)

    def _frame(self, table: str, rows: list[tuple[Any, ...]]) -> Frame:
        return self._work.spark.createDataFrame(rows, TABLES[table].ddl)


def _versions_in(tables: StoredTables) -> set[int]:
    return {
        number
        for folder in tables.folders("lineage_versions")
        for batch in dataset_at(folder).to_batches(columns=["lineage_id"])
        for number in batch.column("lineage_id").to_pylist()
    }


def _intervals(rows: list[dict[str, Any]], names: Any, datasets: dict[int, Id]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of `dataset_names`: each statement with the time for which it holds."""
    ends: dict[tuple[Id, Id], int | None] = {}
    for alias, owners in names.moved():
        following = [time_ns for time_ns, _ in owners[1:]]
        for (_, owner), end in zip(owners, [*following, None], strict=True):
            ends[alias, owner] = end
    for row in rows:
        key = (row["namespace"], row["name"]), datasets[row["dataset_id"]]
        yield (
            row["namespace"],
            row["name"],
            row["dataset_id"],
            _instant(int(row["first_said_ns"])),
            _instant(ends.get(key)),
            key in ends,
            row["first_said_ns"],
            row["last_said_ns"],
        )


def _instant(time_ns: int | None) -> datetime | None:
    if time_ns is None:
        return None
    seconds, rest = divmod(time_ns, 1_000_000_000)
    return datetime.fromtimestamp(seconds, timezone.utc).replace(microsecond=rest // 1000)
