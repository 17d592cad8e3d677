"""A local stand-in for Google's Dataproc: its gRPC services for jobs and batches, by TLS.

Google's clients take another host for all services by the option of a universe: `dataproc.localhost` is this
machine. They trust the certificate by an environment variable, and make their own tokens with the key of a
service account.
"""

from __future__ import annotations

import contextlib
import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

PROJECT, REGION = "shop", "europe-west1"


class Dataproc:
    """The jobs and batches that a server has taken."""

    def __init__(self, driver: Callable[[Any], bool]) -> None:
        self.ids: dict[str, str] = {}
        """Value of the label `task` -> the id of its job or batch."""

        self.port = 0
        self._driver = driver
        self._jobs: dict[str, Any] = {}
        self._asked: Counter[str] = Counter()
        self._ended_well: dict[str, bool] = {}

    def submit_job(self, request: Any, context: Any) -> Any:
        """Take a job."""
        from google.cloud import dataproc_v1

        job = request.job
        job.reference = dataproc_v1.JobReference(
            project_id=request.project_id, job_id=f"job-{len(self._jobs)}"
        )
        job.status = dataproc_v1.JobStatus(state="PENDING")
        self._take(job.reference.job_id, job)
        return job

    def get_job(self, request: Any, context: Any) -> Any:
        """Return a job, which has ended; one that is deferred runs on until its trigger asks."""
        job = self._jobs[request.job_id]
        self._asked[request.job_id] += 1
        if "deferred" not in job.labels["task"] or self._asked[request.job_id] > 1:
            job.status.state = "DONE" if self._ended_well[request.job_id] else "ERROR"
        return job

    def create_batch(self, request: Any, context: Any) -> Any:
        """Take a batch; the operation gets no answer, because operators ask for the batch."""
        from google.cloud import dataproc_v1
        from google.longrunning import operations_pb2

        batch_id = request.batch_id or f"batch-{len(self._jobs)}"
        name = request.batch.name = f"{request.parent}/batches/{batch_id}"
        self._take(batch_id, request.batch)
        operation = operations_pb2.Operation(name=f"{request.parent}/operations/o")
        operation.metadata.Pack(
            dataproc_v1.BatchOperationMetadata.pb(dataproc_v1.BatchOperationMetadata(batch=name))
        )
        return operation

    def get_batch(self, request: Any, context: Any) -> Any:
        """Return a batch, which has ended."""
        batch_id = request.name.rpartition("/")[2]
        batch = self._jobs[batch_id]
        batch.state = "SUCCEEDED" if self._ended_well[batch_id] else "FAILED"
        return batch

    def _take(self, run_id: str, job: Any) -> None:
        self._jobs[run_id] = job
        self.ids[job.labels["task"]] = run_id
        self._ended_well[run_id] = self._driver(type(job).to_dict(job))


@contextlib.contextmanager
def dataproc(folder: Path, driver: Callable[[Any], bool]) -> Iterator[Dataproc]:
    """Serve until the end of the block; `driver` acts as the driver of a job, and decides how it ends.

    `folder` has the certificate and the key of the service account, for `settings`.
    """
    import grpc
    from google.cloud import dataproc_v1
    from google.longrunning import operations_pb2

    known = Dataproc(driver)

    def unary(method: Any, request: Any, encode: Callable[[Any], bytes]) -> Any:
        return grpc.unary_unary_rpc_method_handler(method, request.deserialize, encode)

    job, batch = dataproc_v1.Job.serialize, dataproc_v1.Batch.serialize
    services = {
        "JobController": {
            "SubmitJob": unary(known.submit_job, dataproc_v1.SubmitJobRequest, job),
            "GetJob": unary(known.get_job, dataproc_v1.GetJobRequest, job),
        },
        "BatchController": {
            "CreateBatch": unary(
                known.create_batch,
                dataproc_v1.CreateBatchRequest,
                operations_pb2.Operation.SerializeToString,
            ),
            "GetBatch": unary(known.get_batch, dataproc_v1.GetBatchRequest, batch),
        },
    }
    key, certificate = _write_certificate(folder)
    with ThreadPoolExecutor(4) as pool:
        server = grpc.server(pool)
        for name, methods in services.items():
            handler = grpc.method_handlers_generic_handler(f"google.cloud.dataproc.v1.{name}", methods)
            server.add_generic_rpc_handlers((handler,))
        credentials = grpc.ssl_server_credentials([(key, certificate)])
        known.port = server.add_secure_port("127.0.0.1:0", credentials)
        server.start()
        try:
            yield known
        finally:
            server.stop(None).wait()


def settings(folder: Path, port: int) -> dict[str, str]:
    """Return the environment variables that lead Google's clients to the server, and make them trust it."""
    return {
        "GOOGLE_CLOUD_UNIVERSE_DOMAIN": f"localhost:{port}",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH": str(folder / "certificate.pem"),
        "NO_PROXY": "localhost",
    }


def connection(folder: Path, port: int) -> dict[str, Any]:
    """Return Airflow's connection."""
    account = {
        "type": "service_account",
        "project_id": PROJECT,
        "client_email": "local@localhost",
        "private_key_id": "1",
        "private_key": (folder / "key.pem").read_text(),
        "token_uri": f"https://localhost:{port}/token",
        "universe_domain": f"localhost:{port}",
    }
    return {"conn_type": "google_cloud_platform", "extra": {"keyfile_dict": json.dumps(account)}}


def _write_certificate(folder: Path) -> tuple[bytes, bytes]:
    """Write a key and its certificate for this machine, for an hour, and return both."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    private = rsa.generate_private_key(65537, 2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    hosts = x509.SubjectAlternativeName([x509.DNSName("dataproc.localhost")])
    certificate = (
        x509.CertificateBuilder(name, name, private.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(hosts, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(private, hashes.SHA256())
        .public_bytes(serialization.Encoding.PEM)
    )
    key = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(key)
    (folder / "certificate.pem").write_bytes(certificate)
    return key, certificate
