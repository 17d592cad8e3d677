"""Starts capture when the driver creates its Spark context.

Nothing happens in processes without a driver: Python workers, programs that the driver starts. This module is
imported before the program begins, so it imports little; `driver` is imported while Spark creates the
context.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import Any

from airflow_provider_spark_lineage.spark.capture.imports import imports
from airflow_provider_spark_lineage.spark.guard import harmless


def wait_for_pyspark() -> None:
    """Have the agent started when the program imports pyspark."""
    imports().wait("pyspark", _begin)


def _begin() -> None:
    imports().forget("pyspark", _begin)
    _watch_contexts(sys.modules["pyspark"].SparkContext)


def _watch_contexts(context_class: Any) -> None:
    """Start capture after each Spark context that is created from now on."""
    create = context_class._do_init

    @functools.wraps(create)
    def create_captured(context: Any, *args: Any, **kwargs: Any) -> None:
        with harmless("the agent could not be prepared"):
            # On a thread, because this process is idle while the JVM creates the context.
            threading.Thread(target=_prepare, args=(context_class,), daemon=True).start()
        create(context, *args, **kwargs)
        with harmless("the agent could not be started"):
            from airflow_provider_spark_lineage.spark.agent import driver

            driver.begin(context)

    context_class._do_init = create_captured


def _prepare(context_class: Any) -> None:
    with harmless("the agent could not be prepared"):
        from airflow_provider_spark_lineage.spark.agent import driver

        driver.prepare(context_class)
