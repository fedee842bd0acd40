"""Faults of clients: killed, frozen, told to go, deaf to a drop, cloned.

Each is done to the running system inside a trial of its own, proves that it happened, and leaves
the quick group with as many members as it found.
"""

import random
from math import ceil

from tests.faults.stage import (
    JOIN_STARTS_MAX,
    LEASE_SECONDS,
    MARGIN_SECONDS,
    QUEUES,
    QUICK,
    RATE,
    Stage,
)
from tests.faults.troop import ended_as_duplicate


def killed(stage: Stage, chance: random.Random) -> None:
    """SIGKILL with a message in hand."""
    quick = stage.quick
    with stage.trial("client killed") as trial:
        victim = chance.choice(quick.members())
        quick.take_in_hand(victim)
        stage.may_expire(trial, victim)
        with stage.phase(trial, "killed", owners={victim}):
            quick.kill(victim)
        stage.reinforce(trial)
    assert quick.client_id(victim) in stage.judgements[trial.name, QUICK.group].expired


def told_to_go(stage: Stage, chance: random.Random) -> None:
    """SIGTERM: it finishes what is in hand, releases, leaves and ends with 0."""
    quick = stage.quick
    with stage.trial("client told to go") as trial:
        victim = chance.choice(quick.members())
        with stage.phase(trial, "told to go", owners={victim}):
            quick.fleet.terminate(victim)
            assert quick.await_end(victim) == 0
        stage.reinforce(trial)


def restarted_in_grace(stage: Stage, chance: random.Random) -> None:
    """With a restart grace, a client id that comes back finds its queues, and nobody else's move.

    It is asked to go first, and killed then.
    """
    quick = stage.quick
    with stage.trial("restarted in grace") as trial:
        stage.set_rule("timing", {"restart_grace_ms": 120_000})
        name = chance.choice(quick.members())
        client_id = quick.client_id(name)
        owned = quick.queues_of(name)
        stage.may_expire(trial, name)
        for end in (quick.fleet.terminate, quick.kill):
            with stage.phase(trial, end.__name__, owners={client_id}, starts_max=len(owned)):
                end(name)
                name = quick.launch(client_id)
                quick.join(name)
            assert quick.queues_of(name) == owned
        stage.set_rule("timing", None)


def frozen(stage: Stage, chance: random.Random) -> None:
    """SIGSTOP of three clients at once, for half a lease, one and a half, and three."""
    quick = stage.quick
    with stage.trial("clients frozen") as trial:
        short, long, longest = chance.sample(quick.members(), 3)
        stage.may_expire(trial, long, longest)
        quick.take_in_hand(long)
        with quick.frozen(longest, stage.log, lapses=True) as three_leases:
            with (
                quick.frozen(long, stage.log, lapses=True) as more_than_one,
                stage.phase(trial, "frozen", owners={long, longest}, settles=False),
            ):
                with quick.frozen(short, stage.log, lapses=False) as half:
                    half.hold(0.5 * LEASE_SECONDS)
                more_than_one.hold(1.5 * LEASE_SECONDS)
            # What was in hand is left to whoever has the queue now.
            quick.fleet.resume(long)
            three_leases.hold(3 * LEASE_SECONDS)
            quick.await_floor(lambda floor: not floor.queues_of(longest), "others at its queues")
        with stage.phase(trial, "back"):
            pass


def drained_in_vain(stage: Stage, chance: random.Random) -> None:
    """A client that does not answer a drop keeps the queue, and only that one, until it does."""
    quick = stage.quick
    with stage.trial("drop unanswered") as trial:
        deaf = chance.choice(quick.members())
        held = quick.take_in_hand(deaf).queue
        with stage.phase(trial, "drained", owners={deaf}):
            stage.set_drain(deaf, drained=True)
            quick.await_floor(
                lambda floor: floor.queues_of(deaf) == [held], "other queues given away"
            )
            # Longer than the engine waits for a dead one.
            quick.await_processed(round((LEASE_SECONDS + MARGIN_SECONDS + 1) * RATE * 0.9))
            assert quick.owner(held) == deaf
            quick.fleet.resume(deaf)
        with stage.phase(trial, "shares again", starts_max=JOIN_STARTS_MAX):
            stage.set_drain(deaf, drained=False)
            quick.await_floor(lambda floor: bool(floor.queues_of(deaf)), "queues of its own")


def drain_deadline_passed(stage: Stage, _chance: random.Random) -> None:
    """A client whose handler is too slow releases without it, and the handler's work is refused."""
    quick = stage.quick
    with stage.trial("drain deadline") as trial:
        slow = quick.launch(drain_deadline_ms=500)
        with stage.phase(trial, "joins", starts_max=ceil(QUEUES / (QUICK.size + 1))):
            quick.join(slow)
        held = quick.take_in_hand(slow).queue
        with stage.phase(trial, "drained", owners={slow}):
            stage.set_drain(slow, drained=True)
            quick.await_successor(held, slow)
        quick.fleet.resume(slow)
        with stage.phase(trial, "goes", owners=set()):
            quick.fleet.terminate(slow)
            assert quick.await_end(slow) == 0
        stage.set_drain(slow, drained=False)


def cloned(stage: Stage, chance: random.Random) -> None:
    """A second process takes a client's id: the later one stays, the other ends with its code."""
    quick = stage.quick
    with stage.trial("client id cloned") as trial:
        original = chance.choice(quick.members())
        client_id = quick.client_id(original)
        clone = quick.launch(client_id)
        stage.may_expire(trial, original)
        owned = quick.queues_of(original)
        with stage.phase(trial, "cloned", owners={client_id}, starts_max=len(owned)):
            quick.join(clone)
            assert ended_as_duplicate(quick.await_end(original))
        assert quick.queues_of(clone) == owned
        stage.read_on()
        notices = [
            body for _, body in stage.bodies("assignments")
            if body["kind"] == "notice" and body["client_id"] == client_id
        ]  # fmt: skip
        assert {body["code"] for body in notices} - {"waiting"} == {"duplicate_client_id"}
