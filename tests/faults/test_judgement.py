"""The judge of the trials can fail: each forgery is found, and nothing else with it."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from fairlead_proof.local.child import Killing

from fairlead.core.model import Epoch, MessageQueue
from fairlead.core.outputs import Cut
from fairlead.verify.journal import JournalWriter
from fairlead.wire.bodies import cut_body
from fairlead.wire.raw import RawRecord
from tests.faults.judgement import Evidence, Judgement, judge, read_lives
from tests.faults.machine import excuse
from tests.faults.trial import FaultLog, Freeze, Lapse, Life, Phase, Trial
from tests.faults.troop import TroopPlan
from tests.kit.wire_records import example

QUEUE = MessageQueue("orders", "main", 0)
FIRST, SECOND = Epoch(1, 1), Epoch(1, 2)
MESSAGES = 6


class Play:
    """Two clients on one queue: `a` works on it, and then `b`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.log = FaultLog()
        self.killed: Killing | None = None
        self.phase: dict[str, Any] = {}
        self.expired: list[str] = []
        self.may_expire: set[str] = set()
        self.moves: list[dict[str, Any]] = []
        self.unsafe: set[str] = set()
        self.away: list[tuple[int, int]] = []
        self.lease_ms = 3_000
        self.epoch = SECOND
        self.granted_to = "b"
        self.ended_ns = 0
        self.a, self.b = (JournalWriter(folder / f"{name}.jsonl") for name in "ab")
        self.begun_ns = self.a.start(QUEUE, FIRST, 0)

    def work(self, journal: JournalWriter, *offsets: int) -> None:
        """Process messages."""
        for offset in offsets:
            journal.consumed(QUEUE, offset, 100 + offset)

    def judge(self) -> Judgement:
        """Judge it."""
        killed = self.killed
        lives = [
            Life("a", "a", self._folder / "a.jsonl", killed, running=False),
            Life("b", "b", self._folder / "b.jsonl", None, running=True),
        ]
        phases = [Phase("g", "phase", self.begun_ns, self.ended_ns, **self.phase)]
        trial = Trial(
            "trial", 0, {"g": 0}, phases, may_expire={"g": self.may_expire}, unsafe=self.unsafe
        )
        excuse(
            trial, self.log, TroopPlan("g", "g", 2, {"lease_ms": self.lease_ms}), "ab", self.away
        )
        tenures = read_lives(lives, self.log)
        source = {QUEUE: {offset: 100 + offset for offset in range(MESSAGES)}}
        return judge(Evidence("g", tenures, source, {QUEUE: MESSAGES}, self._records), trial)

    def _records(self, suffix: str) -> Sequence[RawRecord]:
        bodies: dict[str, list[dict[str, Any]]] = {
            "assignments": [
                self._assignment("a", FIRST),
                self._assignment(self.granted_to, self.epoch),
            ],
            "decisions": [self._decision(1, [], []), self._decision(2, self.expired, self.moves)],
            "heartbeats": [],
        }
        return [
            RawRecord(
                *(suffix, 0, offset, 0),
                append_time_is_log=False,
                key=str(body.get("group")).encode(),
                value=orjson.dumps(body),
            )
            for offset, body in enumerate(bodies[suffix])
        ]

    def _assignment(self, client_id: str, epoch: Epoch) -> dict[str, Any]:
        add = {"queue": [*QUEUE], "epoch": [*epoch], "position": [0, 0]}
        return {
            "kind": "assignment",
            "group": "g",
            "client_id": client_id,
            "incarnation": client_id,
            "add": [add],
        }

    def _decision(
        self, number: int, expired: Sequence[str], moves: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        return example(
            "decision",
            group="g",
            epoch=(1, number),
            members=["a", "b"],
            moves=[*moves],
            cut=cut_body(Cut(1, 0, number, {})),
            cause=[{"kind": "client_expired", "client_id": each} for each in expired],
        )

    def granted(self, *position: int, **fields: Any) -> None:
        """The engine says that it gave the queue to `b` at a position."""
        grant = {"queue": [*QUEUE], "stage": "granted", "client_id": "b", "epoch": [*SECOND]}
        self.moves.append({**grant, "position": [*position], **fields})

    def hand_over(self, *read: int) -> None:
        """`a` stops behind its third message, and `b` works on the others."""
        self.work(self.a, 0, 1, 2)
        self.a.stop(QUEUE, FIRST, 3)
        self.b.start(QUEUE, self.epoch, 3)
        self.work(self.b, *(read or (3, 4, 5)))
        self.ended_ns = self.b.held(QUEUE, MESSAGES)


@pytest.fixture
def play(tmp_path: Path) -> Play:
    """A play that nothing was done to yet."""
    return Play(tmp_path)


def test_a_clean_move_has_no_faults(play: Play) -> None:
    """A clean move has no faults."""
    play.hand_over()
    assert play.judge().faults == ()


def _hole(play: Play) -> None:
    play.hand_over(3, 5)


def _twice(play: Play) -> None:
    play.hand_over(2, 3, 4, 5)


def _same_epoch(play: Play) -> None:
    play.epoch = FIRST
    play.granted_to = "a"
    play.hand_over()


def _not_granted(play: Play) -> None:
    play.granted_to = "c"
    play.hand_over()


def _two_grants(play: Play) -> None:
    play.epoch = FIRST
    play.hand_over()


def _needless(play: Play) -> None:
    play.phase = {"owners": frozenset({"c"})}
    play.begun_ns = play.a.held(QUEUE, 0)
    play.hand_over()


def _too_many(play: Play) -> None:
    play.phase = {"starts_max": 1}
    play.hand_over()


def _expired(play: Play) -> None:
    play.expired = ["b"]
    play.hand_over()


def _overlap(play: Play) -> None:
    play.work(play.a, 0, 1, 2)
    play.b.start(QUEUE, SECOND, 3)
    play.a.stop(QUEUE, FIRST, 3)
    play.work(play.b, 3, 4, 5)
    play.ended_ns = play.b.held(QUEUE, MESSAGES)


@pytest.mark.parametrize(
    "forge, words",
    [
        (_hole, ["missed: orders/main/0@4"]),
        (_twice, ["read twice: orders/main/0@2"]),
        (_same_epoch, ["was started by b under 1.1", "by b under 1.1: not granted"]),
        (_not_granted, ["by b under 1.2: not granted"]),
        (_two_grants, ["was started by b under 1.1", "was granted to a (a) and to b (b)"]),
        (_needless, ["orders/main/0 of a was started by b"]),
        (_too_many, ["2 starts, more than 1"]),
        (_expired, ["b was taken for dead"]),
        (_overlap, ["two owners:"]),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_a_forged_fault_is_found_alone(
    play: Play, forge: Callable[[Play], None], words: list[str]
) -> None:
    """What must not be is found, and nothing else with it."""
    forge(play)
    faults = play.judge().faults
    assert len(faults) == len(words)
    assert all(any(word in fault for fault in faults) for word in words), faults


def _freeze(play: Play, *after: int) -> None:
    """`a` stands still longer than its lease, and processes these messages after it."""
    play.work(play.a, 0, 1, 2)
    since_ns = play.a.held(QUEUE, 3)
    play.b.start(QUEUE, SECOND, 2)
    play.work(play.b, 2, 3, 4, 5)
    until_ns = play.b.held(QUEUE, MESSAGES)
    play.work(play.a, *after)
    stopped_ns = play.a.stop(QUEUE, FIRST, max([3, *(offset + 1 for offset in after)]))
    play.log.freezes.append(Freeze("a", since_ns, until_ns))
    play.log.lapses.append(Lapse("a", since_ns, stopped_ns))
    play.ended_ns = play.b.held(QUEUE, MESSAGES)


def test_a_client_that_stood_still_was_no_owner(play: Play) -> None:
    """A client that stood still and then stopped was no owner, and what it reported not is read."""
    _freeze(play)
    judgement = play.judge()
    assert judgement.faults == ()
    assert judgement.read_twice == 1


def test_frozen_and_went_on(play: Play) -> None:
    """A client that goes on after its lease is a second owner."""
    _freeze(play, 3)
    assert any(fault.startswith("two owners") for fault in play.judge().faults)


def test_a_killed_client_works_until_its_death_is_certain(play: Play) -> None:
    """A killed client's work ends when its death is certain: whoever starts sooner is a second."""
    play.work(play.a, 0, 1, 2)
    started_ns = play.b.start(QUEUE, SECOND, 3)
    play.work(play.b, 3, 4, 5)
    play.killed = Killing(started_ns, started_ns + 1)
    play.ended_ns = play.b.held(QUEUE, MESSAGES)
    (fault,) = play.judge().faults
    assert fault.startswith("two owners")


def test_a_queue_without_work_at_the_end_is_a_fault(play: Play) -> None:
    """A queue that nobody works on when a phase is over is a fault."""
    play.work(play.a, 0, 1, 2, 3, 4, 5)
    play.a.stop(QUEUE, FIRST, 6)
    (play.b.start(QUEUE, SECOND, 6), play.b.stop(QUEUE, SECOND, 6))
    play.ended_ns = play.b.held(MessageQueue("orders", "main", 1), 0)
    assert any("has no owner after it" in fault for fault in play.judge().faults)


def _work_beside(play: Play) -> None:
    """`b` starts where `a` was known to be, and `a` goes on beside it."""
    play.work(play.a, 0, 1, 2)
    play.b.start(QUEUE, SECOND, 2)
    play.work(play.b, 2, 3, 4, 5)
    play.work(play.a, 3)
    play.a.stop(QUEUE, FIRST, 4)
    play.ended_ns = play.b.held(QUEUE, MESSAGES)


@pytest.mark.parametrize("lease_ms, excused", [(3_000, True), (120_000, False)])
def test_host_took_the_machine(play: Play, lease_ms: int, *, excused: bool) -> None:
    """A second without the machine may end a short lease, and move its queues; no long one."""
    play.expired, play.phase, play.lease_ms = ["a"], {"owners": frozenset()}, lease_ms
    play.away = [(play.begun_ns, play.begun_ns + 1_000_000_000)]
    play.hand_over()
    assert (play.judge().faults == ()) == excused


def test_host_makes_no_second_owner(play: Play) -> None:
    """Whatever the host did, two never work on one queue."""
    play.away = [(play.begun_ns, play.begun_ns + 1_000_000_000)]
    _work_beside(play)
    assert any(fault.startswith("two owners") for fault in play.judge().faults)


def test_an_unsafe_grant_is_excused_and_named(play: Play) -> None:
    """Work beside an owner that did not have to wait is excused, and named."""
    play.granted(0, 2, unsafe=True)
    play.unsafe = {"g"}
    _work_beside(play)
    judgement = play.judge()
    assert judgement.faults == ()
    assert judgement.beside == ("a",)
    assert judgement.read_twice == 1


def test_marked_where_nobody_asked_for_it(play: Play) -> None:
    """A mark excuses no group that was promised to wait."""
    play.granted(0, 2, unsafe=True)
    _work_beside(play)
    (fault,) = play.judge().faults
    assert fault.endswith("was granted to b without waiting")


def test_beside_without_a_mark(play: Play) -> None:
    """That a group may be granted beside somebody excuses no grant that is not marked."""
    play.granted(0, 2)
    play.unsafe = {"g"}
    _work_beside(play)
    assert any(fault.startswith("two owners") for fault in play.judge().faults)


@pytest.mark.parametrize("start, faults", [(1, ()), (2, ("was reset to 1, and b started at 2",))])
def test_what_a_reset_lets_be_read_again_is_no_repetition(
    play: Play, start: int, faults: tuple[str, ...]
) -> None:
    """What is read again because an operator asked for it is no repetition; its start must fit."""
    play.granted(7, 1)
    play.work(play.a, 0, 1, 2)
    play.a.stop(QUEUE, FIRST, 3)
    play.b.start(QUEUE, SECOND, start)
    play.work(play.b, *range(1, MESSAGES))
    play.ended_ns = play.b.held(QUEUE, MESSAGES)
    found = play.judge().faults
    assert len(found) == len(faults)
    assert all(each in fault for each, fault in zip(faults, found, strict=True))
