"""Decodes records that had to wait: those of a quarantine, and those above a quota."""

from collections.abc import Sequence

from fairlead.codec.quarantine import HeldRow
from fairlead.core.apply import KINDS
from fairlead.core.records import BridgeSign, Generation, RouteChanged, Tick
from fairlead.engine.admission import SurplusRow
from fairlead.engine.context import ShardContext
from fairlead.engine.parsed_row import ParsedRow, raw_of
from fairlead.engine.reading import Batch, Refused
from fairlead.wire.decode import decode
from fairlead.wire.errors import WireError
from fairlead.wire.limits import WireLimits

__all__ = ["read_surplus", "reread"]


def reread(rows: Sequence[HeldRow], context: ShardContext) -> tuple[list[ParsedRow], list[Refused]]:
    """Decode rows that waited; refuse those that this engine no longer accepts."""
    lines: list[ParsedRow] = []
    refused: list[Refused] = []
    limits = WireLimits(context.partitions.shards)
    for held in rows:
        row = raw_of(held)
        try:
            record = decode(context.topics.suffix(row.topic) or "", row, limits)
        except WireError as error:
            refused.append(Refused(row, error))
            continue
        assert not isinstance(record, Tick | Generation | BridgeSign)
        lines.append(ParsedRow(held, record))
    return lines, refused


def read_surplus(batch: Batch, row: SurplusRow, context: ShardContext) -> ParsedRow | Refused:
    """Decode a record above the quota of all groups that its group may write after all."""
    raw = row.row
    try:
        suffix = context.topics.suffix(raw.topic) or ""
        record = decode(suffix, raw, WireLimits(context.partitions.shards))
    except WireError as error:
        return Refused(raw, error)
    assert not isinstance(record, Tick | Generation | RouteChanged | BridgeSign)
    place = raw.topic, raw.partition, raw.offset, raw.append_ms
    batch.append_times[KINDS[type(record)]].append(raw.append_ms)
    return ParsedRow(HeldRow(*place, row.clock_ms, raw.key, raw.value), record)
