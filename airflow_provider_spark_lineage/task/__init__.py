"""What an Airflow task does with its lineage.

`task_lineage` starts a collector in the task's process and ends it there. The OpenLineage provider asks for
the result afterwards in a forked child, without a JVM and a network, so everything is read from what the
collector stored.
"""
