"""Reads a batch: puts its rows in the one order that counts, dates, decodes and groups them.

It skips rows that were read before, and refuses and counts records that break the protocol. What a
record leads to is decided elsewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fairlead.codec.quarantine import HeldRow
from fairlead.codec.shard import OpenShard, ShardHeader
from fairlead.core.apply import KINDS
from fairlead.core.outputs import Rejection
from fairlead.core.records import (
    ALL_GROUPS,
    BridgeSign,
    Generation,
    GroupRecord,
    Heartbeat,
    OffsetsKnown,
    RouteChanged,
    RuleSet,
    Tick,
    TopicAbsent,
)
from fairlead.core.rules.quota import QUOTA_BOUNDS, QUOTA_BYTES
from fairlead.core.standby_records import MembersLook
from fairlead.engine.admission import Admission, SurplusRow, ruled_groups
from fairlead.engine.clock import TICKS_PER_MOVE, ShardClock
from fairlead.engine.context import ShardContext
from fairlead.engine.defaults import rules_for_all
from fairlead.engine.errors import AppendTimeMissingError, HigherGenerationError
from fairlead.engine.parsed_row import Beat, ParsedRow, source_of
from fairlead.wire.decode import decode
from fairlead.wire.errors import Sender, WireError
from fairlead.wire.limits import WireLimits
from fairlead.wire.partition import partition_of_group
from fairlead.wire.raw import RawRecord
from fairlead.wire.texts import GROUP

__all__ = [
    "FOREIGN_TICK",
    "OVER_QUOTA",
    "UNREADABLE",
    "Batch",
    "Refused",
    "beats_of",
    "order_of",
    "read_rows",
]

FOREIGN_TICK = "foreign_tick"
"""The reason of a refused tick that the driver of this shard has not written."""

OVER_QUOTA = "over_quota"
"""The kind of records that a quota refuses unread."""

UNREADABLE = "unreadable"
"""The kind of records that break the protocol: their own word for their kind may be wrong."""

_ORDER = {"control": 0, "routes": 1, "offsets": 2, "releases": 3, "heartbeats": 4}
_OF_SHARD = frozenset({"control", "releases", "heartbeats"})
"""A shard reads its own partition of these, stamped by the broker; other topics go to all."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that breaks the protocol, or a tick that no driver wrote, and why."""

    row: RawRecord
    error: WireError | Rejection

    @property
    def sender(self) -> Sender | None:
        """The sender, if the row names one."""
        return self.error.sender if isinstance(self.error, WireError) else None


@dataclass(slots=True)
class Batch:
    """Everything that the rows of a batch say, in order.

    ``lines`` has the records of each group, ``routes`` those of each topic, ``defaults`` the rules
    of all groups. ``beats`` are each group's heartbeats with refused content: they still count for
    leases (rule H10). ``input_lost``: a driver has begun behind records that are gone.
    ``append_times`` are those of the records, by kind. ``surplus`` are each group's undecoded
    records above its quota; ``numbers`` has, by topic and offset, a record's number in its group's
    second, unless it is small. ``large`` are undecoded large heartbeats without room.
    ``turned_away`` are records that would have created a group and get a dead letter, with the
    reason. ``bridges`` is the newest sign of each cluster's bridge: (when, its state).
    """

    clock: ShardClock
    admission: Admission
    positions: dict[str, dict[int, int]]
    newest_ms: int
    lines: dict[str, list[ParsedRow]] = field(default_factory=dict)
    routes: dict[str, list[ParsedRow]] = field(default_factory=dict)
    defaults: list[ParsedRow] = field(default_factory=list)
    beats: dict[str, list[Beat]] = field(default_factory=dict)
    surplus: dict[str, list[SurplusRow]] = field(default_factory=dict)
    large: dict[str, list[SurplusRow]] = field(default_factory=dict)
    numbers: dict[tuple[str, int], int] = field(default_factory=dict)
    turned_away: list[tuple[RawRecord, str]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    input_lost: bool = False
    gathering: bool = False
    bridges: dict[str, tuple[int, str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    append_times: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))


def order_of(context: ShardContext, row: RawRecord | HeldRow) -> tuple[int, str, int, int]:
    """Return the sort key of a row: kind of topic, topic, partition, offset."""
    suffix = context.topics.suffix(row.topic) or ""
    return (_ORDER.get(suffix, len(_ORDER)), row.topic, row.partition, row.offset)


def read_rows(
    opened: OpenShard | None,
    rows: Sequence[RawRecord],
    context: ShardContext,
) -> Batch:
    """Read a batch of rows on top of what the shard has read.

    Raises:
        AppendTimeMissingError: a topic of the shard lacks the broker's append time.
        HigherGenerationError: a tick of a higher generation was read by a driver that does not
            seal its own.
    """
    batch = _begin(opened, rows, context)
    ignored: Counter[str] = Counter()
    later: list[tuple[str, RawRecord]] = []
    for row in sorted(rows, key=lambda row: order_of(context, row)):
        suffix = context.topics.suffix(row.topic)
        if suffix not in _ORDER:
            continue
        ends = batch.positions.setdefault(row.topic, {})
        if row.offset < ends.get(row.partition, 0):
            batch.counts["rows/replayed"] += 1
            continue
        batch.counts["rows/read"] += 1
        if suffix in _OF_SHARD or context.shard == 0:
            batch.counts[f"records_read/{suffix}"] += 1
        ends[row.partition] = row.offset + 1
        if suffix in _OF_SHARD:
            _check_stamp(row)
            batch.newest_ms = max(batch.newest_ms, row.append_ms)
        if suffix == "heartbeats":
            _read(batch, suffix, row, context, ignored)
        else:
            later.append((suffix, row))
    # Only heartbeats move the clock, so the clock after all of them dates the other records.
    for suffix, row in later:
        _read(batch, suffix, row, context, ignored)
    batch.counts.update({f"ignored_fields/{kind}": number for kind, number in ignored.items()})
    return batch


def _begin(opened: OpenShard | None, rows: Sequence[RawRecord], context: ShardContext) -> Batch:
    clock = ShardClock(TICKS_PER_MOVE * context.tick_ms)
    header = ShardHeader() if opened is None else opened.header
    slots = {} if opened is None else opened.slots
    control = [row for row in rows if context.topics.suffix(row.topic) == "control"]
    admission = Admission(
        rules_for_all(header.defaults, replace(context.rules, group_bytes=header.group_bytes)),
        context.partitions.shards,
        slots,
        len(slots),
        header.intake,
        header.released,
        ruled_groups(control),
    )
    if opened is None:
        return Batch(clock, admission, {}, 0)
    clock.clock_ms = opened.clock_ms
    if context.topics.name("heartbeats") in header.positions:
        # 0: no heartbeat was read yet, after a start behind the first one.
        clock.append_ms = opened.append_ms or None
    clock.marker, clock.marker_ms = header.marker, header.marker_ms
    clock.control_end = header.control_end
    clock.jumps, clock.jumps_open = header.jumps, header.jumps_open
    positions = {topic: dict(partitions) for topic, partitions in header.positions.items()}
    batch = Batch(clock, admission, positions, header.newest_ms)
    batch.gathering = header.recovering
    batch.bridges = dict(header.bridges)
    return batch


def _check_stamp(row: RawRecord) -> None:
    if not row.append_time_is_log:
        raise AppendTimeMissingError(row.topic)


def _read(
    batch: Batch, suffix: str, row: RawRecord, context: ShardContext, ignored: Counter[str]
) -> None:
    clock = batch.clock
    clock_ms = clock.advance(row.append_ms) if suffix == "heartbeats" else clock.clock_ms
    if suffix == "heartbeats" and _is_put_aside(batch, row, clock_ms, context):
        return
    if suffix == "releases" and _is_release_put_aside(batch, row, clock_ms):
        return
    limits = WireLimits(context.partitions.shards)
    try:
        record = decode(suffix, row, limits, ignored)
    except WireError as error:
        _refuse(batch, suffix, Refused(row, error), clock_ms, context)
        return
    if isinstance(record, Tick):
        _read_tick(batch, row, record, context)
    elif isinstance(record, BridgeSign):
        _read_sign(batch, row, record, context)
    elif not isinstance(record, Generation):
        held = HeldRow(
            row.topic, row.partition, row.offset, row.append_ms, clock_ms, row.key, row.value
        )
        if isinstance(record, Heartbeat):
            _note_group(batch, record.group, clock_ms, context)
        _lay_out(batch, ParsedRow(held, record), record, context)


def _note_group(batch: Batch, group: str, clock_ms: int, context: ShardContext) -> None:
    """Note the group that a heartbeat creates."""
    admission = batch.admission
    if context.rules.auto_create and not admission.is_known(group):
        admission.add_group(group, clock_ms, counted=is_counted(batch, context))


_FEW = min(QUOTA_BOUNDS["records_per_second"])
"""Every quota allows a group so many records in a second."""


def _is_put_aside(batch: Batch, row: RawRecord, clock_ms: int, context: ShardContext) -> bool:
    """Put a record aside that exceeds a quota, before it is decoded."""
    admission = batch.admission
    group = _group_of(row)
    if group is None or not is_counted(batch, context):
        return False
    if not admission.is_known(group):
        reason = admission.refusal(clock_ms) if context.rules.auto_create else None
        if reason is None and admission.is_too_large(SurplusRow(row, clock_ms, 1)):
            reason = QUOTA_BYTES
        if reason is None:
            return False
        batch.counts[f"rejects/{reason}"] += 1
        batch.counts[f"records/heartbeats/{OVER_QUOTA}/refused"] += 1
        if admission.may_write_letter():
            batch.turned_away.append((row, reason))
        return True
    surplus = SurplusRow(row, clock_ms, admission.number(group, clock_ms))
    return _is_over(batch, group, surplus) or _is_too_large(batch, group, surplus)


def _is_too_large(batch: Batch, group: str, row: SurplusRow) -> bool:
    """Put a large heartbeat aside if its shard has no room for it."""
    if not batch.admission.is_too_large(row):
        return False
    batch.large.setdefault(group, []).append(row)
    return True


def _is_release_put_aside(batch: Batch, row: RawRecord, clock_ms: int) -> bool:
    """Put a release aside that exceeds its group's quota, before it is decoded.

    It counts in any case: the cut of batches before or behind the marker must not matter.
    """
    group = _group_of(row)
    if group is None or not GROUP.allows(group):
        # Counts are kept by key until the second is over, so a key must be a group's name.
        return False
    number = batch.admission.number_release(group, row.append_ms)
    return _is_over(batch, group, SurplusRow(row, clock_ms, number))


def _is_over(batch: Batch, group: str, row: SurplusRow) -> bool:
    """Put a record aside if it is above the quota of all groups; else note its number."""
    if row.number > batch.admission.rules.defaults.quota.records_per_second:
        batch.surplus.setdefault(group, []).append(row)
        return True
    if row.number > _FEW:
        batch.numbers[row.row.topic, row.row.offset] = row.number
    return False


def _group_of(row: RawRecord) -> str | None:
    """Return the group that a client's record names by its key; a tick has none."""
    try:
        return None if row.key is None else row.key.decode("ascii")
    except UnicodeDecodeError:
        return None


def is_counted(batch: Batch, context: ShardContext) -> bool:
    """Tell whether quotas hold: only once the engine knows who may be working."""
    gathers = batch.gathering or batch.input_lost
    return batch.clock.marker >= context.generation and not gathers


def _read_tick(batch: Batch, row: RawRecord, tick: Tick, context: ShardContext) -> None:
    clock, own = batch.clock, context.generation
    if tick.generation > own and not context.is_sealed:
        raise HigherGenerationError(tick.generation, own)
    unproved = tick.generation == own > clock.marker and not context.is_marker(tick)
    if tick.generation > own or unproved:
        batch.counts["events/tick/rejected"] += 1
        batch.counts["records/heartbeats/tick/refused"] += 1
        batch.refused.append(Refused(row, _foreign(row, tick, context)))
        return
    late = tick.generation < clock.marker
    batch.counts["events/tick/stale" if late else "events/tick/applied"] += 1
    batch.counts[f"records/heartbeats/tick/{'ignored' if late else 'applied'}"] += 1
    batch.append_times["tick"].append(row.append_ms)
    if tick.generation > clock.marker:
        # A sealed driver says itself what it lost; an earlier one that died does not count.
        batch.input_lost = tick.input_lost and (tick.generation == own or not context.is_sealed)
    clock.tick(tick.generation, tick.control_end)


_BRIDGES_MAX = 16
"""A shard remembers the bridges of so many clusters."""


def _read_sign(batch: Batch, row: RawRecord, sign: BridgeSign, context: ShardContext) -> None:
    """Note what a bridge says of itself; each shard does so for its groups."""
    batch.counts["records/offsets/bridge/applied"] += context.shard == 0
    batch.bridges[sign.cluster] = (row.append_ms, sign.state)
    if len(batch.bridges) > _BRIDGES_MAX:
        oldest = min(batch.bridges, key=lambda name: (batch.bridges[name], name))
        del batch.bridges[oldest]


def _foreign(row: RawRecord, tick: Tick, context: ShardContext) -> Rejection:
    """Return the refusal of a tick without a proof of its writer; it changes nothing.

    A claim of a higher generation stands in the generations topic, which no client may write and
    the driver follows; no tick can replace it.
    """
    ahead = tick.generation > context.generation
    told = (
        f"it is of generation {tick.generation}, above that of the engine that reads it"
        if ahead
        else f"it is of generation {tick.generation}, and shows no secret that its claim has sealed"
    )
    place = HeldRow(row.topic, row.partition, row.offset, row.append_ms, 0, row.key, row.value)
    return Rejection(
        source_of(place),
        FOREIGN_TICK,
        "generation" if ahead else "secret",
        told,
        "find out who wrote it, if no other engine was just started: only drivers write ticks",
    )


def _refuse(
    batch: Batch, suffix: str, refused: Refused, clock_ms: int, context: ShardContext
) -> None:
    # Every shard reads routes and offsets; one of them speaks for all.
    if suffix in _OF_SHARD or context.shard == 0:
        batch.refused.append(refused)
        batch.counts[f"records/{suffix}/{UNREADABLE}/refused"] += 1
    sender = refused.sender
    if sender is not None and sender.heartbeat:
        batch.beats.setdefault(sender.group, []).append(Beat(sender.member, clock_ms))


def _lay_out(batch: Batch, line: ParsedRow, record: GroupRecord, context: ShardContext) -> None:
    if isinstance(record, OffsetsKnown | TopicAbsent | MembersLook) and not _is_own(
        record.group, context
    ):
        return
    # Every shard reads routes; one of them speaks for all.
    if not isinstance(record, RouteChanged) or context.shard == 0:
        batch.append_times[KINDS[type(record)]].append(line.row.append_ms)
    if isinstance(record, RouteChanged):
        batch.routes.setdefault(record.topic, []).append(line)
        batch.counts["records/routes/route/applied"] += context.shard == 0
    elif isinstance(record, RuleSet) and record.group == ALL_GROUPS:
        batch.defaults.append(line)
    else:
        batch.lines.setdefault(record.group, []).append(line)


def _is_own(group: str, context: ShardContext) -> bool:
    return partition_of_group(group, context.partitions.shards) == context.shard


def beats_of(lines: Sequence[ParsedRow]) -> list[Beat]:
    """Return the heartbeats among a group's lines."""
    return [
        Beat(line.record.member, line.row.clock_ms)
        for line in lines
        if isinstance(line.record, Heartbeat)
    ]
