"""Data for Airflow's provider manager: operators, decorators, options."""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

_INTEGRATION = "Spark Lineage"
_PACKAGE = "airflow_provider_spark_lineage"


class Option(NamedTuple):
    """One option of `[spark_lineage]`."""

    description: str
    """Its first sentence is README's, without the full stop."""

    default: str = ""
    example: str = ""
    type: str = "string"
    """`boolean`, `integer`, `float` or `string`, as in Airflow's schema."""

    since: str = "0.1.0"


def _switch(description: str, default: bool = False) -> Option:
    return Option(description, str(default), str(not default), "boolean")


OPTIONS = {
    "agent": Option(
        "URI of the agent's zip, for drivers that cannot get files from the worker. `spark-lineage agent`"
        " writes it. Kubernetes' cluster mode needs it; otherwise the agent is sent with each job.",
        example="s3a://company/spark/spark_lineage_agent.zip",
    ),
    "asset_events": _switch(
        "An Airflow asset event for each dataset that a task wrote. So DAGs that are scheduled on assets run"
        " after Spark wrote them. The task need not declare the assets; a failed task has no such events."
    ),
    "assertion_names": Option(
        "Names of assertions in events: of the `check`, or of its `class`. `check` is unique for a column:"
        " `not_null`, `unique`, `min`, or the name of the check. `class` is what Airflow's own operators"
        " report: `accepted_range` for both limits of a column.",
        default="check",
        example="class",
    ),
    "auto_capture": _switch(
        "Capture tasks of Airflow's own operators. Nothing else needs to be set, and no DAG to be edited:"
        " `PySparkOperator`, `@task.pyspark`, `SparkSubmitOperator`, `SparkJDBCOperator`, `SparkSqlOperator`,"
        " `SparkPipelinesOperator` and their subclasses report lineage, and so do `PythonOperator` and"
        " `@task` if the function opens a Spark session. Operators of a shell, Livy, Kubernetes and clouds"
        " report the Spark applications that they launch."
    ),
    "auto_capture_commands": _switch(
        "Add the agent to commands of `BashOperator` and `SSHOperator` that call `spark-submit`. Needs"
        " `auto_capture`. Each `spark-submit` of a Python application, also in `@task.bash`, gets"
        " `--py-files` and `--conf`. For a command on another machine, set `records` and `agent`, too."
    ),
    "auto_capture_exclude": Option(
        "DAGs and tasks not to capture, in the same form; they win over `auto_capture_include`. An"
        " invalid value excludes everything.",
        example="payroll;sandbox_*;shop.reload_*",
    ),
    "auto_capture_include": Option(
        "DAGs and tasks to capture: `dag_id` or `dag_id.task_id`, with `*`, separated by semicolons."
        " An invalid value includes nothing.",
        default="*",
        example="shop;etl_*",
    ),
    "disabled": _switch(
        "Capture nothing. Nothing is added to any event, and operators do exactly what Airflow's own do."
    ),
    "drain_timeout_seconds": Option(
        "Longest time that a session waits before it stops, until all finished executions are recorded."
        " Executions that are not recorded by then are missing in the lineage, with a gap.",
        default="30",
        example="60",
        type="float",
    ),
    "emit_timeout_seconds": Option(
        "Longest time that a task waits at its end for the backend to take the events of its executions."
        " Later ones are not sent. The task's own event, which `[openlineage] execution_timeout` limits, has"
        " the whole lineage.",
        default="5",
        example="2",
        type="float",
    ),
    "execution_events": Option(
        "A child run for each Spark execution that read or wrote a dataset: `all`, only `writes`, only those"
        " that `failed`, or `none`. Its events are START, and COMPLETE or FAIL. True and False mean `all` and"
        " `none`.",
        default="all",
        example="writes",
    ),
    "extra_operators": Option(
        "More operator classes to capture: `package.module.Class = KIND`, separated by semicolons."
        " `in process`: its `execute` uses a PySpark session; `python`: it may use one; `spark-submit`,"
        " `spark-sql`, `spark-pipelines`: the hook of Airflow's operator of that name runs the job."
        " Subclasses of Airflow's own operators need no entry.",
        example="company.operators.Score = in process;company.operators.Submit = spark-submit",
    ),
    "keep_records": _switch(
        "Do not remove the records of submitted applications. By default, records in a folder of the worker"
        " are removed after the task. Of applications that write Spark's event log, the log is kept if"
        " `sql_text` is `full`: it has statements as they were written, with their secrets."
    ),
    "max_event_bytes": Option(
        "Size limit of an event; a larger one leaves out columns, then facets, then datasets, and a gap says"
        " which."
        " Brokers and proxies often refuse events of more than one megabyte.",
        default="900000",
        example="4000000",
        type="integer",
    ),
    "max_plan_bytes": Option(
        "Size limit of an analyzed plan; the optimized plan is recorded instead of a larger one. The record"
        " says so.",
        default="50000000",
        example="200000000",
        type="integer",
    ),
    "progress_interval_seconds": Option(
        "Send a RUNNING event of the task at this interval, with its inputs, outputs and resources so far; 0"
        " sends none. A job in another process must write its records to a disk of the worker.",
        default="0",
        example="60",
        type="float",
    ),
    "records": Option(
        "Folder or URI for the records of submitted applications whose driver does not run on the worker. Any"
        " file system that Spark's Hadoop can write. Cluster mode needs it; the default is a temporary folder"
        " of the worker. A shared disk has its scheme: `file:///mnt/lineage`.",
        example="s3a://company/spark-lineage",
    ),
    "repeat_dataset_edges": _switch(
        "List the columns of filters, joins, sorts and groupings as sources of every output column, for tools"
        " that show only lineage of columns. Events grow: columns times edges."
    ),
    "spark_environment": Option(
        "Environment variables of the task to report, separated by semicolons. Variables whose names indicate"
        " a secret are reported as `***`.",
        example="SPARK_HOME;TEAM",
    ),
    "spark_properties": Option(
        "Spark properties to report, with `*` for any text, separated by semicolons. Secrets are removed by"
        " the names of properties and by the form of their values. An invalid value reports none.",
        default="spark.master;spark.app.name;spark.sql.shuffle.partitions;spark.executor.*;"
        "spark.driver.memory;spark.dynamicAllocation.*",
        example="spark.*.memory;spark.sql.*",
    ),
    "sql_text": Option(
        "How much of SQL statements and error messages is recorded and sent: `full`, `masked` or `none`."
        " `full` leaves out what looks like a secret, `masked` has a question mark for each literal. An"
        " invalid value counts as `none`.",
        default="full",
        example="masked",
    ),
    "start_outputs": _switch(
        "Name the outputs of an execution in its START. Turn it off for a backend that shows an output"
        " of START as written, also where the execution fails.",
        default=True,
    ),
    "store": Option(
        "Where a task stores its lineage for the tab in Airflow's UI: `xcom`, `none`, or a URI. `xcom` is the"
        " XCom `spark_lineage` of the task: of its last try, deleted with the run. A folder at a URI has all"
        " tries; tasks and API server must be able to use it. An invalid value counts as `none`.",
        default="xcom",
        example="s3://aws_default@company/spark-lineage",
    ),
    "task_datasets": _switch(
        "Name datasets in the task's own events, not only in the events of its executions. Turn it off for a"
        " backend that draws edges from all inputs of an event to all of its outputs. It has no effect"
        " unless all executions have events.",
        default=True,
    ),
}
"""Name -> option of `[spark_lineage]`; `conf` has a function of the same name that reads it."""


def _entry(option: Option) -> dict[str, Any]:
    """Return the option's entry in Airflow's configuration reference, which is reStructuredText."""
    return {
        "description": textwrap.fill(option.description.replace("`", "``"), 100) + "\n",
        "version_added": option.since,
        "type": option.type,
        "example": option.example,
        "default": option.default,
    }


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
                    for module in (
                        "checks",
                        "lineage_policy",
                        "pyspark",
                        "spark_check",
                        "spark_jdbc",
                        "spark_pipelines",
                        "spark_sql",
                        "spark_submit",
                    )
                ],
            }
        ],
        "task-decorators": [
            {
                "name": "pyspark_lineage",
                "class-name": f"{_PACKAGE}.operators.pyspark.pyspark_lineage_task",
            },
            {"name": "spark_check", "class-name": f"{_PACKAGE}.operators.spark_check.spark_check_task"},
        ],
        "config": {
            "spark_lineage": {
                "description": "Lineage of Spark tasks, captured by ``airflow-provider-spark-lineage``.\n",
                "options": {name: _entry(option) for name, option in OPTIONS.items()},
            }
        },
    }
