"""One round of a shard over the groups that a batch concerns, and what comes of it.

Decides under which rules and moment the groups are stepped, and when a group in quarantine is
tried again. Groups are visited one after the other, in order, and know nothing of each other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from fairlead.codec.group import decode_group
from fairlead.codec.shard import GroupSlot, OpenShard, ShardHeader, close_shard
from fairlead.core.apply import KINDS
from fairlead.core.moment import Moment
from fairlead.core.outputs import Decision, Output, Rejection
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.rules.quota import QUOTA_BYTES, QUOTA_RECORDS
from fairlead.core.state import GroupState
from fairlead.engine.context import DecisionSummary, ShardContext, ShardResult, StepFailure
from fairlead.engine.defaults import defaults_change, rules_for_all, set_defaults
from fairlead.engine.group_step import Attempt, dated
from fairlead.engine.late_reading import reread
from fairlead.engine.outgoing import (
    PUBLISHED,
    Stamp,
    count_outputs,
    count_written,
    records_of,
    records_of_refused,
)
from fairlead.engine.parsed_row import ParsedRow, source_of
from fairlead.engine.quarantine import GroupResult, advance, set_aside
from fairlead.engine.reading import OVER_QUOTA, UNREADABLE, Batch, Refused, order_of
from fairlead.engine.settlement import letters_of_turned_away, settle
from fairlead.engine.state_share import FULL_NOW, group_bytes
from fairlead.wire.raw import OutgoingRecord

__all__ = ["CLOCK_JUMP", "GROUPS_NOW", "READ_UNTIL_MS", "RECOVERING_NOW", "Round"]

CLOCK_JUMP = "clock_jump"
"""The alarm that a broker's clock jumped ahead since the decision before."""

READ_UNTIL_MS = "read_until_ms"
"""Counter name: the append time of the newest record that moved the shard's clock."""

GROUPS_NOW = "groups_now"
"""Counter name: the shard's groups of now, by phase."""

RECOVERING_NOW = "recovering_now"
"""Counter name: the shard recovers."""


class Round:
    """The visits of one batch."""

    def __init__(self, context: ShardContext, opened: OpenShard | None, batch: Batch) -> None:
        self._context = context
        self._opened = opened
        self._before = opened.header if opened is not None else ShardHeader()
        self._batch = batch
        self._defaults = dict(self._before.defaults)
        self._engine = self._rules()
        self._moment = Moment(
            batch.clock.clock_ms,
            batch.newest_ms,
            self._marker(),
            context.shard,
            self._before.step + 1,
            batch.positions,
            number_floor=self._before.number_floor,
            marker_ms=batch.clock.marker_ms,
            recovering=self._before.recovering or batch.input_lost,
            bridges=batch.bridges,
        )
        jumped = batch.clock.jumps > self._before.jumps_told
        alarm = CLOCK_JUMP if jumped else None
        self._stamp = Stamp(self._before.positions, alarm, self._before.origin)
        self._changes: dict[str, GroupSlot | None] = {}
        self._records: list[OutgoingRecord] = []
        self._failures: list[StepFailure] = []
        self._decided: list[DecisionSummary] = []
        self._number_floor = self._before.number_floor
        self._counts = Counter(batch.counts)
        # Each group must enter the barrier of a new driver.
        self._everyone = self._before.generation < context.generation

    def _rules(self) -> EngineRules:
        engine = replace(self._context.rules, group_bytes=self._before.group_bytes)
        return rules_for_all(self._defaults, engine)

    def _marker(self) -> int:
        """Return the newest generation whose marker counts.

        It counts only after all of its control records: a reset among them may start a queue.
        """
        clock, context = self._batch.clock, self._context
        control = self._batch.positions.get(context.topics.name("control"), {})
        read = control.get(context.shard, 0) >= clock.control_end
        return clock.marker if read else clock.marker - 1

    def refuse(self, refused: Sequence[Refused]) -> None:
        """Write the dead letters of refused rows."""
        for entry in refused:
            self._records += records_of_refused(entry, self._context)
            self._counts[f"rejects/{entry.error.reason}"] += 1
            self._counts[f"{PUBLISHED}/notice"] += entry.sender is not None

    def turn_away(self) -> None:
        """Write the dead letters of records that would have created one group too many."""
        self._records += letters_of_turned_away(self._batch.turned_away, self._context)

    def set_defaults(self) -> None:
        """Put the rules for all groups in force."""
        lines = self._batch.defaults
        self._defaults, verdicts = set_defaults(self._before.defaults, lines, self._context.rules)
        refusals: list[Output] = [refusal for _, refusal in verdicts if refusal is not None]
        self._write(refusals, records_of(refusals, lines, self._context))
        for _, refusal in verdicts:
            outcome = "applied" if refusal is None else "refused"
            self._counts[f"records/control/rule/{outcome}"] += 1
            self._counts["events/rule/applied" if refusal is None else "events/rule/rejected"] += 1
        if self._defaults != self._before.defaults:
            accepted = [line for line, refusal in verdicts if refusal is None]
            change = defaults_change(self._engine, accepted)
            self._engine = replace(self._rules(), defaults_change=change)
            self._everyone = True

    def groups(self) -> list[str]:
        """Return the groups that have a record in the batch or are due, sorted."""
        batch = self._batch
        chosen = {*batch.lines, *batch.beats, *batch.surplus, *batch.large}
        if self._opened is not None:
            topics = self._batch.routes.keys()
            chosen.update(
                group
                for group, slot in self._opened.slots.items()
                if self._is_due(slot) or (topics and not topics.isdisjoint(slot.topics))
            )
        return sorted(chosen)

    def visit(self, group: str) -> None:
        """Step one group, or let its rows wait while it is in quarantine."""
        slot = self._opened.slots.get(group) if self._opened is not None else None
        state = dated(_state_of(slot), self._batch.beats.get(group, ()))
        moment = self._moment
        if slot is not None and self._lacks_records(slot):
            moment = replace(moment, incomplete=True)
        own, state = self._settled(group, state)
        lines = self._lines_of(own, slot)
        attempt = Attempt(group, slot, state, moment, self._engine, self._context, self._stamp)
        if slot is None and not lines:
            return
        waits = slot is not None and slot.quarantine is not None and not self._is_due(slot)
        visit = set_aside(attempt, lines) if waits else advance(attempt, lines)
        if visit.slot is None and state is not None:
            self._number_floor = max(self._number_floor, state.number)
        self._add_result(group, visit)
        self._count_records(own, visit)

    def _count_records(self, lines: Sequence[ParsedRow], visit: GroupResult) -> None:
        """Count the outcome of each new record, exactly once."""
        refused = {each.source for each in visit.outputs if isinstance(each, Rejection)}
        for line in lines:
            source = source_of(line.row)
            outcome = "applied"
            if visit.waits:
                outcome = "held"
            elif source in refused:
                outcome = "refused"
            elif source in visit.ignored:
                outcome = "ignored"
            suffix = self._context.topics.suffix(line.row.topic)
            self._counts[f"records/{suffix}/{KINDS[type(line.record)]}/{outcome}"] += 1

    def _lacks_records(self, slot: GroupSlot) -> bool:
        """Tell whether a group in quarantine may not know all of its owners.

        Some of its records were given up, or it has no state and an earlier engine may have had
        one.
        """
        if slot.quarantine is None:
            return False
        return slot.quarantine.overflow or (not slot.body and self._context.generation > 1)

    def _is_due(self, slot: GroupSlot) -> bool:
        return self._everyone or slot.due_ms <= self._batch.clock.clock_ms

    def _settled(
        self, group: str, state: GroupState | None
    ) -> tuple[list[ParsedRow], GroupState | None]:
        """Return the group's rows, and the group with its refused heartbeats' leases."""
        settlement = settle(group, state, self._batch, self._context)
        self.refuse(settlement.refused)
        self._records += settlement.letters
        for suffix, number in settlement.surplus.items():
            self._counts[f"rejects/{QUOTA_RECORDS}"] += number
            self._counts[f"records/{suffix}/{OVER_QUOTA}/refused"] += number
        self._counts[f"rejects/{QUOTA_BYTES}"] += settlement.large
        self._counts[f"records/heartbeats/{OVER_QUOTA}/refused"] += settlement.large
        for each in settlement.refused:
            topic = self._context.topics.suffix(each.row.topic)
            self._counts[f"records/{topic}/{UNREADABLE}/refused"] += 1
        return settlement.lines, dated(state, settlement.beats)

    def _lines_of(self, own: Sequence[ParsedRow], slot: GroupSlot | None) -> list[ParsedRow]:
        lines = list(own)
        if slot is not None:
            for topic in slot.topics:
                lines += self._batch.routes.get(topic, ())
            if slot.quarantine is not None:
                held, refused = reread(slot.quarantine.rows, self._context)
                lines += held
                self.refuse(refused)
        return sorted(lines, key=lambda line: order_of(self._context, line.row))

    def _add_result(self, group: str, visit: GroupResult) -> None:
        self._changes[group] = visit.slot
        self._write(visit.outputs, visit.records)
        for name, number in visit.counts:
            self._counts[name] += number
        if visit.failure is not None:
            self._failures.append(visit.failure)

    def _write(self, outputs: Sequence[Output], records: Sequence[OutgoingRecord]) -> None:
        self._records += records
        self._decided += [
            DecisionSummary.of(each) for each in outputs if isinstance(each, Decision)
        ]
        count_outputs(outputs, self._counts)

    def close(self) -> ShardResult:
        """Return the shard after the round, and everything it wrote and counted."""
        clock, before = self._batch.clock, self._before
        self._counts["clock_jumps"] += clock.jumps - before.jumps
        header = replace(
            before,
            generation=self._context.generation,
            defaults=self._defaults,
            marker=clock.marker,
            positions=self._batch.positions,
            step=before.step + bool(self._decided),
            newest_ms=self._batch.newest_ms,
            jumps=clock.jumps,
            jumps_told=clock.jumps if self._decided else before.jumps_told,
            jumps_open=clock.jumps_open,
            number_floor=self._number_floor,
            marker_ms=clock.marker_ms,
            control_end=clock.control_end,
            recovering=self._moment.recovering and not self._is_recovered(),
            intake=self._batch.admission.after(),
            released=self._batch.admission.releases_after(),
            bridges=self._batch.bridges,
            group_bytes=self._group_bytes(),
        )
        stored = close_shard(
            self._opened, (clock.clock_ms, clock.append_ms or 0), header, self._changes
        )
        self._count_groups()
        self._counts[RECOVERING_NOW] = int(header.recovering)
        self._counts[FULL_NOW] = int(header.group_bytes > 0)
        self._counts[READ_UNTIL_MS] = clock.append_ms or 0
        count_written(self._records, self._context, self._counts)
        counts = {name: self._counts[name] for name in sorted(self._counts) if self._counts[name]}
        read = {kind: tuple(times) for kind, times in self._batch.append_times.items()}
        return ShardResult(
            stored,
            tuple(self._records),
            counts,
            tuple(self._failures),
            read,
            tuple(self._decided),
        )

    def _group_bytes(self) -> int:
        if not self._decided:
            return self._before.group_bytes
        shards = self._context.partitions.shards
        return group_bytes(self._slots(), self._context.rules.state_bytes, shards)

    def _slots(self) -> list[GroupSlot]:
        before = self._opened.slots if self._opened is not None else {}
        return [slot for slot in ({**before, **self._changes}).values() if slot is not None]

    def _is_recovered(self) -> bool:
        """Tell whether the shard has heard, since the marker, every member that may be working."""
        rules, moment = self._engine.defaults, self._moment
        silent_ms = moment.clock_ms - self._batch.clock.marker_ms
        marked = moment.marker >= self._context.generation
        return marked and silent_ms > rules.lease_ms + rules.margin_ms

    def _count_groups(self) -> None:
        """Count the groups of the shard by phase."""
        for slot in self._slots():
            self._counts[f"{GROUPS_NOW}/{slot.phase or 'new'}"] += 1


def _state_of(slot: GroupSlot | None) -> GroupState | None:
    if slot is None or not slot.body:
        return None
    return decode_group(slot.body, slot.liveness, slot.group)
