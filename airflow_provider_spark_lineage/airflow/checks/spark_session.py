"""Session of operators that check data, in place of a database's hook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.operators.spark_pyspark import PySparkOperator
from airflow.providers.common.compat.sdk import AirflowException
from airflow.providers.common.compat.standard.operators import PythonOperator

from airflow_provider_spark_lineage.airflow.checks.findings import ReportsFindings
from airflow_provider_spark_lineage.spark import is_without_text

if TYPE_CHECKING:
    from airflow.providers.common.sql.operators.sql import BaseSQLOperator as _Operator
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Context
else:
    _Operator = object  # Airflow gives each class of an operator an `__init__` of its own, also a mixin's.

WITHHELD = "***"
"""Stands for a text of a row where an event would show it."""

_SESSIONS: list[Any] = []
"""Sessions of this process, which has one unless it is a test of a DAG.

A session of Connect closes its client when it is collected, inside whatever code runs then. If that is a call
of another session, PySpark waits for itself, for ever. So none is collected.
"""


class _Calls(PythonOperator):
    """Calls its function, and nothing else. Base class between `PySparkOperator` and `PythonOperator`."""

    op_kwargs: dict[str, Any]

    def execute_callable(self) -> Any:
        """Call the function with the session."""
        _SESSIONS.append(self.op_kwargs["spark"])
        return self.python_callable(self.op_kwargs["spark"])


class _Session(PySparkOperator, _Calls):
    """Airflow's operator, for the session that it makes of a connection."""

    def __init__(self, *, task: Any, work: Callable[[Any], Any], **kwargs: Any) -> None:
        super().__init__(
            task_id=task.task_id,
            python_callable=work,
            conn_id=task.conn_id,
            config_kwargs=task.config_kwargs,
            **kwargs,
        )
        self._dag_id = task.dag_id

    @property
    def dag_id(self) -> str:
        """Return the id of the task's DAG: it is in the name of the application."""
        return str(self._dag_id)


class _SparkHook:
    """The part of a database's hook that operators of Airflow use."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.texts: set[str] = set()
        """Texts in the rows that were returned: rows of the user."""

        self.has_text = False
        """A value was returned that has a text, or may have one."""

        self.firsts: dict[str, tuple[Any, ...] | None] = {}
        """Query -> its first row, or None; it does not run again."""

    def get_first(self, sql: str, parameters: Any = None) -> tuple[Any, ...] | None:
        """Return the first row of a query; None if there is none."""
        if sql not in self.firsts:
            rows = self._frame(sql, parameters).take(1)
            self.firsts[sql] = self._plain(rows[0]) if rows else None
        return self.firsts[sql]

    def get_records(self, sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        return [self._plain(row) for row in self._frame(sql, parameters).collect()]

    def _frame(self, sql: str, parameters: Any) -> Any:
        arguments = parameters if isinstance(parameters, Mapping) else [*(parameters or ())]
        return self._spark.sql(sql, args=arguments) if arguments else self._spark.sql(sql)

    def _plain(self, row: Any) -> tuple[Any, ...]:
        for value in row:
            if not is_without_text(value):
                self.texts.update(_texts_in(value))
                self.has_text = True
        return tuple(row)


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a value of Spark: an array, a map, a row."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (bytes, bytearray)):
        yield bytes(value).decode(errors="replace")
    elif isinstance(value, Mapping):
        yield from _texts_in([*value.keys(), *value.values()])
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts_in(each)


class ChecksOnSpark(ReportsFindings, _Operator):
    """Opens the session of a connection, and reports the results of checks."""

    config_kwargs: dict[str, Any]
    severity: str
    _spark: Any = None
    _spark_hook: _SparkHook | None = None

    def execute(self, context: Context) -> Any:
        """Run the checks in a session of the connection."""
        with self.capture_lineage(context):
            if self.hook_params:
                self.log.warning("hook_params are not used: checks on Spark have no hook.")
            return _Session(
                task=self, work=lambda spark: self._execute_with(spark, context)
            ).execute_callable()

    def _execute_with(self, spark: Any, context: Context) -> Any:
        self._spark, self._spark_hook = spark, _SparkHook(spark)
        self.check_results: list[Any] = []  # Not those of a former try.
        try:
            if self.database:
                spark.catalog.setCurrentDatabase(self.database)
            return self._check(context)
        except AirflowException as error:
            # Its text is in the task's event.
            if (text := self._without_texts(str(error))) != str(error):
                raise type(error)(text) from None
            raise
        finally:
            self._spark = self._spark_hook = None

    def _without_texts(self, message: str) -> str:
        """Return a message without the texts of rows that it quotes."""
        texts = self._spark_hook.texts if self._spark_hook is not None else set()
        for text in sorted(texts, key=len, reverse=True):
            # As Python prints it alone, or inside of bytes.
            message = message.replace(repr(text), repr(WITHHELD)).replace(f"b{text!r}", repr(WITHHELD))
        return message

    def _check(self, context: Context) -> Any:
        raise NotImplementedError

    def get_db_hook(self) -> Any:
        """Return the session in the form of a database's hook."""
        return self._spark_hook

    def get_openlineage_facets_on_start(self) -> OperatorLineage:
        """Return the tables and paths that the text of the check names; the session may know more."""
        from airflow_provider_spark_lineage.airflow.task.starts import answer_at_start_of_query

        queries = [self.sql1, self.sql2] if hasattr(self, "sql1") else [self.sql]
        use = [f"USE {self.database}"] if self.database else []
        return answer_at_start_of_query(self, ";\n".join((*use, *queries)), self.config_kwargs)
