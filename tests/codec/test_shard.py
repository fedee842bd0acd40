"""A shard's two columns: untouched groups pass as they are, damage and foreign versions do not."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairlead.codec.envelope import STATE_VERSION, seal
from fairlead.codec.errors import CodecError, UnwritableError
from fairlead.codec.group import decode_group, encode_group
from fairlead.codec.quarantine import HeldRow, Quarantine
from fairlead.codec.shard import GroupSlot, OpenShard, ShardHeader, close_shard, open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.outputs import Origin
from fairlead.core.state import GroupState
from tests.codec.golden import GOLDEN_BODY, GOLDEN_LIVENESS
from tests.codec.states import group_states

HEADER = ShardHeader(
    generation=3,
    defaults={"timing": {"lease_ms": 5}},
    marker=3,
    positions={"fairlead.routes": {0: 7}, "fairlead.heartbeats": {1: 88}},
    step=17,
    newest_ms=1_000,
    jumps=2,
    jumps_told=1,
    jumps_open=4,
    number_floor=9,
    marker_ms=70,
    control_end=12,
    origin=Origin(3, {"fairlead.heartbeats": {1: 40}}),
    recovering=True,
    bridges={"main": (990, "running"), "far": (70, "stopped")},
)
ROW = HeldRow("fairlead.heartbeats", 1, 80, 900, 40, b"orders", b'{"v":1}')
NULL_ROW = HeldRow("fairlead.control", 1, 3, 800, 40, None, None)
QUARANTINE = Quarantine(40, 60, 2, "ValueError", overflow=True, rows=(NULL_ROW, ROW))
ORDERS = GroupSlot("orders", ("orders", "payments"), "stable", 110, GOLDEN_BODY, GOLDEN_LIVENESS)
BROKEN = GroupSlot("broken", (), "quarantined", 60, b"", b"", QUARANTINE)
SHARD = close_shard(None, (100, 1_000), HEADER, {"orders": ORDERS, "broken": BROKEN})


def test_what_was_stored_is_opened() -> None:
    """What was stored is what is opened: clock, header, slots and quarantine."""
    opened = open_shard(SHARD)
    assert SHARD.version == STATE_VERSION
    assert (opened.clock_ms, opened.append_ms) == (100, 1_000)
    assert opened.header == HEADER
    assert list(opened.slots) == ["broken", "orders"]
    assert opened.slots == {"orders": ORDERS, "broken": BROKEN}


BODY_HEAD = (
    b'{"defaults":{"timing":{"lease_ms":5}},"generation":3,'
    b'"groups":[["broken",0,[],"quarantined"],["orders",2153,["orders","payments"],"stable"]],'
    b'"origin":[3,[["fairlead.heartbeats",[[1,40]]]]],"quarantined":{"broken":[40,60,2,"ValueError",true,'
    b'[["fairlead.control",1,3,800,40,null,null],'
    b'["fairlead.heartbeats",1,80,900,40,"b3JkZXJz","eyJ2IjoxfQ=="]]]},"recovering":true}'
)
LIVENESS_HEAD = (
    b'{"bridges":[["far",70,"stopped"],["main",990,"running"]],"control_end":12,"due":[60,110],"group_bytes":0,"intake":[0,[],0,0,0,0,0],"jumps":2,"jumps_open":4,"jumps_told":1,"marker":3,'
    b'"marker_ms":70,"newest_ms":1000,"number_floor":9,"positions":[["fairlead.heartbeats",[[1,88]]],["fairlead.routes",[[0,7]]]],'
    b'"released":[0,[]],"sizes":[0,93],"step":17}'
)


def test_heads_are_exactly_these_bytes() -> None:
    """The heads are exactly these bytes; others need a new version."""
    body = _headed(BODY_HEAD) + GOLDEN_BODY
    liveness = _headed(LIVENESS_HEAD) + GOLDEN_LIVENESS
    assert StoredShard(1, 100, 1_000, body, liveness) == SHARD


def test_nothing_is_decoded_to_open() -> None:
    """Opening a shard reads the index alone: a damaged group shows when it is decoded."""
    spoilt = GOLDEN_BODY.replace(b"orders", b"orderz")
    stored = close_shard(None, (0, 0), HEADER, {"orders": ORDERS._replace(body=spoilt)})
    slot = open_shard(stored).slots["orders"]
    assert slot.body == spoilt
    with pytest.raises(CodecError):
        decode_group(slot.body, slot.liveness, "orders")


def test_body_stays_the_same_object() -> None:
    """While only liveness, positions and counters move, the body column is handed on as it is."""
    moved = replace(
        HEADER,
        marker=4,
        step=18,
        positions={},
        newest_ms=5,
        jumps=3,
        jumps_told=3,
        jumps_open=1,
        marker_ms=90,
        control_end=13,
    )
    alive = ORDERS._replace(liveness=b"other bytes", due_ms=500)
    stored = close_shard(open_shard(SHARD), (200, 2_000), moved, {"orders": alive})
    assert stored.body is SHARD.body
    assert open_shard(stored).slots["orders"] == alive
    assert open_shard(stored).slots["broken"] == BROKEN


@pytest.mark.parametrize(
    "header, changes",
    [
        (replace(HEADER, generation=4), {}),
        (replace(HEADER, defaults={}), {}),
        (replace(HEADER, origin=None), {}),
        (replace(HEADER, recovering=False), {}),
        (HEADER, {"orders": ORDERS._replace(topics=())}),
        (HEADER, {"orders": ORDERS._replace(phase="barrier")}),
        (HEADER, {"orders": ORDERS._replace(body=b"other")}),
        (HEADER, {"orders": None}),
        (HEADER, {"another": ORDERS._replace(group="another")}),
        (HEADER, {"broken": BROKEN._replace(quarantine=None)}),
        (HEADER, {"broken": BROKEN._replace(quarantine=replace(QUARANTINE, failures=3))}),
    ],
)
def test_a_changed_body_is_written_anew(
    header: ShardHeader, changes: dict[str, GroupSlot | None]
) -> None:
    """Whatever the body column holds is written anew when it changes, and reads back."""
    stored = close_shard(open_shard(SHARD), (100, 1_000), header, changes)
    expected = {"orders": ORDERS, "broken": BROKEN, **changes}
    assert stored.body != SHARD.body
    opened = open_shard(stored)
    assert opened.header == header
    assert opened.slots == {group: slot for group, slot in expected.items() if slot is not None}


def test_forgetting_what_was_never_stored() -> None:
    """Forgetting a group that the shard never had changes no byte."""
    assert close_shard(open_shard(SHARD), (100, 1_000), HEADER, {"nobody": None}) == SHARD


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), st.data(), max_size=4))
def test_order_of_changes(drawn: dict[str, st.DataObject]) -> None:
    """The bytes do not depend on the order in which groups and positions were put in."""
    changes: dict[str, GroupSlot | None] = {}
    for group, data in drawn.items():
        state: GroupState = data.draw(group_states(group))
        changes[group] = GroupSlot(
            group, (), "", data.draw(st.integers(0, 99)), *encode_group(state)
        )
    forwards = close_shard(None, (1, 2), HEADER, changes)
    positions = dict(reversed(list(HEADER.positions.items())))
    backwards = close_shard(
        None, (1, 2), replace(HEADER, positions=positions), dict(reversed(changes.items()))
    )
    assert forwards == backwards
    assert list(open_shard(forwards).slots) == sorted(changes)


def _spoil(column: bytes, at: int) -> bytes:
    spoilt = bytearray(column)
    spoilt[at % len(spoilt)] ^= 0x10
    return bytes(spoilt)


@given(st.integers(0, 10_000), st.booleans())
def test_damage_is_found(at: int, in_body: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    """A flipped bit is refused when the shard is opened or when its group is decoded."""
    body = _spoil(SHARD.body, at) if in_body else SHARD.body
    liveness = SHARD.liveness if in_body else _spoil(SHARD.liveness, at)

    def read() -> tuple[OpenShard, GroupState]:
        opened = open_shard(SHARD._replace(body=body, liveness=liveness))
        slot = opened.slots["orders"]
        return opened, decode_group(slot.body, slot.liveness, "orders")

    with pytest.raises(CodecError):
        read()


def _headed(head: bytes, version: int = 1) -> bytes:
    sealed = seal(head, version)
    return len(sealed).to_bytes(4, "little") + sealed


@pytest.mark.parametrize(
    "stored, problem",
    [
        (SHARD._replace(version=2), "form is 2, this one reads 1"),
        (SHARD._replace(body=b"ab"), "too few to be a whole column"),
        (SHARD._replace(body=_headed(b"{}", 7)), "form is 7, this one reads 1"),
        (SHARD._replace(body=_headed(b"{")), "its head cannot be read"),
        (SHARD._replace(body=_headed(b"[]")), "its head is no object"),
        (SHARD._replace(body=_headed(b"{}")), "do not fit each other"),
        (SHARD._replace(body=SHARD.body + b"x"), "stand where the index promises others"),
        (SHARD._replace(liveness=SHARD.liveness[:-1]), "stand where the index promises others"),
        (
            SHARD._replace(liveness=close_shard(None, (0, 0), HEADER, {}).liveness),
            "do not fit each other",
        ),
    ],
)
def test_each_refusal_says_what_is_wrong(stored: StoredShard, problem: str) -> None:
    """Each refusal of a shard says what is wrong with it."""
    with pytest.raises(CodecError, match=problem):
        open_shard(stored)


def test_a_rule_that_is_no_json_is_refused_before_storing() -> None:
    """A rule for all groups that is no JSON is refused before anything is stored."""
    with pytest.raises(UnwritableError, match="cannot be written"):
        close_shard(None, (0, 0), replace(HEADER, defaults={"strategy": object()}), {})
