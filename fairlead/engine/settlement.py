"""What becomes of a group's records above its quota of a second.

Decides which of them the engine reads after all. It always reads a member's leaves and claims,
which come only once. Of its heartbeats and progress it reads as many as the quota once more, so
that strangers cannot crowd members out. Each other heartbeat of a member counts for its lease (rule
H10); the next one repeats the rest. All other records are refused.

In a barrier it reads everything from unknown senders, for they may own queues.

Above the quota it reads the releases that end a grant of the group: the group waits for each, and
it comes only once. Other releases change nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fairlead.core.membership.strangers import may_have_strangers
from fairlead.core.membership.surplus import SHARE_REMEDY
from fairlead.core.model import Source
from fairlead.core.outputs import Rejection
from fairlead.core.rules.group_rules import rules_of
from fairlead.core.rules.quota import (
    QUOTA_BYTES,
    QUOTA_GROUPS,
    QUOTA_NEW_GROUPS,
    QUOTA_RECORDS,
    QUOTA_STATE,
)
from fairlead.core.state import GroupState
from fairlead.engine.admission import LARGE_BYTES, Sender, SurplusRow, grant_of, sender_of
from fairlead.engine.context import ShardContext
from fairlead.engine.late_reading import read_surplus
from fairlead.engine.parsed_row import Beat, ParsedRow, raw_of
from fairlead.engine.reading import Batch, Refused, is_counted
from fairlead.wire.encode_reject import encode_reject
from fairlead.wire.raw import OutgoingRecord, RawRecord

__all__ = ["Settlement", "letters_of_turned_away", "settle"]

_SAID_ONCE: Final = ("leave", "claims")
_WAIT_FOR_GROUPS: Final = (
    "stop the program that invents groups, wait until groups without members are forgotten, create "
    "the group by a rule (fairlead group set), or raise groups.max_groups"
)
_WAIT: Final = "wait: the next heartbeat tries again; or raise groups.new_groups_per_second"
_WRITE_LESS: Final = (
    "stop the program that writes so much, or raise the group's quota: fairlead group set GROUP "
    "--quota records_per_second=NUMBER"
)
_SUBSCRIBE_LESS: Final = (
    "subscribe to fewer topics and tags, or raise groups.heartbeat_bytes_per_second; the next "
    "heartbeat tries again"
)
_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    QUOTA_GROUPS: ("clients may create {} groups, each shard its share", _WAIT_FOR_GROUPS),
    QUOTA_NEW_GROUPS: ("clients may create {} groups a second, each shard its share", _WAIT),
    QUOTA_BYTES: (
        f"heartbeats above {LARGE_BYTES} bytes may be {{}} bytes a second, each shard its share",
        _SUBSCRIBE_LESS,
    ),
    QUOTA_STATE: (
        "no new group while the state of all groups takes {} bytes, each shard its share",
        SHARE_REMEDY,
    ),
    QUOTA_RECORDS: ("a group may write {} records a second to this topic", _WRITE_LESS),
}
"""Reason -> detail and remedy."""


@dataclass(slots=True)
class Settlement:
    """A group's rows, with those that were read after all, and what became of the rest.

    ``refused`` were read after all and break the protocol. ``surplus`` counts the refusals by the
    quota of records, by topic; ``large`` those of heartbeats by the quota of bytes. ``letters`` are
    the dead letters for some of them.
    """

    lines: list[ParsedRow]
    beats: list[Beat] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    surplus: Counter[str] = field(default_factory=Counter)
    large: int = 0
    letters: list[OutgoingRecord] = field(default_factory=list)


def settle(group: str, state: GroupState | None, batch: Batch, context: ShardContext) -> Settlement:
    """Return what becomes of a group's records; ``state`` is the group before the batch."""
    engine = batch.admission.rules
    rules = engine.defaults if state is None else rules_of(state.rules, engine)
    most = rules.quota.records_per_second
    settlement = Settlement(batch.lines.get(group, []))
    over = list(batch.surplus.get(group, ()))
    if most < engine.defaults.quota.records_per_second:
        settlement.lines, above = _split(settlement.lines, batch, most)
        over = [*above, *over]
    free = state is not None and _may_have_unknown_owners(state, context)
    heartbeats: list[SurplusRow] = []
    for row in over:
        if context.topics.suffix(row.row.topic) != "releases":
            heartbeats.append(row)
        elif (
            free
            or row.number <= most
            or not is_counted(batch, context)
            or (state is not None and _is_awaited(row, state))
        ):
            _read(settlement, row, batch, context)
        else:
            settlement.surplus["releases"] += 1
            if batch.admission.is_first_refused_release(group, row.append_second):
                settlement.letters.append(letter_of(row.row, QUOTA_RECORDS, most, context))
    _settle_large(group, state, settlement, batch, context)
    for row in heartbeats:
        sender = sender_of(row.row)
        own = state is not None and sender is not None and _is_members(sender, group, state)
        strange = _may_be_strangers(row, state, batch, context)
        read_all = strange and not (own and _is_known(state))
        if read_all or row.number <= most or (own and _is_taken(row, sender, batch, group, most)):
            _read(settlement, row, batch, context)
            continue
        if own and sender is not None and sender.kind == "heartbeat":
            settlement.beats.append(Beat(sender.member, row.clock_ms))
        settlement.surplus["heartbeats"] += 1
        if batch.admission.is_first_refusal(group, row.second):
            settlement.letters.append(letter_of(row.row, QUOTA_RECORDS, most, context))
    return settlement


def _settle_large(
    group: str,
    state: GroupState | None,
    settlement: Settlement,
    batch: Batch,
    context: ShardContext,
) -> None:
    """Refuse large heartbeats; a member's heartbeat still counts for its lease."""
    for row in batch.large.get(group, ()):
        if _may_be_strangers(row, state, batch, context):
            _read(settlement, row, batch, context)
            continue
        sender = sender_of(row.row)
        if sender is not None and state is not None and _is_members(sender, group, state):
            settlement.beats.append(Beat(sender.member, row.clock_ms))
        settlement.large += 1
        if batch.admission.is_first_refusal(group, row.second):
            most = context.rules.heartbeat_bytes_per_second
            settlement.letters.append(letter_of(row.row, QUOTA_BYTES, most, context))


def letters_of_turned_away(
    rows: Sequence[tuple[RawRecord, str]], context: ShardContext
) -> list[OutgoingRecord]:
    """Return the dead letters of records that would have created a group, with their reasons."""
    quotas = {
        QUOTA_GROUPS: context.rules.groups_max,
        QUOTA_NEW_GROUPS: context.rules.new_groups_per_second,
        QUOTA_BYTES: context.rules.heartbeat_bytes_per_second,
        QUOTA_STATE: context.rules.state_bytes,
    }
    return [letter_of(row, reason, quotas[reason], context) for row, reason in rows]


def _split(
    lines: Sequence[ParsedRow], batch: Batch, most: int
) -> tuple[list[ParsedRow], list[SurplusRow]]:
    """Split rows by a group's quota that is lower than that of all groups: within it, above it."""
    within: list[ParsedRow] = []
    above: list[SurplusRow] = []
    for line in lines:
        number = batch.numbers.get((line.row.topic, line.row.offset), 0)
        if number > most:
            above.append(SurplusRow(raw_of(line.row), line.row.clock_ms, number))
        else:
            within.append(line)
    return within, above


def _may_have_unknown_owners(state: GroupState, context: ShardContext) -> bool:
    return state.barrier is not None or state.generation < context.generation


def _may_be_strangers(
    row: SurplusRow, state: GroupState | None, batch: Batch, context: ShardContext
) -> bool:
    """Tell whether an unknown owner may have written a record of heartbeats."""
    if state is None or not _may_have_unknown_owners(state, context):
        return False
    if state.barrier is None or state.barrier.generation < context.generation:
        # Its barrier begins in this batch.
        return True
    rules, clock = rules_of(state.rules, batch.admission.rules), batch.clock
    return may_have_strangers(state, rules, row.clock_ms, (clock.marker, clock.marker_ms))


def _is_awaited(row: SurplusRow, state: GroupState) -> bool:
    """Tell whether a release ends an unresolved grant of the group."""
    ended = grant_of(row.row)
    if ended is None:
        return False
    queue, member, epoch = ended
    value = state.queues.get(queue)
    grants = () if value is None else value.grants
    return any((grant.member, grant.epoch) == (member, epoch) for grant in grants)


def _is_known(state: GroupState | None) -> bool:
    """Tell whether the group's members are certain: it does not recover."""
    return state is not None and not (state.barrier is not None and state.barrier.recovering)


def _is_members(sender: Sender, group: str, state: GroupState) -> bool:
    return sender.group == group and sender.member in state.liveness


def _is_taken(row: SurplusRow, sender: Sender | None, batch: Batch, group: str, most: int) -> bool:
    if sender is not None and sender.kind in _SAID_ONCE:
        return True
    return batch.admission.use_own_quota(group, row.second, most)


def _read(settlement: Settlement, row: SurplusRow, batch: Batch, context: ShardContext) -> None:
    read = read_surplus(batch, row, context)
    if isinstance(read, ParsedRow):
        settlement.lines = [*settlement.lines, read]
        return
    settlement.refused.append(read)
    sender = read.sender
    if sender is not None and sender.heartbeat:
        settlement.beats.append(Beat(sender.member, row.clock_ms))


def letter_of(row: RawRecord, reason: str, quota: int, context: ShardContext) -> OutgoingRecord:
    """Return the dead letter of a record that a quota refuses undecoded."""
    detail, remedy = _TEXTS[reason]
    source = Source(row.topic, row.partition, row.offset, row.append_ms)
    refusal = Rejection(source, reason, "group", detail.format(quota), remedy)
    return encode_reject(refusal, row, context.topics, context.engine_version)
