"""The members of one group, by their newest heartbeats."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from fairlead.core.agreement import compared, traits_of
from fairlead.core.membership import effective_members
from fairlead.core.model import Epoch, MemberKey, MemberProfile, Process, Subscription
from fairlead.core.ordering import java_order
from fairlead.core.rules import GroupRules
from fairlead.core.single_rules import drained_of
from fairlead.core.state import Member, Trait, TraitValue
from fairlead.view.reading import NO_RECORD, epoch_of, integer_of, member_of, text_of, words_of
from fairlead.wire.member_records import LEASE_MS_MAX
from fairlead.wire.texts import TOPIC

__all__ = ["EVERYTHING_MS", "Heard", "Members", "Roll"]

EVERYTHING_MS: Final = LEASE_MS_MAX + 60_000
"""Who has been silent for longer than any lease is forgotten, unless nobody was heard since."""

_SUBSCRIPTIONS: Final = "subscriptions"
_PROFILE: Final = (
    *("consume_type", "message_model", "consume_from", "consume_timestamp_ms", "ordered"),
    *("language", "version", "address", "zone", "capacity", "lease_ms"),
)


@dataclass(slots=True)
class Heard:
    """One incarnation of a client, as its heartbeats tell.

    Attributes:
        heard_ms: when its newest heartbeat was appended.
        seen_ms: the same on the clock of its partition.
        digest: of what it holds.
        digest_ms: when the first heartbeat with this digest was appended.
        applied: the epoch of the newest assignment that it has read; None: it read none.
        member: what it says of itself, and whether it leaves.
    """

    heard_ms: int
    seen_ms: int
    digest: int
    digest_ms: int
    applied: Epoch | None
    member: Member
    said: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Roll:
    """Who is in a group now.

    Attributes:
        members: client id -> who is live and does not leave; of several with one client id the one
            that counts.
        topics: those that members who share queues subscribe to; of a group without members, those
            of whom was heard last.
        candidates: who could own a queue: it shares queues, and no rule keeps it from them.
        disagree: members have different values of what they are meant to agree on.
        model: ``broadcasting`` if nobody shares queues, else ``clustering``.
    """

    members: Mapping[str, Heard]
    topics: tuple[str, ...]
    candidates: tuple[MemberKey, ...]
    disagree: bool
    model: str


@dataclass(slots=True)
class Members:
    """Everybody of one group who was heard within the longest lease, and who was heard last."""

    heard: dict[MemberKey, Heard] = field(default_factory=dict)
    newest_ms: int = 0
    _roll: Roll | None = None
    _rules: GroupRules | None = None
    _live: frozenset[MemberKey] = frozenset()
    _until_ms: int = 0
    """Up to this time of the clock nobody of the live lapses, if nobody is heard either."""

    def take_heartbeat(self, body: Mapping[str, Any], append_ms: int, clock_ms: int) -> bool:
        """Take in a heartbeat; return whether its member says that it holds something else.

        One that can be read in part keeps its member alive, no more.

        Raises:
            ValueError, KeyError, TypeError: it names no member.
        """
        key = member_of(body)
        known = self.heard.get(key)
        self.newest_ms = max(self.newest_ms, append_ms)
        if known is not None:
            known.heard_ms, known.seen_ms = append_ms, clock_ms
            if key not in self._live:
                self._roll = None
        try:
            return self._take(key, known, body, append_ms, clock_ms)
        except NO_RECORD:
            return False

    def _take(
        self,
        key: MemberKey,
        known: Heard | None,
        body: Mapping[str, Any],
        append_ms: int,
        clock_ms: int,
    ) -> bool:
        digest = int(text_of(body["digest"]), 16)
        applied = body["applied"]
        epoch = None if applied is None else epoch_of(applied)
        said = (*[body[name] for name in _PROFILE], body["process"], body[_SUBSCRIPTIONS])
        if known is None:
            member = _member(key, body, clock_ms)
            self.heard[key] = Heard(append_ms, clock_ms, digest, append_ms, epoch, member, said)
            self._roll = None
            return True
        if known.said != said:
            fresh = _member(key, body, known.member.joined_ms)
            known.member = replace(fresh, leaving=known.member.leaving)
            known.said = said
            self._roll = None
        known.applied = epoch
        if known.digest == digest:
            return False
        known.digest, known.digest_ms = digest, append_ms
        return True

    def take_leave(self, body: Mapping[str, Any]) -> None:
        """Take in that a member leaves.

        Raises:
            ValueError, KeyError, TypeError: it names no member.
        """
        known = self.heard.get(member_of(body))
        if known is not None and not known.member.leaving:
            known.member = replace(known.member, leaving=True)
            self._roll = None

    def forget(self, clock_ms: int) -> None:
        """Forget who has been silent for longer than any lease, unless nobody was heard since."""
        oldest_ms = clock_ms - EVERYTHING_MS
        if all(heard.seen_ms >= oldest_ms for heard in self.heard.values()):
            return
        self.heard = {
            key: heard for key, heard in self.heard.items() if self._counts(heard, clock_ms)
        }
        self._roll = None

    def _counts(self, heard: Heard, clock_ms: int) -> bool:
        if heard.seen_ms >= clock_ms - EVERYTHING_MS:
            return True
        return heard.heard_ms >= self.newest_ms - EVERYTHING_MS

    def remembered(self, clock_ms: int) -> dict[MemberKey, Heard]:
        """Return whoever is not to be forgotten."""
        return {key: heard for key, heard in self.heard.items() if self._counts(heard, clock_ms)}

    def is_live(self, heard: Heard, clock_ms: int, rules: GroupRules) -> bool:
        """Tell whether the lease of a member runs, as the engine reckons it."""
        return clock_ms <= _lapses_ms(heard, rules)

    def roll(self, clock_ms: int, rules: GroupRules) -> Roll:
        """Return who is in the group at this time of the clock of its partition."""
        if self._roll is None or self._rules is not rules or clock_ms > self._until_ms:
            lapses = {key: _lapses_ms(heard, rules) for key, heard in self.heard.items()}
            live = frozenset(key for key, at_ms in lapses.items() if clock_ms <= at_ms)
            if self._roll is None or self._rules is not rules or live != self._live:
                self._roll = self._called(live, rules, clock_ms)
            self._rules, self._live = rules, live
            self._until_ms = min((lapses[key] for key in live), default=clock_ms)
        return self._roll

    def _called(self, live: Iterable[MemberKey], rules: GroupRules, clock_ms: int) -> Roll:
        counted = effective_members({key: self.heard[key].member for key in live})
        sharing = [member for member in counted.values() if member.shares]
        last = sharing
        if not counted:
            last = [heard.member for heard in self.remembered(clock_ms).values()]
        topics = {topic for member in last for topic in member.topics}
        models = {member.shares for member in counted.values() or last}
        return Roll(
            members={client_id: self.heard[one.key] for client_id, one in sorted(counted.items())},
            topics=tuple(sorted(topics, key=java_order)),
            candidates=tuple(member.key for member in sharing if _may_own(member, rules)),
            disagree=_disagree(counted),
            model="broadcasting" if models == {False} else "clustering",
        )


def _lapses_ms(heard: Heard, rules: GroupRules) -> int:
    """Return until when on the clock of its partition a member counts as alive."""
    lease_ms = max(rules.lease_ms, heard.member.profile.lease_ms)
    return heard.seen_ms + lease_ms + rules.margin_ms


def _may_own(member: Member, rules: GroupRules) -> bool:
    client_id = member.key.client_id
    if client_id in drained_of(rules.single) or not member.subscriptions:
        return False
    designated = rules.designated
    return designated is None or bool(designated.topics) or designated.entries.names(client_id)


def _disagree(members: Mapping[str, Member]) -> bool:
    """Tell whether members differ in what docs/protocol.md §3.1 says that they agree on."""
    values: dict[Trait, TraitValue] = {}
    for member in members.values():
        for trait, value in traits_of(member).items():
            own = compared(trait, value)
            if values.setdefault(trait, own) != own:
                return True
    return False


def _topic(value: object) -> str:
    """Return the name of a topic: it is told as a label, so it is none but what may be one."""
    topic = text_of(value)
    if not TOPIC.allows(topic):
        raise ValueError("no name of a topic")
    return topic


def _member(key: MemberKey, body: Mapping[str, Any], joined_ms: int) -> Member:
    process = body["process"]
    zone, timestamp_ms = body["zone"], body["consume_timestamp_ms"]
    profile = MemberProfile(
        consume_type=text_of(body["consume_type"]),
        message_model=text_of(body["message_model"]),
        consume_from=text_of(body["consume_from"]),
        consume_timestamp_ms=None if timestamp_ms is None else integer_of(timestamp_ms),
        ordered=body["ordered"] is True,
        language=text_of(body["language"]),
        version=text_of(body["version"]),
        address=text_of(body["address"]),
        zone=None if zone is None else text_of(zone),
        capacity=integer_of(body["capacity"]),
        lease_ms=min(integer_of(body["lease_ms"]), LEASE_MS_MAX),
    )
    subscriptions = tuple(
        Subscription(
            _topic(each["topic"]),
            text_of(each["expression_type"]),
            text_of(each["expression"]),
            words_of(each["tags"]),
            integer_of(each["sub_version"]),
        )
        for each in body[_SUBSCRIPTIONS]
    )
    return Member(
        key,
        Process(integer_of(process["start_ms"]), text_of(process["uuid"])),
        integer_of(process["incarnations"]),
        profile,
        subscriptions,
        joined_ms=joined_ms,
    )
