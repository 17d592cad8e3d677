"""A call that reads or writes: its format, options, mode, path and table, by its row of `methods`."""

from __future__ import annotations

from dataclasses import dataclass

from airflow_provider_spark_lineage.spark.planned.program import UNKNOWN_FORMAT
from airflow_provider_spark_lineage.spark.planned.python.methods import FILES, MethodReader
from airflow_provider_spark_lineage.spark.planned.python.values import (
    Arguments,
    Chain,
    Known,
    UnknownValue,
    Value,
    items_of,
    whole_text,
)

_CHANGES = {
    **dict.fromkeys(("append", "false", "update"), "append"),
    **dict.fromkeys(("complete", "overwrite", "true"), "overwrite"),
}
"""Mode, or value of an argument `overwrite` -> the change; any other mode is a create."""

_PARTIAL = frozenset({"partitionoverwritemode", "replacewhere"})
"""Options that let an overwrite keep some rows."""


@dataclass(frozen=True)
class Call:
    """A call of a method that has a row."""

    row: MethodReader
    chain: Chain
    """The object: a reader or a writer, with the calls that led to it."""

    method: str
    arguments: Arguments

    @property
    def what(self) -> str:
        """Return the method with its kind of object, for gaps."""
        return f"{self.chain.kind}.{self.method}".strip(".")

    @property
    def options(self) -> tuple[dict[str, Value], bool]:
        """Return the options of all calls, by their names in lower case, and whether these are all."""
        options: dict[str, Value] = {}
        is_complete = True
        for method, arguments in (*self.chain.calls, (self.method, self.arguments)):
            if method == "option":
                key = whole_text(arguments.get(0, "key"))
                options |= {key.lower(): arguments.get(1, "value") or Known(None)} if key else {}
                is_complete &= key is not None
            elif method in ("options", "load", "save", "start"):
                options |= {key.lower(): value for key, value in arguments.named}
                is_complete &= arguments.is_complete
            elif method == "jdbc":
                options["url"] = arguments.get(0, "url") or UnknownValue()
                options["dbtable"] = arguments.get(1, "table") or UnknownValue()
        return options, is_complete

    @property
    def change(self) -> str | None:
        """Return the change of a write, empty for a read; None if its mode is not a constant."""
        mode = self.row.mode and (self.arguments.get(*self.row.mode) or self.chain.last("mode", "outputMode"))
        if mode is None:
            return self.row.change
        word = whole_text(mode)
        return None if word is None else _CHANGES.get(word.lower(), "create")

    def is_partial(self, *, by_partition: bool) -> bool:
        """Return whether an overwrite keeps rows; `by_partition`: the session replaces partitions only."""
        keeps_others = by_partition and self.chain.last("partitionBy") is not None
        return self.row.is_partial or keeps_others or bool(_PARTIAL & self.options[0].keys())

    @property
    def format(self) -> str:
        """Return the format; empty for Spark's default, `?` if it is not a constant."""
        if isinstance(self.row.format, str):
            return self.row.format
        if self.chain.last("foreach", "foreachBatch"):
            return "foreach"
        value = self.arguments.get(*self.row.format) or self.chain.last("format") or Known("")
        text = whole_text(value)
        if text is None:
            return UNKNOWN_FORMAT
        # A class name has capital letters.
        return text if "." in text else text.lower()

    @property
    def paths(self) -> tuple[Value, ...]:
        """Return the paths; empty if none is given."""
        path = (self.row.path and self.arguments.get(*self.row.path)) or self.options[0].get("path")
        if self.what == "read.parquet" and len(self.arguments.positional) > 1:
            return self.arguments.positional
        if path is None:
            return (UnknownValue(),) if self.method in (*FILES, "textFile", "saveAsTextFile") else ()
        return items_of(path) or (path,)

    @property
    def table(self) -> Value | None:
        """Return the name of the table; None if the data has no table."""
        if self.row.table is None:
            return None
        return self.chain.last("writeTo", "forName") or self.arguments.get(*self.row.table) or UnknownValue()
