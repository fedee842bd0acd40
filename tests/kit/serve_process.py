"""A process of fairlead serve, and its answers."""

import contextlib
import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fairlead.broker.ports import free_ports

WAIT_S = 60.0


class Served:
    """A serve process, and its answers."""

    def __init__(self, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.port = port
        self.process = process

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        """Return status and body."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)) as connection:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def wait(self, path: str, status: int) -> Any:
        """Return the JSON of a path as soon as it has this status."""
        deadline = time.monotonic() + WAIT_S
        found: tuple[int, bytes] = (0, b"")
        while time.monotonic() < deadline:
            assert self.process.poll() is None, "it ended"
            with contextlib.suppress(OSError):
                found = self.get(path)
                if found[0] == status:
                    return json.loads(found[1])
        raise AssertionError(found)


@contextlib.contextmanager
def serving(
    folder: Path, bootstrap: str, prefix: str, *settings: str, port: int | None = None
) -> Iterator[Served]:
    """Run it while the context is open, under variables of the environment such as ``A=b``."""
    port = free_ports(1)[0] if port is None else port
    command = [
        sys.executable, "-m", "fairlead", "serve", "--port", str(port), "--bootstrap", bootstrap,
        "--topic-prefix", prefix,
    ]  # fmt: skip
    with (folder / "serve.log").open("wb") as log:
        environment = {**os.environ, **dict(each.split("=") for each in settings)}
        process = subprocess.Popen(command, stderr=log, env=environment)
        try:
            yield Served(port, process)
        finally:
            process.kill()
            process.wait()
