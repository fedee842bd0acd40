"""Who sent a refused record, and whether it counts for a lease all the same."""

from typing import Any

import orjson
import pytest

from fairlead.core.model import MemberKey
from fairlead.wire.decode import decode
from fairlead.wire.errors import Sender, WireError
from fairlead.wire.raw import RawRecord
from fairlead.wire.reasons import Reason, notice_code
from tests.kit.wire_records import LIMITS, example, raw, raw_of

MEMBER = MemberKey("10.0.0.7@4121#1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")


def _sender(record: RawRecord, topic: str = "heartbeats") -> Sender | None:
    with pytest.raises(WireError) as caught:
        decode(topic, record, LIMITS)
    return caught.value.sender


def _heartbeat(**changes: Any) -> RawRecord:
    return raw("heartbeats", orjson.dumps(example("heartbeat", **changes)))


@pytest.mark.parametrize(
    "changes",
    [{"v": 2}, {"sequence": -1}, {"subscriptions": None}, {"digest": "?"}, {"capacity": 0.5}],
)
def test_a_refused_heartbeat_in_its_place_counts(changes: dict[str, Any]) -> None:
    """A heartbeat in its place counts for its sender's lease, though the rest of it is refused."""
    if changes == {"capacity": 0.5}:
        # What the strict reader refuses cannot be read at all, so nobody is found in it.
        assert _sender(_heartbeat(**changes)) is None
    else:
        assert _sender(_heartbeat(**changes)) == Sender("orders", MEMBER, heartbeat=True)


def test_a_misplaced_heartbeat_does_not_count() -> None:
    """A heartbeat in another partition or under another key can be answered, but does not count."""
    expected = Sender("orders", MEMBER, heartbeat=False)
    assert _sender(_heartbeat()._replace(partition=3)) == expected
    assert _sender(_heartbeat()._replace(key=b"payments")) == expected
    assert _sender(_heartbeat()._replace(key=None)) == expected


def test_another_kind_of_record_never_counts() -> None:
    """Another kind of record has a sender, and never counts."""
    expected = Sender("orders", MEMBER, heartbeat=False)
    assert _sender(raw_of(example("leave", sequence=-1))) == expected
    release = raw_of(example("release", position=3))
    assert _sender(release, "releases") == Sender(
        "orders",
        MemberKey("10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03"),
        heartbeat=False,
    )


@pytest.mark.parametrize(
    "record, topic",
    [
        (raw("heartbeats", b"{"), "heartbeats"),
        (raw("heartbeats", b"[]"), "heartbeats"),
        (raw("heartbeats", None), "heartbeats"),
        (_heartbeat(group="a b"), "heartbeats"),
        (_heartbeat(client_id=None), "heartbeats"),
        (_heartbeat(incarnation="1"), "heartbeats"),
        (raw_of(example("route", identity="")), "routes"),
        (raw_of(example("tick", generation=0)), "heartbeats"),
    ],
)
def test_a_record_without_a_sender_has_none(record: RawRecord, topic: str) -> None:
    """A record that does not say who sent it has no sender."""
    assert _sender(record, topic) is None


def test_each_reason_has_one_of_three_codes() -> None:
    """The sender gets each reason under one of three codes."""
    codes = {reason: notice_code(reason) for reason in Reason}
    assert codes.pop(Reason.WRONG_PARTITION) == "wrong_partition"
    assert codes.pop(Reason.UNSUPPORTED_VERSION) == "unsupported"
    assert codes.pop(Reason.UNSUPPORTED_KIND) == "unsupported"
    assert {*codes.values()} == {"rejected"}
