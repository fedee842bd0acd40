"""Pitfalls of handovers: nobody waits for the former owner, and offsets travel separately."""

from fairlead_proof.pitfalls.history import Joins, Killed
from fairlead_proof.pitfalls.pitfall import Pitfall
from fairlead_proof.pitfalls.rocketmq.network import Network, Trouble
from fairlead_proof.pitfalls.rocketmq.times import RELEASE_5_3
from fairlead_proof.pitfalls.scene import Scene

__all__ = ["HANDOVERS"]

STARTED_BEFORE_DROPPED = Pitfall(
    "started-before-dropped",
    "A1 starts q1 before A2 drops it",
    "A2 hears of A1 three seconds late. A1 starts at the offset that A2 sent last, up to five "
    "seconds old, and both read on until A2 has heard.",
    "A1 is granted q1 behind A2's grant: it starts when A2 has released, at the released offset.",
    Scene({"orders": 3}),
    (Joins(0, "a2"), Joins(64_000, "a1")),
    62_000,
    70_000,
    Network((Trouble("notification", "a2", from_ms=60_000, late_ms=3_000),)),
    seen=("apache/rocketmq#2837",),
)

OFFSET_ON_ITS_WAY = Pitfall(
    "offset-on-its-way",
    "A2 has dropped q1, and its offset OF1 has not arrived",
    "A2 drops q1 and sends OF1 without waiting for an answer. A1 asks before it has arrived, and "
    "is told OF2, the one before: all of [OF2, OF1) is read again, and what A2 had in hand.",
    "The release that lets A1 start is the record that says the offset: it cannot be there "
    "without it, and it is written when the messages in hand are done.",
    Scene({"orders": 3}),
    (Joins(0, "a2"), Joins(64_000, "a1")),
    62_000,
    70_000,
    Network((Trouble("persist", "a2", from_ms=64_000, late_ms=300),)),
)

ORDERED_TAKEOVER = Pitfall(
    "ordered-takeover",
    "An ordered group's client is killed, and its locks live on",
    "The broker's lock of a queue is free 60 s after it was last renewed, whoever holds it, and "
    "the next owner asks for it at its ticks.",
    "An ordered queue is handed over as any other: free when it is released, or when the lease "
    "and margin of its holder (10 s + 3 s) are over. Its successor starts at once.",
    Scene({"orders": 4}, ordered=True),
    (Joins(0, "c1"), Joins(1_000, "c2"), Killed(65_000, "c2")),
    60_000,
    150_000,
    seen=("apache/rocketmq#1282",),
    somebody_dies=True,
)

LOCK_ASKED_TOO_EARLY = Pitfall(
    "lock-asked-too-early",
    "An ordered group's new client asks for the locks before they are given back",
    "c1 hears of c2 a tenth of a second later than c2 acts. The broker refuses c2 the locks, c1 "
    "gives them back, and c2 asks again at its next tick, 20 s later (since 5.0: half a second "
    "later).",
    "c2 waits for the releases themselves, and starts when it reads them.",
    Scene({"orders": 4}, ordered=True),
    (Joins(0, "c1"), Joins(65_000, "c2")),
    60_000,
    100_000,
    Network((Trouble("notification", "c1", from_ms=60_000, late_ms=100),)),
)

JOIN_WITHOUT_A_FAULT = Pitfall(
    "join-without-a-fault",
    "A client joins under 5.3, and nothing goes wrong",
    "The others drop what is no more theirs as soon as they are notified. The new client makes its "
    "first run a second after its start, and its first pull half a second after that.",
    "Who has a queue works on until the new owner has been told; then there is one way between a "
    "release and its reader.",
    Scene({"orders": 8}),
    (Joins(0, "c1"), Joins(1_000, "c2"), Joins(2_000, "c3"), Joins(65_000, "c4")),
    60_000,
    72_000,
    times=RELEASE_5_3,
)

HANDOVERS = (
    STARTED_BEFORE_DROPPED,
    OFFSET_ON_ITS_WAY,
    JOIN_WITHOUT_A_FAULT,
    LOCK_ASKED_TOO_EARLY,
    ORDERED_TAKEOVER,
)
