"""What the engine would decide: its own functions, on a copy of a group, after some records.

The records are those that would come: the heartbeat of a client that joins, the leave of one that
goes, a route, a rule. All of them count in one decision.
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
from fairlead.observed.planned_group import SOMEWHERE, Picture

__all__ = ["Forecast", "RefusedRecordError", "applied", "forecast", "notes_of", "settled"]

_NO_CAP = 1 << 30
"""Of the chain of a queue, so that it is dropped and granted in one decision.

The engine lets a queue wait whose chain is full; who gets it in the end is the same.
"""


class RefusedRecordError(ValueError):
    """The engine would refuse a record; ``rejection`` says why, and what to do."""

    def __init__(self, record: GroupRecord, rejection: Rejection) -> None:
        super().__init__(rejection.detail)
        self.record = record
        self.rejection = rejection


@dataclass(frozen=True, slots=True)
class Forecast:
    """A group after the decision.

    Attributes:
        picture: the group, every queue where it goes to.
        rules: in force.
        dropped: the queues whose holders are told to stop, in the order of the commands.
        failures: topics that cannot be allocated; they keep what they have.
        alarms: of the decision.
        requests: what the strategy was asked, once for each set of members that share topics.
        notes: what it said beside its answers.
    """

    picture: Picture
    rules: GroupRules
    dropped: tuple[MessageQueue, ...]
    failures: Mapping[str, Failure]
    alarms: tuple[str, ...]
    requests: tuple[AllocationRequest, ...]
    notes: tuple[str, ...]

    def readable(self, before: Picture) -> frozenset[MessageQueue]:
        """Return the queues that can be read now, also of topics to which nobody subscribes now."""
        routes = self.picture.state.routes
        topics = {*shared_topics(before.state), *shared_topics(self.picture.state)}
        return frozenset(
            queue
            for topic in sorted(topics & routes.keys())
            for queue in readable_queues(routes[topic])
        )

    def orphans(self, before: Picture) -> tuple[MessageQueue, ...]:
        """Return the queues that can be read and belong to nobody, in RocketMQ's order."""
        return tuple(sorted(self.readable(before) - self.picture.owners.keys(), key=queue_order))

    def moved(self, before: Picture) -> tuple[MessageQueue, ...]:
        """Return the queues whose holders are told to stop, and that can still be read."""
        readable = self.readable(before)
        return tuple(queue for queue in self.dropped if queue in readable)


def applied(picture: Picture, records: Iterable[GroupRecord]) -> Picture:
    """Return the group after these records, before anything follows from them.

    Raises:
        RefusedRecordError: the engine would refuse one.
    """
    draft = picture.draft()
    for number, record in enumerate(records):
        apply_record(draft, Arrival(Source("", 0, number, 0), 0, record))
        if draft.rejections:
            raise RefusedRecordError(record, draft.rejections[0])
    # Who leaves in a plan is meant to be gone: its queues are shown where they go in the end.
    before = picture.state.awaited
    draft.state.awaited = {
        client_id: awaited
        for client_id, awaited in draft.state.awaited.items()
        if before.get(client_id) == awaited
    }
    if draft.weigh_now:
        weigh_queues(draft, picture.clock_ms)
    return replace(picture, state=draft.state)


def forecast(picture: Picture, records: Sequence[GroupRecord] = ()) -> Forecast:
    """Return what follows for a group from these records.

    Raises:
        RefusedRecordError: the engine would refuse one.
    """
    requests: list[AllocationRequest] = []
    notes: list[str] = []
    overheard = {
        name: _Overheard(strategy, requests, notes)
        for name, strategy in picture.engine.strategies.items()
    }
    engine = replace(picture.engine, strategies=overheard, chain_cap=_NO_CAP)
    draft = applied(replace(picture, engine=engine), records).draft()
    compute_targets(draft)
    for queue in draft.state.targets:
        value = draft.state.queues.get(queue, QueueState())
        draft.set_queue(queue, replace(value, base=SOMEWHERE))
    aim_queues(draft)
    return Forecast(
        picture=replace(picture, state=draft.state),
        rules=draft.rules,
        dropped=tuple(move.queue for move in draft.moves if move.stage == "dropped"),
        failures=dict(draft.state.failures),
        alarms=alarms_of(draft),
        requests=tuple(requests),
        notes=tuple(notes),
    )


def settled(picture: Picture) -> Picture:
    """Return the group after the decision that its engine would make now."""
    return picture.owned(forecast(picture).picture.owners)


def notes_of(answer: Allocation) -> tuple[str, ...]:
    """Return what a strategy says beside its answer, such as that it was cut short."""
    notes = getattr(answer, "notes", ())
    if isinstance(notes, Mapping):
        return tuple(f"{name}: {note}" for name, note in notes.items())
    return tuple(map(str, notes))


class _Overheard:
    """A strategy of which it is known what it was asked and noted; all the rest is its own."""

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
