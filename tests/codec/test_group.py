"""A group's state survives its bytes, and the bytes depend on nothing but the state."""

import pickle
from dataclasses import fields, replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.codec.envelope import seal
from fairlead.codec.errors import CodecError, UnknownVersionError, UnwritableError
from fairlead.codec.group import decode_group, encode_group, same_body
from fairlead.core.model import MemberKey, MemberProfile, Process, Route, RouteBroker, Subscription
from fairlead.core.outputs import Failure
from fairlead.core.records import Claim
from fairlead.core.rules.queue_weights import Measure
from fairlead.core.standby_records import FormerQueue
from fairlead.core.standing import ClusterLooks, HeldFrozen, Standing
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
    Tombstone,
)
from tests.codec.golden import (
    GOLDEN_BODY,
    GOLDEN_LIVENESS,
    golden_state,
)
from tests.codec.states import group_states
from tests.kit.hash_seeds import printed_under

WRITTEN = {
    GroupState: "group created_ms generation number members liveness tombstones routes queues "
    "targets failures rules claims barrier requests recomputed_ms empty_since_ms allocated_by "
    "measures weights late_topics awaited settling established growing_since_ms "
    "remade absent standing",
    Member: "key process incarnations profile subscriptions generation_acked leaving "
    "told_duplicate parts joined_ms told_rival told_odd spoken told_waiting",
    Awaited: "member since_ms",
    Settling: "opened_ms changes",
    MemberProfile: "consume_type message_model consume_from consume_timestamp_ms ordered language "
    "version address zone capacity lease_ms data_plane follows",
    Subscription: "topic expression_type expression tags sub_version",
    Liveness: "seen_ms sequence disagrees_since_ms heals healed_ms",
    Tombstone: "until_ms lapsed notified closed spoken",
    QueueState: "base why chain late void overtaken asked identity set_aside grown end doubts",
    Grant: "member epoch dropped dropped_ms mute",
    ClaimSet: "generation parts read",
    Claim: "queue epoch position running identity",
    Barrier: "generation started_ms marked_ms releases mute_told recovering waited reported",
    PendingRequest: "asked_ms times unanswered",
    Route: "topic identity brokers order_topic_conf",
    RouteBroker: "broker_name perm read_queue_nums write_queue_nums cluster addresses leaders "
    "zones",
    Failure: "topic code message",
    Measure: "since_ms at_ms end behind rate lag",
    Standing: "footing epoch since_ms retry_ms because who changed_ms said formers looks gone "
    "foreign",
    HeldFrozen: "parts read",
    FormerQueue: "queue position identity",
    ClusterLooks: "bridge look append_ms listed complete even counted",
}


@pytest.mark.parametrize("kind", WRITTEN, ids=lambda kind: kind.__name__)
def test_the_codec_covers_exactly_the_fields_of_a_state(kind: type) -> None:
    """The codec writes exactly these fields; a new one needs a new version."""
    assert [field.name for field in fields(kind)] == WRITTEN[kind].split()


@settings(max_examples=30)
@given(group_states())
def test_what_is_decoded_is_what_was_encoded(state: GroupState) -> None:
    """What is decoded is what was encoded."""
    body, liveness = encode_group(state)
    assert decode_group(body, liveness, state.group) == state


@settings(max_examples=30)
@given(group_states(), st.randoms(use_true_random=False))
def test_the_order_of_filling_does_not_show_in_the_bytes(state: GroupState, chance: Random) -> None:
    """The order in which a state's mappings were filled does not show in the bytes."""

    def shuffled(mapping: dict[object, object]) -> dict[object, object]:
        items = list(mapping.items())
        chance.shuffle(items)
        return dict(items)

    mappings = {
        field.name: shuffled(value)
        for field in fields(state)
        if isinstance(value := getattr(state, field.name), dict)
    }
    other = replace(state, **mappings)  # type: ignore[arg-type]  # the same fields, reordered
    assert encode_group(other) == encode_group(state)


@settings(max_examples=30)
@given(group_states(), group_states())
def test_two_states_share_a_body_only_with_the_same_bytes(
    before: GroupState, after: GroupState
) -> None:
    """Two states count as having one body exactly when their bodies are the same bytes."""
    same = encode_group(before)[0] == encode_group(after)[0]
    assert same_body(before, after) == same
    moved = replace(before, recomputed_ms=before.recomputed_ms + 1)
    assert same_body(before, moved)
    assert encode_group(moved)[0] == encode_group(before)[0]
    assert encode_group(moved)[1] != encode_group(before)[1]


def test_a_state_is_never_trusted_to_equal_itself() -> None:
    """The same object on both sides may have been changed in place, so it is written anew."""
    state = golden_state()
    assert not same_body(state, state)


def test_the_newest_version_writes_exactly_these_bytes() -> None:
    """The codec reads and writes exactly these bytes; other bytes need a new version."""
    state = golden_state()
    assert encode_group(state) == (GOLDEN_BODY, GOLDEN_LIVENESS)
    assert decode_group(GOLDEN_BODY, GOLDEN_LIVENESS, "orders") == state


@given(st.data())
def test_damage_is_refused(data: st.DataObject) -> None:
    """Whichever bit flips and wherever the bytes end early, nothing is decoded."""
    piece = data.draw(st.integers(0, 1))
    pieces = [GOLDEN_BODY, GOLDEN_LIVENESS]
    if data.draw(st.booleans()):
        pieces[piece] = pieces[piece][: data.draw(st.integers(0, len(pieces[piece]) - 1))]
    else:
        spoilt = bytearray(pieces[piece])
        spoilt[data.draw(st.integers(0, len(spoilt) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        pieces[piece] = bytes(spoilt)
    with pytest.raises(CodecError):
        decode_group(pieces[0], pieces[1], "orders")


@pytest.mark.parametrize(
    "body, liveness, problem",
    [
        (seal(GOLDEN_BODY[5:], 2), GOLDEN_LIVENESS, "form is 2, this one reads 1"),
        (GOLDEN_BODY, seal(GOLDEN_LIVENESS[5:], 9), "form is 9, this one reads 1"),
        (seal(b"not json"), GOLDEN_LIVENESS, "its body cannot be read"),
        (seal(b"[]"), GOLDEN_LIVENESS, "its body cannot be read"),
        (seal(b'{"group":"orders"}'), GOLDEN_LIVENESS, "its body cannot be read"),
        (GOLDEN_BODY, seal(GOLDEN_LIVENESS[5:-40]), "not that of 2 members"),
        (GOLDEN_BODY.replace(b"orders", b"orderz"), GOLDEN_LIVENESS, "the checksum differs"),
    ],
)
def test_refusals_name_the_problem(body: bytes, liveness: bytes, problem: str) -> None:
    """Each refusal says which group's bytes are refused and why."""
    with pytest.raises(CodecError, match=problem) as refused:
        decode_group(body, liveness, "orders")
    assert "group orders" in str(refused.value)
    assert refused.value.remedy


def test_another_version_says_the_way_out() -> None:
    """Whoever meets state of another version learns what to do, also across a process boundary."""
    with pytest.raises(UnknownVersionError) as refused:
        decode_group(seal(GOLDEN_BODY[5:], 2), GOLDEN_LIVENESS, "orders")
    again = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - our own bytes
    assert str(again) == str(refused.value)
    assert again.remedy == refused.value.remedy
    assert again.remedy is not None
    assert "move engine.checkpoint away" in again.remedy


def test_foreign_bytes_are_refused() -> None:
    """Bytes of one group are not read as those of another."""
    with pytest.raises(CodecError, match="those of group orders"):
        decode_group(GOLDEN_BODY, GOLDEN_LIVENESS, "payments")


def test_what_cannot_be_written() -> None:
    """A state that bytes cannot hold is refused when it is written, not when it is read."""
    state = golden_state()
    strangers = {MemberKey("nobody", "i"): Liveness(1, 1)}
    for spoilt, problem in [
        (replace(state, liveness=strangers), "other members"),
        (replace(state, recomputed_ms=2**63), "64 bits"),
        (replace(state, rules={"strategy": object()}), "cannot be written"),
        (replace(state, allocated_by="\ud800"), "cannot be written"),
    ]:
        with pytest.raises(UnwritableError, match=problem) as refused:
            encode_group(spoilt)
        again = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - our own bytes
        assert (type(again), str(again)) == (UnwritableError, str(refused.value))


def test_members_are_not_identified_by_process() -> None:
    """Two members of one process are two members."""
    state = golden_state()
    first = min(state.members)
    twin = replace(state.members[first], key=MemberKey("c9", "i9"))
    both = replace(
        state,
        members={**state.members, twin.key: twin},
        liveness={**state.liveness, twin.key: Liveness(5, 5)},
    )
    read = decode_group(*encode_group(both), "orders")
    assert read.members[twin.key].process == Process(1, "u1") == read.members[first].process


@pytest.mark.parametrize("seed", ["1", "2", "4242"])
def test_another_hash_seed_writes_the_same_bytes(seed: str) -> None:
    """A process with another hash seed writes the same bytes."""
    script = (
        "import sys; from fairlead.codec.group import encode_group\n"
        "from tests.codec.golden import golden_state\n"
        "sys.stdout.buffer.write(b''.join(encode_group(golden_state())))"
    )
    assert printed_under(seed, script) == GOLDEN_BODY + GOLDEN_LIVENESS
