"""What Airflow's provider manager reads: operators, decorators, plugins, options. Data only."""

from __future__ import annotations

from typing import Any

_INTEGRATION = "Spark Lineage"
_PACKAGE = "airflow_provider_spark_lineage"

OPTIONS: dict[str, dict[str, Any]] = {
    "agent": {
        "description": (
            "Path or URI of the agent's zip, as ``spark-lineage agent --out`` writes it, for drivers that\n"
            "cannot get a file of the worker: Kubernetes' cluster mode. Otherwise it travels with each job.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "s3a://company/spark/spark_lineage_agent.zip",
        "default": "",
    },
    "asset_events": {
        "description": (
            "Have Airflow record an event of an asset for each dataset that a successful task wrote, so\n"
            "that DAGs which are scheduled on assets follow Spark. The task need not declare them.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "auto_capture": {
        "description": (
            "Capture Spark in tasks of Airflow's own operators, so that they report lineage in DAGs nobody\n"
            "edits: ``PySparkOperator``, ``@task.pyspark``, ``SparkSubmitOperator``, ``SparkJDBCOperator``,\n"
            "``SparkSqlOperator``, ``SparkPipelinesOperator``, their subclasses, and ``PythonOperator`` and\n"
            "``@task`` where the function opens a Spark session. Operators of a shell, Livy, Kubernetes and\n"
            "clouds report the Spark applications that they launch. Nothing else need be set.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "auto_capture_commands": {
        "description": (
            "With ``auto_capture``: add the agent and a place for records to each ``spark-submit`` of a\n"
            "Python application in the commands of ``BashOperator``, ``@task.bash`` and ``SSHOperator``, as\n"
            "``--py-files`` and ``--conf``. A command on another machine needs ``records`` and ``agent``.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "auto_capture_exclude": {
        "description": (
            "DAGs and tasks that ``auto_capture`` leaves alone: patterns of ``dag_id`` or\n"
            "``dag_id.task_id``, with ``*`` for any text, separated by semicolons. Wins over\n"
            "``auto_capture_include``.\n"
            "A value that cannot be read excludes everything.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "payroll;sandbox_*;shop.reload_*",
        "default": "",
    },
    "auto_capture_include": {
        "description": (
            "DAGs and tasks that ``auto_capture`` is for: patterns as in ``auto_capture_exclude``.\n"
            "A value that cannot be read includes nothing.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "shop;etl_*",
        "default": "*",
    },
    "disabled": {
        "description": (
            "Capture nothing and add nothing to any event, without uninstalling the package. Operators then\n"
            "behave exactly like the ones they replace.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "drain_timeout_seconds": {
        "description": (
            "Longest time, in seconds, to wait before a session stops until what has ended is recorded.\n"
            "What is not by then is missing from the lineage, and the lineage says so.\n"
        ),
        "version_added": "0.1.0",
        "type": "float",
        "example": "60",
        "default": "30",
    },
    "emit_timeout_seconds": {
        "description": (
            "Longest time, in seconds, that a task which has ended waits for the backend to take the events\n"
            "of its Spark executions. What is left then is not sent; the task's own event, which\n"
            "``[openlineage] execution_timeout`` limits, holds the whole lineage.\n"
        ),
        "version_added": "0.1.0",
        "type": "float",
        "example": "2",
        "default": "10",
    },
    "execution_events": {
        "description": (
            "Emit a START and a COMPLETE or FAIL event per Spark execution that read or wrote a dataset, as\n"
            "child runs of the task.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "False",
        "default": "True",
    },
    "extra_operators": {
        "description": (
            "More operators that ``auto_capture`` and the extractor are for: the dotted class, an equals\n"
            "sign, and how it runs Spark, with semicolons between entries. ``in process``: its ``execute``\n"
            "uses a PySpark session; ``python``: it may use one; ``spark-submit``, ``spark-sql``,\n"
            "``spark-pipelines``: the hook of Airflow's operator of that name runs the job. Subclasses of\n"
            "Airflow's own operators need no entry.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "company.operators.ScoreOperator = in process;company.operators.Submit = spark-submit",
        "default": "",
    },
    "keep_records": {
        "description": (
            "Leave the records of submitted applications where ``records`` says. By default they are\n"
            "removed when the task has ended, where that is a folder of the worker.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "max_plan_bytes": {
        "description": (
            "Size, in bytes, above which the analyzed plan of an execution is replaced by the optimized\n"
            "one in its record; the record says so.\n"
        ),
        "version_added": "0.1.0",
        "type": "integer",
        "example": "200000000",
        "default": "50000000",
    },
    "records": {
        "description": (
            "Folder or URI where the drivers of submitted applications write what Spark does, and the\n"
            "worker reads it: any file system that Spark's Hadoop can write. Needed in cluster mode;\n"
            "by default a temporary folder of the worker. A shared disk\n"
            "has its scheme: ``file:///mnt/lineage``.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "s3a://company/spark-lineage",
        "default": "",
    },
    "repeat_dataset_edges": {
        "description": (
            "Repeat the column lineage of a whole dataset (filters, joins, sorts, groupings) on every field\n"
            "of it, for consumers that read only the lineage of fields. Events grow: columns times edges.\n"
        ),
        "version_added": "0.1.0",
        "type": "boolean",
        "example": "True",
        "default": "False",
    },
    "sql_text": {
        "description": (
            "How much of SQL statements, and of error messages that may repeat them, lineage records and\n"
            "sends: ``full`` is all but what looks like a secret, ``masked`` has a question mark for every\n"
            "literal, ``none`` is nothing. A value that is none of these counts as ``none``.\n"
        ),
        "version_added": "0.1.0",
        "type": "string",
        "example": "masked",
        "default": "full",
    },
}
"""Option -> its entry in Airflow's configuration reference; `conf.py` has the function of the same name."""


def get_provider_info() -> dict[str, Any]:
    """Return the provider's description in the shape of Airflow's provider_info schema."""
    return {
        "package-name": "airflow-provider-spark-lineage",
        "name": _INTEGRATION,
        "description": "Lineage of Spark jobs as OpenLineage events, without a jar on the cluster.",
        "integrations": [
            {
                "integration-name": _INTEGRATION,
                "external-doc-url": "https://openlineage.io/docs/",
                "tags": ["apache"],
            }
        ],
        "operators": [
            {
                "integration-name": _INTEGRATION,
                "python-modules": [
                    f"{_PACKAGE}.operators.{module}"
                    for module in ("pyspark", "spark_jdbc", "spark_pipelines", "spark_sql", "spark_submit")
                ],
            }
        ],
        "task-decorators": [
            {
                "name": "pyspark_lineage",
                "class-name": f"{_PACKAGE}.operators.pyspark.pyspark_lineage_task",
            }
        ],
        "config": {
            "spark_lineage": {
                "description": "Lineage of Spark tasks, captured by ``airflow-provider-spark-lineage``.\n",
                "options": OPTIONS,
            }
        },
    }
