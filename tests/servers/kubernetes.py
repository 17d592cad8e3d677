"""A local stand-in for Kubernetes' API: its pods, and the applications of Spark's operator.

A pod has ended when it is asked for first. One of a task that is deferred runs on until a trigger has asked.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from servers.http_api import Answer, Request, http_api

_NOW = "2026-01-01T00:00:00Z"
_POD = re.compile(r"/api/v1/namespaces/(?P<namespace>[^/]+)/pods/(?P<name>[^/]+)(?P<rest>/log|)")
_APPLICATIONS = re.compile(r"/apis/sparkoperator\.k8s\.io/v1beta2/namespaces/[^/]+/sparkapplications(/.*)?")
_ANSWERS_BEFORE_THE_END = 3


class Kubernetes:
    """The pods of a cluster."""

    def __init__(self, driver: Callable[[Any], bool]) -> None:
        self.ids: dict[str, str] = {}
        """Task -> the name of its pod; the provider labels pods with their tasks."""

        self._driver = driver
        self._pods: dict[str, dict[str, Any]] = {}
        self._ended_well: dict[str, bool] = {}
        self._asked: Counter[str] = Counter()

    def answer(self, request: Request) -> Answer:
        """Answer one request."""
        pod, applications = _POD.fullmatch(request.path), _APPLICATIONS.fullmatch(request.path)
        if applications:
            return self._application(request, applications[1] or "")
        if request.path.endswith("/pods"):
            return self._create(request.document) if request.method == "POST" else self._list(request)
        if request.path.endswith("/events"):
            return Answer({"kind": "EventList", "apiVersion": "v1", "metadata": {}, "items": []})
        assert pod is not None, request
        if pod["name"] not in self._pods:
            return Answer({"kind": "Status", "status": "Failure", "code": 404}, 404)
        if pod["rest"]:
            return Answer(f"{_NOW} the driver has nothing to say\n")
        if request.method == "DELETE":
            return Answer(self._pods.pop(pod["name"]))
        if request.method == "PATCH":
            return Answer(self._pods[pod["name"]])
        return Answer(self._read(pod["name"]))

    def _create(self, pod: dict[str, Any]) -> Answer:
        metadata = pod["metadata"]
        metadata |= {"uid": metadata["name"], "creationTimestamp": _NOW, "resourceVersion": "1"}
        metadata.setdefault("namespace", "default")
        self._pods[metadata["name"]] = pod
        self.ids[metadata["labels"]["task_id"]] = metadata["name"]
        self._ended_well[metadata["name"]] = self._driver(pod)
        return Answer({**pod, "status": {"phase": "Pending"}}, 201)

    def _list(self, request: Request) -> Answer:
        pairs = [
            pair.split("=", 1)
            for pair in request.query.get("labelSelector", "").split(",")
            if "!=" not in pair and "=" in pair
        ]
        items = [
            self._read(name)
            for name, pod in self._pods.items()
            if all(pod["metadata"]["labels"].get(label) == value for label, value in pairs)
        ]
        return Answer({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items})

    def _read(self, name: str) -> dict[str, Any]:
        pod = self._pods[name]
        self._asked[name] += 1
        is_deferred = "deferred" in pod["metadata"]["labels"]["task_id"]
        if is_deferred and self._asked[name] <= _ANSWERS_BEFORE_THE_END:
            phase, state = "Running", {"running": {"startedAt": _NOW}}
        else:
            failed = not self._ended_well[name]
            phase = "Failed" if failed else "Succeeded"
            state = {"terminated": {"exitCode": int(failed), "reason": "Error" if failed else "Completed"}}
        statuses = [
            {
                "name": container["name"],
                "image": "spark",
                "imageID": "",
                "ready": False,
                "restartCount": 0,
                "state": state,
            }
            for container in pod["spec"]["containers"]
        ]
        return {**pod, "status": {"phase": phase, "containerStatuses": statuses}}

    def _application(self, request: Request, rest: str) -> Answer:
        """Take an application, and start its driver; the driver's pod has its result."""
        if request.method == "POST":
            application = request.document
            name = application["metadata"]["name"]
            labels = {**application["spec"]["driver"]["labels"], "spark-role": "driver"}
            containers = [{"name": "spark-kubernetes-driver", "image": "spark"}]
            driver = {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": f"{name}-driver", "labels": labels},
                "spec": {"containers": containers},
            }
            self._create(driver)
            self._ended_well[f"{name}-driver"] = self._driver(application)
            return Answer(application, 201)
        return Answer({"status": {"applicationState": {"state": "RUNNING"}}})


@contextlib.contextmanager
def kubernetes(folder: Path, driver: Callable[[Any], bool]) -> Iterator[Kubernetes]:
    """Serve until the end of the block, and write the clients' `config.json` to the folder.

    `driver` acts as the driver of a pod, and decides how it ends.
    """
    known = Kubernetes(driver)
    with http_api(known.answer) as port:
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
            "clusters": [{"name": "here", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "me", "user": {"token": "local"}}],
        }
        (folder / "config.json").write_text(json.dumps(config))
        yield known
