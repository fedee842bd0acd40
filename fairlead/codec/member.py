"""A member as plain JSON values, apart from its liveness."""

from dataclasses import replace
from typing import Any, Final

from fairlead.core.model import DataPlane, MemberKey, MemberProfile, Process, Subscription
from fairlead.core.state import Member, Spoken, Tombstone

__all__ = ["plain_member", "plain_tombstone", "read_member", "read_tombstone"]


_PROFILE: Final = 11
"""The number of fields of a profile before those of members that stand by."""


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
            None if profile.data_plane is None else [*profile.data_plane],
            profile.follows,
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
        [*member.told_odd],
        _plain_spoken(member.spoken),
        [*member.told_waiting],
    ]


def read_member(plain: list[Any], keys: list[MemberKey]) -> Member:
    """Return the member that :func:`plain_member` wrote."""
    row, start_ms, uuid, incarnations, acked, leaving, told, parts, profile, *more = plain
    subscriptions, joined_ms, told_rival, told_odd, spoken, waiting = more
    return Member(
        keys[row],
        Process(start_ms, uuid),
        incarnations,
        _read_profile(profile),
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
        _read_spoken(spoken),
        tuple(waiting),
    )


def _read_profile(plain: list[Any]) -> MemberProfile:
    # Members of an earlier version have said nothing of standby.
    data_plane, follows = plain[_PROFILE:] or (None, None)
    profile = MemberProfile(*plain[:_PROFILE])
    plane = None if data_plane is None else DataPlane(*data_plane)
    return replace(profile, data_plane=plane, follows=follows)


def plain_tombstone(stone: Tombstone, row: int) -> list[Any]:
    """Return what is remembered of a member that is gone, whose key stands in this row."""
    state = [stone.until_ms, stone.lapsed, stone.notified, stone.closed]
    return [row, *state, _plain_spoken(stone.spoken)]


def read_tombstone(plain: list[Any]) -> Tombstone:
    """Return what :func:`plain_tombstone` wrote."""
    _, until_ms, lapsed, told, closed, spoken = plain
    return Tombstone(until_ms, lapsed, told, closed, _read_spoken(spoken))


def _plain_spoken(spoken: Spoken | None) -> list[int] | None:
    return None if spoken is None else [*spoken]


def _read_spoken(plain: list[int] | None) -> Spoken | None:
    return None if plain is None else Spoken(*plain)
