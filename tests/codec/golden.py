"""One state with something in every field, and the bytes that each version makes of it."""

from dataclasses import replace

from fairlead.core.model import (
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
from fairlead.core.queue_weights import Measure
from fairlead.core.records import Claim
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
    Settling,
    Told,
    Tombstone,
    Trait,
    TraitValue,
)

A, B, GONE = MemberKey("c1", "i1"), MemberKey("c2", "i1"), MemberKey("c2", "i0")
ABSENT = MemberKey("c3", "i1")
Q0, Q1 = MessageQueue("orders", "main", 0), MessageQueue("orders", "main", 1)
BARRIER = Barrier(3, 50, 60, {(Q0, A): (Epoch(2, 1), Position(0, 6))})
CLAIM = Claim(Q0, Epoch(2, 1), Position(0, 5), running=True)
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


_ROUTE = Route(
    "orders",
    "id1",
    (
        RouteBroker("main", 6, 2, 2, "main", {"0": "h:1"}, ("1", None), (None, "z")),
        RouteBroker("other", 4, 0, 0),
    ),
    "main:2",
)
_LATEST_BARRIER = replace(
    BARRIER,
    releases={**BARRIER.releases, (Q1, A): (Epoch(2, 2), None)},
    mute_told=True,
    recovering=True,
    waited=True,
    told={(Q1, "id1"): Told(Epoch(2, 2), Position(0, 7), "release")},
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


def golden_state() -> GroupState:
    """Return a new copy of the state."""
    return GroupState(
        group="orders",
        created_ms=1,
        generation=3,
        number=41,
        members={
            B: _LEAVER,
            A: Member(
                A,
                Process(1, "u1"),
                1,
                MemberProfile(consume_from="timestamp", consume_timestamp_ms=5, ordered=True),
                (Subscription("orders", "tag", "a||b", ("a", "b"), 7),),
                generation_acked=3,
                told_duplicate=True,
                told_waiting=("topic", "returns", "on", "main", "other"),
            ),
        },
        liveness={A: Liveness(100, 17), B: Liveness(90, 3, 80, 2, 85)},
        tombstones={GONE: Tombstone(500, lapsed=True, told=True)},
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
        claims={A: ClaimSet(3, 2, {1: (CLAIM, replace(CLAIM, queue=Q1, identity="id1"))})},
        barrier=_LATEST_BARRIER,
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
    )


def state_of(version: int) -> GroupState:
    """Return of the state what a body of this version holds."""
    state = golden_state()
    if version < 7:
        state.requests = {("offsets", "orders"): PendingRequest(70, 2)}
        state.absent = {}
        state.members[A] = replace(state.members[A], told_waiting=())
    if version < 6:
        # Nobody knows which topics had another life.
        state.remade = ("orders",)
        state.queues = {queue: replace(value, grown=False) for queue, value in state.queues.items()}
        names = ("ordered", "expression of orders")
        state.members[B] = replace(state.members[B], told_odd=names)
    if version < 5:
        state.established, state.growing_since_ms = {}, None
        state.members = {key: replace(member, told_odd=()) for key, member in state.members.items()}
    if version < 4:
        state.queues = {
            queue: replace(value, identity=None, set_aside=None)
            for queue, value in state.queues.items()
        }
        state.claims = {A: ClaimSet(3, 2, {1: (CLAIM,)})}
        state.barrier = replace(BARRIER, mute_told=True, recovering=True, waited=True)
    if version < 3:
        state.awaited, state.settling, state.late_topics = {}, None, ()
        state.barrier = replace(BARRIER, mute_told=True)
        state.members = {
            key: replace(member, joined_ms=0, told_rival=False)
            for key, member in state.members.items()
        }
        state.queues = {
            queue: replace(
                value,
                chain=tuple(replace(grant, dropped_ms=None) for grant in value.chain),
                overtaken=(),
                asked=None,
            )
            for queue, value in state.queues.items()
        }
    if version < 2:
        state.measures, state.weights = {}, {}
    return state


BODY_1 = bytes.fromhex("013e521b26") + (
    b'{"allocated_by":"AVG {} subscribers","barrier":[3,50,60,true,[[0,0,2,1,0,6]]],"claims":['
    b'[0,3,2,[[1,[[0,2,1,0,5,true]]]]]],"clients":["c1","c2"],"created_ms":1,"empty_since_ms":'
    b'null,"epoch":[3,41],"failures":[["orders","no_members","nobody"]],"group":"orders","keys'
    b'":[["c1","i1"],["c2","i0"],["c2","i1"]],"members":[[0,1,"u1",1,3,false,true,0,["push","c'
    b'lustering","timestamp",5,true,"other","0","",null,1,10000],[["orders","tag","a||b",["a",'
    b'"b"],7]]],[2,2,"u2",2,0,true,false,1,["push","clustering","last_offset",null,false,"othe'
    b'r","0","","z",1,10000],[]]],"queues":[["orders","main",[0,1]]],"requests":[["offsets","o'
    b'rders",70,2]],"routes":[["orders","id1","main:2",[["main",6,2,2,"main",{"0":"h:1"},["1",'
    b'null],[null,"z"]],["other",4,0,0,"",{},null,null]]]],"rules":{"pause":null,"timing":{"le'
    b'ase_ms":1000,"margin_ms":5}},"states":[[0,[1,20],"release",true,[2,9],[[0,3,40,true],[2,'
    b'3,41,false]]],[1,null,"",false,[0,0],[]]],"targets":[[0,1],[1,0]],"tombstones":[[1,500,t'
    b"rue,true]]}"
)
BODY_2 = bytes.fromhex("020e83a175") + (
    b'{"allocated_by":"AVG {} subscribers","barrier":[3,50,60,true,[[0,0,2,1,0,6]]],"claims":['
    b'[0,3,2,[[1,[[0,2,1,0,5,true]]]]]],"clients":["c1","c2"],"created_ms":1,"empty_since_ms":'
    b'null,"epoch":[3,41],"failures":[["orders","no_members","nobody"]],"group":"orders","keys'
    b'":[["c1","i1"],["c2","i0"],["c2","i1"]],"measures":[[0,10,90,26,6,0.25,5.5]],"members":['
    b'[0,1,"u1",1,3,false,true,0,["push","clustering","timestamp",5,true,"other","0","",null,1'
    b',10000],[["orders","tag","a||b",["a","b"],7]]],[2,2,"u2",2,0,true,false,1,["push","clust'
    b'ering","last_offset",null,false,"other","0","","z",1,10000],[]]],"queues":[["orders","ma'
    b'in",[0,1]]],"requests":[["offsets","orders",70,2]],"routes":[["orders","id1","main:2",[['
    b'"main",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0,0,"",{},null,null]]]'
    b'],"rules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}},"states":[[0,[1,20],"r'
    b'elease",true,[2,9],[[0,3,40,true],[2,3,41,false]]],[1,null,"",false,[0,0],[]]],"targets"'
    b':[[0,1],[1,0]],"tombstones":[[1,500,true,true]],"weights":[[0,2.5],[1,0.0]]}'
)
BODY_3 = bytes.fromhex("0300c53249") + (
    b'{"allocated_by":"AVG {} subscribers","awaited":[[88,[3,3,"u3",1,0,false,false,0,["push",'
    b'"clustering","last_offset",null,false,"other","0","",null,1,10000],[],0,false]]],"barrie'
    b'r":[3,50,60,true,[[0,0,2,1,0,6]],true,true],"claims":[[0,3,2,[[1,[[0,2,1,0,5,true]]]]]],'
    b'"clients":["c1","c2"],"created_ms":1,"empty_since_ms":null,"epoch":[3,41],"failures":[["'
    b'orders","no_members","nobody"]],"group":"orders","keys":[["c1","i1"],["c2","i0"],["c2","'
    b'i1"],["c3","i1"]],"late_topics":["payments"],"measures":[[0,10,90,26,6,0.25,5.5]],"membe'
    b'rs":[[0,1,"u1",1,3,false,true,0,["push","clustering","timestamp",5,true,"other","0","",n'
    b'ull,1,10000],[["orders","tag","a||b",["a","b"],7]],0,false],[2,2,"u2",2,0,true,false,1,['
    b'"push","clustering","last_offset",null,false,"other","0","","z",1,10000],[],77,true]],"q'
    b'ueues":[["orders","main",[0,1]]],"requests":[["offsets","orders",70,2]],"routes":[["orde'
    b'rs","id1","main:2",[["main",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0'
    b',0,"",{},null,null]]]],"rules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}},"'
    b'settling":[91,{"client_joined":2,"client_left":1}],"states":[[0,[1,20],"release",true,[2'
    b',9],[[0,3,40,true,77,false],[2,3,41,false]]],[1,null,"",false,[0,0],[],[[0,3,7,true,75,t'
    b'rue]],[8,3]]],"targets":[[0,1],[1,0]],"tombstones":[[1,500,true,true]],"weights":[[0,2.5'
    b"],[1,0.0]]}"
)
BODY_4 = bytes.fromhex("04d22f94c1") + (
    b'{"allocated_by":"AVG {} subscribers","awaited":[[88,[3,3,"u3",1,0,false,false,0,["push",'
    b'"clustering","last_offset",null,false,"other","0","",null,1,10000],[],0,false]]],"barrie'
    b'r":[3,50,60,true,[[0,0,2,1,0,6],[1,0,2,2]],true,true,[[1,"id1",2,2,0,7,"release"]]],"cla'
    b'ims":[[0,3,2,[[1,[[0,2,1,0,5,true],[1,2,1,0,5,true,"id1"]]]]]],"clients":["c1","c2"],"cr'
    b'eated_ms":1,"empty_since_ms":null,"epoch":[3,41],"failures":[["orders","no_members","nob'
    b'ody"]],"group":"orders","keys":[["c1","i1"],["c2","i0"],["c2","i1"],["c3","i1"]],"late_t'
    b'opics":["payments"],"measures":[[0,10,90,26,6,0.25,5.5]],"members":[[0,1,"u1",1,3,false,'
    b'true,0,["push","clustering","timestamp",5,true,"other","0","",null,1,10000],[["orders","'
    b'tag","a||b",["a","b"],7]],0,false],[2,2,"u2",2,0,true,false,1,["push","clustering","last'
    b'_offset",null,false,"other","0","","z",1,10000],[],77,true]],"queues":[["orders","main",'
    b'[0,1]]],"requests":[["offsets","orders",70,2]],"routes":[["orders","id1","main:2",[["mai'
    b'n",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0,0,"",{},null,null]]]],"r'
    b'ules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}},"settling":[91,{"client_jo'
    b'ined":2,"client_left":1}],"states":[[0,[1,20],"release",true,[2,9],[[0,3,40,true,77,fals'
    b'e],[2,3,41,false]]],[1,null,"",false,[0,0],[],[[0,3,7,true,75,true]],[8,3],"id0",["id2",'
    b'9,4]]],"targets":[[0,1],[1,0]],"tombstones":[[1,500,true,true]],"weights":[[0,2.5],[1,0.'
    b"0]]}"
)
BODY_5 = bytes.fromhex("05ecb8459d") + (
    b'{"allocated_by":"AVG {} subscribers","awaited":[[88,[3,3,"u3",1,0,false,false,0,["push"'
    b',"clustering","last_offset",null,false,"other","0","",null,1,10000],[],0,false]]],"barr'
    b'ier":[3,50,60,true,[[0,0,2,1,0,6],[1,0,2,2]],true,true,[[1,"id1",2,2,0,7,"release"]]],"'
    b'claims":[[0,3,2,[[1,[[0,2,1,0,5,true],[1,2,1,0,5,true,"id1"]]]]]],"clients":["c1","c2"]'
    b',"created_ms":1,"empty_since_ms":null,"epoch":[3,41],"established":[["consume_from","",'
    b'["timestamp",5]],["expression","orders",["tag","a","b"]],["ordered","",[true]]],"failur'
    b'es":[["orders","no_members","nobody"]],"group":"orders","growing_since_ms":94,"keys":[['
    b'"c1","i1"],["c2","i0"],["c2","i1"],["c3","i1"]],"late_topics":["payments"],"measures":['
    b'[0,10,90,26,6,0.25,5.5]],"members":[[0,1,"u1",1,3,false,true,0,["push","clustering","ti'
    b'mestamp",5,true,"other","0","",null,1,10000],[["orders","tag","a||b",["a","b"],7]],0,fa'
    b'lse],[2,2,"u2",2,0,true,false,1,["push","clustering","last_offset",null,false,"other","'
    b'0","","z",1,10000],[],77,true,["ordered","expression of orders"]]],"queues":[["orders",'
    b'"main",[0,1]]],"requests":[["offsets","orders",70,2]],"routes":[["orders","id1","main:2'
    b'",[["main",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0,0,"",{},null,nu'
    b'll]]]],"rules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}},"settling":[91,{'
    b'"client_joined":2,"client_left":1}],"states":[[0,[1,20],"release",true,[2,9],[[0,3,40,t'
    b'rue,77,false],[2,3,41,false]]],[1,null,"",false,[0,0],[],[[0,3,7,true,75,true]],[8,3],"'
    b'id0",["id2",9,4]]],"targets":[[0,1],[1,0]],"tombstones":[[1,500,true,true]],"weights":['
    b"[0,2.5],[1,0.0]]}"
)
BODY_6 = bytes.fromhex("064193f89a") + (
    b'{"allocated_by":"AVG {} subscribers","awaited":[[88,[3,3,"u3",1,0,false,false,0,["pu'
    b'sh","clustering","last_offset",null,false,"other","0","",null,1,10000],[],0,false]]]'
    b',"barrier":[3,50,60,true,[[0,0,2,1,0,6],[1,0,2,2]],true,true,[[1,"id1",2,2,0,7,"rele'
    b'ase"]]],"claims":[[0,3,2,[[1,[[0,2,1,0,5,true],[1,2,1,0,5,true,"id1"]]]]]],"clients"'
    b':["c1","c2"],"created_ms":1,"empty_since_ms":null,"epoch":[3,41],"established":[["co'
    b'nsume_from","",["timestamp",5]],["expression","orders",["tag","a","b"]],["ordered","'
    b'",[true]]],"failures":[["orders","no_members","nobody"]],"group":"orders","growing_s'
    b'ince_ms":94,"keys":[["c1","i1"],["c2","i0"],["c2","i1"],["c3","i1"]],"late_topics":['
    b'"payments"],"measures":[[0,10,90,26,6,0.25,5.5]],"members":[[0,1,"u1",1,3,false,true'
    b',0,["push","clustering","timestamp",5,true,"other","0","",null,1,10000],[["orders","'
    b'tag","a||b",["a","b"],7]],0,false],[2,2,"u2",2,0,true,false,1,["push","clustering","'
    b'last_offset",null,false,"other","0","","z",1,10000],[],77,true,["ordered 8a39d2abd39'
    b'99ab7","expression of orders 3f5a1e9fd3a2c4b6"]]],"queues":[["orders","main",[0,1]]]'
    b',"remade":["payments"],"requests":[["offsets","orders",70,2]],"routes":[["orders","i'
    b'd1","main:2",[["main",6,2,2,"main",{"0":"h:1"},["1",null],[null,"z"]],["other",4,0,0'
    b',"",{},null,null]]]],"rules":{"pause":null,"timing":{"lease_ms":1000,"margin_ms":5}}'
    b',"settling":[91,{"client_joined":2,"client_left":1}],"states":[[0,[1,20],"release",t'
    b'rue,[2,9],[[0,3,40,true,77,false],[2,3,41,false]]],[1,null,"",false,[0,0],[],[[0,3,7'
    b',true,75,true]],[8,3],"id0",["id2",9,4],true]],"targets":[[0,1],[1,0]],"tombstones":'
    b'[[1,500,true,true]],"weights":[[0,2.5],[1,0.0]]}'
)
GOLDEN_BODY = bytes.fromhex("075bccd015") + (
    b'{"absent":[["returns",["main","other"]]],"allocated_by":"AVG {} subscribers","awaite'
    b'd":[[88,[3,3,"u3",1,0,false,false,0,["push","clustering","last_offset",null,false,"o'
    b'ther","0","",null,1,10000],[],0,false]]],"barrier":[3,50,60,true,[[0,0,2,1,0,6],[1,0'
    b',2,2]],true,true,[[1,"id1",2,2,0,7,"release"]]],"claims":[[0,3,2,[[1,[[0,2,1,0,5,tru'
    b'e],[1,2,1,0,5,true,"id1"]]]]]],"clients":["c1","c2"],"created_ms":1,"empty_since_ms"'
    b':null,"epoch":[3,41],"established":[["consume_from","",["timestamp",5]],["expression'
    b'","orders",["tag","a","b"]],["ordered","",[true]]],"failures":[["orders","no_members'
    b'","nobody"]],"group":"orders","growing_since_ms":94,"keys":[["c1","i1"],["c2","i0"],'
    b'["c2","i1"],["c3","i1"]],"late_topics":["payments"],"measures":[[0,10,90,26,6,0.25,5'
    b'.5]],"members":[[0,1,"u1",1,3,false,true,0,["push","clustering","timestamp",5,true,"'
    b'other","0","",null,1,10000],[["orders","tag","a||b",["a","b"],7]],0,false,[],null,["'
    b'topic","returns","on","main","other"]],[2,2,"u2",2,0,true,false,1,["push","clusterin'
    b'g","last_offset",null,false,"other","0","","z",1,10000],[],77,true,["ordered 8a39d2a'
    b'bd3999ab7","expression of orders 3f5a1e9fd3a2c4b6"]]],"queues":[["orders","main",[0,'
    b'1]]],"remade":["payments"],"requests":[["offsets","orders",70,2,60],["route","return'
    b's",71,1,null]],"routes":[["orders","id1","main:2",[["main",6,2,2,"main",{"0":"h:1"},'
    b'["1",null],[null,"z"]],["other",4,0,0,"",{},null,null]]]],"rules":{"pause":null,"tim'
    b'ing":{"lease_ms":1000,"margin_ms":5}},"settling":[91,{"client_joined":2,"client_left'
    b'":1}],"states":[[0,[1,20],"release",true,[2,9],[[0,3,40,true,77,false],[2,3,41,false'
    b']]],[1,null,"",false,[0,0],[],[[0,3,7,true,75,true]],[8,3],"id0",["id2",9,4],true]],'
    b'"targets":[[0,1],[1,0]],"tombstones":[[1,500,true,true]],"weights":[[0,2.5],[1,0.0]]'
    b"}"
)
GOLDEN_LIVENESS = bytes.fromhex(
    "010f5a97295f0000000000000064000000000000001100000000000000ffffffffffffffff000000"
    "000000000000000000000000005a0000000000000003000000000000005000000000000000020000"
    "00000000005500000000000000"
)
