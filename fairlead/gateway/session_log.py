"""What the log says about the sessions of gateways: one fold of all that a session must read.

A gateway keeps it for every session of every gateway, so that it can go on with any of them. It is
bounded: sessions that are silent for long are forgotten, and of releases only the newest are kept.
"""

import re
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

from fairlead_client.errors import MalformedRecordError
from fairlead_client.model import Epoch, Queue
from fairlead_client.session.assignment_assembler import AssignmentAssembler
from fairlead_client.session.record_object import record_object, text_field
from fairlead_client.session.records import Add, Assignment, Drop, Notice, Release
from fairlead_client.session.seen_releases import SeenReleases
from fairlead_client.transport.decoding import (
    decode_assignment,
    decode_release,
    is_generation,
)

from fairlead.wire.raw import RawRecord

__all__ = ["Heard", "SessionLog", "SessionWords", "incarnation_of_session", "is_of_gateway"]

GROUPS_MAX: Final = 10_000
"""Of so many groups the releases are kept."""

_NAME_MAX: Final = 512
_VERSION: Final = 8
"""The version of the UUIDs of gateways' incarnations (RFC 9562: custom); clients draw version 4."""
_MARK: Final = b'"gateway":'
_KEY_OF_SESSION: Final = re.compile(rb',"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-').search
"""Quick: most assignments are of clients that read them by themselves."""


def incarnation_of_session(value: int | None = None) -> str:
    """Return the UUID of an incarnation that a gateway hosts; `value` fixes its bits."""
    bits = uuid4().int if value is None else value
    return str(UUID(int=(bits & ~(0xF << 76)) | (_VERSION << 76)))


def is_of_gateway(incarnation: str) -> bool:
    """Tell whether a gateway hosts this incarnation."""
    return len(incarnation) == 36 and incarnation[14] == "8"  # noqa: PLR2004 - RFC 9562, 4


@dataclass(frozen=True, slots=True)
class Heard:
    """The newest heartbeat of a session in the log.

    Attributes:
        append_ms: when the broker appended it.
        sequence: the sequence of its poll.
        issued: the sequence of the poll whose `state` the client had.
        at: the partition and offset.
        gateway: which gateway wrote it.
        first_ms: when the first heartbeat of that poll was appended; two gateways may get one poll.
        renewed_ms: when the first heartbeat of the poll was appended whose answer is the newest
            that the client has; None: nobody knows.
        is_broken: a heartbeat before it came a lease or more after its predecessor: the session is
            over, whoever asks.
    """

    append_ms: int
    sequence: int
    issued: int
    at: tuple[int, int]
    gateway: str
    first_ms: int
    renewed_ms: int | None
    is_broken: bool

    def after(self, before: "Heard") -> "Heard":
        """Return what both heartbeats say together."""
        is_newest = self.sequence >= before.sequence
        first_ms = self.first_ms if self.sequence > before.sequence else before.first_ms
        renewed_ms = before.renewed_ms
        if self.issued > before.issued:
            renewed_ms = before.first_ms if self.issued == before.sequence else None
        return replace(
            self,
            sequence=max(self.sequence, before.sequence),
            issued=max(self.issued, before.issued),
            gateway=self.gateway if is_newest else before.gateway,
            first_ms=first_ms,
            renewed_ms=renewed_ms,
            is_broken=self.is_broken or before.is_broken,
        )


@dataclass(slots=True)
class SessionWords:
    """The newest words to and of one session.

    Attributes:
        group: its group.
        heard: its newest heartbeat; None: none was read.
        assignment: the engine's newest word, as one record that says everything that holds.
        notices: the newest notice of each code.
        has_left: whether its leave was read.
        newest_ms: when its newest record was appended.
    """

    group: str
    heard: Heard | None = None
    assignment: Assignment | None = None
    notices: dict[str, Notice] = field(default_factory=dict)
    has_left: bool = False
    newest_ms: int = 0
    _parts: AssignmentAssembler = field(default_factory=AssignmentAssembler)
    _adds: dict[tuple[Queue, Epoch], Add] = field(default_factory=dict)

    def apply(self, record: Assignment) -> bool:
        """Apply a part of an assignment; tell whether the newest word has changed."""
        parts = self._parts.add(record)
        if not parts:
            return False
        first, known = parts[0], self.assignment
        age = (first.generation, first.epoch)
        if known is not None and age < (known.generation, known.epoch):
            return False
        assigned = tuple(entry for part in parts for entry in part.assigned)
        draining = {(e.queue, e.epoch) for e in assigned if e.state == "draining"}
        adds = self._live_adds(parts, {(e.queue, e.epoch) for e in assigned} - draining)
        drops = {(e.queue, e.epoch): e for part in parts for e in part.drop}
        for entry in known.drop if known is not None else ():
            drops.setdefault((entry.queue, entry.epoch), entry)
        self._adds = adds
        self.assignment = Assignment(
            first.group,
            first.client_id,
            first.incarnation,
            first.generation,
            first.epoch,
            drop=tuple(drops.get(name) or Drop(*name) for name in sorted(draining)),
            add=tuple(adds.values()),
            assigned=assigned,
            standing=first.standing,
        )
        return True

    def _live_adds(
        self, parts: tuple[Assignment, ...], live: set[tuple[Queue, Epoch]]
    ) -> dict[tuple[Queue, Epoch], Add]:
        """Return the adds that hold: a later list of gates never has more than an earlier one."""
        adds = {name: add for name, add in self._adds.items() if name in live}
        offered = [add for part in parts for add in part.add]
        offered += [e.add for part in parts for e in part.assigned if e.add is not None]
        for add in offered:
            name = (add.queue, add.epoch)
            if name not in live:
                continue
            known = adds.get(name)
            if known is not None:
                after = tuple(holder for holder in known.after if holder in add.after)
                position = max(known.position, add.position)
                adds[name] = replace(known, after=after, position=position)
            else:
                adds[name] = add
        return adds


class SessionLog:
    """The fold of the log.

    Args:
        silent_ms: a session that is silent for longer is forgotten.
        since_ms: everything that was appended since then is read.

    Attributes:
        generation: the newest claimed generation.
        generations_end: the offset behind the newest record that was read of that topic.
        sessions: incarnation -> its words.
    """

    def __init__(self, silent_ms: int, since_ms: int) -> None:
        self._silent_ms = silent_ms
        self._since_ms = since_ms
        self.generation = self.generations_end = 0
        self.sessions: OrderedDict[str, SessionWords] = OrderedDict()
        self._releases: OrderedDict[str, SeenReleases] = OrderedDict()
        self._releases_read: Counter[str] = Counter()
        self.malformed = 0

    def releases(self, group: str) -> SeenReleases:
        """Return the releases of a group; all its sessions share them."""
        known = self._releases.get(group)
        if known is None:
            known = self._releases[group] = SeenReleases()
            if len(self._releases) > GROUPS_MAX:
                former, _ = self._releases.popitem(last=False)
                del self._releases_read[former]
        return known

    def releases_read(self, group: str) -> int:
        """Return how many releases of a group were read."""
        return self._releases_read[group]

    def apply(self, suffix: str, row: RawRecord) -> str | Release | None:
        """Apply a row of the topic with this suffix.

        Returns:
            What may concern a session that waits: its incarnation, or a release; None: nothing.
        """
        if row.value is None:
            return None
        try:
            match suffix:
                case "heartbeats":
                    return self._hear(row)
                case "assignments":
                    return self._read_word(row)
                case "releases":
                    return self._read_release(row.value)
                case "generations":
                    self.generations_end = row.offset + 1
                    if is_generation(row.value):
                        self.generation = max(self.generation, row.offset + 1)
        except MalformedRecordError:
            self.malformed += 1
        return None

    def forget_silent(self, now_append_ms: int) -> None:
        """Forget the sessions whose newest record is too old."""
        while self.sessions:
            words = next(iter(self.sessions.values()))
            if now_append_ms - words.newest_ms <= self._silent_ms:
                break
            self.sessions.popitem(last=False)

    def _words(self, incarnation: str, group: str, append_ms: int) -> SessionWords:
        words = self.sessions.get(incarnation)
        if words is None:
            words = self.sessions[incarnation] = SessionWords(group)
        words.newest_ms = max(words.newest_ms, append_ms)
        self.sessions.move_to_end(incarnation)
        return words

    def _hear(self, row: RawRecord) -> str | None:
        if row.value is None or _MARK not in row.value:
            return None
        spoken = _spoken(row.value)
        if not is_of_gateway(spoken.incarnation):
            return None
        words = self._words(spoken.incarnation, spoken.group, row.append_ms)
        if spoken.is_leave:
            words.has_left = True
            return spoken.incarnation
        before = words.heard
        # A first heartbeat that is no join's has one before it, which is too old to have been read.
        first_ms = row.append_ms if spoken.poll == 0 else self._since_ms
        since_ms = first_ms if before is None else before.append_ms
        broken = row.append_ms - since_ms >= spoken.lease_ms
        at = (row.partition, row.offset)
        # A join's heartbeat gives the lease by itself.
        renewed_ms = row.append_ms if spoken.poll == 0 else None
        heard = Heard(
            *(row.append_ms, spoken.poll, spoken.state, at, spoken.gateway),
            row.append_ms,
            renewed_ms,
            broken,
        )
        words.heard = heard if before is None else heard.after(before)
        return spoken.incarnation

    def _read_word(self, row: RawRecord) -> str | None:
        if row.key is None or row.value is None or not _KEY_OF_SESSION(row.key):
            return None
        record = decode_assignment(row.value)
        if record is None or not is_of_gateway(record.incarnation):
            return None
        words = self._words(record.incarnation, record.group, row.append_ms)
        if isinstance(record, Assignment):
            return record.incarnation if words.apply(record) else None
        words.notices[record.code] = record
        return record.incarnation

    def _read_release(self, value: bytes) -> Release | None:
        release = decode_release(value)
        if release is not None:
            self.releases(release.group).remember(release)
            self._releases_read[release.group] += 1
        return release


class _Spoken(NamedTuple):
    """What a heartbeat or a leave says of its session and its gateway."""

    incarnation: str
    group: str
    gateway: str
    poll: int
    state: int
    lease_ms: int
    is_leave: bool


def _spoken(value: bytes) -> _Spoken:
    """Read a heartbeat or a leave that a gateway has written.

    Raises:
        MalformedRecordError: no gateway writes such a record.
    """
    record = record_object(value)
    of = record.get("gateway")
    if not isinstance(of, dict):
        raise MalformedRecordError("gateway", "it is no object")
    is_leave = record.get("kind") == "leave"
    return _Spoken(
        _short(record, "incarnation"),
        _short(record, "group"),
        _short(of, "id"),
        _number(of, "poll"),
        _number(of, "state"),
        0 if is_leave else _number(record, "lease_ms"),
        is_leave,
    )


def _short(record: Mapping[str, Any], name: str) -> str:
    text = text_field(record, name)
    if len(text) > _NAME_MAX:
        raise MalformedRecordError(name, f"{len(text)} characters are too many")
    return text


def _number(record: Mapping[str, Any], name: str) -> int:
    value = record.get(name)
    if type(value) is not int or value < 0:
        raise MalformedRecordError(name, f"{value!r} is no whole number from 0 on")
    return value
