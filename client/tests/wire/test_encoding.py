"""Every record that the client writes is the protocol's."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fairlead_client.model import DataPlane, Epoch, Position, Progress, Queue, Subscription
from fairlead_client.session.actions import (
    Claim,
    SendClaims,
    SendFormer,
    SendHeartbeat,
    SendLeave,
    SendProgress,
    SendRelease,
)
from fairlead_client.session.client_identity import new_client_identity
from fairlead_client.session.states import Standing
from fairlead_client.settings.client_settings import Settings
from fairlead_client.transport.encoding import RECORD_BYTES_MAX, Encoder, commit_metadata, describe

INCARNATION = "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11"
QUEUE = Queue("orders", "main", 2)
Validate = Callable[[bytes], dict[str, Any]]


def encoder(**settings: Any) -> Encoder:
    """Return an encoder of a client with these settings."""
    chosen = Settings(bootstrap="b:1", group="orders", topics=["orders"], **settings)
    return Encoder(describe(chosen, new_client_identity(chosen.client_id), "0.1.0"))


def heartbeat(**fields: Any) -> SendHeartbeat:
    """Return a heartbeat with these fields."""
    values: dict[str, Any] = {
        "incarnation": INCARNATION,
        "incarnations": 2,
        "sequence": 17,
        "generation": 3,
        "subscriptions": (Subscription("orders", sub_version=5),),
        "applied": Epoch(3, 41),
        "digest": "9ae1c0d2f35b7713",
    }
    return SendHeartbeat(**(values | fields))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"zone": "zone-a", "capacity": 3, "ordered": True},
        {"consume_type": "pull", "message_model": "broadcasting"},
        {"consume_from": "timestamp", "consume_timestamp_ms": 1_780_999_000_000},
        {"client_id": "10.0.0.7@4121#1", "lease_ms": 120_000, "heartbeat_ms": 30_000},
    ],
)
def test_a_heartbeat_says_what_the_settings_say(
    validate: Validate, settings: dict[str, Any]
) -> None:
    """A heartbeat says what the settings say (rule C10)."""
    record = validate(encoder(**settings).heartbeat(heartbeat()))
    for name, value in settings.items():
        assert name == "heartbeat_ms" or record[name] == value
    assert record["applied"] == [3, 41]
    assert record["process"]["incarnations"] == 2


def test_the_first_heartbeat_has_nothing_applied(validate: Validate) -> None:
    """Before any assignment `applied` is null, before any engine the generation is 0."""
    record = validate(encoder().heartbeat(heartbeat(applied=None, generation=0)))
    assert (record["applied"], record["generation"]) == (None, 0)


def test_a_subscription_carries_its_filter(validate: Validate) -> None:
    """A subscription carries RocketMQ's filter."""
    wanted = Subscription("orders", "a || b", "tag", ("a", "b"), 7)
    record = validate(encoder().heartbeat(heartbeat(subscriptions=(wanted,))))
    assert record["subscriptions"] == [
        {
            "topic": "orders",
            "expression": "a || b",
            "expression_type": "tag",
            "tags": ["a", "b"],
            "sub_version": 7,
        }
    ]


@pytest.mark.parametrize(
    "expression, kind, tags",
    [
        ("b || a||b|| ", "tag", ["b", "a"]),
        ("*", "tag", []),
        ("a || *", "tag", []),
        ("", "tag", []),
        ("a > 5", "sql92", []),
        ("a || " + 256 * "b", "tag", []),
    ],
)
def test_each_tag_is_sent_once(
    validate: Validate, expression: str, kind: str, tags: list[str]
) -> None:
    """A tag expression goes out with each of its tags once; no tags mean all messages."""
    wanted = Subscription("orders", expression, kind)
    record = validate(encoder().heartbeat(heartbeat(subscriptions=(wanted,))))
    assert record["subscriptions"][0]["tags"] == tags
    assert record["subscriptions"][0]["expression"] == expression


def test_a_leave_names_what_was_started_last(validate: Validate) -> None:
    """A leave has the next sequence number, and tells what was started last."""
    value = validate(encoder().leave(SendLeave(INCARNATION, 18, Epoch(3, 39))))
    assert (value["sequence"], value["last_started"]) == (18, [3, 39])


@pytest.mark.parametrize("position", [Position(0, 9120), Position(7, 0), None])
def test_a_release_has_a_position_or_null(validate: Validate, position: Position | None) -> None:
    """A release has a position pair, or null."""
    value = encoder().release(SendRelease(INCARNATION, QUEUE, Epoch(3, 39), position))
    assert validate(value)["position"] == (None if position is None else list(position))
    assert "last_started" not in validate(value)


def test_release_of_a_leaver(validate: Validate) -> None:
    """Only the release of a client that leaves tells what was started last."""
    action = SendRelease(INCARNATION, QUEUE, Epoch(3, 39), None, Epoch(0, 0))
    assert validate(encoder().release(action))["last_started"] == [0, 0]


@pytest.mark.parametrize("identity", ["W3XrV0pUSt2Qh0nHkS5ZtQ", None])
def test_the_life_is_named(validate: Validate, identity: str | None) -> None:
    """Releases, progress and claims name the life of their topic if the add did."""
    epoch, position = Epoch(3, 39), Position(0, 9120)
    made = Progress(QUEUE, epoch, position, identity=identity)
    claim = Claim(QUEUE, epoch, position, "final", identity)
    release = SendRelease(INCARNATION, QUEUE, epoch, position, identity=identity)
    told = [
        validate(encoder().release(release)),
        validate(encoder().progress(SendProgress(INCARNATION, (made,)))[0])["queues"][0],
        validate(encoder().claims(SendClaims(INCARNATION, 4, (claim,)))[0])["queues"][0],
    ]
    assert [each.get("identity") for each in told] == [identity] * 3
    assert ["identity" in each for each in told] == [identity is not None] * 3


def progress(count: int) -> tuple[Progress, ...]:
    """Return progress of so many queues."""
    return tuple(
        Progress(QUEUE._replace(queue_id=number), Epoch(3, number + 1), Position(0, 10**12))
        for number in range(count)
    )


@pytest.mark.parametrize("count", [1, 700, 2_000])
def test_progress_is_divided_into_records_within_the_limit(validate: Validate, count: int) -> None:
    """Progress is as many records as it takes, each within the limit, no entry lost."""
    values = encoder().progress(SendProgress(INCARNATION, progress(count)))
    assert all(len(value) <= RECORD_BYTES_MAX for value in values)
    found = [entry["queue"][2] for value in values for entry in validate(value)["queues"]]
    assert found == list(range(count))


@pytest.mark.parametrize("count", [0, 1, 2_000])
def test_claims_are_divided_into_parts_within_the_limit(validate: Validate, count: int) -> None:
    """Claims come in parts that say so, one at least, each within the limit."""
    claims = tuple(
        Claim(entry.queue, entry.epoch, entry.position, "final" if number % 2 else "running")
        for number, entry in enumerate(progress(count))
    )
    values = encoder().claims(SendClaims(INCARNATION, 4, claims))
    assert all(len(value) <= RECORD_BYTES_MAX for value in values)
    records = [validate(value) for value in values]
    assert [record["part"] for record in records] == list(range(len(records)))
    assert {record["parts"] for record in records} == {len(records)}
    found = [entry["queue"][2] for record in records for entry in record["queues"]]
    assert found == list(range(count))


def test_one_that_stands_by_says_so_with_each_heartbeat(validate: Validate) -> None:
    """It says where it reads and what it can follow, and where it is; others say neither."""
    chosen = Settings(bootstrap="b:1", group="orders", topics=["orders"])
    described = describe(chosen, new_client_identity(None), "0.1.0")
    plane = DataPlane("rocketmq", "10.0.0.7@4121")
    standing_by = Encoder(replace(described, data_plane=plane, follows="AVG"))
    record = validate(standing_by.heartbeat(heartbeat(standing=Standing.FREEZE)))
    assert record["data_plane"] == {"kind": "rocketmq", "member": "10.0.0.7@4121"}
    assert record["standby"] == {"follows": "AVG", "state": "freeze"}
    assert not {"data_plane", "standby"} & validate(encoder().heartbeat(heartbeat())).keys()


@pytest.mark.parametrize("count", [0, 1, 3_000])
def test_an_answer_to_a_freeze_is_divided_into_parts(validate: Validate, count: int) -> None:
    """It comes in parts that say so, one at least, each within the limit, no queue lost."""
    queues = (entry.queue for entry in progress(count))
    held = tuple((queue, None if number % 3 else number) for number, queue in enumerate(queues))
    values = encoder().former(SendFormer(INCARNATION, Epoch(3, 41), held))
    assert all(len(value) <= RECORD_BYTES_MAX for value in values)
    records = [validate(value) for value in values]
    parts = [(record["part"], record["parts"]) for record in records]
    assert parts == [(part, len(records)) for part in range(max(1, len(records)))]
    found = [entry for record in records for entry in record["queues"]]
    assert [(Queue(*entry["queue"]), entry["position"]) for entry in found] == [
        (queue, None if offset is None else [0, offset]) for queue, offset in held
    ]


@pytest.mark.parametrize("identity, more", [(None, {}), ("L", {"identity": "L"})])
def test_a_commit_carries_its_reset_and_its_identity(
    identity: str | None, more: dict[str, str]
) -> None:
    """Beside a committed offset stand the reset that it follows and the life that it is of."""
    entry = Progress(Queue("orders", "main", 1), Epoch(3, 7), Position(7, 20), 30, identity)
    assert json.loads(commit_metadata(entry)) == {"v": 1, "reset": 7, **more}


def test_commit_metadata_is_short() -> None:
    """The longest identity leaves it far below what Kafka keeps beside an offset: 4096 bytes."""
    entry = Progress(
        Queue("orders", "main", 1), Epoch(3, 7), Position(2**63 - 1, 0), None, "x" * 255
    )
    assert len(commit_metadata(entry)) < 400
