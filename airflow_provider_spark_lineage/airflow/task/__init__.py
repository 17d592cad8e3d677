"""Lineage of an Airflow task, from before its `execute` until its events are sent.

`task_lineage` starts and finishes a collector in the task's process, and makes the `report` of the task. The
OpenLineage provider asks for the result later, in a forked child without a JVM and a network, so it is made
from the report alone.
"""
