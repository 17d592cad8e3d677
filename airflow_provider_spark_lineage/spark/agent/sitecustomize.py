"""Start of the agent: Python loads this module before the application, as the zip is on `PYTHONPATH`.

Afterwards it runs the `sitecustomize` that would have been loaded without the zip.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys


def _start_agent() -> None:
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        # Not a driver of `spark-submit`: a Python worker, or a program that the driver starts.
        return
    try:
        from airflow_provider_spark_lineage.spark.agent import start
    except Exception as error:
        # Even with a broken zip, the application must run as without it.
        sys.stderr.write(f"Spark lineage: the agent cannot start: {error}. The job is unaffected.\n")
    else:
        start.wait_for_pyspark()


def _run_next() -> None:
    """Run the next `sitecustomize` on `sys.path`, under its own name."""
    ours = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry) != ours]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_start_agent()
_run_next()
