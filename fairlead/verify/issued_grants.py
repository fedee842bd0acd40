"""What the engine told its clients: the adds of all assignment records, found by their decision."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.recording import RecordingFolder
from fairlead.verify.decisions import read_decisions
from fairlead.verify.verdicts import Docket, evidence_of
from fairlead.wire.decision_records import DecisionRecord, MoveRecord
from fairlead.wire.engine_shapes import check_assignment
from fairlead.wire.raw import RawRecord

__all__ = ["ALL", "Gate", "Told", "ToldAdd", "ToldEntry", "ToldKey", "read_told"]


ALL: Final = 2**63
"""Above every generation."""

_SEEN_MAX: Final = 64
"""So many records of a member are remembered, to know those of a batch that was tried again."""


class Gate(NamedTuple):
    """A grant whose release an add waits for."""

    member: MemberKey
    epoch: Epoch


class ToldAdd(NamedTuple):
    """One add: to whom, from where, behind which gates; ``row`` without its content."""

    group: str
    member: MemberKey
    generation: int
    queue: MessageQueue
    epoch: Epoch
    position: Position
    after: tuple[Gate, ...]
    row: RawRecord


class ToldEntry(NamedTuple):
    """One entry of a member's whole set."""

    group: str
    member: MemberKey
    queue: MessageQueue
    epoch: Epoch
    state: str
    row: RawRecord


class ToldKey(NamedTuple):
    """What an assignment has in common with the decision that led to it."""

    group: str
    generation: int
    epoch: Epoch
    at_ms: int


@dataclass(slots=True)
class Told:
    """All adds by the decision that they are of.

    Attributes:
        adds: in the order of their partition; taken out as their decision is met.
        losers: members that were told that a greater process has their client id.
        unknown: entries of sets of which no add stands in the topic.
        decided: how many decisions were written of each key.
    """

    adds: dict[ToldKey, list[ToldAdd]] = field(default_factory=dict)
    losers: dict[tuple[str, MemberKey], RawRecord] = field(default_factory=dict)
    unknown: list[ToldEntry] = field(default_factory=list)
    decided: Mapping[ToldKey, int] = field(default_factory=dict)

    def drop(self, audit: DecisionRecord) -> None:
        """Leave out the adds of a decision that is not judged."""
        self.adds.pop(_key(audit), None)

    def take(self, audit: DecisionRecord) -> list[ToldAdd]:
        """Return the adds of a decision, once.

        Two decisions may have one key, when the second drew no epoch and read nothing newer. If
        one grant was told twice, gates and positions say which add is of which decision. Adds that
        no move tells of are of a member that was healed.
        """
        key = _key(audit)
        there = self.adds.get(key, [])
        alone = self.decided.get(key) == 1
        moved = [_of_move(there, move, alone=alone) for move in audit.moves]
        healed = {cause.get("client_id") for cause in audit.causes if cause.get("kind") == "healed"}
        taken = [add for add in there if add in moved or add.member.client_id in healed]
        if taken:
            self.adds[key] = [add for add in there if add not in taken]
        return taken

    def left_over(self, groups: frozenset[str], below: int) -> Iterator[ToldAdd]:
        """Yield, once, adds of lower generations whose driver died before it wrote its decision.

        One that was superseded and goes on writing for a while may still write it: its adds wait.
        """
        keys = [
            key
            for key in self.adds
            if key.generation < below
            and key.group in groups
            and (below == ALL or key not in self.decided)
        ]
        for key in sorted(keys):
            yield from self.adds.pop(key)


def _of_move(adds: Sequence[ToldAdd], move: MoveRecord, *, alone: bool) -> ToldAdd | None:
    """Return the add that a move tells of; None: it is not there, or the move is none of an add.

    ``alone``: no other decision has the same key.
    """
    if move.stage not in ("gated", "granted"):
        return None
    place, gated = (move.queue, move.epoch, move.client_id), move.stage == "gated"
    found = [add for add in adds if (add.queue, add.epoch, add.member.client_id) == place]
    exact = [add for add in found if (bool(add.after), add.position) == (gated, move.position)]
    # An add that differs from its decision is still its add, if there is no other.
    return next(iter(exact), found[0] if alone and len(found) == 1 else None)


def _key(audit: DecisionRecord) -> ToldKey:
    return ToldKey(audit.group, audit.cut.generation, audit.epoch, audit.at_ms)


def read_told(recording: RecordingFolder, docket: Docket) -> Told:
    """Read the assignments topic, and judge what stands in it by itself.

    The records of one generation to a member never go back, and can be read (S3).

    Raises:
        RecordingError: the recording is damaged.
    """
    told = Told(decided=Counter(map(_key, read_decisions(recording, Docket()))))
    for number in sorted(recording.manifest.topics["assignments"]):
        whole = recording.part("assignments", number).whole
        reader = _PartitionReader(told, docket, whole=whole)
        for row in recording.rows("assignments", number):
            if row.value is not None:
                reader.take(row)
        if not whole:
            docket.excuse("S15", "older assignment records were compacted away")
    return told


class _PartitionReader:
    """Reads one partition; all records of a member stand in the same one."""

    def __init__(self, told: Told, docket: Docket, *, whole: bool) -> None:
        self._told, self._docket, self._whole = told, docket, whole
        self._issued: dict[tuple[str, MemberKey], set[tuple[MessageQueue, Epoch]]] = {}
        self._newest: dict[tuple[str, MemberKey, int], tuple[Epoch, RawRecord]] = {}
        self._seen: dict[tuple[str, MemberKey, int], deque[int]] = {}

    def take(self, row: RawRecord) -> None:
        try:
            body = orjson.loads(row.value or b"")
            check_assignment(body)
            member = MemberKey(body["client_id"], body["incarnation"])
            if body["kind"] == "notice":
                if body["code"] == "duplicate_client_id":
                    self._told.losers.setdefault((body["group"], member), _bare(row))
                return
            self._take_assignment(body, member, row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = f"an assignment cannot be read ({type(error).__name__}: {error})"
            self._docket.find("S3", text, evidence_of(row, "this is the record"))

    def _take_assignment(self, body: Mapping[str, Any], member: MemberKey, row: RawRecord) -> None:
        bare, group = _bare(row), str(body["group"])
        key = ToldKey(group, int(body["generation"]), Epoch(*body["epoch"]), int(body["at_ms"]))
        seen = self._seen.setdefault((group, member, key.generation), deque(maxlen=_SEEN_MAX))
        if hash(row.value) in seen:
            # A batch that was tried again is written again, from its start.
            return
        seen.append(hash(row.value))
        self._judge_epoch(key, member, bare)
        issued = self._issued.setdefault((group, member), set())
        for entry in body["add"]:
            add = ToldAdd(
                group,
                member,
                key.generation,
                MessageQueue(*entry["queue"]),
                Epoch(*entry["epoch"]),
                Position(*entry["position"]),
                tuple(_gate(gate) for gate in entry["after"]),
                bare,
            )
            issued.add((add.queue, add.epoch))
            self._told.adds.setdefault(key, []).append(add)
        if self._whole:
            self._judge_set(body, issued, bare)

    def _judge_set(
        self, body: Mapping[str, Any], issued: set[tuple[MessageQueue, Epoch]], row: RawRecord
    ) -> None:
        for entry in body["assigned"]:
            grant = MessageQueue(*entry["queue"]), Epoch(*entry["epoch"])
            self._docket.look("S15", "entries of sets")
            if grant not in issued:
                member = MemberKey(body["client_id"], body["incarnation"])
                told = ToldEntry(body["group"], member, *grant, str(entry["state"]), row)
                self._told.unknown.append(told)

    def _judge_epoch(self, key: ToldKey, member: MemberKey, row: RawRecord) -> None:
        place = (key.group, member, key.generation)
        epoch, before = self._newest.get(place, (key.epoch, row))
        self._docket.look("S3", "assignments")
        if key.epoch < epoch:
            text = f"assignments to {member.client_id} go back from {epoch} to {key.epoch}"
            self._docket.find(
                "S3", text, evidence_of(before, f"epoch {epoch}"), evidence_of(row, "behind it")
            )
        self._newest[place] = max(epoch, key.epoch), row


def _gate(entry: Mapping[str, Any]) -> Gate:
    return Gate(MemberKey(entry["client_id"], entry["incarnation"]), Epoch(*entry["epoch"]))


def _bare(row: RawRecord) -> RawRecord:
    """Return a record without its content: where it stands is all that is kept of it."""
    return row._replace(key=None, value=None)
