"""`fairlead apply` where no engine has read the rules of a plan: told, and written only once."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.errors import ExitCode
from fairlead.settings import Settings
from tests.kit.command import Command
from tests.kit.protocol_page import examples

if TYPE_CHECKING:
    from tests.kit.kafka_log import Log

pytestmark = pytest.mark.broker


def test_no_engine_has_read_it(
    settings: Settings, log: "Log", capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Rules that stand in the log and led to nothing are not written a second time."""
    saved = str(tmp_path / "plan.json")
    log.append_of("heartbeats", "orders", examples()["heartbeat"])
    Command("plan", settings, capsys)("orders", "--strategy", "STICKY", "--save", saved)
    apply = Command("apply", settings, capsys)
    apply(saved, "--wait", "0", code=ExitCode.ENVIRONMENT)
    assert "orders: no answer within 0 s; the rules of the plan stand in the log" in apply.text
    written = len(log.records("control"))
    assert written
    apply(saved, "--wait", "0", code=ExitCode.ENVIRONMENT)
    assert "no engine has decided on them yet; nothing is written a second time" in apply.text
    assert len(log.records("control")) == written
