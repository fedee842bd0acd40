"""The grants that the engine sent to clients: the adds of all assignments, by their decision."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position
from fairlead.recording import RecordingFolder
from fairlead.verify.decisions import read_decisions
from fairlead.verify.verdicts import Verdicts, evidence_of
from fairlead.wire.decision_records import DecisionRecord, MoveRecord
from fairlead.wire.engine_shapes import check_assignment
from fairlead.wire.raw import RawRecord

__all__ = [
    "ALL",
    "DecisionKey",
    "Gate",
    "IssuedAdd",
    "IssuedGrants",
    "SetEntry",
    "read_issued_grants",
]


ALL: Final = 2**63
"""Above every generation."""

_SEEN_MAX: Final = 64
"""The reader remembers this many records of a member, to recognise those of a retried batch."""


class Gate(NamedTuple):
    """A grant whose release an add waits for."""

    member: MemberKey
    epoch: Epoch


class IssuedAdd(NamedTuple):
    """One add: to whom, from where, behind which gates; ``row`` without its content."""

    group: str
    member: MemberKey
    generation: int
    queue: MessageQueue
    epoch: Epoch
    position: Position
    after: tuple[Gate, ...]
    row: RawRecord


class SetEntry(NamedTuple):
    """One entry of a member's whole set."""

    group: str
    member: MemberKey
    queue: MessageQueue
    epoch: Epoch
    state: str
    row: RawRecord


class DecisionKey(NamedTuple):
    """The fields that an assignment shares with its decision."""

    group: str
    generation: int
    epoch: Epoch
    at_ms: int


@dataclass(slots=True)
class IssuedGrants:
    """All adds, by their decision.

    Attributes:
        adds: in the order of their partition; the walk pops them with their decision.
        losers: members with a notice that a greater process has their client id.
        unknown: entries of sets without an add in the topic.
        decided: how many decisions have each key.
    """

    adds: dict[DecisionKey, list[IssuedAdd]] = field(default_factory=dict)
    losers: dict[tuple[str, MemberKey], RawRecord] = field(default_factory=dict)
    unknown: list[SetEntry] = field(default_factory=list)
    decided: Mapping[DecisionKey, int] = field(default_factory=dict)

    def drop(self, decision: DecisionRecord) -> None:
        """Discard the adds of a decision that nobody judges."""
        self.adds.pop(_key(decision), None)

    def pop_adds(self, decision: DecisionRecord) -> list[IssuedAdd]:
        """Return the adds of a decision, and forget them.

        Two decisions have the same key if the second drew no epoch and read nothing newer. If both
        sent one grant, gates and positions show which add belongs to which decision. Adds without a
        move belong to a healed member.
        """
        key = _key(decision)
        there = self.adds.get(key, [])
        alone = self.decided.get(key) == 1
        moved = [_of_move(there, move, alone=alone) for move in decision.moves]
        healed = {
            cause.get("client_id") for cause in decision.causes if cause.get("kind") == "healed"
        }
        taken = [add for add in there if add in moved or add.member.client_id in healed]
        if taken:
            self.adds[key] = [add for add in there if add not in taken]
        return taken

    def left_over(self, groups: frozenset[str], below: int) -> Iterator[IssuedAdd]:
        """Yield, and forget, adds of lower generations whose driver died before it decided.

        A superseded driver may still write its decision for a while: its adds wait.
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


def _of_move(adds: Sequence[IssuedAdd], move: MoveRecord, *, alone: bool) -> IssuedAdd | None:
    """Return the add of a move; None: there is none.

    ``alone``: no other decision has the same key.
    """
    if move.stage not in ("gated", "granted"):
        return None
    place, gated = (move.queue, move.epoch, move.client_id), move.stage == "gated"
    candidates = [add for add in adds if (add.queue, add.epoch, add.member.client_id) == place]
    exact = [add for add in candidates if (bool(add.after), add.position) == (gated, move.position)]
    # A lone candidate is the add of this decision, even if it differs from it.
    return next(iter(exact), candidates[0] if alone and len(candidates) == 1 else None)


def _key(decision: DecisionRecord) -> DecisionKey:
    return DecisionKey(decision.group, decision.cut.generation, decision.epoch, decision.at_ms)


def read_issued_grants(recording: RecordingFolder, verdicts: Verdicts) -> IssuedGrants:
    """Read the assignments topic, and judge its records by themselves.

    The records of one generation to a member are readable, and their epochs never fall (S3).

    Raises:
        RecordingError: the recording is damaged.
    """
    issued = IssuedGrants(decided=Counter(map(_key, read_decisions(recording, Verdicts()))))
    for number in sorted(recording.manifest.topics["assignments"]):
        whole = recording.part("assignments", number).whole
        reader = _PartitionReader(issued, verdicts, whole=whole)
        for row in recording.rows("assignments", number):
            if row.value is not None:
                reader.read(row)
        if not whole:
            verdicts.excuse("S15", "older assignment records were compacted away")
    return issued


class _PartitionReader:
    """Reads one partition; all records of a member stand in the same one."""

    def __init__(self, issued_grants: IssuedGrants, verdicts: Verdicts, *, whole: bool) -> None:
        self._issued_grants, self._verdicts, self._whole = issued_grants, verdicts, whole
        self._issued: dict[tuple[str, MemberKey], set[tuple[MessageQueue, Epoch]]] = {}
        self._newest: dict[tuple[str, MemberKey, int], tuple[Epoch, RawRecord]] = {}
        self._seen: dict[tuple[str, MemberKey, int], deque[int]] = {}

    def read(self, row: RawRecord) -> None:
        try:
            body = orjson.loads(row.value or b"")
            check_assignment(body)
            member = MemberKey(body["client_id"], body["incarnation"])
            if body["kind"] == "notice":
                if body["code"] == "duplicate_client_id":
                    self._issued_grants.losers.setdefault((body["group"], member), _bare(row))
                return
            self._take_assignment(body, member, row)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = f"an assignment cannot be read ({type(error).__name__}: {error})"
            self._verdicts.add_finding("S3", text, evidence_of(row, "this is the record"))

    def _take_assignment(self, body: Mapping[str, Any], member: MemberKey, row: RawRecord) -> None:
        bare, group = _bare(row), str(body["group"])
        key = DecisionKey(group, int(body["generation"]), Epoch(*body["epoch"]), int(body["at_ms"]))
        seen = self._seen.setdefault((group, member, key.generation), deque(maxlen=_SEEN_MAX))
        if hash(row.value) in seen:
            # The engine writes a retried batch again, from its start.
            return
        seen.append(hash(row.value))
        self._judge_epoch(key, member, bare)
        issued = self._issued.setdefault((group, member), set())
        for entry in body["add"]:
            add = IssuedAdd(
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
            self._issued_grants.adds.setdefault(key, []).append(add)
        if self._whole:
            self._judge_set(body, issued, bare)

    def _judge_set(
        self, body: Mapping[str, Any], issued: set[tuple[MessageQueue, Epoch]], row: RawRecord
    ) -> None:
        for entry in body["assigned"]:
            grant = MessageQueue(*entry["queue"]), Epoch(*entry["epoch"])
            self._verdicts.count("S15", "entries of sets")
            if grant not in issued:
                member = MemberKey(body["client_id"], body["incarnation"])
                issued_grants = SetEntry(body["group"], member, *grant, str(entry["state"]), row)
                self._issued_grants.unknown.append(issued_grants)

    def _judge_epoch(self, key: DecisionKey, member: MemberKey, row: RawRecord) -> None:
        place = (key.group, member, key.generation)
        epoch, before = self._newest.get(place, (key.epoch, row))
        self._verdicts.count("S3", "assignments")
        if key.epoch < epoch:
            text = f"assignments to {member.client_id} go back from epoch {epoch} to {key.epoch}"
            self._verdicts.add_finding(
                "S3", text, evidence_of(before, f"epoch {epoch}"), evidence_of(row, "behind it")
            )
        self._newest[place] = max(epoch, key.epoch), row


def _gate(entry: Mapping[str, Any]) -> Gate:
    return Gate(MemberKey(entry["client_id"], entry["incarnation"]), Epoch(*entry["epoch"]))


def _bare(row: RawRecord) -> RawRecord:
    """Return a record without its content, to save memory."""
    return row._replace(key=None, value=None)
