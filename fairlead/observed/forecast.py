"""What the engine would decide: its own functions, run on a copy of a group after some records.

The records are those that would come: the heartbeat of a joining client, the leave of a leaving
one, a route, a rule. All of them count in one decision.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairlead.core.allocation import Allocation, AllocationRequest, Strategy
from fairlead.core.apply import apply_record
from fairlead.core.decide import aim_queues
from fairlead.core.membership.members import shared_topics
from fairlead.core.model import MessageQueue, Source
from fairlead.core.ordering import queue_order
from fairlead.core.outputs import Failure, Rejection
from fairlead.core.records import Arrival, GroupRecord
from fairlead.core.rules.group_rules import GroupRules
from fairlead.core.state import QueueState
from fairlead.core.targets.compute import alarms_of, compute_targets
from fairlead.core.targets.queue_measures import weigh_queues
from fairlead.core.topics.routes import readable_queues
from fairlead.observed.planned_group import SOMEWHERE, PlannedGroup

__all__ = ["Forecast", "RefusedRecordError", "applied", "forecast", "notes_of", "settled"]

_NO_CAP = 1 << 30
"""The longest chain of a queue, so that one decision drops and grants it.

The engine lets a queue with a full chain wait; its final owner is the same.
"""


class RefusedRecordError(ValueError):
    """The engine would reject a record; ``rejection`` says why, and what to do."""

    def __init__(self, record: GroupRecord, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self.record = record
        self.rejection = rejection


@dataclass(frozen=True, slots=True)
class Forecast:
    """A group after the decision.

    Attributes:
        planned: the group, each queue with its future owner.
        rules: in force.
        dropped: queues whose holders have to stop, in the order of the commands.
        failures: topics that cannot be allocated; they keep their owners.
        alarms: of the decision.
        requests: what the strategy was asked, once for each set of members that share topics.
        notes: what the strategy said beside its answers.
    """

    planned: PlannedGroup
    rules: GroupRules
    dropped: tuple[MessageQueue, ...]
    failures: Mapping[str, Failure]
    alarms: tuple[str, ...]
    requests: tuple[AllocationRequest, ...]
    notes: tuple[str, ...]

    def readable(self, before: PlannedGroup) -> frozenset[MessageQueue]:
        """Return the queues that can be read now, of topics subscribed to before or after."""
        routes = self.planned.state.routes
        topics = {*shared_topics(before.state), *shared_topics(self.planned.state)}
        return frozenset(
            queue
            for topic in sorted(topics & routes.keys())
            for queue in readable_queues(routes[topic])
        )

    def orphans(self, before: PlannedGroup) -> tuple[MessageQueue, ...]:
        """Return the readable queues without an owner, in RocketMQ's order."""
        return tuple(sorted(self.readable(before) - self.planned.owners.keys(), key=queue_order))

    def moved(self, before: PlannedGroup) -> tuple[MessageQueue, ...]:
        """Return the readable queues whose holders have to stop."""
        readable = self.readable(before)
        return tuple(queue for queue in self.dropped if queue in readable)


def applied(planned: PlannedGroup, records: Iterable[GroupRecord]) -> PlannedGroup:
    """Return the group after these records, before the engine decides anything.

    Raises:
        RefusedRecordError: the engine would reject one.
    """
    draft = planned.draft()
    for number, record in enumerate(records):
        apply_record(draft, Arrival(Source("", 0, number, 0), 0, record))
        if draft.rejections:
            raise RefusedRecordError(record, draft.rejections[0])
    # A plan shows where queues go in the end: nobody waits for a client that leaves in it.
    before = planned.state.awaited
    draft.state.awaited = {
        client_id: awaited
        for client_id, awaited in draft.state.awaited.items()
        if before.get(client_id) == awaited
    }
    if draft.weigh_now:
        weigh_queues(draft, planned.clock_ms)
    return replace(planned, state=draft.state)


def forecast(planned: PlannedGroup, records: Sequence[GroupRecord] = ()) -> Forecast:
    """Return what the engine would decide after these records.

    Raises:
        RefusedRecordError: the engine would reject one.
    """
    requests: list[AllocationRequest] = []
    notes: list[str] = []
    overheard = {
        name: _Overheard(strategy, requests, notes)
        for name, strategy in planned.engine.strategies.items()
    }
    engine = replace(planned.engine, strategies=overheard, chain_cap=_NO_CAP)
    draft = applied(replace(planned, engine=engine), records).draft()
    compute_targets(draft)
    for queue in draft.state.targets:
        value = draft.state.queues.get(queue, QueueState())
        draft.set_queue(queue, replace(value, base=SOMEWHERE))
    aim_queues(draft)
    return Forecast(
        planned=replace(planned, state=draft.state),
        rules=draft.rules,
        dropped=tuple(move.queue for move in draft.moves if move.stage == "dropped"),
        failures=dict(draft.state.failures),
        alarms=alarms_of(draft),
        requests=tuple(requests),
        notes=tuple(notes),
    )


def settled(planned: PlannedGroup) -> PlannedGroup:
    """Return the group after the decision that the engine would make now."""
    return planned.owned(forecast(planned).planned.owners)


def notes_of(answer: Allocation) -> tuple[str, ...]:
    """Return a strategy's notes on its answer, such as that it was cut short."""
    notes = getattr(answer, "notes", ())
    if isinstance(notes, Mapping):
        return tuple(f"{name}: {note}" for name, note in notes.items())
    return tuple(map(str, notes))


class _Overheard:
    """Passes everything on to a strategy, and records its requests and notes."""

    def __init__(
        self, strategy: Strategy, requests: list[AllocationRequest], notes: list[str]
    ) -> None:
        self._strategy = strategy
        self._requests = requests
        self._notes = notes

    @property
    def name(self) -> str:
        return self._strategy.name

    def allocate(self, request: AllocationRequest) -> Allocation:
        self._requests.append(request)
        answer = self._strategy.allocate(request)
        self._notes.extend(f"{self.name}: {note}" for note in notes_of(answer))
        return answer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)
