"""What operators ask for: to hand over without waiting, to settle, to begin elsewhere.

Two clients do not answer: one keeps what it is to drop, the other never acknowledges a new
engine.
"""

import random
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from fairlead.core.model import MessageQueue
from tests.faults.engine_faults import kill_engine, one_leaves
from tests.faults.stage import (
    JOIN_STARTS_MAX,
    QUEUES,
    QUICK,
    RATE,
    Stage,
)
from tests.kit.kafka_log import Log, body_of

if TYPE_CHECKING:
    from fairlead_proof.demo.floor import Floor
    from kafka.consumer.fetcher import ConsumerRecord

    Wanted = Callable[[ConsumerRecord], bool]

MUTE_PROGRAM: Final = "tests.faults.mute_process"
SIXTH_STARTS_MAX: Final = ceil(QUEUES / (QUICK.size + 1))
"""So many queues at most change hands for one client more than there were at first."""
DEADLINE_MS: Final = 500
SETTLE_MS: Final = 3_000
BACK: Final = 10
FORWARD: Final = 3


def eager(stage: Stage, chance: random.Random) -> None:
    """An eager group grants beside who still works, and says so; beside ordered work it never does.

    Both times a client with a message in hand has to give everything away.
    """
    quick, group = stage.quick, QUICK.group
    with stage.trial("eager") as trial:
        trial.unsafe.add(group)
        stage.set_rule("mode", "eager")
        slow = chance.choice(quick.members())
        held = quick.take_in_hand(slow).queue
        with stage.phase(trial, "drained", owners={slow}):
            stage.set_drain(slow, drained=True)
            quick.await_successor(held, slow)
            quick.fleet.resume(slow)
        with stage.phase(trial, "shares again", starts_max=JOIN_STARTS_MAX):
            stage.set_drain(slow, drained=False)
            quick.await_floor(lambda floor: bool(floor.queues_of(slow)), "queues of its own")
        stage.set_rule("mode", None)
    assert quick.client_id(slow) in stage.judgements[trial.name, group].beside


def eager_but_ordered(stage: Stage, _chance: random.Random) -> None:
    """While a client wants its messages in order an eager group hands over as any other does."""
    quick = stage.quick
    with stage.trial("eager but ordered") as trial:
        stage.set_rule("mode", "eager")
        ordered = quick.launch(ordered=True)
        with stage.phase(trial, "joins", starts_max=SIXTH_STARTS_MAX):
            quick.join(ordered)
        held = quick.take_in_hand(ordered).queue
        with stage.phase(trial, "drained", owners={ordered}):
            stage.set_drain(ordered, drained=True)
            quick.await_floor(
                lambda floor: floor.queues_of(ordered) == [held], "other queues given away"
            )
            quick.await_processed(RATE)
            assert quick.owner(held) == ordered
            assert "rule_without_effect" in quick.newest().alarms
            quick.fleet.resume(ordered)
        with stage.phase(trial, "goes", owners=set()):
            # Before it goes: without it the group is eager again.
            stage.set_rule("mode", None)
            quick.fleet.terminate(ordered)
            assert quick.await_end(ordered) == 0
        stage.set_drain(ordered, drained=False)


def forced(stage: Stage, _chance: random.Random) -> None:
    """A client that answers no drop loses the queue at last; what it says of it later is nothing.

    The rule is ``on_mute`` = ``force``; the client heartbeats all the time, and is no dead one.
    """
    quick, group = stage.quick, QUICK.group
    with stage.trial("mute forced") as trial:
        trial.unsafe.add(group)
        stage.set_rule("on_mute", "force")
        stage.set_rule("timing", {"drain_deadline_ms": DEADLINE_MS})
        mute = quick.launch(drain_deadline_ms=None)
        with stage.phase(trial, "joins", starts_max=SIXTH_STARTS_MAX):
            quick.join(mute)
        held = quick.take_in_hand(mute)
        with stage.phase(trial, "forced", owners={mute}):
            stage.set_drain(mute, drained=True)
            with Log(stage.settings.kafka) as log:
                log.await_record("decisions", _alarms("mute_member"))
            successor = quick.await_successor(held.queue, mute)
        reached = held.offset + FORWARD
        quick.await_floor(
            lambda floor: floor.frontier[held.queue] > reached, "its successor's work"
        )
        with (
            stage.phase(trial, "released too late", owners=set()),
            Log(stage.settings.kafka) as log,
        ):
            quick.fleet.resume(mute)
            client_id = quick.client_id(mute)
            log.await_record("releases", _of_queue(client_id, held.queue))
            log.await_record("decisions", _resolves(client_id, held.queue))
            assert quick.owner(held.queue) == successor
        with stage.phase(trial, "moved on", owners={successor}):
            stage.set_drain(successor, drained=True)
            quick.await_successor(held.queue, successor)
        stage.set_rule("on_mute", None)
        stage.set_rule("timing", None)
        with stage.phase(trial, "goes", starts_max=SIXTH_STARTS_MAX):
            stage.set_drain(successor, drained=False)
            quick.fleet.terminate(mute)
            assert quick.await_end(mute) == 0
        stage.set_drain(mute, drained=False)
    assert quick.client_id(mute) in stage.judgements[trial.name, group].beside


def mute_in_a_barrier(stage: Stage, chance: random.Random) -> None:
    """Who heartbeats and never acknowledges a new engine keeps its queues, and nothing moves."""
    quick = stage.quick
    with stage.trial("mute in a barrier") as trial:
        stage.set_rule("timing", {"drain_deadline_ms": DEADLINE_MS})
        mute = quick.launch(program=MUTE_PROGRAM)
        with stage.phase(trial, "joins", starts_max=SIXTH_STARTS_MAX):
            quick.join(mute)
        owned = quick.queues_of(mute)
        assert owned
        with (
            stage.phase(trial, "waited for", owners=set(), settles=False),
            Log(stage.settings.kafka) as log,
        ):
            kill_engine(stage, "all")
            stage.start_engine()
            joined = quick.reinforce()
            # Of this engine: there may have been such a barrier before.
            alarmed = _alarms("barrier_mute")
            told = log.await_record(
                "decisions",
                lambda record: (
                    alarmed(record) and body_of(record)["cut"]["generation"] == stage.generation
                ),
            )
            assert body_of(told)["group"] == QUICK.group
            quick.await_processed(RATE)
            assert quick.newest().phase == "barrier"
            assert (quick.queues_of(mute), quick.queues_of(joined)) == (owned, [])
        stage.may_expire(trial, mute)
        # With the mute one the barrier ends, and the other one gets what it has waited for.
        with stage.phase(trial, "dead", starts_max=len(owned) + JOIN_STARTS_MAX):
            quick.kill(mute)
        stage.set_rule("timing", None)
        one_leaves(stage, trial, chance)
    assert quick.client_id(mute) in stage.judgements[trial.name, QUICK.group].expired


def settled(stage: Stage, _chance: random.Random) -> None:
    """Two clients that come within the settle window are one decision, and so are two that go."""
    quick = stage.quick
    with stage.trial("changes settled") as trial:
        stage.set_rule("timing", {"settle_ms": SETTLE_MS})
        names = [quick.launch(), quick.launch()]
        with stage.phase(trial, "come", starts_max=2 * SIXTH_STARTS_MAX):
            quick.join(*names)
        with stage.phase(trial, "go", owners=set(names)):
            quick.fleet.leave(*names)
        stage.set_rule("timing", None)
        stage.read_on()
        shared = [body for body in stage.decided(trial) if _shares(body)]
        why = [
            cause.get("because")
            for body in shared
            for cause in body["cause"]
            if cause["kind"] == "settled"
        ]
        assert why == [
            f"2 client_joined within {SETTLE_MS} ms",
            f"2 client_left within {SETTLE_MS} ms",
        ]
        others = [body for body in shared if "settled" not in body["triggers"]]
        assert not others, others


def start_moved(stage: Stage, chance: random.Random) -> None:
    """An operator lets a queue begin elsewhere, back and forward, and again while it is paused.

    Its owner starts anew there, and no other queue is touched.
    """
    quick = stage.quick
    with stage.trial("start moved") as trial:
        for paused in (False, True):
            if paused:
                stage.set_rule("pause", True)  # noqa: FBT003 - the rule's value
            for move in (_back, _forward):
                name = chance.choice(quick.members())
                what = f"{move.__name__[1:]}{' in a pause' * paused}"
                with stage.phase(trial, what, owners={name}, starts_max=1, settles=not paused):
                    move(stage, name, chance.choice(quick.queues_of(name)))
                    assert (quick.newest().phase == "paused") is paused
        with stage.phase(trial, "goes on", owners=set()):
            stage.set_rule("pause", None)


def _back(stage: Stage, name: str, queue: MessageQueue) -> None:
    quick = stage.quick
    quick.await_floor(lambda floor: floor.frontier.get(queue, 0) >= BACK, "some messages")
    with quick.condition:
        offset = quick.fleet.floor.frontier[queue] - BACK
    _await_followed(stage, name, queue, offset, stage.reset(queue, offset))


def _forward(stage: Stage, name: str, queue: MessageQueue) -> None:
    """The client has a message in hand, and behind it are some that nobody will read."""
    quick = stage.quick
    held = quick.take_in_hand(name, queue.queue_id)
    offset = held.offset + FORWARD
    while stage.ends()[queue] < offset:
        quick.await_processed(RATE // QUEUES)
    place = stage.reset(queue, offset)
    with Log(stage.settings.kafka) as log:
        decision = body_of(log.await_record("decisions", _is_caused_by(place)))
        # It has read that it shall stop, so it takes no other message in hand.
        log.await_record(
            "heartbeats",
            lambda record: (
                (body := body_of(record)).get("client_id") == quick.client_id(name)
                and (body.get("applied") or []) >= decision["epoch"]
            ),
        )
    quick.fleet.resume(name)
    _await_followed(stage, name, queue, offset, place)


def _await_followed(
    stage: Stage, name: str, queue: MessageQueue, offset: int, place: tuple[str, int, int]
) -> None:
    """Return when the owner of a queue works on it under the decision that its reset led to.

    The owner may be quicker than whoever follows the decisions for the group's state.
    """
    with Log(stage.settings.kafka) as log:
        decision = body_of(log.await_record("decisions", _is_caused_by(place)))
    adds = [move for move in decision["moves"] if move["stage"] in ("gated", "granted")]
    assert [(move["queue"], move["position"]) for move in adds] == [
        ([*queue], [place[2] + 1, offset])
    ]

    def follows(floor: "Floor") -> bool:
        work, newest = floor.working.get(queue), stage.quick.newest()
        return (
            work is not None
            and [*work.epoch] == adds[0]["epoch"]
            and [*newest.epoch] >= decision["epoch"]
        )

    stage.quick.await_floor(follows, f"start of {queue} at {offset}")
    assert stage.quick.owner(queue) == name


def _of_queue(client_id: str, queue: MessageQueue) -> "Wanted":
    """Return what recognises a client's record about a queue."""

    def wanted(record: "ConsumerRecord") -> bool:
        body = body_of(record)
        return (body.get("client_id"), body.get("queue")) == (client_id, [*queue])

    return wanted


def _resolves(client_id: str, queue: MessageQueue) -> "Wanted":
    """Return what recognises the decision by which a client's grant of a queue is over."""

    def wanted(record: "ConsumerRecord") -> bool:
        return any(
            (move["stage"], move["client_id"], move["queue"]) == ("resolved", client_id, [*queue])
            for move in body_of(record)["moves"]
        )

    return wanted


def _alarms(alarm: str) -> "Wanted":
    """Return what recognises a decision that raises an alarm."""
    return lambda record: alarm in body_of(record)["alarms"]


def _is_caused_by(place: tuple[str, int, int]) -> "Wanted":
    """Return what recognises the decision that names a record as its cause."""
    return lambda record: any(cause.get("at") == [*place] for cause in body_of(record)["cause"])


def _shares(body: dict[str, Any]) -> bool:
    """Tell whether a decision gives queues to anybody, and does not only say so again."""
    anew = body["epoch"] != body["previous_epoch"]
    return anew and any(move["stage"] in ("gated", "granted") for move in body["moves"])
