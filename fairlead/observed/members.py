"""The members of one group, by their newest heartbeats."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fairlead.core.membership.member_disagreement import compared, traits_of
from fairlead.core.membership.members import effective_members
from fairlead.core.membership.surplus import member_bytes
from fairlead.core.model import Epoch, MemberKey, MemberProfile, Process, Subscription
from fairlead.core.ordering import java_order
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.rules.single_rules import drained_of
from fairlead.core.state import Member, Trait, TraitValue
from fairlead.observed.memory_share import MemoryShare
from fairlead.wire.member_records import EXPRESSION_TYPES, LEASE_MS_MAX
from fairlead.wire.quick_fields import (
    NO_RECORD,
    boolean_of,
    epoch_of,
    integer_of,
    member_of,
    name_of,
    text_of,
    words_of,
)
from fairlead.wire.texts import TOPIC

__all__ = ["EVERYTHING_MS", "Disagreements", "HeardMember", "LiveMembers", "Members"]

EVERYTHING_MS: Final = LEASE_MS_MAX + 60_000
"""Members silent for longer than any lease are forgotten, unless nobody was heard since."""

_QUOTAS_KEPT: Final = 4
"""Keep this many times a group's quota: recent incarnations of its members are among them."""
_TAG_BYTES: Final = 60
"""The memory of a tag, beyond what an engine counts for it."""
_LOOK_MS: Final = 1_000
"""Look for members to forget at most once in this much time of the log."""

_SUBSCRIPTIONS: Final = "subscriptions"
_SUBSCRIPTION: Final = ("topic", "expression_type", "expression", "sub_version")
_PROFILE: Final = (
    *("consume_type", "message_model", "consume_from", "consume_timestamp_ms", "ordered"),
    *("language", "version", "address", "zone", "capacity", "lease_ms"),
)


Disagreements = Mapping[Trait, Mapping[TraitValue, Sequence[MemberKey]]]
"""Each trait on which members disagree -> each of its values -> who has it, in RocketMQ's order."""


@dataclass(slots=True)
class HeardMember:
    """One incarnation of a client, by its heartbeats.

    Attributes:
        since_ms: since when it heartbeats without a gap of a lease.
        heard_ms: when its newest heartbeat was appended.
        seen_ms: the same on the clock of its partition.
        digest: of what it holds.
        digest_ms: when the first heartbeat with this digest was appended.
        applied: the epoch of the newest assignment that it has read; None: it has read none.
        member: what it says of itself, and whether it leaves.
        left_ms: the clock of its partition when it announced its leave; None: it has not.
    """

    since_ms: int
    heard_ms: int
    seen_ms: int
    digest: int
    digest_ms: int
    applied: Epoch | None
    member: Member
    said: tuple[Any, ...]
    left_ms: int | None = None


@dataclass(frozen=True, slots=True)
class LiveMembers:
    """Who is in a group now.

    Attributes:
        members: client id -> the live member that does not leave; of several, the one that counts.
        topics: what members that share queues subscribe to; of a group without members, what those
            heard last subscribed to.
        candidates: members that could own a queue: they share, and no rule keeps them from it.
        disagreements: the traits on which members disagree.
        model: ``broadcasting`` if nobody shares queues, else ``clustering``.
    """

    members: Mapping[str, HeardMember]
    topics: tuple[str, ...]
    candidates: tuple[MemberKey, ...]
    disagreements: Disagreements
    model: str


@dataclass(slots=True)
class Members:
    """All members of one group that were heard within the longest lease, or were heard last.

    Attributes:
        share: how much is kept of the members of all groups.
        heard: the members.
        newest_ms: when the newest heartbeat was appended.
        news: grows with each record that says more than that a member is still there.
    """

    share: MemoryShare = field(default_factory=MemoryShare)
    heard: dict[MemberKey, HeardMember] = field(default_factory=dict)
    newest_ms: int = 0
    news: int = 0
    _roll: LiveMembers | None = None
    _rules: GroupRules | None = None
    _live: frozenset[MemberKey] = frozenset()
    _until_ms: int = 0
    """Until this time of the clock no live member lapses, even if nobody is heard."""
    _bytes: int = 0
    """About how many bytes all that is kept takes."""
    _looked_ms: int = 0
    """When somebody last looked for members to forget."""

    def take_heartbeat(
        self, body: Mapping[str, Any], append_ms: int, clock_ms: int, rules: GroupRules
    ) -> bool:
        """Apply a heartbeat; return whether its member says that it holds something else now.

        A heartbeat that is only partly readable just keeps its member alive. So does one that says
        more than there is room for; a new member is then passed over, as the engine refuses it.

        Raises:
            ValueError, KeyError, TypeError: it names no member.
        """
        key = member_of(body)
        known = self.heard.get(key)
        self.newest_ms = max(self.newest_ms, append_ms)
        if known is not None:
            if append_ms - known.heard_ms > known.member.profile.lease_ms:
                known.since_ms = append_ms
            known.heard_ms, known.seen_ms = append_ms, clock_ms
            if key not in self._live:
                self._renew()
        try:
            return self._take(key, known, body, append_ms, clock_ms, rules=rules)
        except NO_RECORD:
            return False

    def _take(
        self,
        key: MemberKey,
        known: HeardMember | None,
        body: Mapping[str, Any],
        append_ms: int,
        clock_ms: int,
        *,
        rules: GroupRules,
    ) -> bool:
        digest = int(name_of(body["digest"]), 16)
        applied = body["applied"]
        epoch = None if applied is None else epoch_of(applied)
        said = _said(body)
        if known is None:
            member = _member(key, body, clock_ms)
            if not self._takes(_room_of(member), clock_ms, rules):
                return False
            self.heard[key] = HeardMember(
                append_ms, append_ms, clock_ms, digest, append_ms, epoch, member, said
            )
            self._renew()
            return True
        if known.said != said:
            fresh = _member(key, body, known.member.joined_ms)
            if not self._takes(_room_of(fresh) - _room_of(known.member), clock_ms, rules, new=0):
                return False
            known.member = replace(fresh, leaving=known.member.leaving)
            known.said = said
            self._renew()
        self.news += known.applied != epoch
        known.applied = epoch
        if known.digest == digest:
            return False
        self.news += 1
        known.digest, known.digest_ms = digest, append_ms
        return True

    def _takes(self, more: int, clock_ms: int, rules: GroupRules, new: int = 1) -> bool:
        """Tell whether so many more bytes fit; count them if they do."""
        quota = rules.quota

        def fits() -> bool:
            return more <= 0 or (
                len(self.heard) + new <= _QUOTAS_KEPT * quota.members
                and self._bytes + more <= _QUOTAS_KEPT * quota.state_bytes
                and self.share.has_room(self._bytes, more)
            )

        if not fits() and clock_ms >= self._looked_ms + _LOOK_MS:
            # Lapsed members go first.
            self._looked_ms = clock_ms
            self._keep({k: h for k, h in self.heard.items() if self.is_live(h, clock_ms, rules)})
        if not fits():
            return False
        self._count(self._bytes + more)
        return True

    def _keep(self, heard: dict[MemberKey, HeardMember]) -> None:
        self.heard = heard
        self._count(sum(_room_of(each.member) for each in heard.values()))
        self._renew()

    def _count(self, kept: int) -> None:
        self.share.used += kept - self._bytes
        self._bytes = kept

    def _renew(self) -> None:
        self._roll = None
        self.news += 1

    def forget_all(self) -> None:
        """Forget every member: the group itself is forgotten."""
        self._keep({})

    def take_leave(self, body: Mapping[str, Any], clock_ms: int) -> None:
        """Note that a member leaves.

        Raises:
            ValueError, KeyError, TypeError: it names no member.
        """
        known = self.heard.get(member_of(body))
        if known is not None and not known.member.leaving:
            known.member = replace(known.member, leaving=True)
            known.left_ms = clock_ms
            self._renew()

    def forget(self, clock_ms: int) -> None:
        """Forget members silent for longer than any lease, unless nobody was heard since."""
        oldest_ms = clock_ms - EVERYTHING_MS
        if all(heard.seen_ms >= oldest_ms for heard in self.heard.values()):
            return
        self._keep(self.remembered(clock_ms))

    def _counts(self, heard: HeardMember, clock_ms: int) -> bool:
        if heard.seen_ms >= clock_ms - EVERYTHING_MS:
            return True
        return heard.heard_ms >= self.newest_ms - EVERYTHING_MS

    def remembered(self, clock_ms: int) -> dict[MemberKey, HeardMember]:
        """Return the members to keep."""
        return {key: heard for key, heard in self.heard.items() if self._counts(heard, clock_ms)}

    def is_live(self, heard: HeardMember, clock_ms: int, rules: GroupRules) -> bool:
        """Tell whether the lease of a member runs, as the engine counts it."""
        return clock_ms <= _lapses_ms(heard, rules)

    def live_members(self, clock_ms: int, rules: GroupRules) -> LiveMembers:
        """Return who is in the group at this time of the clock of its partition."""
        if self._roll is None or self._rules is not rules or clock_ms > self._until_ms:
            lapses = {key: _lapses_ms(heard, rules) for key, heard in self.heard.items()}
            live = frozenset(key for key, at_ms in lapses.items() if clock_ms <= at_ms)
            if self._roll is None or self._rules is not rules or live != self._live:
                self._roll = self._called(live, rules, clock_ms)
            self._rules, self._live = rules, live
            self._until_ms = min((lapses[key] for key in live), default=clock_ms)
        return self._roll

    def _called(self, live: Iterable[MemberKey], rules: GroupRules, clock_ms: int) -> LiveMembers:
        counted = effective_members({key: self.heard[key].member for key in live})
        sharing = [member for member in counted.values() if member.shares]
        last = sharing
        if not counted:
            last = [heard.member for heard in self.remembered(clock_ms).values()]
        topics = {topic for member in last for topic in member.topics}
        models = {member.shares for member in counted.values() or last}
        return LiveMembers(
            members={client_id: self.heard[one.key] for client_id, one in sorted(counted.items())},
            topics=tuple(sorted(topics, key=java_order)),
            candidates=tuple(member.key for member in sharing if _may_own(member, rules)),
            disagreements=_disagreements(counted),
            model="broadcasting" if models == {False} else "clustering",
        )


def _lapses_ms(heard: HeardMember, rules: GroupRules) -> int:
    """Return until when, on the clock of its partition, a member counts as alive."""
    lease_ms = max(rules.lease_ms, heard.member.profile.lease_ms)
    return heard.seen_ms + lease_ms + rules.margin_ms


def _may_own(member: Member, rules: GroupRules) -> bool:
    client_id = member.key.client_id
    if client_id in drained_of(rules.single) or not member.subscriptions:
        return False
    designated = rules.designated
    return designated is None or bool(designated.topics) or designated.entries.names(client_id)


def _disagreements(members: Mapping[str, Member]) -> Disagreements:
    """Return the traits of docs/protocol.md §3.1 on which members disagree."""
    values: dict[Trait, dict[TraitValue, list[MemberKey]]] = {}
    for client_id in sorted(members, key=java_order):
        member = members[client_id]
        for trait, value in traits_of(member).items():
            # The engine compares a start by time as one value, whatever the time.
            holders = values.setdefault(trait, {}).setdefault(compared(trait, value), [])
            holders.append(member.key)
    return {trait: values[trait] for trait in sorted(values) if len(values[trait]) > 1}


def _said(body: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a heartbeat says of its member, and nothing else."""
    process = body["process"]
    return (
        *[body[name] for name in _PROFILE],
        *[process[name] for name in ("start_ms", "uuid", "incarnations")],
        *[
            (*[each[name] for name in _SUBSCRIPTION], tuple(each["tags"]))
            for each in body[_SUBSCRIPTIONS]
        ],
    )


def _room_of(member: Member) -> int:
    """Return about how much memory a member takes, in bytes."""
    return member_bytes(member) + _TAG_BYTES * sum(len(each.tags) for each in member.subscriptions)


def _topic(value: object) -> str:
    """Return the name of a topic; metrics show it as a label, so it must be a valid one."""
    topic = text_of(value)
    if not TOPIC.allows(topic):
        raise ValueError("no name of a topic")
    return topic


def _expression_type(value: object) -> str:
    if value not in EXPRESSION_TYPES:
        raise ValueError("no type of an expression")
    return text_of(value)


def _member(key: MemberKey, body: Mapping[str, Any], joined_ms: int) -> Member:
    process = body["process"]
    zone, timestamp_ms = body["zone"], body["consume_timestamp_ms"]
    profile = MemberProfile(
        consume_type=name_of(body["consume_type"]),
        message_model=name_of(body["message_model"]),
        consume_from=name_of(body["consume_from"]),
        consume_timestamp_ms=None if timestamp_ms is None else integer_of(timestamp_ms),
        ordered=boolean_of(body["ordered"]),
        language=name_of(body["language"]),
        version=name_of(body["version"]),
        address=name_of(body["address"]),
        zone=None if zone is None else name_of(zone),
        capacity=integer_of(body["capacity"]),
        lease_ms=min(integer_of(body["lease_ms"]), LEASE_MS_MAX),
    )
    subscriptions = tuple(
        Subscription(
            _topic(each["topic"]),
            _expression_type(each["expression_type"]),
            text_of(each["expression"]),
            words_of(each["tags"]),
            integer_of(each["sub_version"]),
        )
        for each in body[_SUBSCRIPTIONS]
    )
    return Member(
        key,
        Process(integer_of(process["start_ms"]), name_of(process["uuid"])),
        integer_of(process["incarnations"]),
        profile,
        subscriptions,
        joined_ms=joined_ms,
    )
