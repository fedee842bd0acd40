"""Processes with a password whose every look at a broker fails: it is in nothing that they say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.broker.ports import free_ports
from fairlead.errors import ExitCode
from tests.kit.awaiting import SECONDS

PASSWORD = "hunter2-made-up"  # noqa: S105 - made up
LOOK_SECONDS = 8


def _environment(folder: Path, form: str) -> dict[str, str]:
    file = folder / "password"
    file.write_text(f"{PASSWORD}\n", encoding="ascii")
    security = {
        "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
        "SASL_MECHANISM": "PLAIN",
        "SASL_PLAIN_USERNAME": "fairlead",
        "SASL_PLAIN_PASSWORD_FILE": str(file),
    }
    return {
        **os.environ,
        **{f"FAIRLEAD__KAFKA__SECURITY__{name}": value for name, value in security.items()},
        "FAIRLEAD__LOG__FORM": form,
        "FAIRLEAD__METRICS__PORT": "0",
        "FAIRLEAD__SERVE__PORT": "0",
        "FAIRLEAD__ENGINE__CHECKPOINT": str(folder / "checkpoint"),
    }


@pytest.mark.parametrize(
    "command, form",
    [
        (["run"], "console"),
        (["bridge", "kafka", "--metrics-port", "0"], "json"),
        (["serve"], "json"),
    ],
)
def test_no_process_logs_the_password(command: list[str], form: str, tmp_path: Path) -> None:
    """Neither engine nor bridge nor serve tells it, whatever goes wrong; each says what does."""
    [port] = free_ports(1)
    bootstrap = f"127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "fairlead", *command, "--bootstrap", bootstrap],
        env=_environment(tmp_path, form),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    with process:
        try:
            told, _ = process.communicate(timeout=30 if command == ["run"] else LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            told, _ = process.communicate(timeout=SECONDS)
    assert PASSWORD not in told
    assert bootstrap in told or "serving" in told
    assert command != ["run"] or process.returncode == ExitCode.ENVIRONMENT
