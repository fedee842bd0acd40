"""Applies the records of Fairlead's topics to groups: what each kind tells of its group."""

from collections.abc import Callable, Mapping

from fairlead.core.records import Reset, RouteChanged
from fairlead.observed.bridge_liveness import BridgeSigns
from fairlead.observed.known_groups import KnownGroups
from fairlead.observed.positions import PositionReport, progress_of
from fairlead.observed.shared_facts import SharedFacts
from fairlead.observed.touched import Touched
from fairlead.wire.assignment_sets import member_part
from fairlead.wire.decode import decode
from fairlead.wire.limits import WireLimits
from fairlead.wire.quick_assignments import part_of
from fairlead.wire.quick_decisions import read_part
from fairlead.wire.quick_fields import (
    body_of,
    epoch_of,
    integer_of,
    member_of,
    name_of,
    position_of,
    queue_of,
    text_of,
)
from fairlead.wire.raw import RawRecord
from fairlead.wire.topics import TopicNames

__all__ = ["RecordReader"]


class RecordReader:
    """Passes each record to where it belongs."""

    def __init__(
        self,
        names: TopicNames,
        limits: WireLimits,
        facts: SharedFacts,
        groups: KnownGroups,
        bridges: BridgeSigns,
    ) -> None:
        """Begin with nothing read.

        Args:
            names: the names of the topics.
            limits: what the engine rejects.
            facts: the facts that groups share, to be added to.
            groups: the groups, likewise.
            bridges: the signs of bridges, likewise.
        """
        self._limits, self._facts, self._groups, self._bridges = limits, facts, groups, bridges
        readers: Mapping[str, Callable[[RawRecord], None]] = {
            "heartbeats": self._take_heartbeat,
            "releases": self._take_release,
            "control": self._take_rule,
            "routes": self._take_route,
            "offsets": self._take_bounds,
            "generations": self._take_generation,
            "assignments": self._take_assignment,
            "decisions": self._take_decision,
        }
        self._suffixes = {names.name(suffix): suffix for suffix in readers}
        self._readers = {names.name(suffix): reader for suffix, reader in readers.items()}
        self._bytes_max = {
            names.name(suffix): limits.bytes_max(suffix) for suffix in ("heartbeats", "releases")
        }

    @property
    def _touched(self) -> Touched:
        return self._groups.touched

    def reads(self, row: RawRecord) -> bool:
        """Tell whether this topic tells anything of groups."""
        return row.topic in self._readers

    def suffix(self, row: RawRecord) -> str:
        """Return the name of a record's topic behind its prefix."""
        return self._suffixes[row.topic]

    def read(self, row: RawRecord) -> None:
        """Read a record.

        Raises:
            Exception: it is no record of the protocol; nothing has changed.
        """
        most = self._bytes_max.get(row.topic)
        if most is not None and len(row.value or b"") > most:
            raise ValueError("the engine rejects it for its size")
        self._readers[row.topic](row)

    def _take_heartbeat(self, row: RawRecord) -> None:
        clock_ms = self._facts.beat(row)
        if row.value is None or row.key is None:
            return
        body = body_of(row.value)
        kind = body["kind"]
        if kind == "heartbeat":
            group = self._groups.of_sender(body, row)
            news = group.members.news
            if group.members.take_heartbeat(body, row.append_ms, clock_ms, group.rules):
                group.changed()
            is_new = group.members.news != news
            (self._touched.changed if is_new else self._touched.heard).add(group.name)
        elif kind == "progress":
            reports = progress_of(body)
            group = self._groups.of_sender(body, row)
            group.take_progress(reports, row.append_ms)
            self._touched.measured.add(group.name)
            self._groups.meet(group, (report.queue for report in reports))
        elif kind == "leave":
            group = self._groups.of_sender(body, row)
            group.members.take_leave(body, clock_ms)
            self._touched.changed.add(group.name)

    def _take_release(self, row: RawRecord) -> None:
        if row.value is None:
            return
        body = body_of(row.value)
        position, identity = body["position"], body.get("identity")
        report = PositionReport(
            queue_of(body["queue"]),
            epoch_of(body["epoch"]),
            None if position is None else position_of(position),
            identity=None if identity is None else name_of(identity),
            by="release",
        )
        group = self._groups.of_sender(body, row)
        group.take_release(member_of(body), report, row.append_ms)
        self._groups.meet(group, [report.queue])
        self._groups.stirred.add(group.name)
        self._touched.changed.add(group.name)

    def _take_rule(self, row: RawRecord) -> None:
        name = self._facts.rules.apply_row(row)
        if name is not None:
            self._touched.changed.add(self._groups.confirmed_group(name, row).name)
            return
        reset = decode("control", row, self._limits)
        if isinstance(reset, Reset):
            group = self._groups.confirmed_group(reset.group, row)
            group.positions.apply_reset(reset, row.offset, row.append_ms)
            self._touched.changed.add(group.name)
        else:
            self._touched.everything = True

    def _take_route(self, row: RawRecord) -> None:
        changed = decode("routes", row, self._limits)
        if isinstance(changed, RouteChanged):
            self._touched.everything = True
            route, before = changed.route, self._facts.identities.get(changed.topic)
            self._facts.set_route(changed.topic, route, row.append_ms)
            if route is not None and before is not None and before[0] != route.identity:
                for group in self._groups.by_name.values():
                    group.positions.apply_identities({changed.topic: route.identity}, row.append_ms)

    def _take_bounds(self, row: RawRecord) -> None:
        """Apply the answer of a bridge to a group that asked where to start."""
        if row.value is None:
            return
        body = body_of(row.value)
        if body["kind"] != "offsets":
            # An absent topic has no bounds; a bridge's sign of life has none either.
            self._bridges.apply_row(row)
            return
        identity = text_of(body["identity"])
        reports = [
            PositionReport(
                queue_of(each["queue"]),
                None,
                None if each["committed"] is None else position_of(each["committed"]),
                integer_of(each["max"]),
                identity,
                by="committed",
                earliest=integer_of(each["min"]),
            )
            for each in body["queues"]
        ]
        group = self._groups.confirmed_group(body["group"], row)
        for report in reports:
            group.positions.apply_bounds(report, row.append_ms)
        group.changed()
        self._touched.changed.add(group.name)

    def _take_generation(self, row: RawRecord) -> None:
        if row.value is not None and body_of(row.value)["kind"] == "generation":
            self._facts.claim(row.offset + 1, row.append_ms)
            self._touched.everything = True

    def _take_assignment(self, row: RawRecord) -> None:
        if row.value is None:
            name, member, number = member_part(row.key or b"")
            group = self._groups.confirmed_group(name, row)
            self._touched.changed.add(group.name)
            if number is None:
                group.assignments.forget_notice(member)
                return
            group.assignments.remove(member, number)
            group.changed()
            return
        body = body_of(row.value)
        group = self._groups.confirmed_group(body["group"], row)
        self._touched.changed.add(group.name)
        if body["kind"] == "assignment":
            group.assignments.put(part_of(body))
            group.changed()
            self._groups.stirred.add(group.name)
        elif body["kind"] == "notice":
            group.assignments.take_notice(body)
            group.events.take_notice(body)

    def _take_decision(self, row: RawRecord) -> None:
        if row.value is None:
            return
        name, part = read_part(row)
        group = self._groups.confirmed_group(name, row)
        group.take_decision(part)
        self._groups.stirred.add(name)
        self._touched.changed.add(name)
