"""A member as plain JSON values, apart from its liveness."""

from typing import Any

from fairlead.core.model import MemberKey, MemberProfile, Process, Subscription
from fairlead.core.state import Member, Spoken, Tombstone

__all__ = ["plain_member", "plain_tombstone", "read_member", "read_tombstone"]

_NOTHING_LATER: tuple[Any, ...] = (0, False, (), None, ())
"""What stands for the last fields of a row that ends before them."""


def plain_member(member: Member, row: int) -> list[Any]:
    """Return a member whose key stands in this row of the key table."""
    profile = member.profile
    return [
        row,
        member.process.start_ms,
        member.process.uuid,
        member.incarnations,
        member.generation_acked,
        member.leaving,
        member.told_duplicate,
        member.parts,
        [
            profile.consume_type,
            profile.message_model,
            profile.consume_from,
            profile.consume_timestamp_ms,
            profile.ordered,
            profile.language,
            profile.version,
            profile.address,
            profile.zone,
            profile.capacity,
            profile.lease_ms,
        ],
        [
            [
                subscription.topic,
                subscription.expression_type,
                subscription.expression,
                subscription.tags,
                subscription.sub_version,
            ]
            for subscription in member.subscriptions
        ],
        member.joined_ms,
        member.told_rival,
        *_plain_told(member),
    ]


def _plain_told(member: Member) -> list[Any]:
    """Return the last fields of a row, without those at the end that say nothing."""
    spoken = None if member.spoken is None else [*member.spoken]
    last: list[Any] = [[*member.told_odd], spoken, [*member.told_waiting]]
    while last and not last[-1]:
        last.pop()
    return last


def read_member(plain: list[Any], keys: list[MemberKey]) -> Member:
    """Return the member that :func:`plain_member` wrote.

    Version 3 has when it joined and what it was told of a rival, version 5 what else it was told,
    if anything, version 7 why it waits.
    """
    row, start_ms, uuid, incarnations, acked, leaving, told, parts, profile, subscriptions = plain[
        :10
    ]
    joined_ms, told_rival, told_odd, spoken, waiting = (
        *plain[10:],
        *_NOTHING_LATER[len(plain) - 10 :],
    )
    return Member(
        keys[row],
        Process(start_ms, uuid),
        incarnations,
        MemberProfile(*profile),
        tuple(
            Subscription(topic, expression_type, expression, tuple(tags), sub_version)
            for topic, expression_type, expression, tags, sub_version in subscriptions
        ),
        acked,
        leaving,
        told,
        parts,
        joined_ms,
        told_rival,
        tuple(told_odd),
        None if spoken is None else Spoken(*spoken),
        tuple(waiting),
    )


def plain_tombstone(stone: Tombstone, row: int) -> list[Any]:
    """Return what is remembered of a member that is gone, whose key stands in this row."""
    plain: list[Any] = [row, stone.until_ms, stone.lapsed, stone.told]
    return plain if stone.spoken is None else [*plain, stone.closed, [*stone.spoken]]


def read_tombstone(plain: list[Any]) -> Tombstone:
    """Return what :func:`plain_tombstone` wrote; earlier versions tell no last words."""
    _, until_ms, lapsed, told, *later = plain
    closed, spoken = later or (False, None)
    return Tombstone(until_ms, lapsed, told, closed, None if spoken is None else Spoken(*spoken))
