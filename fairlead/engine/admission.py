"""Which records of clients the engine reads: it puts those beyond a quota aside (ADR 0165).

Decides by the earlier records of the partition and by the clock of the log at the record's place,
never by the cut of batches or the engine's own pace. So a replay refuses the same records, and the
pace at which a backlog was written judges it.

It counts four things: all groups (each shard has its share); new groups, and the bytes of large
heartbeats, by buckets that hold five seconds' worth and empty at the rate of the quota; and
the records of each group in a second. A record beyond a quota stays undecoded, so that it costs
next to nothing.

Releases count by their own append time, for their topic does not move the clock: so a record's
second does not depend on the cut of batches.

Until the engine has read its driver's marker, and while it recovers a lost state, it reads
everything: a sender may own queues, and an unknown owner would be a second one.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from fairlead.codec.intake import GroupIntake, Intake, ReleaseIntake
from fairlead.core.model import Epoch, MemberKey, MessageQueue
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.rules.quota import QUOTA_GROUPS, QUOTA_NEW_GROUPS, QUOTA_STATE
from fairlead.engine.leaky_bucket import LeakyBucket
from fairlead.wire.raw import RawRecord

__all__ = [
    "LARGE_BYTES",
    "Admission",
    "Sender",
    "SurplusRow",
    "grant_of",
    "ruled_groups",
    "sender_of",
]

LETTERS_PER_SECOND: Final = 10
"""At most so many dead letters a second for refused groups; counters have all of them."""
_SECOND_MS: Final = 1_000
LARGE_BYTES: Final = 1_024
"""A heartbeat above this is large: of some eight topics, or of dozens of tags."""


class SurplusRow(NamedTuple):
    """An undecoded record above its group's quota; ``number`` counts its group's second, from 1."""

    row: RawRecord
    clock_ms: int
    number: int

    @property
    def second(self) -> int:
        """The second of the shard's clock at its place."""
        return self.clock_ms // _SECOND_MS

    @property
    def append_second(self) -> int:
        """The second in which its broker appended it."""
        return self.row.append_ms // _SECOND_MS


class Sender(NamedTuple):
    """The writer and the kind of an undecoded record, as it says itself."""

    kind: str
    group: str
    member: MemberKey


def sender_of(row: RawRecord) -> Sender | None:
    """Return the sender that an undecoded record names; None: it names none."""
    match _glanced(row):
        case {
            "kind": str(kind),
            "group": str(group),
            "client_id": str(client_id),
            "incarnation": str(incarnation),
        }:
            return Sender(kind, group, MemberKey(client_id, incarnation))
    return None


def grant_of(row: RawRecord) -> tuple[MessageQueue, MemberKey, Epoch] | None:
    """Return the grant that an undecoded release ends; None: it is no release."""
    match _glanced(row):
        case {
            "kind": "release",
            "client_id": str(client_id),
            "incarnation": str(incarnation),
            "queue": [str(topic), str(broker), int(number)],
            "epoch": [int(generation), int(epoch)],
        }:
            queue = MessageQueue(topic, broker, number)
            return queue, MemberKey(client_id, incarnation), Epoch(generation, epoch)
    return None


def _glanced(row: RawRecord) -> object:
    """Return the unchecked value of a record; None: it is no JSON."""
    try:
        return orjson.loads(row.value or b"")
    except orjson.JSONDecodeError:
        return None


@dataclass(slots=True)
class Admission:
    """The counts of one shard while it reads a batch.

    Attributes:
        rules: those of all groups, before the batch.
        shards: how many shards share the quotas of groups.
        known: the existing groups.
        groups: how many there are.
        before: the counts after the batch before.
        released: those of releases.
        ruled: groups that a control record of this batch creates.
    """

    rules: EngineRules
    shards: int
    known: Container[str]
    groups: int
    before: Intake
    released: ReleaseIntake = field(default_factory=ReleaseIntake)
    ruled: Container[str] = ()
    made: set[str] = field(default_factory=set)
    second: int = field(init=False)
    letters: int = field(init=False)
    new_groups: LeakyBucket = field(init=False)
    large_bytes: LeakyBucket = field(init=False)
    records: dict[str, int] = field(init=False)
    own: dict[tuple[str, int], int] = field(init=False)
    told: set[tuple[str, int]] = field(init=False)
    releases: dict[str, int] = field(init=False)
    release_second: int = field(init=False)
    refused_releases: set[tuple[str, int]] = field(init=False)

    def __post_init__(self) -> None:
        """Begin where the batch before ended."""
        before = self.before
        self.second, self.letters = before.second, before.letters
        self.new_groups = LeakyBucket(before.level, before.level_ms)
        self.large_bytes = LeakyBucket(before.large, before.large_ms)
        groups = before.groups
        self.records = {group: each.records for group, each in groups.items()}
        self.own = {(group, before.second): each.own for group, each in groups.items() if each.own}
        self.told = {(group, before.second) for group, each in groups.items() if each.told}
        released = self.released
        self.releases, self.release_second = dict(released.groups), released.second
        self.refused_releases = {(group, released.second) for group in released.told}

    def number(self, group: str, clock_ms: int) -> int:
        """Count a record of a group; return which one it is in this second, from 1."""
        self._enter(clock_ms)
        self.records[group] = number = self.records.get(group, 0) + 1
        return number

    def number_release(self, group: str, append_ms: int) -> int:
        """Count a release of a group; return which one it is in its second, from 1."""
        second = append_ms // _SECOND_MS
        if second != self.release_second:
            self.release_second = second
            self.releases.clear()
        self.releases[group] = number = self.releases.get(group, 0) + 1
        return number

    def is_known(self, group: str) -> bool:
        """Tell whether this group exists by now."""
        return group in self.known or group in self.made or group in self.ruled

    def refusal(self, clock_ms: int) -> str | None:
        """Return why no new group is possible now; None: it is."""
        self._enter(clock_ms)
        if self.rules.group_bytes:
            return QUOTA_STATE
        share = _share(self.rules.groups_max, self.shards)
        if share and self.groups >= share:
            return QUOTA_GROUPS
        rate = self._new_groups_per_second
        if rate and not self.new_groups.has_room(1, rate, clock_ms):
            return QUOTA_NEW_GROUPS
        return None

    def add_group(self, group: str, clock_ms: int, *, counted: bool) -> None:
        """Note a new group; ``counted``: it counts for the pace of new groups."""
        if counted:
            self.new_groups.add(1, self._new_groups_per_second, clock_ms)
        self.groups += 1
        self.made.add(group)

    def is_too_large(self, row: SurplusRow) -> bool:
        """Tell whether a large heartbeat finds no room; count it if it does."""
        size = len(row.row.value or b"")
        rate = _share(self.rules.heartbeat_bytes_per_second, self.shards)
        if not rate or size <= LARGE_BYTES:
            return False
        sender = sender_of(row.row)
        if sender is None or sender.kind != "heartbeat":
            return False
        if not self.large_bytes.has_room(size, rate, row.clock_ms):
            return True
        self.large_bytes.add(size, rate, row.clock_ms)
        return False

    def may_write_letter(self) -> bool:
        """Tell whether one more dead letter for a refused group is allowed, and count it."""
        self.letters += 1
        return self.letters <= LETTERS_PER_SECOND

    def use_own_quota(self, group: str, second: int, most: int) -> bool:
        """Tell whether a member's record above the quota is within the members' own quota."""
        used = self.own.get((group, second), 0)
        if used >= most:
            return False
        self.own[group, second] = used + 1
        return True

    def is_first_refusal(self, group: str, second: int) -> bool:
        """Tell whether this is the first refused record of a group in a second."""
        if (group, second) in self.told:
            return False
        self.told.add((group, second))
        return True

    def is_first_refused_release(self, group: str, second: int) -> bool:
        """Tell whether this is the first refused release of a group in a second."""
        if (group, second) in self.refused_releases:
            return False
        self.refused_releases.add((group, second))
        return True

    def releases_after(self) -> ReleaseIntake:
        """Return the counts of releases after this batch."""
        second = self.release_second
        told = frozenset(group for group, at in self.refused_releases if at == second)
        return ReleaseIntake(second, dict(self.releases), told)

    def after(self) -> Intake:
        """Return the counts after this batch."""
        second = self.second
        groups = {
            group: GroupIntake(
                records, self.own.get((group, second), 0), (group, second) in self.told
            )
            for group, records in self.records.items()
        }
        made, large = self.new_groups, self.large_bytes
        levels = made.level, made.level_ms, large.level, large.level_ms
        return Intake(second, groups, self.letters, *levels)

    def _enter(self, clock_ms: int) -> None:
        second = clock_ms // _SECOND_MS
        if second != self.second:
            self.second, self.letters = second, 0
            self.records.clear()

    @property
    def _new_groups_per_second(self) -> int:
        return _share(self.rules.new_groups_per_second, self.shards)


def ruled_groups(rows: Sequence[RawRecord]) -> set[str]:
    """Return the groups that these control records name by their keys."""
    groups = set()
    for row in rows:
        try:
            key: Any = orjson.loads(row.key or b"")
        except orjson.JSONDecodeError:
            continue
        if isinstance(key, list) and key and isinstance(key[0], str):
            groups.add(key[0])
    return groups


def _share(quota: int, shards: int) -> int:
    """Return a shard's part of a quota, rounded up; 0: any number."""
    return -(-quota // shards)
