"""An SSH server on this machine: each command runs in a shell of its own, as on any other machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping

import paramiko

USER, PASSWORD = "spark", "local"


@contextlib.contextmanager
def ssh(variables: Mapping[str, str]) -> Iterator[int]:
    """Yield the port; commands have this process's environment and `variables`."""
    key = paramiko.RSAKey.generate(2048)
    transports: list[paramiko.Transport] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            # Closing the socket ends this.
            with contextlib.suppress(OSError):
                while True:
                    transport = paramiko.Transport(listening.accept()[0])
                    transport.add_server_key(key)
                    transport.start_server(server=_Server({**os.environ, **variables}))
                    transports.append(transport)

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            for transport in transports:
                transport.close()


def ssh_connection(port: int) -> str:
    """Return the connection of Airflow's that reaches the server, as JSON."""
    place = {"conn_type": "ssh", "login": USER, "password": PASSWORD, "host": "127.0.0.1", "port": port}
    return json.dumps({**place, "extra": {"no_host_key_check": True}})


class _Server(paramiko.ServerInterface):
    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = {**variables}

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        is_known = (username, password) == (USER, PASSWORD)
        return paramiko.common.AUTH_SUCCESSFUL if is_known else paramiko.common.AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.common.OPEN_SUCCEEDED

    def check_channel_env_request(self, channel: paramiko.Channel, name: bytes, value: bytes) -> bool:
        self._variables[name.decode()] = value.decode()
        return True

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        threading.Thread(target=self._run, args=(channel, command.decode()), daemon=True).start()
        return True

    def _run(self, channel: paramiko.Channel, command: str) -> None:
        # As sshd does for a user with this login shell.
        shell = shutil.which("bash") or "/bin/sh"
        ended = subprocess.run(
            [shell, "-c", command],
            env={**self._variables, "SHELL": shell},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        channel.sendall(ended.stdout)
        channel.send_exit_status(ended.returncode)
        channel.close()
