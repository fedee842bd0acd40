"""All groups at once: takes raw records in any order of topics, and answers questions on groups."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from fairlead.control.group_names import NamedGroups
from fairlead.core.allocation import Strategy
from fairlead.core.model import MessageQueue, Position
from fairlead.core.records import ALL_GROUPS
from fairlead.observed.bounds import MANY, ONE
from fairlead.observed.bridge_liveness import BridgeLiveness, BridgeSigns
from fairlead.observed.bridges import Bridges
from fairlead.observed.counters import GroupCounters
from fairlead.observed.engine_liveness import EngineLiveness
from fairlead.observed.finding import Finding
from fairlead.observed.group_decisions import LoggedDecision
from fairlead.observed.group_metrics import GroupFigures, figures_of
from fairlead.observed.group_standing import GroupStanding, standing_of
from fairlead.observed.known_groups import KnownGroups
from fairlead.observed.live_group import live_group
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.positions import PositionReport, QueuePosition
from fairlead.observed.record_reader import RecordReader
from fairlead.observed.rules import RulesOfGroups
from fairlead.observed.shared_facts import SharedFacts
from fairlead.observed.snapshot import Snapshot
from fairlead.observed.summary import GroupSummary
from fairlead.observed.touched import Touched
from fairlead.wire.limits import WireLimits
from fairlead.wire.raw import Partitions, RawRecord
from fairlead.wire.record_keys import group_named
from fairlead.wire.topics import TopicNames
from strategies.registry import STRATEGIES

__all__ = ["ObservedGroups"]

_SWEEP_MS: Final = 60_000
_NONE_TOLD: Final[Mapping[str, str]] = {}
_NO_PLACES: Final[Mapping[MessageQueue, QueuePosition]] = {}


class ObservedGroups:
    """A fold of Fairlead's topics into groups.

    It reads no topic itself, has no clock, and refuses nothing: it passes over and counts what is
    no record. Rows must come in order within each partition; no order between partitions or topics
    matters. A group is forgotten when nothing is left of it and nothing was heard of it for the
    length of the history.
    """

    def __init__(
        self,
        names: TopicNames,
        partitions: Partitions,
        history_ms: int,
        *,
        tick_ms: int = 1_000,
        strategies: Mapping[str, Strategy] = STRATEGIES,
        only: str | None = None,
    ) -> None:
        """Begin with nothing.

        Args:
            names: the names of the topics.
            partitions: how many partitions they have.
            history_ms: how long, before the newest record, decisions are remembered.
            tick_ms: the period of the engine's ticks.
            strategies: the engine's strategies.
            only: read the records of this group alone, and keep much of it; None: all groups.
        """
        self._only, self._history_ms = only, history_ms
        self._facts = SharedFacts(RulesOfGroups(strategies, partitions.shards), tick_ms)
        self._groups = KnownGroups(self._facts, MANY if only is None else ONE)
        self._bridges = BridgeSigns()
        limits = WireLimits(partitions.shards)
        self._reader = RecordReader(names, limits, self._facts, self._groups, self._bridges)
        self._swept_ms = 0
        self.passed_over = 0
        """How many rows were no record of the protocol."""
        self.records = 0
        """How many rows were read."""
        self._others = NamedGroups()
        self.failed = 0
        """How often looking at a group failed; not 0 means a defect here."""

    @property
    def other_groups(self) -> frozenset[str]:
        """The groups that are there and are not read."""
        return self._others.names

    @property
    def counters(self) -> GroupCounters:
        """What has happened since :meth:`follow`."""
        return self._groups.counters

    @property
    def as_of_ms(self) -> int:
        """The newest append time that was read; 0: nothing was read."""
        return self._facts.as_of_ms

    @property
    def generation(self) -> int:
        """The newest claimed generation; 0: none was read."""
        return self._facts.generation

    def bridges(self, now_ms: int) -> list[BridgeLiveness]:
        """Return the bridge of each cluster."""
        return self._bridges.lives(now_ms)

    def wrong_bridges(self, now_ms: int) -> list[Finding]:
        """Return what is wrong with the bridges, as far as their own signs tell."""
        brokers = (each for route in self._facts.routes.values() for each in route.brokers)
        routed = frozenset(each.broker_name for each in brokers)
        return Bridges(tuple(self.bridges(now_ms)), None, routed).findings()

    def engine(self, now_ms: int) -> EngineLiveness:
        """Return whether an engine runs: of the shard where one has been silent longest."""
        return self._facts.worst_engine(max(now_ms, self.as_of_ms))

    def apply(self, rows: Sequence[RawRecord]) -> None:
        """Apply the next rows; those of other topics change nothing."""
        for row in rows:
            if not self._reader.reads(row):
                continue
            self.records += 1
            self._facts.read(row)
            if not self._is_asked_for(row):
                continue
            try:
                self._reader.read(row)
            except Exception:  # noqa: BLE001 - a record of one group must not blind all of them
                self.passed_over += 1
        if self.counters.following:
            self._finish_events()
        # Nothing is swept from a view of one group: it is read once and dropped.
        if self._only is None and self.as_of_ms - self._swept_ms >= _SWEEP_MS:
            self._sweep()

    def _is_asked_for(self, row: RawRecord) -> bool:
        """Tell whether to read a record; one of another group only moves the clock."""
        if self._only is None:
            return True
        suffix = self._reader.suffix(row)
        name = group_named(suffix, row.key)
        if name in (self._only, ALL_GROUPS, ""):
            return True
        self._others.note(suffix, row)
        if suffix == "heartbeats":
            self._facts.beat(row)
        return False

    def follow(self, counters: GroupCounters | None = None) -> None:
        """Count from now on: what stood in the topics has been read.

        Args:
            counters: counts of an earlier view, to be continued.
        """
        if counters is not None:
            self._groups.count_on(counters)
        self.counters.following = True

    def _finish_events(self) -> None:
        for name in list(self._groups.stirred):
            if not self._is_under_way(name):
                self._groups.stirred.discard(name)

    def _is_under_way(self, name: str) -> bool:
        """Notice what has ended in a group; return whether anything is under way."""
        group = self._groups.by_name.get(name)
        try:
            return group is not None and group.finish_events()
        except Exception:  # noqa: BLE001 - a defect in one group must not affect the others
            self.failed += 1
            return False

    def apply_offsets(
        self,
        at_ms: int,
        ends: Mapping[MessageQueue, int],
        committed: Mapping[str, Mapping[MessageQueue, Position]],
        identities: Mapping[str, str] = _NONE_TOLD,
    ) -> None:
        """Apply answers of the data cluster.

        Args:
            at_ms: when it was asked, Unix time.
            ends: the next offset of each queue.
            committed: group -> queue -> what it committed there (docs/protocol.md §4.8); groups
                that no record names are left out.
            identities: the identities of the topics; a topic that is left out is not told.
        """
        self._facts.as_of_ms = max(self._facts.as_of_ms, at_ms)
        self._facts.take_ends(at_ms, ends, identities)
        for each in self._groups.by_name.values():
            each.positions.apply_identities(identities, at_ms)
            if each.positions.date(ends):
                self._groups.touched.measured.add(each.name)
        for name, positions in committed.items():
            group = self._groups.by_name.get(name)
            for queue, position in positions.items() if group is not None else ():
                assert group is not None, "there is a group"
                identity = identities.get(queue.topic)
                report = PositionReport(queue, None, position, identity=identity, by="committed")
                group.take_commit(report, at_ms)
                self._groups.touched.measured.add(name)

    def unmeasured(self, silent_ms: int) -> dict[str, list[MessageQueue]]:
        """Return each group's queues that nobody has told anything of for so long."""
        since_ms = self._facts.as_of_ms - silent_ms
        queues_of = {group.name: group.unmeasured(since_ms) for group in self._known()}
        return {name: queues for name, queues in queues_of.items() if queues}

    def shared(self) -> set[MessageQueue]:
        """Return the queues of all groups that have members."""
        return {
            queue
            for group in self._known()
            if group.live_members().members
            for queues in group.standing().queues.values()
            for queue in queues
        }

    def groups(self, now_ms: int | None = None) -> list[GroupSummary]:
        """Return the line of each group, sorted by name.

        ``now_ms``: until when silence counts; None: until the newest record.
        """
        return [figures_of(group, self._history_ms, now_ms).summary for group in self._known()]

    def lines(self, names: Iterable[str], now_ms: int) -> dict[str, GroupSummary | None]:
        """Return the lines of some groups; None: no such group, or it is over."""
        lines: dict[str, GroupSummary | None] = {}
        for name in names:
            lines[name] = None
            if self.has_group(name):
                group = self._groups.by_name[name]
                lines[name] = figures_of(group, self._history_ms, now_ms).summary
        return lines

    def has_group(self, name: str) -> bool:
        """Tell whether there is such a group, and it is not over."""
        group = self._groups.by_name.get(name)
        return group is not None and not group.is_over(self._oldest_ms)

    def late_shards(self) -> frozenset[int]:
        """Return the shards whose engine is silent while records come."""
        return self._facts.late_shards()

    def take_touched(self) -> Touched:
        """Return which groups records have told of since this was last asked."""
        taken, self._groups.touched = self._groups.touched, Touched()
        return taken

    def figures(self) -> list[GroupFigures]:
        """Return each group in numbers, sorted by name."""
        return [figures_of(group, self._history_ms) for group in self._known()]

    def snapshot(self, places: int, in_detail: Collection[str] = ()) -> Snapshot:
        """Return all groups in numbers, with their counts, as they are now.

        Args:
            places: how many groups have their own name.
            in_detail: groups whose queues stand one by one; these get a place first.
        """
        figures = self.figures()
        names = [each.summary.group for each in figures]
        self.counters.choose_named(names, places, in_detail)
        standings = {name: self.group(name) for name in in_detail}
        return Snapshot(
            figures=tuple(figures),
            counters=self.counters.copy(),
            in_detail={name: each for name, each in standings.items() if each is not None},
            passed_over=self.passed_over,
            failed=self.failed,
        )

    def names(self) -> list[str]:
        """Return every group there is, also one without members that has read everything."""
        groups = (self._groups.by_name[name] for name in sorted(self._groups.by_name))
        oldest_ms = self._oldest_ms
        return [each.name for each in groups if each.is_known() or not each.is_over(oldest_ms)]

    def group(
        self, name: str, now_ms: int = 0, places: Mapping[MessageQueue, QueuePosition] = _NO_PLACES
    ) -> GroupStanding | None:
        """Return how one group stands; None: no such group, or it is over.

        ``now_ms``: as in `groups`; ``places``: where the data cluster says the group is.
        """
        observed = self._groups.by_name.get(name)
        if observed is None or observed.is_over(self._oldest_ms):
            return None
        return self._standing(observed, now_ms, places)

    def any_group(
        self, name: str, now_ms: int = 0, places: Mapping[MessageQueue, QueuePosition] = _NO_PLACES
    ) -> GroupStanding:
        """Return how one of `names` stands; see `group`.

        Raises:
            KeyError: the name is none of them.
        """
        return self._standing(self._groups.by_name[name], now_ms, places)

    def _standing(
        self, observed: ObservedGroup, now_ms: int, places: Mapping[MessageQueue, QueuePosition]
    ) -> GroupStanding:
        now_ms = max(now_ms, self.as_of_ms)
        return standing_of(live_group(observed), now_ms, self._history_ms, places)

    def folds(self) -> list[ObservedGroup]:
        """Return what is known of each group, not to be changed."""
        return list(self._groups.by_name.values())

    def trust_routes(self) -> None:
        """From now on, believe nothing about other identities than those of the routes."""
        self._facts.trust_routes()

    def may_hide_newer_engine(self) -> bool:
        """Tell whether a newer engine may have decided before the decisions that were read.

        For all groups, a decision counts as a superseded engine's only if it was written after a
        newer engine had begun: else every group at rest would be in doubt after each restart.
        """
        newest = [group.decided.newest for group in self.folds()]
        older = [each for each in newest if each and each.generation < self.generation]
        if self._only is not None:
            return bool(older)
        return any(self._facts.is_superseded(each.generation, each.append_ms) for each in older)

    def forget_decisions(self) -> None:
        """Forget all decisions: they are about to be read again, from further back."""
        for group in self.folds():
            group.forget_decisions()

    def fold(self, name: str) -> ObservedGroup:
        """Return what is known of a group, not to be changed; of an unknown one, nothing."""
        return self._groups.by_name.get(name) or self._groups.unknown(name)

    def decisions(self, name: str) -> tuple[LoggedDecision, ...] | None:
        """Return the remembered decisions of a group, oldest first; None: no such group."""
        observed = self._groups.by_name.get(name)
        if observed is None or observed.is_over(self._oldest_ms):
            return None
        return tuple(observed.decisions(self._history_ms))

    @property
    def _oldest_ms(self) -> int:
        return self._facts.as_of_ms - self._history_ms

    def _known(self) -> list[ObservedGroup]:
        oldest_ms = self._oldest_ms
        groups = (self._groups.by_name[name] for name in sorted(self._groups.by_name))
        return [group for group in groups if not group.is_over(oldest_ms)]

    def _sweep(self) -> None:
        self._swept_ms, oldest_ms = self._facts.as_of_ms, self._oldest_ms
        self._facts.forget_ends_before(oldest_ms)
        for name, group in list(self._groups.by_name.items()):
            try:
                group.sweep(oldest_ms)
                over = group.touched_ms < oldest_ms and group.is_over(oldest_ms)
            except Exception:  # noqa: BLE001 - a defect in one group must not affect the others
                self.failed += 1
                continue
            if over:
                self._groups.forget(name)
