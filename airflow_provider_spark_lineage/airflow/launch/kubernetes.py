"""Pods that run a Spark command, and applications of Spark's operator for Kubernetes."""

from __future__ import annotations

import errno
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from airflow_provider_spark_lineage.airflow.launch.application import (
    Launch,
    application_of,
    listed,
    member,
    table,
    text,
    texts,
)
from airflow_provider_spark_lineage.airflow.launch.shell.mention import mentions_spark
from airflow_provider_spark_lineage.airflow.launch.shell.operators import of_script
from airflow_provider_spark_lineage.spark import is_secret

SERVICE = "Kubernetes"
_VARIABLE = re.compile(r"\$\(([A-Za-z_]\w*)\)")


def of_pod(operator: Any) -> Launch | None:
    """Return the launch of a `KubernetesPodOperator`, from its first container."""
    words = [str(word) for word in (*listed(operator.cmds), *listed(operator.arguments))]
    # Word by word: after `shlex.join`, quotes would hide a script inside `bash -c`.
    if not any(mentions_spark(f" {word}") for word in words):
        return None
    variables = _variables(operator.env_vars)
    replaced = [_VARIABLE.sub(lambda name: variables.get(name[1], name[0]), word) for word in words]
    launch = of_script(shlex.join(replaced), variables, is_here=False)
    if launch is None:
        return None
    as_written = of_script(shlex.join(words), {}, is_here=False)
    shown = [each.shown for each in as_written.applications] if as_written else []
    # Kubernetes replaces `$(NAME)`: where it is still here, the value is unknown.
    applications = (
        replace(
            application,
            arguments=tuple(
                None if word and _VARIABLE.search(word) else word for word in application.arguments
            ),
            shown=shown[number] if number < len(shown) else (),
        )
        for number, application in enumerate(launch.applications)
    )
    return Launch(tuple(applications), SERVICE, _pod_name(operator), "", "name", launch.problems)


def of_spark_application(operator: Any) -> Launch:
    """Return the launch of a `SparkKubernetesOperator`."""
    body = _body(operator)
    resource = table(body.get("spark", body))
    spec, metadata = member(resource, "spec"), member(resource, "metadata")
    application = application_of(
        spec.get("mainApplicationFile"),
        spec.get("mainClass"),
        spec.get("arguments"),
        conf={**texts(spec.get("hadoopConf")), **texts(spec.get("sparkConf"))},
        name=text(metadata.get("name")),
        variables=_variables(table(spec.get("driver")).get("env")),
        problem="" if spec else "the SparkApplication has no `spec`",
    )
    return Launch((application,), SERVICE, _pod_name(operator), event_id="name")


def _body(operator: Any) -> dict[str, Any]:
    """Return the SparkApplication that the operator reads from a file, a rendered text or a dict."""
    content = operator.application_file
    if not content:
        return table(operator.template_spec)
    import yaml

    path = Path(content.strip())
    if "\n" not in content and _is_file(path):
        content = path.read_text(encoding="utf-8-sig")
    body = yaml.safe_load(content)
    if not isinstance(body, dict):
        raise ValueError("application_file is neither a file of this worker nor a SparkApplication")
    return body


def _is_file(path: Path) -> bool:
    """Return whether a path is a file; one-line JSON is not a path, and may be too long for one."""
    try:
        return path.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


def _variables(given: Any) -> dict[str, str]:
    """Return environment variables with a value that is not a secret, from a dict or Kubernetes' list."""
    if isinstance(given, Mapping):
        return {name: value for name, value in texts(given).items() if not is_secret(name)}
    pairs = (
        (each.get("name"), each.get("value"))
        if isinstance(each, Mapping)
        else (getattr(each, "name", None), getattr(each, "value", None))
        for each in listed(given)
    )
    named = {str(name): str(value) for name, value in pairs if name and value is not None}
    return _variables(named)


def _pod_name(operator: Any) -> str:
    """Return the pod's name; empty before the pod is created."""
    return text(getattr(getattr(getattr(operator, "pod", None), "metadata", None), "name", ""))
