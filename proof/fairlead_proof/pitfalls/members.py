"""Pitfalls of membership: who counts as a member, by which name, and for how long."""

from fairlead_proof.pitfalls.history import Freezes, Joins, Unsubscribes
from fairlead_proof.pitfalls.pitfall import Pitfall
from fairlead_proof.pitfalls.scene import Scene

__all__ = ["MEMBERS"]

_BOTH = ("orders", "payments")

SLOT_WITHOUT_SUBSCRIPTION = Pitfall(
    "slot-without-subscription",
    "A member that unsubscribed keeps its slot",
    "The consumer ids are those of the group, whatever each member subscribes. c3 wants orders no "
    "more and drops its share; the others still count three, and nobody reads it, for ever.",
    "Each topic is shared among its subscribers (`slots = group` is there for parity). The "
    "heartbeat that unsubscribes is a trigger.",
    Scene({"orders": 6, "payments": 3}),
    (
        Joins(0, "c1", topics=_BOTH),
        Joins(1_000, "c2", topics=_BOTH),
        Joins(2_000, "c3", topics=_BOTH),
        Unsubscribes(65_000, "c3", "orders"),
    ),
    60_000,
    110_000,
    seen=("apache/rocketmq#7556", "apache/rocketmq#2737"),
)

ONE_ID_TWICE = Pitfall(
    "one-id-twice",
    "Two processes have one client id",
    "The list has a place for each connection, and a client looks for the first place with its "
    "id: both processes of c1 take the first share, and the second is nobody's.",
    "Membership goes by client id. Of two processes with one id the newer is a member, the other "
    "is told, stops and releases; an alarm stands.",
    Scene({"orders": 6}),
    (Joins(0, "c1"), Joins(1_000, "c2"), Joins(65_000, "c1b", client_id="c1")),
    60_000,
    100_000,
    seen=tuple(f"apache/rocketmq#{number}" for number in (667, 1547, 2760, 3480)),
)

FROZEN_CLIENT = Pitfall(
    "frozen-client",
    "A client stands still, and its connection stays open",
    "A connection without a heartbeat is forgotten after 120 s, by a scan every 10 s that tells "
    "nobody; the others notice at their next tick.",
    "The lease is 10 s and the margin 3 s; both are settings. Who has stood still for longer "
    "begins anew, and touches nothing that it had.",
    Scene({"orders": 6}),
    (Joins(0, "c1"), Joins(1_000, "c2"), Joins(2_000, "c3"), Freezes(65_000, "c3", 180_000)),
    60_000,
    280_000,
    somebody_dies=True,
)

_FLEET = tuple(Joins(65_000 + 350 * index, f"n{letter}") for index, letter in enumerate("abcdefgh"))

DEPLOY = Pitfall(
    "deploy",
    "Eight clients are started within three seconds",
    "Each of them is told to everybody by every broker, and after each the queues are shared anew: "
    "most of them move several times, and what was in hand is read again each time.",
    "With `settle_ms` (here 3 s; off unless it is set) changes that come together are one "
    "decision, and every queue moves once at most.",
    Scene({"orders": 12}, brokers=("broker-a", "broker-b"), settle_ms=3_000),
    (Joins(0, "c1"), Joins(100, "c2"), Joins(200, "c3"), Joins(300, "c4"), *_FLEET),
    60_000,
    75_000,
    seen=("apache/rocketmq#9115",),
)

ROOMS_WITHOUT_CLIENTS = Pitfall(
    "rooms-without-clients",
    "Queues of rooms without clients pile up on the first ones",
    "MACHINE_ROOM_NEARBY deals the queues of each such room by itself, and what is left over of "
    "each goes to the same first clients: the one that joins last idles for ever.",
    "MACHINE_ROOM_NEARBY is there, and deals as RocketMQ does. `STICKY` (here) balances over all "
    "queues at once and moves the fewest.",
    Scene(
        {"orders": 3},
        brokers=("IDC1-a", "IDC2-a", "IDC3-a"),
        strategy="MACHINE_ROOM_NEARBY",
        here="STICKY",
    ),
    (
        Joins(0, "IDC1-c1"),
        Joins(1_000, "IDC1-c2"),
        Joins(2_000, "IDC1-c3"),
        Joins(65_000, "IDC1-c4"),
    ),
    60_000,
    75_000,
    seen=("apache/rocketmq#2443", "apache/rocketmq#2444"),
)

MEMBERS = (SLOT_WITHOUT_SUBSCRIPTION, ONE_ID_TWICE, FROZEN_CLIENT, DEPLOY, ROOMS_WITHOUT_CLIENTS)
