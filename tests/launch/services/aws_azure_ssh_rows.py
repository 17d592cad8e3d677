"""Tasks that hand Spark to AWS, Azure or a machine by SSH, and their expected events: a row for each."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from launch.services.row import ANOTHER_RUN, NO_TEXT, OTHER_MACHINE, PLANNED, jar, python

RECORDS = os.environ.get("ELSEWHERE_RECORDS", "file:///records")
JOBS = os.environ.get("ELSEWHERE_JOBS", "/jobs")
CLUSTER = os.environ.get("ELSEWHERE_CLUSTER", "j-1")
APPLICATION = os.environ.get("ELSEWHERE_APPLICATION", "a-1")
VIRTUAL_CLUSTER = os.environ.get("ELSEWHERE_VIRTUAL_CLUSTER", "v-1")
BUCKET = os.environ.get("ELSEWHERE_BUCKET", "jobs")
ROLE = os.environ.get("ELSEWHERE_ROLE", "arn:aws:iam::123456789012:role/spark")

IN, OUT = "s3://lake/in", "s3://lake/out"
COPY = f"insert overwrite directory '{OUT}' using parquet select * from parquet.`{IN}`"  # noqa: S608

Datasets = tuple[Sequence[str], Sequence[str]]
RECORDED: Datasets = (["orders"], ["out"])
"""Records of the driver of `servers.driver`."""

NOTHING: Datasets = ([], [])


@dataclass(frozen=True)
class Row:
    task: str
    family: str
    """The provider of Airflow that has the operator."""

    operator: str
    """Module and class, below `airflow.providers`."""

    given: Mapping[str, Any]
    applications: Sequence[Mapping[str, str]]
    """The launch facet's, which has no properties; `{jobs}` is the folder of the worker's own files."""

    service: str = ""
    has_run_id: bool = True
    link: str = ""
    """With `{}` for the run's id."""

    start: Datasets = NOTHING
    end: Datasets = NOTHING
    gaps: Sequence[str] = ()
    """The beginning of each gap of the last event."""

    fails: bool = False
    expand: Mapping[str, Any] = field(default_factory=dict)


def rows() -> Sequence[Row]:
    """Return all rows."""
    # Glue's operator uploads a script by a hook that reports datasets, and `dag.test()` has one process.
    return (*_emr_steps(), *_emr_serverless(), *_emr_containers(), *_synapse(), *_ssh(), *_glue())


def _records(task: str) -> str:
    """Return the folder for the records of a task, in a field with templates."""
    return f"{RECORDS}/{task}/{{{{ run_id }}}}"


def _step(*words: str) -> dict[str, Any]:
    jar = {"Jar": "command-runner.jar", "Args": [*words]}
    return {"Name": words[0], "ActionOnFailure": "CONTINUE", "HadoopJarStep": jar}


def _emr_steps() -> Sequence[Row]:
    operator = "amazon.aws.operators.emr.EmrAddStepsOperator"
    common = {"job_flow_id": CLUSTER, "wait_for_completion": True, "waiter_delay": 1}
    place = f"spark.lineage.records={RECORDS}/{{{{ task.task_id }}}}/{{{{ run_id }}}}"
    script = _step(
        "spark-submit", "--conf", place, "s3://jobs/load.py", "{{ task.task_id }}", "--password", "x1"
    )
    fails = _step("spark-submit", "--class", "org.example.Fails", "--conf", place, "s3://jobs/fails.jar")
    return (
        Row(
            task="steps",
            family="amazon",
            operator=operator,
            given={**common, "steps": [_step("s3-dist-cp", "--src", "a"), script]},
            applications=[
                python("s3://jobs/load.py", arguments="steps --password ***"),
            ],
            service="EMR",
            has_run_id=False,
            end=RECORDED,
        ),
        Row(
            task="steps_as_text",
            family="amazon",
            operator=operator,
            given={**common, "steps": str([_step("spark-sql", "-e", COPY)])},
            applications=[{"type": "sql"}],
            service="EMR",
            has_run_id=False,
            start=(["in"], ["out"]),
            end=(["in"], ["out"]),
            gaps=[PLANNED],
        ),
        Row(
            task="steps_fail",
            family="amazon",
            operator=operator,
            given={**common, "steps": [fails]},
            applications=[jar("s3://jobs/fails.jar", mainClass="org.example.Fails")],
            service="EMR",
            has_run_id=False,
            # The driver had ended a write before the step failed.
            end=RECORDED,
            fails=True,
        ),
    )


def _emr_serverless() -> Sequence[Row]:
    operator = "amazon.aws.operators.emr.EmrServerlessStartJobOperator"
    common = {"application_id": APPLICATION, "execution_role_arn": ROLE, "waiter_delay": 1}

    def defaults(task: str) -> dict[str, Any]:
        properties = {"spark.lineage.records": _records(task)}
        return {"applicationConfiguration": [{"classification": "spark-defaults", "properties": properties}]}

    return (
        Row(
            task="serverless",
            family="amazon",
            operator=operator,
            given={
                **common,
                "name": "daily",
                "job_driver": {
                    "sparkSubmit": {
                        "entryPoint": "s3://jobs/load.py",
                        "entryPointArguments": ["{{ task.task_id }}"],
                        "sparkSubmitParameters": "--conf spark.executor.cores=2 --py-files s3://jobs/agent.zip",
                    }
                },
                "configuration_overrides": defaults("serverless"),
            },
            applications=[python("s3://jobs/load.py", name="daily", arguments="serverless")],
            service="EMR Serverless",
            end=RECORDED,
        ),
        Row(
            task="serverless_mapped",
            family="amazon",
            operator=operator,
            given={**common, "name": "daily"},
            expand={
                "job_driver": [
                    {"sparkSubmit": {"entryPoint": "s3://jobs/{{ task.task_id }}.py"}},
                ]
            },
            applications=[python("s3://jobs/serverless_mapped.py", name="daily")],
            service="EMR Serverless",
            gaps=[NO_TEXT],
        ),
        Row(
            task="serverless_fails",
            family="amazon",
            operator=operator,
            given={
                **common,
                "name": "daily",
                "job_driver": {"sparkSubmit": {"entryPoint": "s3://jobs/fails.py"}},
            },
            applications=[python("s3://jobs/fails.py", name="daily")],
            service="EMR Serverless",
            gaps=[NO_TEXT],
            fails=True,
        ),
    )


def _emr_containers() -> Sequence[Row]:
    operator = "amazon.aws.operators.emr.EmrContainerOperator"
    common = {
        "virtual_cluster_id": VIRTUAL_CLUSTER,
        "execution_role_arn": ROLE,
        "release_label": "emr-7.0.0-latest",
        "poll_interval": 1,
    }

    def script(task: str, entry_point: str) -> dict[str, Any]:
        parameters = f"--conf spark.lineage.records={_records(task)} --conf spark.a='b c'"
        return {
            "sparkSubmitJobDriver": {
                "entryPoint": entry_point,
                "entryPointArguments": ["{{ task.task_id }}"],
                "sparkSubmitParameters": parameters,
            }
        }

    sql = {"entryPoint": f"local://{JOBS}/copy.sql", "sparkSqlParameters": "--conf spark.a=1"}
    return (
        Row(
            task="container",
            family="amazon",
            operator=operator,
            given={**common, "name": "daily", "job_driver": script("container", "local:///app/load.py")},
            applications=[python("local:///app/load.py", name="daily", arguments="container")],
            service="EMR on EKS",
            end=RECORDED,
        ),
        Row(
            task="container_statements",
            family="amazon",
            operator=operator,
            given={**common, "name": "{{ task.task_id }}", "job_driver": {"sparkSqlJobDriver": sql}},
            applications=[{"type": "sql", "main": "local://{jobs}/copy.sql", "name": "container_statements"}],
            service="EMR on EKS",
            end=(["in"], ["out"]),
            gaps=[PLANNED, OTHER_MACHINE],
        ),
        Row(
            task="container_fails",
            family="amazon",
            operator=operator,
            given={
                **common,
                "name": "daily",
                "job_driver": script("container_fails", "local:///app/fails.py"),
            },
            applications=[python("local:///app/fails.py", name="daily", arguments="container_fails")],
            service="EMR on EKS",
            end=RECORDED,
            fails=True,
        ),
    )


def _glue() -> Sequence[Row]:
    operator = "amazon.aws.operators.glue.GlueJobOperator"
    common = {
        "job_name": "{{ task.task_id }}",
        "iam_role_arn": ROLE,
        "s3_bucket": BUCKET,
        "create_job_kwargs": {"GlueVersion": "5.0"},
        "job_poll_interval": 1,
    }
    return (
        Row(
            task="glue",
            family="amazon",
            operator=operator,
            given={
                **common,
                "script_location": "s3://jobs/load.py",
                "script_args": {
                    "--conf": f"spark.a=1 --conf spark.lineage.records={RECORDS}/"
                    "{{ task.task_id }}/{{ run_id }}"
                },
            },
            applications=[python("s3://jobs/load.py", name="glue")],
            service="Glue",
            end=RECORDED,
        ),
        Row(
            task="glue_fails",
            family="amazon",
            operator=operator,
            given={**common, "script_location": "s3://jobs/load.py"},
            expand={"script_args": [{"--day": "1", "--api-key": "hunter2"}]},
            applications=[python("s3://jobs/load.py", name="glue_fails", arguments="--day 1 --api-key ***")],
            service="Glue",
            gaps=[NO_TEXT],
            fails=True,
        ),
        Row(
            task="uploaded",
            family="amazon",
            operator=operator,
            given={
                **common,
                "region_name": "us-east-1",
                "script_location": f"{JOBS}/glue.py",
                "script_args": {"--source": IN, "--target": OUT, "--task": "{{ task.task_id }}"},
            },
            applications=[
                python(
                    "{jobs}/glue.py",
                    name="uploaded",
                    arguments=f"--source {IN} --target {OUT} --task uploaded",
                )
            ],
            service="Glue",
            link="https://console.aws.amazon.com/gluestudio/home?region=us-east-1#/job/uploaded/run/{}",
            start=(["in"], ["out"]),
            # The hook reports the script's upload.
            end=(["in", "glue.py"], ["out", "glue.py"]),
            gaps=[PLANNED],
        ),
    )


def _synapse() -> Sequence[Row]:
    operator = "microsoft.azure.operators.synapse.AzureSynapseRunSparkBatchOperator"

    def batch(task: str, file: str, **fields: Any) -> Any:
        try:
            from azure.synapse.spark.models import SparkBatchJobOptions
        except ImportError:
            return None
        # The payload has no templates.
        conf = {"spark.lineage.records": f"{RECORDS}/{task}"}
        return SparkBatchJobOptions(name="daily", file=file, configuration=conf, **fields)

    common = {"azure_synapse_conn_id": "synapse", "check_interval": 1}
    return (
        Row(
            task="batch",
            family="azure",
            operator=operator,
            given={
                **common,
                "spark_pool": "{{ task.task_id }}",
                "payload": batch("batch", "abfss://jobs@lake/load.py", arguments=["1", "--token", "x1"]),
            },
            applications=[python("abfss://jobs@lake/load.py", name="daily", arguments="1 --token ***")],
            service="Synapse",
            end=RECORDED,
            gaps=[ANOTHER_RUN],
        ),
        Row(
            task="batch_fails",
            family="azure",
            operator=operator,
            given={**common, "spark_pool": "pool"},
            expand={
                "payload": [
                    batch("batch_fails", "abfss://jobs@lake/fails.jar", class_name="org.example.Fails")
                ]
            },
            applications=[jar("abfss://jobs@lake/fails.jar", mainClass="org.example.Fails", name="daily")],
            service="Synapse",
            end=RECORDED,
            gaps=[ANOTHER_RUN],
            fails=True,
        ),
    )


def _ssh() -> Sequence[Row]:
    operator = "ssh.operators.ssh.SSHOperator"
    common = {"ssh_conn_id": "machine"}
    place = f"--conf spark.lineage.records={RECORDS}/{{{{ task.task_id }}}}/{{{{ run_id }}}}"
    return (
        Row(
            task="machine",
            family="ssh",
            operator=operator,
            given={
                **common,
                "command": f"cd /; spark-submit {place} /app/load.py {{{{ task.task_id }}}} $DAY --secret x",
                "environment": {"DAY": "1"},
            },
            applications=[
                python("/app/load.py", arguments="machine ${DAY} --secret ***"),
            ],
            has_run_id=False,
            end=RECORDED,
        ),
        Row(
            task="machine_mapped",
            family="ssh",
            operator=operator,
            given=common,
            expand={"command": [f"spark-sql <<'SQL'\n{COPY}\nSQL"]},
            applications=[{"type": "sql"}],
            has_run_id=False,
            start=(["in"], ["out"]),
            end=(["in"], ["out"]),
            gaps=[PLANNED],
        ),
        Row(
            task="machine_fails",
            family="ssh",
            operator=operator,
            given={**common, "command": f"spark-submit {place} /app/fails.py"},
            applications=[python("/app/fails.py")],
            has_run_id=False,
            end=RECORDED,
            fails=True,
        ),
    )
