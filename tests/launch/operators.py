"""Operators of other systems as their DAGs make them, and the expected reading: one row for each form.

`given` are the arguments of the real class; `kept` the attributes of an instance, if the class keeps them
under other names; `ran` what `execute` sets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


@dataclass(frozen=True)
class Row:
    path: str
    """Module and class of the operator, below `airflow.providers`."""

    given: dict[str, Any]
    expected: str
    """Kind, file, [arguments], other fields; then the service, the run's id and its link; empty for none."""

    kept: dict[str, Any] = field(default_factory=dict)
    ran: dict[str, Any] = field(default_factory=dict)

    @property
    def class_name(self) -> str:
        return self.path.rpartition(".")[2]

    @property
    def attributes(self) -> dict[str, Any]:
        """Return the attributes of a real instance before it runs, as far as they are read."""
        return {**UNSET.get(self.class_name, {}), **self.given, **self.kept}

    def plain(self) -> Any:
        """Return an object of a class with the same name, and with these attributes alone."""
        plain = type(self.class_name, (SimpleNamespace,), {})
        return plain(**{**self.attributes, **self.ran})


UNSET: Mapping[str, Mapping[str, Any]] = {
    "KubernetesPodOperator": {"env_vars": [], "pod": None},
    "SparkKubernetesOperator": {"pod": None},
    "DataprocSubmitJobOperator": {"project_id": None, "job_id": None},
    "DataprocCreateBatchOperator": {"operation": None},
    "EmrServerlessStartJobOperator": {"name": None, "configuration_overrides": None, "job_id": None},
    "EmrContainerOperator": {"configuration_overrides": {}, "job_id": None},
    "GlueJobOperator": {
        "script_location": None,
        "script_args": {},
        "create_job_kwargs": None,
        "_job_run_id": None,
    },
    "DatabricksSubmitRunOperator": {"json": None, "run_id": None},
    "DatabricksNotebookOperator": {"databricks_run_id": None},
    "DatabricksTaskOperator": {"new_cluster": {}, "databricks_run_id": None},
    "AzureSynapseRunSparkBatchOperator": {"job_id": None},
}
"""Class -> attributes of an instance without such arguments, before it runs."""

SPARK_APPLICATION = {
    "apiVersion": "sparkoperator.k8s.io/v1beta2",
    "kind": "SparkApplication",
    "metadata": {"name": "daily"},
    "spec": {
        "type": "Python",
        "mainApplicationFile": "local:///app/load.py",
        "arguments": ["2026-01-01"],
        "sparkConf": {"spark.a": "1"},
        "hadoopConf": {"fs.s3a.endpoint": "http://s3"},
        "driver": {"env": [{"name": "DAY", "value": "1"}, {"name": "KEY", "valueFrom": {}}]},
    },
}
POD = SimpleNamespace(metadata=SimpleNamespace(name="daily-x1-driver"))
_SUBMIT = {
    "Name": "load",
    "HadoopJarStep": {
        "Jar": "command-runner.jar",
        "Args": [
            "spark-submit",
            "--deploy-mode",
            "cluster",
            "--conf",
            "spark.a=1",
            "s3://jobs/load.py",
            "x y",
        ],
    },
}
_SQL = {
    "Name": "sql",
    "HadoopJarStep": {
        "Jar": "s3://eu-west-1.elasticmapreduce/libs/script-runner/command-runner.jar",
        "Args": ["bash", "-c", "cd /jobs && spark-sql -f q.sql"],
    },
}
_COPY = {"Name": "copy", "HadoopJarStep": {"Jar": "command-runner.jar", "Args": ["s3-dist-cp", "--src", "a"]}}
_DATABRICKS = "databricks.operators.databricks"
_DATAPROC = "google.cloud.operators.dataproc"
_EMR = "amazon.aws.operators.emr"
_CLUSTER = {"spark_version": "17.3.x", "num_workers": 1, "spark_conf": {"spark.a": "1"}}

ROWS = [
    Row(
        "ssh.operators.ssh.SSHOperator",
        {"command": "spark-submit /a.py $DAY", "environment": {"DAY": "1"}},
        "python /a.py [1]",
    ),
    Row("ssh.operators.ssh.SSHOperator", {"command": "ls", "environment": None}, ""),
    Row(
        "cncf.kubernetes.operators.pod.KubernetesPodOperator",
        {
            "name": "p",
            "image": "spark",
            "cmds": ["/opt/spark/bin/spark-submit"],
            "arguments": ["--class", "org.A", "local:///a.jar", "$(DAY)", "$(OTHER)"],
            "env_vars": {"DAY": "1"},
        },
        "jar local:///a.jar [1|?] class=org.A; Kubernetes daily-x1-driver",
        ran={"pod": POD},
    ),
    Row(
        "cncf.kubernetes.operators.pod.KubernetesPodOperator",
        {"name": "p", "image": "spark", "cmds": ["bash", "-c"], "arguments": ["cd /jobs; spark-submit a.py"]},
        "python a.py [] in=/jobs; Kubernetes",
    ),
    Row(
        "cncf.kubernetes.operators.pod.KubernetesPodOperator",
        {"name": "p", "image": "busybox", "cmds": ["echo"], "arguments": ["spark"]},
        "",
    ),
    Row(
        "cncf.kubernetes.operators.spark_kubernetes.SparkKubernetesOperator",
        {"template_spec": {"spark": SPARK_APPLICATION}, "application_file": None},
        "python local:///app/load.py [2026-01-01] conf=fs.s3a.endpoint:http://s3,spark.a:1 name=daily"
        " with=DAY:1; Kubernetes daily-x1-driver",
        ran={"pod": POD},
    ),
    Row(
        "cncf.kubernetes.operators.spark_kubernetes.SparkKubernetesOperator",
        {"template_spec": None, "application_file": json.dumps(SPARK_APPLICATION)},
        "python local:///app/load.py [2026-01-01] conf=fs.s3a.endpoint:http://s3,spark.a:1 name=daily"
        " with=DAY:1; Kubernetes",
    ),
    Row(
        "cncf.kubernetes.operators.spark_kubernetes.SparkKubernetesOperator",
        {"template_spec": None, "application_file": "no/such/file.yaml "},
        "!ValueError",
    ),
    Row(
        "cncf.kubernetes.operators.spark_kubernetes.SparkKubernetesOperator",
        {"template_spec": {"spec": "python"}, "application_file": None},
        "!ValueError",
        kept={"pod": None},
    ),
    Row(
        "apache.livy.operators.livy.LivyOperator",
        {
            "file": "s3://jobs/load.jar",
            "class_name": "org.A",
            "args": ["a", 1],
            "conf": {"spark.a": 1},
            "name": "n",
        },
        "jar s3://jobs/load.jar [a|1] class=org.A conf=spark.a:1 name=n; Livy 7 http://livy:8998/batches/7",
        kept={
            "spark_params": {
                "file": "s3://jobs/load.jar",
                "class_name": "org.A",
                "args": ["a", 1],
                "conf": {"spark.a": 1},
                "name": "n",
            },
            "_batch_id": None,
        },
        ran={"_batch_id": 7, "hook": SimpleNamespace(base_url="http://livy:8998")},
    ),
    Row(
        f"{_DATAPROC}.DataprocSubmitJobOperator",
        {
            "project_id": "p",
            "region": "europe-west1",
            "job": {
                "reference": {"project_id": "p"},
                "pyspark_job": {
                    "main_python_file_uri": "gs://jobs/load.py",
                    "args": ["x"],
                    "properties": {"spark.a": "1"},
                },
            },
        },
        "python gs://jobs/load.py [x] conf=spark.a:1"
        "; Dataproc j-1 https://console.cloud.google.com/dataproc/jobs/j-1?region=europe-west1&project=p",
        ran={"job_id": "j-1"},
    ),
    Row(
        f"{_DATAPROC}.DataprocSubmitJobOperator",
        {
            "region": "europe-west1",
            "job": {"spark_sql_job": {"query_list": {"queries": ["use a", "insert into b select 1"]}}},
        },
        "sql  [] text=use a;\\ninsert into b select 1; Dataproc",
    ),
    Row(
        f"{_DATAPROC}.DataprocSubmitJobOperator",
        {"region": "r", "job": {"hive_job": {"query_file_uri": "gs://q.sql"}}},
        "",
    ),
    Row(
        f"{_DATAPROC}.DataprocSubmitJobOperator",
        {"region": "r", "job": {"pyspark_job": "gs://a.py"}},
        "!ValueError",
        kept={"job_id": None, "project_id": None},
    ),
    Row(
        f"{_DATAPROC}.DataprocCreateBatchOperator",
        {
            "project_id": "p",
            "region": "r",
            "batch_id": "b",
            "batch": {
                "spark_batch": {"main_class": "org.A", "args": ["x"]},
                "runtime_config": {"properties": {"spark.a": "1"}},
            },
        },
        "jar  [x] class=org.A conf=spark.a:1"
        "; Dataproc b-2 https://console.cloud.google.com/dataproc/batches/r/b-2/monitoring?project=p",
        ran={
            "operation": SimpleNamespace(metadata=SimpleNamespace(batch="projects/p/locations/r/batches/b-2"))
        },
    ),
    Row(
        f"{_EMR}.EmrAddStepsOperator",
        {"job_flow_id": "j-1", "steps": [_COPY, _SUBMIT, _SQL]},
        "python s3://jobs/load.py [x y] conf=spark.a:1,spark.submit.deployMode:cluster"
        ", sql q.sql [] in=/jobs; EMR",
    ),
    Row(
        f"{_EMR}.EmrAddStepsOperator",
        {"job_flow_id": "j-1", "steps": str([_SUBMIT])},
        "python s3://jobs/load.py [x y] conf=spark.a:1,spark.submit.deployMode:cluster; EMR",
    ),
    Row(f"{_EMR}.EmrAddStepsOperator", {"job_flow_id": "j-1", "steps": json.dumps([_COPY])}, ""),
    Row(
        f"{_EMR}.EmrServerlessStartJobOperator",
        {
            "application_id": "a",
            "execution_role_arn": "arn:aws:iam::1:role/r",
            "name": "daily",
            "job_driver": {
                "sparkSubmit": {
                    "entryPoint": "s3://jobs/load.py",
                    "entryPointArguments": ["x"],
                    "sparkSubmitParameters": "--conf spark.b='2 3' --py-files s3://jobs/agent.zip",
                }
            },
            "configuration_overrides": {
                "applicationConfiguration": [
                    {"classification": "spark-defaults", "properties": {"spark.a": "1", "spark.b": "1"}}
                ]
            },
        },
        "python s3://jobs/load.py [x] conf=spark.a:1,spark.b:2 3,spark.submit.pyFiles:s3://jobs/agent.zip"
        " name=daily; EMR Serverless r-1",
        ran={"job_id": "r-1"},
    ),
    Row(
        f"{_EMR}.EmrServerlessStartJobOperator",
        {
            "application_id": "a",
            "execution_role_arn": "arn:aws:iam::1:role/r",
            "job_driver": {"hive": {"query": "s3://q.sql"}},
        },
        "",
    ),
    Row(
        f"{_EMR}.EmrContainerOperator",
        {
            "name": "daily",
            "virtual_cluster_id": "v",
            "execution_role_arn": "arn",
            "release_label": "emr-7",
            "job_driver": {
                "sparkSubmitJobDriver": {
                    "entryPoint": "local:///app.jar",
                    "sparkSubmitParameters": "--class org.A",
                }
            },
        },
        "jar local:///app.jar [] class=org.A name=daily; EMR on EKS r-1",
        ran={"job_id": "r-1"},
    ),
    Row(
        f"{_EMR}.EmrContainerOperator",
        {
            "name": "daily",
            "virtual_cluster_id": "v",
            "execution_role_arn": "arn",
            "release_label": "emr-7",
            "job_driver": {
                "sparkSqlJobDriver": {"entryPoint": "s3://q.sql", "sparkSqlParameters": "--conf spark.a=1"}
            },
        },
        "sql s3://q.sql [] conf=spark.a:1 name=daily; EMR on EKS",
    ),
    Row(
        "amazon.aws.operators.glue.GlueJobOperator",
        {
            "job_name": "daily",
            "script_location": "s3://jobs/load.py",
            "script_args": {"--day": "1", "--conf": "spark.a=1 --conf spark.b=2"},
            "region_name": "eu-west-1",
        },
        "python s3://jobs/load.py [--day|1] conf=spark.a:1,spark.b:2 name=daily; Glue jr_1 "
        "https://console.aws.amazon.com/gluestudio/home?region=eu-west-1#/job/daily/run/jr_1",
        ran={"_job_run_id": "jr_1"},
    ),
    Row(
        "amazon.aws.operators.glue.GlueJobOperator",
        {"job_name": "daily"},
        "python  [] name=daily !the script is part of an existing Glue job, which is not read; Glue",
    ),
    Row(
        "amazon.aws.operators.glue.GlueJobOperator",
        {"job_name": "daily", "create_job_kwargs": {"Command": {"Name": "pythonshell"}}},
        "",
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {
            "json": {
                "job_clusters": [{"job_cluster_key": "c", "new_cluster": _CLUSTER}],
                "tasks": [
                    {
                        "task_key": "load",
                        "job_cluster_key": "c",
                        "spark_python_task": {"python_file": "dbfs:/load.py", "parameters": ["x"]},
                    },
                    {"task_key": "models", "dbt_task": {}},
                    {"task_key": "jar", "spark_jar_task": {"main_class_name": "org.A", "parameters": ["y"]}},
                ],
            }
        },
        "python dbfs:/load.py [x] conf=spark.a:1 name=load, jar  [y] class=org.A name=jar; Databricks 12",
        ran={"run_id": 12},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"spark_submit_task": {"parameters": ["--class", "org.A", "dbfs:/a.jar"]}, "new_cluster": _CLUSTER},
        "jar dbfs:/a.jar [] class=org.A; Databricks",
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"json": '{"spark_jar_task": {"main_class_name": "org.A"}}'},
        "jar  [] class=org.A; Databricks",
        kept={"run_id": None},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"json": "{'spark_jar_task': {'main_class_name': 'org.A'}}"},
        "jar  [] class=org.A; Databricks",
        kept={"run_id": None},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"json": "{'spark_jar_task'"},
        "!SyntaxError",
        kept={"run_id": None},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"json": {"tasks": [{"spark_python_task": "dbfs:/a.py"}]}},
        "!ValueError",
        kept={"run_id": None},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksSubmitRunOperator",
        {"pipeline_task": {"pipeline_id": "p"}},
        "",
    ),
    Row(
        f"{_DATABRICKS}.DatabricksNotebookOperator",
        {
            "notebook_path": "/Shared/load",
            "source": "WORKSPACE",
            "notebook_params": {"day": "1"},
            "new_cluster": _CLUSTER,
        },
        "notebook /Shared/load [day=1] conf=spark.a:1; Databricks 12",
        ran={"databricks_run_id": 12},
    ),
    Row(
        f"{_DATABRICKS}.DatabricksTaskOperator",
        {
            "task_config": {"spark_python_task": {"python_file": "dbfs:/load.py"}},
            "new_cluster": _CLUSTER,
        },
        "python dbfs:/load.py [] conf=spark.a:1; Databricks",
    ),
    Row(
        f"{_DATABRICKS}.DatabricksTaskOperator",
        {"task_config": {"sql_task": {}}},
        "",
    ),
    Row(
        "microsoft.azure.operators.synapse.AzureSynapseRunSparkBatchOperator",
        {
            "spark_pool": "pool",
            "payload": {
                "file": "abfss://jobs@x/load.jar",
                "className": "org.A",
                "args": ["x"],
                "conf": {"spark.a": "1"},
                "name": "daily",
            },
        },
        "jar abfss://jobs@x/load.jar [x] class=org.A conf=spark.a:1 name=daily; Synapse 3",
        ran={"job_id": 3},
    ),
]
