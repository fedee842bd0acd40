"""Outputs of the engine as the page of the protocol shows them."""

from fairlead.core.model import Epoch, MemberKey, MessageQueue, Position, Process, Source
from fairlead.core.outputs import (
    Add,
    After,
    Assignment,
    Cause,
    Cut,
    Decision,
    Drop,
    GroupSummary,
    Holding,
    Move,
    Notice,
    Request,
)
from fairlead.wire.raw import Partitions
from fairlead.wire.topics import TopicNames

NAMES = TopicNames()


PARTITIONS = Partitions(shards=4, assignments=64)


MEMBER = MemberKey("10.0.0.7@4121#1", "6c1f0b5e-8f0e-4a51-9d0e-2f6a0c7b1a11")


OTHER = MemberKey("10.0.0.4@77#1", "90ab7d52-11c9-4c56-8a4a-3b1f3e0c9d03")


Q1, Q2, Q3 = (MessageQueue("orders", "main", number) for number in (1, 2, 3))


AFTER = (After(OTHER, Epoch(3, 39)),)


CAUSES = (
    Cause("client_joined", MEMBER.client_id, None, Source("fairlead.heartbeats", 0, 88123, 1)),
)


LIFE = "W3XrV0pUSt2Qh0nHkS5ZtQ"


ASSIGNMENT = Assignment(
    group="orders",
    member=MEMBER,
    generation=3,
    epoch=Epoch(3, 41),
    drop=(Drop(Q3, Epoch(3, 38), "10.0.0.9@18#1", 4),),
    add=(Add(Q2, Epoch(3, 41), Position(0, 9120), "progress", AFTER, LIFE),),
    assigned=(
        Holding(Q1, Epoch(3, 36), "held"),
        Holding(Q3, Epoch(3, 38), "draining"),
        Holding(Q2, Epoch(3, 41), "gated", Position(0, 9120), "progress", AFTER, LIFE),
    ),
    cause=CAUSES,
    at_ms=1781000000000,
)


NOTICE = Notice(
    group="orders",
    member=MEMBER,
    generation=3,
    code="duplicate_client_id",
    message="another process uses this client id: give each process its own",
    winner=Process(1780999999000, "1f4d7a52-51c9-4c56-8a4a-3b1f3e0c9d05"),
    at_ms=1781000000000,
)


DECISION = Decision(
    group="orders",
    epoch=Epoch(3, 41),
    previous_epoch=Epoch(3, 40),
    triggers=("client_joined",),
    cause=CAUSES,
    strategy="AVG",
    members=(OTHER.client_id, MEMBER.client_id),
    moves=(
        Move(Q2, "dropped", OTHER, Epoch(3, 39)),
        Move(Q2, "gated", MEMBER, Epoch(3, 41), Position(0, 9120), "progress"),
    ),
    state=GroupSummary("handing_over", 4, 0, 1, 0),
    failures=(),
    alarms=(),
    clock_ms=86123,
    at_ms=1781000000000,
    cut=Cut(
        3,
        0,
        17,
        positions={"fairlead.releases": {0: 912}, "fairlead.heartbeats": {0: 88124}},
        begin={"fairlead.releases": {0: 912}, "fairlead.heartbeats": {0: 88117}},
    ),
)


REQUEST = Request("orders", "offsets", "orders", (Q2,), None)
