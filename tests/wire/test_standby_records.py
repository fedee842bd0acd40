"""Records of groups that stand by: what is read and refused, and what comes back as written."""

from typing import Any

import orjson
import pytest

from fairlead.core.model import DataPlane, Epoch, MemberKey, MessageQueue, Position
from fairlead.core.outputs import Add, Assignment
from fairlead.core.records import Heartbeat, RuleSet
from fairlead.core.standby_records import BrokerMembers, Former, FormerQueue, MembersLook
from fairlead.wire.decode import decode, decode_request
from fairlead.wire.encode import encode
from fairlead.wire.encode_bridge import encode_members
from fairlead.wire.errors import WireError
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.record_keys import group_named
from fairlead.wire.topics import TopicNames
from tests.kit.protocol_page import labelled, validator
from tests.kit.wire_records import LIMITS, SHARDS, TOPIC_OF, example, raw, raw_of

NAMES = TopicNames()
PLANE: dict[str, Any] = {"kind": "rocketmq", "member": "10.0.0.7@4121"}
FOLLOWS: dict[str, Any] = {"follows": "AVG", "state": "wait"}


def _decoded(body: dict[str, Any]) -> Any:
    ignored: dict[str, int] = {}
    record = decode(TOPIC_OF[body["kind"]], raw_of(body), LIMITS, ignored)
    assert ignored == {}
    return record


def _refused(body: dict[str, Any]) -> tuple[str, str | None]:
    with pytest.raises(WireError) as caught:
        _decoded(body)
    return caught.value.reason.value, caught.value.field


def test_a_heartbeat_says_where_its_member_reads_and_what_it_follows() -> None:
    """Both fields of the page's example are read, and fit the schema; without them it says none."""
    body = example("heartbeat", **labelled("standby"))
    assert validator("heartbeat").is_valid(body)
    beat = _decoded(body)
    assert isinstance(beat, Heartbeat)
    assert beat.profile.data_plane == DataPlane("rocketmq", "10.0.0.7@4121")
    assert (beat.profile.follows, beat.standby) == ("AVG", "follow")
    plain = _decoded(example("heartbeat"))
    assert (plain.profile.data_plane, plain.profile.follows, plain.standby) == (None, None, None)


@pytest.mark.parametrize(
    "fields, reason, field",
    [
        ({"standby": FOLLOWS}, "inconsistent", "standby"),
        ({"data_plane": PLANE | {"kind": "kafka"}, "standby": FOLLOWS}, "inconsistent", "standby"),
        ({"data_plane": PLANE | {"kind": "pulsar"}}, "bad_value", "data_plane.kind"),
        ({"data_plane": PLANE | {"member": "a b"}}, "bad_value", "data_plane.member"),
        ({"data_plane": None}, "wrong_type", "data_plane"),
        ({"data_plane": PLANE, "standby": {"follows": "AVG"}}, "missing_field", "standby.state"),
        (
            {"data_plane": PLANE, "standby": FOLLOWS | {"state": "ready"}},
            *("bad_value", "standby.state"),
        ),
        (
            {"data_plane": PLANE, "standby": FOLLOWS | {"follows": "A V G"}},
            *("bad_value", "standby.follows"),
        ),
    ],
)
def test_a_heartbeat_that_stands_by_wrongly(
    fields: dict[str, Any], reason: str, field: str
) -> None:
    """A heartbeat whose standby makes no sense is refused by its field, and by the schema."""
    body = example("heartbeat", **fields)
    assert _refused(body) == (reason, field)
    assert not validator("heartbeat").is_valid(body)


def test_a_look_comes_back_as_it_was_written() -> None:
    """A look is written under its key, and read with sorted members; its key names the group."""
    look = _decoded(example("members"))
    assert isinstance(look, MembersLook)
    ids = ("10.0.0.4@77", "10.0.0.7@4121")
    assert look.brokers == (BrokerMembers("broker-a", ids), BrokerMembers("broker-b", ids))
    written = encode_members(look, NAMES)
    assert written.value == orjson.dumps(example("members"))
    assert written.key == b'["main","members","orders"]'
    assert group_named("offsets", written.key) == "orders"
    assert group_named("offsets", b'["orders","mine",3]') == "mine"
    turned = example("members")
    turned["brokers"][0]["members"].reverse()
    assert _decoded(turned) == look


def test_a_null_value_withdraws_a_look() -> None:
    """A null value under a look's key is read as no look any more."""
    record = decode("offsets", raw("offsets", None, b'["main","members","orders"]'), LIMITS)
    assert isinstance(record, MembersLook)
    assert (record.group, record.cluster, record.look) == ("orders", "main", 0)


def test_looks_that_are_refused() -> None:
    """A look is refused with a member or broker twice, a number 0, or under another key."""
    broker = {"broker_name": "a", "members": ["m"]}
    assert _refused(example("members", brokers=[broker, broker]))[0] == "duplicate_entry"
    twice = broker | {"members": ["m", "m"]}
    assert _refused(example("members", brokers=[twice])) == (
        "duplicate_entry",
        "brokers[0].members",
    )
    assert _refused(example("members", look=0)) == ("bad_value", "look")
    placed = raw_of(example("members"))._replace(key=b'["main","members","payments"]')
    with pytest.raises(WireError) as caught:
        decode("offsets", placed, LIMITS)
    assert caught.value.reason.value == "key_mismatch"


def test_what_a_frozen_member_holds_is_read() -> None:
    """Each entry has its queue, its position or none, and the identity if it says one."""
    former = _decoded(example("former"))
    assert isinstance(former, Former)
    assert (former.epoch, former.part, former.parts) == (Epoch(3, 57), 0, 1)
    first, second = former.queues
    assert first == FormerQueue(
        MessageQueue("orders", "broker-a", 1), Position(0, 9120), "W3XrV0pUSt2Qh0nHkS5ZtQ"
    )
    assert second == FormerQueue(MessageQueue("orders", "broker-b", 0), None)


def test_a_former_that_is_refused() -> None:
    """A queue twice, or a part beyond the parts, is refused."""
    body = example("former")
    twice = [body["queues"][0], body["queues"][0]]
    assert _refused(example("former", queues=twice)) == ("duplicate_entry", "queues")
    assert _refused(example("former", part=1)) == ("inconsistent", "part")


def _assignment(**fields: Any) -> dict[str, Any]:
    member = MemberKey("c1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")
    plain = ("orders", member, 3, Epoch(3, 57), (), fields.pop("add", ()), (), ())
    issued = Assignment(*plain, at_ms=1781000000000, **fields)
    (record,) = encode(issued, NAMES, Partitions(SHARDS, SHARDS))
    assert record.value is not None
    body: dict[str, Any] = orjson.loads(record.value)
    assert [error.message for error in validator("assignment").iter_errors(body)] == []
    return body


def test_an_assignment_says_standby_and_former_only_where_they_hold() -> None:
    """The record says it to members that stand by; others get the bytes that they always got."""
    assert _assignment(standby="freeze")["standby"] == "freeze"
    assert "standby" not in _assignment()
    queue = MessageQueue("orders", "broker-a", 1)
    plain = Add(queue, Epoch(3, 57), Position(0, 9120), "former", ())
    former = Add(queue, Epoch(3, 57), Position(0, 9120), "former", (), former=True)
    adds = _assignment(add=(plain, former))["add"]
    assert ["former" in add for add in adds] == [False, True]
    assert adds[1]["former"] is True


@pytest.mark.parametrize("value, valid", [("all_attached", True), ("never", True), ("now", False)])
def test_the_rule_take_over(value: str, valid: bool) -> None:  # noqa: FBT001  # a case
    """The rule has two words; reader and schema agree."""
    body = example("rule", rule="take_over", value=value)
    assert validator("rule").is_valid(body) is valid
    if valid:
        rule = decode("control", raw_of(body), LIMITS)
        assert isinstance(rule, RuleSet)
        assert rule.value == value
    else:
        assert _refused(body) == ("bad_value", "value")


def _request_row(body: dict[str, Any]) -> RawRecord:
    return RawRecord("fairlead.requests", 0, 7, 1, True, b"orders", orjson.dumps(body))  # noqa: FBT003


def test_a_request_for_members_is_read() -> None:
    """Bridges read a request for members like any other."""
    body = example("request", what="members", queues=None)
    assert validator("request").is_valid(body)
    assert decode_request(_request_row(body), LIMITS).what == "members"


def test_a_request_to_free_locks_names_the_consumer() -> None:
    """Whose locks are meant stands in the request, or it is refused; others need no such name."""
    body = example("request", what="unlock", consumer="10.0.0.4@77")
    assert validator("request").is_valid(body)
    asked = decode_request(_request_row(body), LIMITS)
    assert (asked.what, asked.consumer) == ("unlock", "10.0.0.4@77")
    (written,) = encode(asked, NAMES, Partitions(SHARDS, SHARDS))
    assert orjson.loads(written.value or b"") == body
    del body["consumer"]
    assert not validator("request").is_valid(body)
    with pytest.raises(WireError) as caught:
        decode_request(_request_row(body), LIMITS)
    assert (caught.value.reason.value, caught.value.field) == ("missing_field", "consumer")
