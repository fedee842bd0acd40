"""Reads what concerns members that stand by: `members`, `former`, and a heartbeat's fields.

Each reader returns the value of one record, or raises WireError.
"""

from typing import Final, cast

from fairlead.core.model import DataPlane
from fairlead.core.standby_records import (
    BrokerMembers,
    Former,
    FormerQueue,
    MembersLook,
    StandbyState,
)
from fairlead.wire.fields import Fields
from fairlead.wire.limits import PARTS_MAX
from fairlead.wire.texts import BROKER_NAME, CLIENT_ID, GROUP, STRATEGY_NAME, UUID
from fairlead.wire.values import duplicate, inconsistent

__all__ = [
    "DATA_PLANE",
    "STANDBY",
    "read_data_plane",
    "read_former",
    "read_members",
    "read_standby",
]

DATA_PLANE: Final = "data_plane"
STANDBY: Final = "standby"
"""The optional fields of a heartbeat."""

_KINDS: Final = ("kafka", "rocketmq")
_STATES: Final = ("wait", "follow", "freeze", "own")
_DATA_PLANE: Final = frozenset(("kind", "member"))
_STANDBY: Final = frozenset(("follows", "state"))
_MEMBERS: Final = frozenset(
    ("v", "kind", "group", "cluster", "bridge", "look", "complete", "brokers", "at_ms")
)
_BROKER: Final = frozenset(("broker_name", "members"))
_FORMER: Final = frozenset(
    ("v", "kind", "group", "client_id", "incarnation", "epoch", "part", "parts", "queues")
)
_QUEUE: Final = frozenset(("queue", "position"))
_IDENTITY: Final = ("identity",)


def read_data_plane(fields: Fields) -> DataPlane | None:
    """Read where a heartbeat's member reads; None: it does not say."""
    if DATA_PLANE not in fields.body:
        return None
    named = fields.object(DATA_PLANE, _DATA_PLANE)
    return DataPlane(named.word("kind", _KINDS), named.text("member", CLIENT_ID))


def read_standby(
    fields: Fields, data_plane: DataPlane | None
) -> tuple[str | None, StandbyState | None]:
    """Read the strategy that a heartbeat's member can follow, and its state; None: it cannot.

    Nobody could tell whether all members are attached without the id under which the brokers of
    RocketMQ list this one.
    """
    if STANDBY not in fields.body:
        return None, None
    said = fields.object(STANDBY, _STANDBY)
    if data_plane is None or data_plane.kind != "rocketmq":
        raise inconsistent(
            STANDBY,
            "the member reads no queues of RocketMQ",
            'send data_plane with "kind":"rocketmq" too, or leave standby out',
        )
    follows = said.text("follows", STRATEGY_NAME)
    return follows, cast("StandbyState", said.word("state", _STATES))


def read_members(fields: Fields) -> MembersLook:
    """Read whom a cluster lists as a group's members; refuse repeated brokers and members."""
    fields.known(_MEMBERS)
    brokers = tuple(
        BrokerMembers(
            entry.text("broker_name", BROKER_NAME), tuple(sorted(entry.texts("members", CLIENT_ID)))
        )
        for entry in fields.entries("brokers", _BROKER)
    )
    if len({broker.broker_name for broker in brokers}) != len(brokers):
        raise duplicate("brokers", "a broker name")
    return MembersLook(
        group=fields.text("group", GROUP),
        cluster=fields.text("cluster", BROKER_NAME),
        bridge=fields.text("bridge", UUID),
        look=fields.integer("look", 1),
        complete=fields.boolean("complete"),
        brokers=brokers,
        at_ms=fields.time_ms("at_ms"),
    )


def read_former(fields: Fields) -> Former:
    """Read one part of what a frozen member holds; refuse repeated queues."""
    fields.known(_FORMER)
    part = fields.integer("part", 0, PARTS_MAX - 1)
    parts = fields.integer("parts", 1, PARTS_MAX)
    if part >= parts:
        raise inconsistent("part", "it is not below parts", "count parts from 0")
    queues = tuple(
        FormerQueue(entry.queue("queue"), entry.optional_position("position"), entry.identity())
        for entry in fields.entries("queues", _QUEUE, _IDENTITY)
    )
    if len({entry.queue for entry in queues}) != len(queues):
        raise duplicate("queues", "a queue")
    return Former(
        group=fields.text("group", GROUP),
        member=fields.member(),
        epoch=fields.epoch("epoch"),
        part=part,
        parts=parts,
        queues=queues,
    )
