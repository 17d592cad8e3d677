"""A local stand-in for the services of AWS that run Spark, in this process: moto, whose jobs end at once."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import boto3
from moto.emr.models import ElasticMapReduceBackend
from moto.emrcontainers.models import EMRContainersBackend
from moto.emrserverless.models import EMRServerlessBackend
from moto.glue.models import GlueBackend
from moto.server import ThreadedMotoServer

KEYS = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
REGION = "us-east-1"
ROLE = "arn:aws:iam::123456789012:role/spark"


class Aws:
    """Address of the services, and the ids of objects made before any job."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bucket = "jobs"
        self.run_ids: list[str] = []
        """Ids of the jobs that were started, as the services gave them."""

        self._client("s3").create_bucket(Bucket=self.bucket)
        instances = {
            "InstanceCount": 1,
            "MasterInstanceType": "m5.large",
            "KeepJobFlowAliveWhenNoSteps": True,
        }
        self.cluster = self._client("emr").run_job_flow(
            Name="cluster", Instances=instances, JobFlowRole="r", ServiceRole="r", ReleaseLabel="emr-7.0.0"
        )["JobFlowId"]
        self.application = self._client("emr-serverless").create_application(
            type="SPARK", releaseLabel="emr-7.0.0", clientToken="t"
        )["applicationId"]
        provider = {"type": "EKS", "id": "eks", "info": {"eksInfo": {"namespace": "spark"}}}
        self.virtual_cluster = self._client("emr-containers").create_virtual_cluster(
            name="virtual", containerProvider=provider, clientToken="t"
        )["id"]

    def _client(self, service: str) -> Any:
        return boto3.client(service, endpoint_url=self.url, region_name=REGION, **KEYS)


@contextlib.contextmanager
def aws(run: Callable[[Any], bool]) -> Iterator[Aws]:
    """Serve on a free port of this machine; `run` gets the arguments of a job, and decides how it ends."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        known = Aws("http://{}:{}".format(*server.get_host_and_port()))

        def steps_end(backend: Any, steps: list[Any], given: Any) -> None:
            for step, definition in zip(steps, given["steps"], strict=True):
                step.state = "COMPLETED" if run(definition) else "FAILED"

        def serverless_job_ends(backend: Any, job: Any, given: Any) -> None:
            job.state = "SUCCESS" if run(given) else "FAILED"
            known.run_ids.append(job.id)

        def container_job_ends(backend: Any, job: Any, given: Any) -> None:
            job.state = "COMPLETED" if run(given) else "FAILED"
            known.run_ids.append(job.id)

        def glue_job_ends(backend: Any, run_id: str, given: Any) -> None:
            backend.get_job_run(given["name"], run_id).status = "SUCCEEDED" if run(given) else "FAILED"
            known.run_ids.append(run_id)

        with contextlib.ExitStack() as patches:
            for backend, method, end in (
                (ElasticMapReduceBackend, "add_job_flow_steps", steps_end),
                (EMRServerlessBackend, "start_job_run", serverless_job_ends),
                (EMRContainersBackend, "start_job_run", container_job_ends),
                (GlueBackend, "start_job_run", glue_job_ends),
            ):
                patches.enter_context(mock.patch.object(backend, method, _ending(backend, method, end)))
            yield known
    finally:
        server.stop()


def _ending(backend: type, method: str, end: Callable[[Any, Any, Any], None]) -> Callable[..., Any]:
    """Return moto's method that starts a job, after which the job has ended."""
    start = getattr(backend, method)
    signature = inspect.signature(start)

    def start_and_end(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        moto = given.pop("self")
        started = start(*args, **kwargs)
        end(moto, started, given)
        return started

    return start_and_end
