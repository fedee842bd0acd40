"""A defect that one record meets costs that record alone: what came with it is read."""

import asyncio
from typing import Any

import orjson
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from fairlead.gateway.client_state import StateSeal
from fairlead.gateway.gateway_metrics import GatewayMetrics
from fairlead.gateway.gateway_times import GatewayTimes
from fairlead.gateway.journal import Journal
from fairlead.gateway.service import GatewayService
from fairlead.gateway.session_log import SessionLog
from fairlead.settings import load_settings
from fairlead.wire.raw import RawRecord

CLAIM = orjson.dumps({"v": 1, "kind": "generation", "driver": "d", "started_ms": 1})


def test_records_behind_a_surprise_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fold fails at the second of three records; the gateway knows the third one."""
    kafka = load_settings().kafka
    journal = Journal(GatewayMetrics(CollectorRegistry()))
    service = GatewayService(GatewayTimes("g"), kafka, StateSeal([b"key"]), journal)
    apply = SessionLog.apply

    def surprised(self: SessionLog, suffix: str, row: RawRecord) -> Any:
        if row.offset == 1:
            raise RuntimeError("a defect")
        return apply(self, suffix, row)

    monkeypatch.setattr(SessionLog, "apply", surprised)
    topic = f"{kafka.topic_prefix}generations"
    rows = [RawRecord(topic, 0, offset, 1, True, b"driver", CLAIM) for offset in range(3)]  # noqa: FBT003 - the row of a log has no names

    async def read() -> int:
        service._begin_again()  # noqa: SLF001 - what the follower posts
        service._read(rows)  # noqa: SLF001
        assert service._gateway is not None  # noqa: SLF001
        return service._gateway.log.generation  # noqa: SLF001

    with capture_logs() as lines:
        assert asyncio.run(read()) == 3
    assert [line["event"] for line in lines] == ["gateway_record_failed"]
