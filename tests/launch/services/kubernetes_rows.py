"""Pods and Spark's operator of Kubernetes: connection and tasks."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from launch.services.row import BROKEN, COPIES, COPY, JAR_NOT_READ, NO_TEXT, Row, copies, jar, python, records
from launch.services.service import Service
from servers.kubernetes import kubernetes

PROVIDER = "airflow.providers.cncf.kubernetes.operators.spark_kubernetes"
_POD = "cncf.kubernetes.operators.pod.KubernetesPodOperator"
_SPARK = "cncf.kubernetes.operators.spark_kubernetes.SparkKubernetesOperator"
_HERE = {"kubernetes_conn_id": "service", "namespace": "jobs"}
_IMAGE = {**_HERE, "image": "spark", "name": "load", "startup_check_interval_seconds": 1}
_SUBMIT = "/opt/spark/bin/spark-submit"


@contextlib.contextmanager
def serve(driver: Callable[[Any], bool], folder: Path) -> Iterator[Service]:
    """Serve pods and applications; `driver` acts as the driver of a pod, and decides how it ends."""
    with kubernetes(folder, driver) as cluster:
        extra = {"kube_config_path": str(folder / "config.json")}
        yield Service(cluster.ids, 0, {"service": {"conn_type": "kubernetes", "extra": extra}})


def _application(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "load"},
        "spec": {"type": "Python", "image": "spark", "driver": {"labels": {}}, "executor": {}, **spec},
    }


ROWS = [
    copies(
        _POD,
        {
            **_IMAGE,
            "cmds": [_SUBMIT],
            "arguments": [f"local://{COPY}", "s3://lake/$(TABLE)", *COPIES[1:]],
            "env_vars": {"TABLE": "orders"},
        },
        f"local://{COPY}",
        # The value of a variable is in no event.
        source="'s3://lake/$(TABLE)'",
    ),
    Row(
        "recorded_deferred",
        _POD,
        {
            **_IMAGE,
            "cmds": ["bash", "-c"],
            "arguments": [
                f"{_SUBMIT} --conf spark.lineage.records={records()['spark.lineage.records']} "
                "--class org.example.Load local:///load.jar"
            ],
            "deferrable": True,
            "poll_interval": 1,
        },
        (jar("local:///load.jar", mainClass="org.example.Load"),),
        is_recorded=True,
    ),
    Row(
        "pod_fails",
        _POD,
        {**_IMAGE, "cmds": [_SUBMIT], "arguments": ["local:///fails.jar"]},
        (jar("local:///fails.jar"),),
        state="failed",
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "pod_unconnected",
        _POD,
        {**_IMAGE, "kubernetes_conn_id": "nowhere", "cmds": [_SUBMIT], "arguments": ["local:///a.py"]},
        (python("local:///a.py"),),
        state="failed",
        has_id=False,
        gaps=(NO_TEXT,),
    ),
    Row(
        "application",
        _SPARK,
        {
            **_HERE,
            "template_spec": _application(
                mainApplicationFile="local:///opt/load.py",
                arguments=["{{ task.task_id }}"],
                sparkConf=records(),
            ),
        },
        (python("local:///opt/load.py", name="load", arguments="application"),),
        is_recorded=True,
    ),
    Row(
        "application_fails",
        _SPARK,
        {
            **_HERE,
            "application_file": json.dumps(
                _application(mainApplicationFile="local:///fails.jar", mainClass="org.example.Fails"),
                indent=1,
            ),
        },
        (jar("local:///fails.jar", name="load", mainClass="org.example.Fails"),),
        state="failed",
        gaps=(JAR_NOT_READ,),
    ),
    Row(
        "application_missing",
        _SPARK,
        {**_HERE, "application_file": "no/such/application.yaml "},
        state="failed",
        has_id=False,
        gaps=(BROKEN,),
        warnings=1,
    ),
    Row(
        "application_malformed",
        _SPARK,
        {**_HERE, "template_spec": {"kind": "SparkApplication", "spec": ["type", "Python"]}},
        state="failed",
        has_id=False,
        gaps=(BROKEN,),
        warnings=1,
    ),
]
