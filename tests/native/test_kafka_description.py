"""What members of Kafka's groups say of themselves is a stranger's."""

from typing import Any

import pytest
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from fairlead.native.kafka_description import classic_group


def _member(member_id: str, metadata: bytes, assignment: bytes) -> dict[str, Any]:
    return {
        "member_id": member_id,
        "client_id": "app",
        "client_host": "/10.0.0.1",
        "group_instance_id": None,
        "member_metadata": metadata,
        "member_assignment": assignment,
    }


@pytest.mark.parametrize("bad", [b"\xff", b"\x00\x00\xff\xff\xff\x7f"])
def test_bytes_that_nobody_can_decode_spoil_no_other_member(bad: bytes) -> None:
    """The look says how many members are unclear, and has the others whole."""
    topics = ConsumerProtocolSubscription(topics=["orders"], user_data=b"", version=0).encode()
    owns = ConsumerProtocolAssignment(
        assigned_partitions=[("orders", [0, 3])], user_data=b"", version=0
    ).encode()
    told = {
        "group_state": "Stable",
        "protocol_data": "range",
        "members": [_member("b", bad, bad), _member("a", topics, owns)],
    }
    found = classic_group(told, "main")
    good, broken = found.members
    assert (good.topics, [each.queue_id for each in good.owns]) == (("orders",), [0, 3])
    assert (broken.topics, broken.owns) == (None, ())
    assert found.unread == "1 of 2 members say what nobody can decode"
