"""Findings of the doctor about transports: options, and unreachable files and hosts."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import pytest
from cli.doctor_mistakes.transports import PLANTED, RIGHT
from servers.process import free_port

from airflow_provider_spark_lineage.cli.doctor.look_transport import unbuildable, unreachable
from airflow_provider_spark_lineage.cli.doctor.secrets import without_credentials
from airflow_provider_spark_lineage.cli.doctor.transport import mistakes_of


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def backend() -> Iterator[socket.socket]:
    """Return a socket that takes connections, and reads nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening


def http(port: int, host: str = "127.0.0.1") -> dict[str, object]:
    return {"type": "http", "url": f"http://{host}:{port}"}


@pytest.mark.parametrize(
    ("config", "name", "words"), PLANTED, ids=lambda value: value if type(value) is str else ""
)
def test_planted_mistake_is_named_with_its_cure(config, name, words):
    """The client raises for these when the first event is sent, in a task's log."""
    findings = [*mistakes_of(config), *unbuildable(config), *unreachable(config)]
    named = [finding for finding in findings if finding.mistake == name]
    assert any(all(word in finding.advice for word in words) for finding in named), findings
    assert "hunter2" not in str(findings)


@pytest.mark.parametrize("config", RIGHT)
def test_right_transport_has_no_finding(config):
    """Only a task can check a relative path, or a file system of the client."""
    assert [*mistakes_of(config), *unbuildable(config), *unreachable(config)] == []


def test_each_place_is_named_once(tmp_path, backend):
    """Two transports that write into one absent folder are one finding, and so is one silent host."""
    port = free_port()
    members = [
        {"type": "file", "log_file_path": f"{tmp_path}/absent/events"},
        {"type": "file", "log_file_path": f"file://{tmp_path}/absent/others", "append": True},
        http(backend.getsockname()[1]),
        http(port),
        {"type": "transform", "transport": {"type": "composite", "transports": {"x": http(port)}}},
    ]
    findings = list(unreachable({"type": "composite", "transports": members}))
    assert [finding.mistake for finding in findings] == ["transport-folder", "transport-silent"]


def test_a_backend_behind_a_proxy_is_not_tried(monkeypatch):
    """The client never connects to it, and only the proxy may know its name."""
    config = http(5000, "backend.invalid")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    assert list(unreachable(config)) == []
    monkeypatch.setenv("no_proxy", "backend.invalid")
    [finding] = unreachable(config)
    assert "(backend.invalid:5000: " in finding.advice


def test_hosts_that_never_answer_are_waited_for_together():
    """A firewall drops packets silently: nobody waits for minutes, and each host is named."""
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(3):
            full = stack.enter_context(socket.socket())
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            ports.append(full.getsockname()[1])
            # Linux answers no more connections than these until one is accepted.
            for _ in range(3):
                client = stack.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(full.getsockname())
        findings = list(unreachable({"type": "composite", "transports": [http(port) for port in ports]}))
    assert [finding.advice.split("(")[1].split(")")[0] for finding in findings] == [
        f"127.0.0.1:{port}: no answer within 5 seconds" for port in ports
    ]


def test_the_backend_is_sent_nothing(backend):
    """Every byte would be an event, or noise in the backend's log."""
    assert list(unreachable(http(backend.getsockname()[1]))) == []
    backend.settimeout(60)
    connection, _ = backend.accept()
    with connection:
        connection.settimeout(60)
        assert connection.recv(100) == b""


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:secret@host:5000/api?api_key=secret#secret", "http://host:5000/api"),
        ("https://host", "https://host"),
        ("s3://key:secret@bucket/events", "s3://bucket/events"),
        ("/data/events.jsonl", "/data/events.jsonl"),
    ],
)
def test_address_shows_no_credentials(address, shown):
    """The report is pasted into tickets."""
    assert without_credentials(address) == shown
