"""Random histories of members, drawn from a seed."""

from random import Random

from fairlead_proof.pitfalls.history import Event, Freezes, Grows, Joins, Killed, Leaves
from fairlead_proof.pitfalls.scene import Scene

__all__ = ["CHANGES_UNTIL_MS", "FROM_MS", "TO_MS", "drawn_events", "drawn_scene"]

FROM_MS, TO_MS = 40_000, 110_000
CHANGES_UNTIL_MS = 80_000
FROZEN_MS = (1_000, 4_000, 13_500, 20_000)
"""Well within the lease, whenever the last heartbeat was, or well beyond it."""

STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


def drawn_scene(chance: Random) -> Scene:
    """Return a topic of a few queues on one broker or two, under one of three strategies."""
    brokers = ("broker-a", "broker-b")[: chance.randint(1, 2)]
    return Scene({"orders": chance.randint(3, 8)}, brokers, chance.choice(STRATEGIES))


def drawn_events(chance: Random) -> list[Event]:
    """Three start; then some join, leave, die, stand still, and the topic may grow."""
    events: list[Event] = [Joins(chance.randrange(20_000), f"c{number}") for number in range(3)]
    there = ["c0", "c1", "c2"]
    for number in range(3, 3 + chance.randint(1, 3)):
        at_ms = chance.randrange(FROM_MS + 1_000, CHANGES_UNTIL_MS)
        events.append(Joins(at_ms, f"c{number}"))
    for _ in range(chance.randint(0, 2)):
        process, at_ms = there.pop(chance.randrange(len(there))), chance.randrange(45_000, 80_000)
        ends: list[Event] = [
            Leaves(at_ms, process),
            Killed(at_ms, process),
            Freezes(at_ms, process, chance.choice(FROZEN_MS)),
        ]
        events.append(chance.choice(ends))
    if chance.random() < 0.3:
        events.append(Grows(chance.randrange(45_000, 80_000), "orders", 9))
    return events
