"""A real Ray cluster on loopback: a head and nodes, each with its own address, core and folder."""

from __future__ import annotations

import contextlib
import os
import pathlib
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import psutil

RAY = (sys.executable, "-m", "ray.scripts.scripts")
TRIES = 3
"""A node gives up when it has not started within 30 s, which a busy machine may need."""


@dataclass
class Cluster:
    """Started nodes by their addresses. All have a token of their own, as Ray would have it."""

    folder: pathlib.Path
    """Short, as sockets lie in it."""
    environment: Mapping[str, str]
    nodes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    head = "127.0.0.2"  # Ray takes 127.0.0.1 for the machine's outer address

    def __post_init__(self) -> None:
        with socket.socket() as probe:
            probe.bind((self.head, 0))
            self.address = f"{self.head}:{probe.getsockname()[1]}"
        token = self.folder / "token"
        token.touch(mode=0o600)
        token.write_text(secrets.token_hex(32))
        ray = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
        self.environment = {**self.environment, **ray}

    def start_head(self) -> None:
        port = self.address.rpartition(":")[2]
        self._start(self.head, "--head", f"--port={port}", "--include-dashboard=false")

    def start_node(self, ip: str = "127.0.0.3") -> None:
        self._start(ip, f"--address={self.address}")

    def _start(self, ip: str, *arguments: str) -> None:
        place = self.folder / ip.rpartition(".")[2]
        temporary = self.temporary(ip)
        temporary.mkdir(parents=True, exist_ok=True)
        environment = {**self.environment, "TMPDIR": str(temporary)}
        command = [
            *RAY, "start", "--block", *arguments, f"--node-ip-address={ip}", "--num-cpus=1",
            "--object-store-memory=100000000", "--disable-usage-stats", f"--temp-dir={place}",
        ]  # fmt: skip
        for _ in range(TRIES):
            log = self.folder / f"{ip}.log"
            with log.open("wb") as output:
                self.nodes[ip] = subprocess.Popen(
                    command, env=environment, stdout=output, stderr=subprocess.STDOUT
                )
            while self.nodes[ip].poll() is None:
                if "will now block" in log.read_text(errors="replace"):
                    return
                time.sleep(0.2)
            self.kill(ip)
        raise AssertionError(f"no Ray node at {ip}:\n{log.read_text(errors='replace')[-2000:]}")

    def temporary(self, ip: str) -> pathlib.Path:
        """A node's own folder for temporary files."""
        return self.folder / f"tmp{ip.rpartition('.')[2]}"

    def kill(self, ip: str) -> None:
        """End a node and all that runs on it at once, as a power cut would."""
        process = self.nodes.pop(ip)
        with contextlib.suppress(psutil.NoSuchProcess):
            tree = psutil.Process(process.pid).children(recursive=True)
            process.kill()
            for child in tree:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()
        process.wait()

    def stop(self) -> None:
        for ip in list(self.nodes):
            self.kill(ip)


def make_cluster(folder: pathlib.Path, **environment: str) -> Cluster:
    return Cluster(folder, {**os.environ, **environment})
