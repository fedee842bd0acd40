"""Pitfalls of views: each client shares alone, and clients see different members or queues."""

from fairlead_proof.pitfalls.history import Grows, Joins
from fairlead_proof.pitfalls.pitfall import Pitfall
from fairlead_proof.pitfalls.rocketmq.network import Network, Trouble
from fairlead_proof.pitfalls.scene import Scene

__all__ = ["VIEWS"]

_FOUR = (Joins(0, "c1"), Joins(1_000, "c2"), Joins(2_000, "c3"), Joins(3_000, "c4"))
_FIFTH = Joins(68_000, "c5")


def _not_notified(*processes: str) -> Network:
    return Network(tuple(Trouble("notification", each, from_ms=60_000) for each in processes))


TWO_OF_FIVE_KNOW = Pitfall(
    "two-of-five-know",
    "Only two of five clients know that the fifth has joined",
    "The notification is sent once, to each client for itself, and may be lost. c1 makes room "
    "and c5 takes its share of five, while c2, c3 and c4 keep their shares of four until "
    "their next tick.",
    "One decision for all five. What moves is first dropped and released; its new owner starts "
    "behind that release.",
    Scene({"orders": 10}),
    (*_FOUR, _FIFTH),
    60_000,
    100_000,
    _not_notified("c2", "c3", "c4"),
    seen=("apache/rocketmq-externals#568",),
)

ONLY_THE_NEW_ONE_KNOWS = Pitfall(
    "only-the-new-one-knows",
    "Only the client that joins knows that it has joined",
    "c5 works out its share of five while the others go on with their shares of four: what it "
    "takes still belongs to c4.",
    "Whoever joins owns nothing until it is granted a queue, and that grant waits for the holder's "
    "release.",
    Scene({"orders": 8}),
    (*_FOUR, _FIFTH),
    60_000,
    100_000,
    _not_notified("c1", "c2", "c3", "c4"),
    seen=("apache/rocketmq#2837",),
)

ONLY_THE_OLD_ONES_KNOW = Pitfall(
    "only-the-old-ones-know",
    "The clients that were there know of the new one, and it knows nothing",
    "c5's look-up of the consumer ids fails. That counts as a run that went well, so it tries "
    "again at its next tick, 20 s later; c4 has given its queue up meanwhile.",
    "Nothing is given up before somebody else is granted it in the same decision. Lost output is "
    "noticed by the digest in the next heartbeat and written again.",
    Scene({"orders": 8}),
    (*_FOUR, _FIFTH),
    60_000,
    100_000,
    Network((Trouble("look_up", "c5", from_ms=68_000, to_ms=83_000),)),
)

LATE_BY_A_TICK = Pitfall(
    "late-by-a-tick",
    "The first of two clients is late by a tick",
    "c1 holds everything and misses the notification. c2 takes its half at once, c1 gives it up "
    "at its next tick: up to 20 s in which both read the same three queues.",
    "There is no tick to wait for and no notification to miss: c2 starts when c1 has released.",
    Scene({"orders": 6}),
    (Joins(0, "c1"), Joins(61_000, "c2")),
    55_000,
    95_000,
    _not_notified("c1"),
    seen=("apache/rocketmq#2837",),
)

A_BROKER_KNOWS_TOO_FEW = Pitfall(
    "a-broker-knows-too-few",
    "The broker that is asked does not know the client that asks",
    "Each broker has its own list. After a restart of broker-b, c2's heartbeat has not reached "
    "it yet; c2 asks it, does not find itself in the answer, and drops everything it has.",
    "Heartbeats are one log, read by one engine. A list that lacks somebody cannot be asked for, "
    "and an input that fails drops nothing.",
    Scene({"orders": 4}, brokers=("broker-a", "broker-b")),
    (Joins(0, "c1"), Joins(1_000, "c2")),
    60_000,
    100_000,
    Network(
        (Trouble("heartbeat", "c2", to_ms=85_000, broker="broker-b"),),
        asks=(("c2", 62_000, "broker-b"),),
    ),
    seen=("apache/rocketmq#2732",),
)

ROUTES_AT_DIFFERENT_TIMES = Pitfall(
    "routes-at-different-times",
    "Two clients learn at different times that a topic has grown",
    "Each client fetches the route every 30 s and acts on it at its next tick. Until then one "
    "shares out eight queues and the other four.",
    "A route is a trigger, and the old and the new queues are shared in one decision.",
    Scene({"orders": 4}),
    (Joins(0, "c1"), Joins(13_000, "c2"), Grows(65_000, "orders", 8)),
    65_000,
    125_000,
)

VIEWS = (
    TWO_OF_FIVE_KNOW,
    ONLY_THE_NEW_ONE_KNOWS,
    ONLY_THE_OLD_ONES_KNOW,
    LATE_BY_A_TICK,
    A_BROKER_KNOWS_TOO_FEW,
    ROUTES_AT_DIFFERENT_TIMES,
)
