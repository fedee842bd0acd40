"""One state with something in every field, and its bytes."""

from dataclasses import replace

from fairlead.core.model import (
    DataPlane,
    Epoch,
    MemberKey,
    MemberProfile,
    MessageQueue,
    Position,
    Process,
    Route,
    RouteBroker,
    Subscription,
)
from fairlead.core.outputs import Failure, What
from fairlead.core.records import Claim
from fairlead.core.rules.queue_weights import Measure
from fairlead.core.standby_records import FormerQueue
from fairlead.core.standing import ClusterLooks, Footing, HeldFrozen, Said, Standing
from fairlead.core.state import (
    Awaited,
    Barrier,
    ClaimSet,
    Grant,
    GroupState,
    Liveness,
    Member,
    PendingRequest,
    QueueState,
    ReportedPosition,
    Settling,
    Tombstone,
    Trait,
    TraitValue,
)

A, B, GONE = MemberKey("c1", "i1"), MemberKey("c2", "i1"), MemberKey("c2", "i0")
ABSENT = MemberKey("c3", "i1")
Q0, Q1 = MessageQueue("orders", "main", 0), MessageQueue("orders", "main", 1)
_CLAIM = Claim(Q0, Epoch(2, 1), Position(0, 5), running=True)
_LEAVER = Member(
    B,
    Process(2, "u2"),
    2,
    MemberProfile(zone="z"),
    (),
    leaving=True,
    parts=1,
    joined_ms=77,
    told_rival=True,
    told_odd=("ordered 8a39d2abd3999ab7", "expression of orders 3f5a1e9fd3a2c4b6"),
)


_MEMBER = Member(
    A,
    Process(1, "u1"),
    1,
    MemberProfile(
        consume_from="timestamp",
        consume_timestamp_ms=5,
        ordered=True,
        data_plane=DataPlane("rocketmq", "h@1"),
        follows="AVG",
    ),
    (Subscription("orders", "tag", "a||b", ("a", "b"), 7),),
    generation_acked=3,
    told_duplicate=True,
    told_waiting=("topic", "returns", "on", "main", "other"),
)
_ROUTE = Route(
    "orders",
    "id1",
    (
        RouteBroker("main", 6, 2, 2, "main", {"0": "h:1"}, ("1", None), (None, "z")),
        RouteBroker("other", 4, 0, 0),
    ),
    "main:2",
)
_BARRIER = Barrier(
    3,
    50,
    60,
    releases={(Q0, A): (Epoch(2, 1), Position(0, 6)), (Q1, A): (Epoch(2, 2), None)},
    mute_told=True,
    recovering=True,
    waited=True,
    reported={(Q1, "id1"): ReportedPosition(Epoch(2, 2), Position(0, 7), "release")},
)
_REQUESTS: dict[tuple[What, str], PendingRequest] = {
    ("offsets", "orders"): PendingRequest(70, 2, 60),
    ("route", "returns"): PendingRequest(71, 1),
}
_ESTABLISHED: dict[Trait, TraitValue] = {
    Trait("ordered"): (True,),
    Trait("consume_from"): ("timestamp", 5),
    Trait("expression", "orders"): ("tag", "a", "b"),
}


_STANDING = Standing(
    Footing.FREEZING,
    Epoch(3, 40),
    70,
    60,
    "a member came, left or changed",
    "0123456789abcdef",
    75,
    {A: Said("freeze", 3), B: Said("own", 3, confirmed=True)},
    {A: HeldFrozen(2, {1: (FormerQueue(Q0, Position(0, 7), "id1"), FormerQueue(Q1, None))})},
    {"main": ClusterLooks("bridge", 17, 80, {"h@1": 70, "h@2": 80}, complete=True, even=False)},
    {"h@3": 99},
    ("h@9",),
)


def golden_state() -> GroupState:
    """Return a new copy of the state."""
    return GroupState(
        group="orders",
        created_ms=1,
        generation=3,
        number=41,
        members={
            B: _LEAVER,
            A: _MEMBER,
        },
        liveness={A: Liveness(100, 17), B: Liveness(90, 3, 80, 2, 85)},
        tombstones={GONE: Tombstone(500, lapsed=True, notified=True)},
        routes={"orders": _ROUTE},
        queues={
            Q1: QueueState(
                overtaken=(Grant(A, Epoch(3, 7), dropped=True, dropped_ms=75, mute=True),),
                asked=Position(8, 3),
                identity="id0",
                set_aside=("id2", Position(9, 4)),
                grown=True,
            ),
            Q0: QueueState(
                Position(1, 20),
                "release",
                (Grant(A, Epoch(3, 40), dropped=True, dropped_ms=77), Grant(B, Epoch(3, 41))),
                late=True,
                void=Epoch(2, 9),
            ),
        },
        targets={Q1: "c1", Q0: "c2"},
        failures={"orders": Failure("orders", "no_members", "nobody")},
        rules={"timing": {"margin_ms": 5, "lease_ms": 1_000}, "pause": None},
        claims={A: ClaimSet(3, 2, {1: (_CLAIM, replace(_CLAIM, queue=Q1, identity="id1"))})},
        barrier=_BARRIER,
        requests=dict(_REQUESTS),
        recomputed_ms=95,
        empty_since_ms=None,
        allocated_by="AVG {} subscribers",
        measures={Q0: Measure(10, 90, 26, 6, 0.25, 5.5)},
        weights={Q1: 0.0, Q0: 2.5},
        late_topics=("payments",),
        awaited={"c3": Awaited(Member(ABSENT, Process(3, "u3"), 1, MemberProfile(), ()), 88)},
        settling=Settling(91, {"client_left": 1, "client_joined": 2}),
        established=dict(_ESTABLISHED),
        growing_since_ms=94,
        remade=("payments",),
        absent={"returns": ("main", "other")},
        standing=_STANDING,
    )


GOLDEN_BODY = bytes.fromhex("0184973951") + (
    b'{"absent":[["returns",["main","other"]]],"allocated_by":"AVG {} subscribers","awaited'
    b'":[[88,[3,3,"u3",1,0,false,false,0,["push","clustering","last_offset",null,false,"oth'
    b'er","0","",null,1,10000,null,null],[],0,false,[],null,[]]]],"barrier":[3,50,60,true,['
    b'[0,0,2,1,0,6],[1,0,2,2]],true,true,[[1,"id1",2,2,0,7,"release"]]],"claims":[[0,3,2,[['
    b'1,[[0,2,1,0,5,true],[1,2,1,0,5,true,"id1"]]]]]],"clients":["c1","c2"],"created_ms":1,'
    b'"empty_since_ms":null,"epoch":[3,41],"established":[["consume_from","",["timestamp",5'
    b']],["expression","orders",["tag","a","b"]],["ordered","",[true]]],"failures":[["order'
    b's","no_members","nobody"]],"group":"orders","growing_since_ms":94,"keys":[["c1","i1"]'
    b',["c2","i0"],["c2","i1"],["c3","i1"]],"late_topics":["payments"],"measures":[[0,10,90'
    b',26,6,0.25,5.5]],"members":[[0,1,"u1",1,3,false,true,0,["push","clustering","timestam'
    b'p",5,true,"other","0","",null,1,10000,["rocketmq","h@1"],"AVG"],[["orders","tag","a||'
    b'b",["a","b"],7]],0,false,[],null,["topic","returns","on","main","other"]],[2,2,"u2",2'
    b',0,true,false,1,["push","clustering","last_offset",null,false,"other","0","","z",1,10'
    b'000,null,null],[],77,true,["ordered 8a39d2abd3999ab7","expression of orders 3f5a1e9fd'
    b'3a2c4b6"],null,[]]],"queues":[["orders","main",[0,1]]],"remade":["payments"],"request'
    b's":[["offsets","orders",70,2,60],["route","returns",71,1,null]],"routes":[["orders","'
    b'id1","main:2",[["main",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0,0'
    b',"",{},null,null]]]],"rules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}},'
    b'"settling":[91,{"client_joined":2,"client_left":1}],"standing":["freezing",[3,40],70,'
    b'60,"a member came, left or changed","0123456789abcdef",75,[[0,"freeze",3,false],[2,"o'
    b'wn",3,true]],[[0,2,[[1,[[["orders","main",0],[0,7],"id1"],[["orders","main",1],null,n'
    b'ull]]]]]],[["main",["bridge",17,80,[["h@1",70],["h@2",80]],true,false,0]]],[["h@3",99'
    b']],["h@9"]],"states":[[0,[1,20],"release",true,[2,9],[[0,3,40,true,77,false],[2,3,41,'
    b'false]]],[1,null,"",false,[0,0],[],[[0,3,7,true,75,true]],[8,3],"id0",["id2",9,4],tru'
    b'e,null,[]]],"targets":[[0,1],[1,0]],"tombstones":[[1,500,true,true,false,null]],"weig'
    b'hts":[[0,2.5],[1,0.0]]}'
)
GOLDEN_LIVENESS = bytes.fromhex(
    "010f5a97295f0000000000000064000000000000001100000000000000ffffffffffffffff000000"
    "000000000000000000000000005a0000000000000003000000000000005000000000000000020000"
    "00000000005500000000000000"
)
