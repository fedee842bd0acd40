"""The engine's audit records as values, and what they add up to: who was granted what."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import orjson

from fairlead.wire.decision_parts import DecisionParts, PartName
from fairlead.wire.engine_shapes import check_decision
from fairlead.wire.raw import RawRecord

__all__ = [
    "Decision",
    "DecisionReader",
    "Epoch",
    "Move",
    "Ownership",
    "Queue",
    "Stage",
    "decisions_of",
]

Stage = Literal["dropped", "gated", "granted", "resolved"]


class Queue(NamedTuple):
    """One queue, as docs/protocol.md names it."""

    topic: str
    broker_name: str
    queue_id: int

    def __str__(self) -> str:
        return f"{self.topic}/{self.broker_name}/{self.queue_id}"


class Epoch(NamedTuple):
    """The epoch of a decision or of a queue's grant, compared as a pair."""

    generation: int
    number: int

    def __str__(self) -> str:
        return f"{self.generation}.{self.number}"


@dataclass(frozen=True, slots=True)
class Move:
    """One line of a decision: what it did to one queue.

    Attributes:
        queue: which.
        stage: what was done.
        client_id: whose grant it is.
        epoch: the grant's.
        offset: where an add starts.
        why: where that is known from.
        reset: the operator's reset that the start follows, as positions name it; 0: none.
        unsafe: it was granted although somebody else may be working on the queue.
    """

    queue: Queue
    stage: Stage
    client_id: str
    epoch: Epoch
    offset: int | None = None
    why: str | None = None
    reset: int = 0
    unsafe: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision record of a group, as far as it concerns owners.

    Attributes:
        group: the group's name.
        epoch: its number under its generation.
        generation: the generation that read what led to it (``cut``).
        members: the client ids that took part.
        moves: what it did, queue by queue.
        phase: the state of the group after it.
        settled: no queue is unassigned, pending or in handover.
        read: per (topic, partition) of the shard, the end of what had been read.
        causes: the records that led to it, as (topic, partition, offset).
        alarms: words of docs/protocol.md §3.14.
        failures: topic -> why it keeps its last assignment.
        previous: the group's epoch before it, the same as ``epoch`` if it granted nothing anew.
        at_ms: when the newest record that it rests on was appended.
        written_ms: when it was appended itself, its last part; 0: it was read from no topic.
        triggers: words of docs/protocol.md §3.14.
        why: the causes, as the record has them.
        strategy: its name.
        counts: queues, unassigned, in_handover, pending and, if there are any, unsafe.
        superseded: an engine wrote it after a newer one had begun to decide on the group. It says
            nothing of who owns what: clients ignore what it led to.
    """

    group: str
    epoch: Epoch
    generation: int
    members: tuple[str, ...]
    moves: tuple[Move, ...]
    phase: str
    settled: bool
    read: Mapping[tuple[str, int], int]
    causes: tuple[tuple[str, int, int], ...] = ()
    alarms: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    previous: Epoch | None = None
    at_ms: int = 0
    written_ms: int = 0
    triggers: tuple[str, ...] = ()
    why: tuple[Mapping[str, Any], ...] = ()
    strategy: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    superseded: bool = False


class DecisionReader:
    """Reads the records of one group's decisions in their order, and joins their parts.

    A decision whose last part never came was never complete: its engine died. It is left out, as
    docs/protocol.md §2 says.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._parts: DecisionParts[Decision] = DecisionParts()

    def read(self, value: bytes) -> Decision | None:
        """Return the decision that this record completes; None for other groups and first parts.

        Raises:
            ValueError: it is no decision record of docs/protocol.md §3.14.
        """
        try:
            fields = orjson.loads(value)
            if fields["kind"] != "decision":
                raise ValueError(f"kind: {fields['kind']!r} is not decision")
            if fields["group"] != self._group:
                return None
            check_decision(fields)
            found, name = _decision(fields), PartName.of(fields)
        except (KeyError, TypeError) as error:
            raise ValueError(f"decision record: {error!r} in {value[:200]!r}") from error
        joined = self._parts.join(name, found)
        return None if joined is None else _joined(joined.parts, superseded=joined.superseded)


def decisions_of(group: str, rows: Iterable[RawRecord]) -> Iterator[Decision]:
    """Yield the whole decisions of a group from records of their topic, in their order.

    A decision of an engine that was superseded is left out: nobody followed it. Nobody but the
    engine may write there; a record that is none, or of a later version, is passed over: a reader
    that fails would hide all the rest.
    """
    reader, key = DecisionReader(group), group.encode()
    for row in rows:
        if row.key != key or row.value is None:
            continue
        try:
            decision = reader.read(row.value)
        except ValueError:
            continue
        if decision is not None and not decision.superseded:
            yield replace(decision, written_ms=row.append_ms)


def _joined(parts: list[Decision], *, superseded: bool) -> Decision:
    """The lists of all parts together; everything else is the same in each."""
    return replace(
        parts[0],
        members=tuple(member for part in parts for member in part.members),
        moves=tuple(move for part in parts for move in part.moves),
        causes=tuple(cause for part in parts for cause in part.causes),
        why=tuple(cause for part in parts for cause in part.why),
        failures={topic: why for part in parts for topic, why in part.failures.items()},
        superseded=superseded,
    )


def _decision(fields: Mapping[str, Any]) -> Decision:
    state, cut = fields["state"], fields["cut"]
    waiting = (state["unassigned"], state["in_handover"], state["pending"])
    return Decision(
        group=fields["group"],
        epoch=Epoch(*fields["epoch"]),
        generation=cut["generation"],
        members=tuple(fields["members"]),
        moves=tuple(_move(move) for move in fields["moves"]),
        phase=state["phase"],
        settled=not any(waiting),
        read={
            (topic, int(partition)): end
            for topic, ends in cut["positions"].items()
            for partition, end in ends.items()
        },
        causes=tuple(
            (at[0], at[1], at[2])
            for cause in fields.get("cause", ())
            if (at := cause.get("at")) is not None
        ),
        alarms=tuple(fields.get("alarms", ())),
        failures={each["topic"]: each["message"] for each in fields.get("failures", ())},
        previous=Epoch(*fields["previous_epoch"]) if "previous_epoch" in fields else None,
        at_ms=fields.get("at_ms", 0),
        triggers=tuple(fields.get("triggers", ())),
        why=tuple(fields.get("cause", ())),
        strategy=fields.get("strategy", ""),
        counts={name: count for name, count in state.items() if name != "phase"},
    )


def _move(fields: Mapping[str, Any]) -> Move:
    if fields["stage"] not in get_args(Stage):
        raise ValueError(f"stage: {fields['stage']!r} is none of {', '.join(get_args(Stage))}")
    position = fields.get("position")
    return Move(
        queue=Queue(*fields["queue"]),
        stage=fields["stage"],
        client_id=fields["client_id"],
        epoch=Epoch(*fields["epoch"]),
        offset=None if position is None else position[1],
        why=fields.get("why"),
        reset=0 if position is None else position[0],
        unsafe=bool(fields.get("unsafe")),
    )


@dataclass(slots=True)
class Ownership:
    """What the decisions of one group add up to.

    Attributes:
        newest: the last decision taken in.
        granted: per queue, the client and epoch of its newest grant.
        dropped: grants that were dropped and have no successor yet.
        decisions: how many were taken in.
        moves: how many grants went to a client that did not have the queue before.
    """

    newest: Decision | None = None
    granted: dict[Queue, tuple[str, Epoch]] = field(default_factory=dict)
    dropped: set[tuple[Queue, Epoch]] = field(default_factory=set)
    decisions: int = 0
    moves: int = 0

    def take(self, decision: Decision) -> None:
        """Add one decision, in the order of the topic; a superseded engine's changes nothing."""
        if decision.superseded:
            return
        self.newest = decision
        self.decisions += 1
        for move in decision.moves:
            if move.stage == "dropped":
                self.dropped.add((move.queue, move.epoch))
            elif move.stage in ("gated", "granted"):
                self._grant(move)

    def _grant(self, move: Move) -> None:
        before = self.granted.get(move.queue)
        if before is not None:
            self.dropped.discard((move.queue, before[1]))
        self.moves += before is None or before[0] != move.client_id
        self.granted[move.queue] = (move.client_id, move.epoch)

    def is_settled_among(self, members: frozenset[str], queues: int) -> bool:
        """Tell whether the group is stable with exactly these members and so many queues."""
        newest = self.newest
        return (
            newest is not None
            and newest.phase == "stable"
            and newest.settled
            and frozenset(newest.members) == members
            and len(self.granted) == queues
            and all(client_id in members for client_id, _ in self.granted.values())
        )
