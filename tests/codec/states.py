"""Hypothesis strategies for group states: every field filled, no rule of the core obeyed."""

from hypothesis import strategies as st

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
    Source,
    Subscription,
)
from fairlead.core.outputs import Failure
from fairlead.core.records import Claim
from fairlead.core.rules.queue_weights import Measure
from fairlead.core.standby_records import FormerQueue
from fairlead.core.standing import ClusterLooks, Footing, HeldFrozen, Said, Standing
from fairlead.core.state import (
    Awaited,
    Barrier,
    ClaimSet,
    Doubt,
    Grant,
    GroupState,
    Liveness,
    Member,
    PendingRequest,
    QueueState,
    ReportedPosition,
    Settling,
    Spoken,
    Tombstone,
    Trait,
)

int64 = st.integers(-(2**63), 2**63 - 1)
clocks = st.integers(0, 2**62)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.sampled_from(["orders", "payments", "a", "%RETRY%orders", "über"])
keys = st.builds(MemberKey, st.sampled_from(["c1", "c2", "c3"]), st.sampled_from(["i1", "i2"]))
queues = st.builds(MessageQueue, names, st.sampled_from(["main", "b"]), st.integers(0, 3))
epochs = st.builds(Epoch, st.integers(0, 9), st.integers(0, 99))
positions = st.builds(Position, st.integers(0, 9), st.integers(0, 2**40))
identities = st.none() | texts
standings = st.builds(
    Standing,
    footing=st.none() | st.sampled_from(list(Footing)),
    epoch=epochs,
    since_ms=clocks,
    retry_ms=clocks,
    because=texts,
    who=texts,
    changed_ms=clocks,
    said=st.dictionaries(
        keys,
        st.builds(Said, st.sampled_from(["wait", "own"]), st.integers(0, 9), st.booleans()),
        max_size=2,
    ),
    formers=st.dictionaries(
        keys,
        st.builds(
            HeldFrozen,
            st.integers(1, 3),
            st.dictionaries(
                st.integers(0, 2),
                st.lists(
                    st.builds(FormerQueue, queues, st.none() | positions, identities), max_size=2
                ).map(tuple),
                max_size=2,
            ),
        ),
        max_size=2,
    ),
    looks=st.dictionaries(
        names,
        st.builds(
            ClusterLooks,
            texts,
            st.integers(1, 9),
            clocks,
            st.dictionaries(texts, clocks, max_size=2),
            st.booleans(),
            st.booleans(),
            st.integers(0, 2),
        ),
        max_size=2,
    ),
    gone=st.dictionaries(texts, clocks, max_size=2),
    foreign=st.lists(texts, max_size=2).map(tuple),
)
plain = st.recursive(
    st.none() | st.booleans() | int64 | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
profiles = st.builds(
    MemberProfile,
    consume_from=st.sampled_from(["last_offset", "first_offset", "timestamp"]),
    consume_timestamp_ms=st.none() | int64,
    ordered=st.booleans(),
    address=texts,
    zone=st.none() | texts,
    capacity=st.integers(1, 9),
    lease_ms=st.integers(1_000, 600_000),
    data_plane=st.none() | st.builds(DataPlane, st.just("rocketmq"), texts),
    follows=st.none() | texts,
)
subscriptions = st.builds(
    Subscription,
    names,
    st.sampled_from(["tag", "sql92"]),
    texts,
    st.lists(texts, max_size=2).map(tuple),
    int64,
)
brokers = st.builds(
    RouteBroker,
    texts,
    st.integers(0, 7),
    st.integers(0, 9),
    st.integers(0, 9),
    texts,
    st.dictionaries(texts, texts, max_size=2),
    st.none() | st.lists(st.none() | texts, max_size=3).map(tuple),
    st.none() | st.lists(st.none() | texts, max_size=3).map(tuple),
)
grants = st.builds(Grant, keys, epochs) | st.builds(
    Grant, keys, epochs, st.just(value=True), st.none() | clocks, st.booleans()
)
sources = st.builds(Source, texts, st.integers(0, 9), st.integers(0, 2**40), clocks)
doubts = st.builds(
    Doubt,
    keys,
    epochs,
    positions,
    st.sampled_from(["release", "progress", "claim"]),
    st.none() | sources,
    clocks,
)
spoken = st.none() | st.builds(Spoken, clocks, clocks)
queue_states = st.builds(
    QueueState,
    st.none() | positions,
    texts,
    st.lists(grants, max_size=3).map(tuple),
    st.booleans(),
    epochs,
    st.lists(grants, max_size=2).map(tuple),
    st.none() | positions,
    identities,
    st.none() | st.tuples(texts, positions),
    st.booleans(),
    st.none() | st.integers(0, 2**62),
    st.lists(doubts, max_size=2).map(tuple),
)
claims = st.builds(Claim, queues, epochs, positions, st.booleans(), identities)
claim_sets = st.builds(
    ClaimSet,
    st.integers(0, 9),
    st.integers(1, 4),
    st.dictionaries(st.integers(0, 3), st.lists(claims, max_size=2).map(tuple), max_size=2),
)
barriers = st.builds(
    Barrier,
    st.integers(0, 9),
    clocks,
    st.none() | clocks,
    st.dictionaries(st.tuples(queues, keys), st.tuples(epochs, st.none() | positions), max_size=2),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.dictionaries(
        st.tuples(queues, texts), st.builds(ReportedPosition, epochs, positions, texts), max_size=2
    ),
)
livenesses = st.builds(
    Liveness, clocks, int64, st.none() | clocks, st.integers(0, 99), st.integers(0, 2**62)
)
numbers = st.floats(0, 1e15)
measures = st.builds(
    Measure, clocks, clocks, st.integers(0, 2**62), st.integers(0, 2**62), numbers, numbers
)


traits = st.builds(Trait, st.sampled_from(["ordered", "expression"]), st.just("") | names)
values = st.lists(texts | int64 | st.none(), max_size=3).map(tuple)
settlings = st.builds(
    Settling, clocks, st.dictionaries(st.sampled_from(["client_left", "grace_over"]), clocks)
)


@st.composite
def members(draw: st.DrawFn, key: MemberKey) -> Member:
    """Draw a member under its key."""
    return Member(
        key,
        Process(draw(clocks), draw(texts)),
        draw(st.integers(1, 9)),
        draw(profiles),
        tuple(draw(st.lists(subscriptions, max_size=2))),
        *draw(st.tuples(st.integers(0, 9), st.booleans(), st.booleans(), st.integers(0, 3))),
        *draw(st.tuples(clocks, st.booleans(), st.lists(texts, max_size=2).map(tuple))),
        draw(spoken),
        tuple(draw(st.lists(texts, max_size=3))),
    )


@st.composite
def group_states(draw: st.DrawFn, group: str = "orders") -> GroupState:
    """Draw a state whose members, routes and failures stand under their own keys."""
    there = {key: draw(members(key)) for key in draw(st.lists(keys, max_size=3, unique=True))}
    absent = draw(st.lists(keys, max_size=2, unique_by=lambda key: key.client_id))
    return GroupState(
        group=group,
        created_ms=draw(clocks),
        generation=draw(st.integers(0, 9)),
        number=draw(st.integers(0, 99)),
        members=there,
        liveness={key: draw(livenesses) for key in draw(st.permutations(list(there)))},
        tombstones=draw(
            st.dictionaries(
                keys, st.builds(Tombstone, clocks, st.booleans(), st.booleans()), max_size=3
            )
        ),
        routes={
            topic: Route(topic, draw(texts), tuple(draw(st.lists(brokers, max_size=2))), conf)
            for topic, conf in draw(st.dictionaries(names, st.none() | texts, max_size=2)).items()
        },
        queues=draw(st.dictionaries(queues, queue_states, max_size=4)),
        targets=draw(st.dictionaries(queues, st.sampled_from(["c1", "c2"]), max_size=4)),
        failures={
            topic: Failure(topic, code, message)
            for topic, (code, message) in draw(
                st.dictionaries(names, st.tuples(texts, texts), max_size=2)
            ).items()
        },
        rules=draw(st.dictionaries(texts, plain, max_size=3)),
        claims=draw(st.dictionaries(keys, claim_sets, max_size=2)),
        barrier=draw(st.none() | barriers),
        requests=draw(
            st.dictionaries(
                st.tuples(st.sampled_from(["route", "offsets"]), names),
                st.builds(PendingRequest, clocks, st.integers(0, 9), st.none() | clocks),
                max_size=2,
            )
        ),
        recomputed_ms=draw(clocks),
        empty_since_ms=draw(st.none() | clocks),
        allocated_by=draw(texts),
        measures=draw(st.dictionaries(queues, measures, max_size=3)),
        weights=draw(st.dictionaries(queues, numbers, max_size=3)),
        late_topics=tuple(draw(st.lists(names, max_size=2))),
        awaited={key.client_id: Awaited(draw(members(key)), draw(clocks)) for key in absent},
        settling=draw(st.none() | settlings),
        established=draw(st.dictionaries(traits, values, max_size=3)),
        growing_since_ms=draw(st.none() | clocks),
        remade=tuple(draw(st.lists(names, max_size=2))),
        absent=draw(st.dictionaries(names, st.lists(names, max_size=2).map(tuple), max_size=2)),
        standing=draw(st.none() | standings),
    )
