"""What the doctor finds of the gateway on a machine: its key, its times and file descriptors."""

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.doctor import Answer, CheckContext, Status
from fairlead.doctor.gateway import gateway
from fairlead.doctor.lease import BrokerTimes, judge_leases
from fairlead.kafka.acls import Role
from fairlead.settings import load_settings

KEY = "k" * 40
NO_OTHER_CONTROLLER = 0


def _found(role: Role = Role.ENGINE, **gateway_settings: object) -> list[Answer]:
    settings = {f"gateway.{name}": value for name, value in gateway_settings.items()}
    context = CheckContext(load_settings(overrides=settings), role=role)
    with contextlib.closing(context.cluster):
        return [*gateway(context)]


def test_without_a_gateway_only_its_own_role_fails() -> None:
    """Without a gateway nothing fails; for the role of the gateway the answer names the setting."""
    (unasked,) = _found()
    assert unasked.status is Status.UNKNOWN
    (asked,) = _found(Role.GATEWAY)
    assert asked.status is Status.FAIL
    assert "gateway.enabled = true" in asked.remedy


@pytest.mark.parametrize(
    "text, mode, status, words",
    [
        (KEY, 0o400, Status.OK, "has 40 bytes"),
        (KEY, 0o440, Status.OK, "has 40 bytes"),
        (KEY, 0o444, Status.FAIL, "other users may read"),
        ("short", 0o400, Status.FAIL, "has only 5 bytes"),
        (None, 0, Status.FAIL, "cannot be read"),
    ],
)
def test_the_key_is_there_long_and_closed(
    tmp_path: Path, text: str | None, mode: int, status: Status, words: str
) -> None:
    """A key that is missing, short or open to other users is a failure with a command."""
    file = tmp_path / "key"
    if text is not None:
        file.write_text(text, encoding="ascii")
        file.chmod(mode)
    found = _found(enabled="true", key_file=str(file))[0]
    assert (found.status, words in found.says) == (status, True), found
    assert bool(found.remedy) == (status is Status.FAIL)


def test_a_gateway_without_a_key_file_is_warned() -> None:
    """It works alone, and its clients join again after each restart."""
    assert _found(enabled="true")[0].status is Status.WARN


ASKS = """
import resource
from fairlead.doctor.context import CheckContext
from fairlead.doctor.gateway import gateway
from fairlead.settings import load_settings
resource.setrlimit(resource.RLIMIT_NOFILE, (500, 500))
settings = {"gateway.enabled": "true", "gateway.sessions": 1_000}
*_, told = gateway(CheckContext(load_settings(overrides=settings)))
print(told.status.value, told.says, told.remedy)
"""


def test_descriptors_that_the_system_does_not_allow() -> None:
    """More sessions than the hard limit has descriptors are a failure, which names both."""
    command = [sys.executable, "-c", ASKS]
    told = subprocess.run(command, capture_output=True, check=True, timeout=60, text=True).stdout
    assert told.startswith("FAIL gateway.sessions and http.connections need up to ")
    assert "this user may have 500" in told
    assert "LimitNOFILE" in told
    assert _found(enabled="true", sessions=1)[-1].status is Status.OK


def test_the_lease_of_the_gateway_outlasts_a_broker() -> None:
    """A lease that ends before another broker leads fails, as that of any group does."""
    times = BrokerTimes(session_ms=9_000, lag_ms=30_000, controller_ms=NO_OTHER_CONTROLLER)
    short = load_settings(overrides={"gateway.enabled": "true", "gateway.lease_ms": 9_000})
    told = [each for each in judge_leases(times, short) if "gateway.lease_ms" in each.says]
    assert [each.status for each in told] == [Status.FAIL]
    assert "set gateway.lease_ms to 14500 or more" in told[0].remedy
    without = load_settings(overrides={"gateway.lease_ms": 9_000})
    assert not [each for each in judge_leases(times, without) if "gateway" in each.says]
