"""One decision with its proof: the moves of `fairlead moves`, and a record for each cause."""

from itertools import pairwise
from typing import Any

import pytest

from fairlead.history.decision_explainer import DecisionExplainer
from fairlead.history.decision_past import DecisionPast, decision_past
from fairlead.history.decision_proving import prove
from fairlead.history.evidence import CONTENT_MAX, Evidence
from fairlead.history.grant_history import grant_history
from fairlead.history.moves import decided_moves
from fairlead.history.ribbon_facts import facts_of
from fairlead.history.ribbon_fold import RibbonFold
from fairlead.wire.decision_records import decisions_of
from fairlead.wire.raw import RawRecord
from strategies.registry import STRATEGIES
from tests.answers.schema import assert_answer
from tests.kit.live_group import GROUP, TICK_MS
from tests.kit.memory_source import MemorySource
from tests.kit.moving_world import moving_life
from tests.kit.observed_world import view_of
from tests.kit.world import World

Told = list[dict[str, Any]]


@pytest.fixture(scope="module")
def world() -> World:
    """A group with joins, a death, orders of operators and a leave."""
    return moving_life()


def _pasts(world: World) -> list[DecisionPast]:
    view = view_of(world)
    facts, decisions = facts_of(view, GROUP, None, view.as_of_ms), view.decisions(GROUP)
    assert facts is not None
    assert decisions is not None
    fold = RibbonFold(GROUP)
    fold.update(facts)
    assert decision_past(fold, decisions, 10_000) is None
    found = [decision_past(fold, decisions, each.place.offset) for each in decisions]
    return [each for each in found if each is not None]


def _proofs(world: World) -> Told:
    explainer = DecisionExplainer(MemorySource(world.topics), GROUP, STRATEGIES, TICK_MS)
    proofs = [prove(explainer, each).to_json() for each in _pasts(world)]
    for each in proofs:
        assert_answer("DecisionProof", each)
    return proofs


def test_its_moves_are_those_of_the_list_of_moves(world: World) -> None:
    """Queue by queue it says what `fairlead moves` says, and no decision is left out."""
    source = MemorySource(world.topics)
    grants = grant_history(decisions_of(GROUP, source.rows("decisions", [0])))
    listed = [move.to_json() for each in decided_moves(grants, {}, 0) for move in each.moves]
    told = [
        {name: value for name, value in move.items() if name != "steps"}
        for proof in _proofs(world)
        for move in proof["moves"]
    ]
    assert told == listed
    assert len({each["kind"] for each in told}) > 1


def test_each_cause_has_its_record(world: World) -> None:
    """Every cause that names a record shows it, and a death shows the last heartbeat."""
    proofs = _proofs(world)
    causes = [cause for each in proofs for cause in each["cause"]]
    assert {cause["status"] for cause in causes} >= {"verified", "no_record"}
    for cause in causes:
        if cause["status"] == "verified":
            assert cause["evidence"]["at"] == cause["at"]
            assert cause["evidence"]["append_ms"] == cause["append_ms"]
            assert cause["evidence"]["value"]["kind"]
    (dead,) = [cause for cause in causes if cause["kind"] == "client_expired"]
    assert dead["evidence"]["value"]["kind"] == "heartbeat"
    assert dead["evidence"]["value"]["client_id"] == dead["client_id"]
    assert [each["previous"] for each in proofs[1:]] == [each["at"][2] for each in proofs[:-1]]
    assert [each["next"] for each in proofs[:-1]] == [each["at"][2] for each in proofs[1:]]


def test_the_steps_of_a_move_are_in_order(world: World) -> None:
    """A queue is dropped, released and begun, or taken and granted; each step says how long."""
    moves = [move for each in _proofs(world) for move in each["moves"] if move["kind"] == "moved"]
    ways = {tuple(step["step"] for step in move["steps"]) for move in moves}
    assert ("heard", "taken", "granted", "began") in ways
    assert any({"dropped", "released", "began"} <= {*way} for way in ways)
    for move in moves:
        assert move["steps"][0]["took_ms"] is None
        for before, step in pairwise(move["steps"]):
            assert step["took_ms"] == step["at_ms"] - before["at_ms"] >= 0


def test_skew_and_fewest_moves(world: World) -> None:
    """It says how even the shares were before and after, and that no fewer moves would do."""
    proofs = [each for each in _proofs(world) if each["queues_moved"]]
    first = proofs[0]
    assert (first["skew_after"]["members"], first["skew_after"]["skew"]) == (2, 0)
    assert (first["queues_moved"], first["fewest_moves"]) == (6, 6)
    assert all(each["fewest_moves"] <= each["queues_moved"] for each in proofs)
    assert any(each["skew_before"]["skew"] > each["skew_after"]["skew"] for each in proofs)


@pytest.mark.parametrize(
    "key, content, told",
    [
        (b"orders", b'{"a":[1,"x"]}', ("orders", {"a": [1, "x"]}, False)),
        (None, None, (None, None, False)),
        (b"\xff\x00k", b"\xfe no JSON", ("\\xff\x00k", "\\xfe no JSON", False)),
        (b"k", b'"' + b"x" * CONTENT_MAX + b'"', ("k", '"' + "x" * (CONTENT_MAX - 1), True)),
    ],
)
def test_a_record_is_shown_as_it_is(
    key: bytes | None, content: bytes | None, told: tuple[object, ...]
) -> None:
    """Content is JSON where it is JSON, else text; what is no text is escaped, what is long cut."""
    row = RawRecord("t.heartbeats", 1, 7, 5, append_time_is_log=True, key=key, value=content)
    shown = Evidence.of(row).to_json()
    assert_answer("RecordShown", shown)
    assert (shown["key"], shown["value"], shown["cut"]) == told
    assert (shown["at"], shown["append_ms"]) == (["t.heartbeats", 1, 7], 5)
