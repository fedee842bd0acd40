"""The pitfalls as golden stories, told under RocketMQ and under ours.

``REWRITE_GOLDEN=1 pytest tests/pitfalls/test_stories.py`` writes the present answers; commit them
only if every line of the difference is understood.
"""

import os
from pathlib import Path

import pytest
from fairlead_proof.pitfalls.catalogue import PITFALLS
from fairlead_proof.pitfalls.history import play
from fairlead_proof.pitfalls.ours.consumer import GROUP
from fairlead_proof.pitfalls.ours.engine import SWITCH_MS
from fairlead_proof.pitfalls.ours.world import HEARTBEAT_MS, LEASE_MS, OurWorld
from fairlead_proof.pitfalls.pitfall import OURS, ROCKETMQ, Pitfall
from fairlead_proof.pitfalls.tenure import WORK_MS
from fairlead_proof.pitfalls.text import text_of

from fairlead.core.records import RuleSet
from fairlead.settings import load_settings
from tests.pitfalls.runs import pitfall_named, run_of

GOLDEN = Path(__file__).parent.parent / "golden" / "pitfalls"
MOVES = {"deploy": (96, 22)}
"""Story -> how often queues moved under RocketMQ and under ours, where that is the point."""

PER_CLIENT = {"rooms-without-clients": ((3, 3, 3, 0), (3, 2, 2, 2))}
"""Story -> the queues of each client in the end, under RocketMQ and under ours."""

HANDOVER_MS = 600
"""A batch, the messages in hand and three trips: no queue that moves may wait for longer."""

THEIRS = {
    "two-of-five-know": (["q8", "q9"], ["q2"]),
    "only-the-new-one-knows": (["q7"], []),
    "only-the-old-ones-know": ([], ["q7"]),
    "late-by-a-tick": (["q3", "q4", "q5"], []),
    "a-broker-knows-too-few": ([], ["b/q0", "b/q1", "b/q2", "b/q3"]),
    "routes-at-different-times": ([], ["q2", "q3", "q4", "q5", "q6", "q7"]),
    "started-before-dropped": (["q0", "q1"], []),
    "offset-on-its-way": ([], []),
    "join-without-a-fault": ([], []),
    "lock-asked-too-early": ([], ["q2", "q3"]),
    "ordered-takeover": ([], ["q2", "q3"]),
    "slot-without-subscription": ([], ["orders q4", "orders q5"]),
    "one-id-twice": (["q0", "q1"], ["q2", "q3"]),
    "frozen-client": ([], ["q4", "q5"]),
    "deploy": ([], []),
    "rooms-without-clients": ([], []),
}
"""Story -> the queues owned twice and by nobody under RocketMQ."""

ALL = pytest.mark.parametrize("pitfall", PITFALLS, ids=lambda pitfall: pitfall.name)


@ALL
def test_a_story_is_its_golden_text(pitfall: Pitfall) -> None:
    """A story reads as its golden text, to the last line of both courses."""
    golden = GOLDEN / f"{pitfall.name.replace('-', '_')}.txt"
    told = text_of(run_of(pitfall.name))
    if os.environ.get("REWRITE_GOLDEN"):
        golden.write_text(told)
    assert told == golden.read_text()


def test_every_golden_text_is_a_story() -> None:
    """No text is left over, and every story has its expected queues."""
    names = {pitfall.name for pitfall in PITFALLS}
    assert {path.stem.replace("_", "-") for path in GOLDEN.glob("*.txt")} == names
    assert THEIRS.keys() == names


@ALL
def test_rocketmq_has_exactly_these_queues_twice_and_without_owner(pitfall: Pitfall) -> None:
    """The model has the queues in two hands, and in none, that the strategy's arithmetic says."""
    tally = run_of(pitfall.name).sides[ROCKETMQ].tally
    twice, nobody = THEIRS[pitfall.name]
    assert [pitfall.scene.name_of(queue) for queue in tally.twice] == twice
    assert [pitfall.scene.name_of(queue) for queue in tally.nobody] == nobody
    assert twice or nobody or tally.read_twice > WORK_MS // 100 or pitfall.name in PER_CLIENT


@ALL
def test_our_side_of_a_story_has_no_fault(pitfall: Pitfall) -> None:
    """No queue has two owners or is left unread; the dead are waited for by lease and margin."""
    tally = run_of(pitfall.name).sides[OURS].tally
    assert tally.twice == ()
    assert tally.unread == 0
    assert tally.moves > 0 or pitfall.name == "a-broker-knows-too-few"
    if pitfall.somebody_dies:
        assert tally.longest_pause_ms <= 18_000 + HANDOVER_MS
        return
    assert tally.nobody == ()
    assert tally.read_twice == 0
    assert tally.longest_pause_ms <= HANDOVER_MS


@pytest.mark.parametrize("name", MOVES)
def test_changes_that_are_gathered_move_each_queue_once(name: str) -> None:
    """Under RocketMQ queues move with every single change, under ours once for all of them."""
    sides, queues = run_of(name).sides, len(pitfall_named(name).queues)
    assert (sides[ROCKETMQ].tally.moves, sides[OURS].tally.moves) == MOVES[name]
    assert sides[OURS].tally.moves <= queues
    assert sides[OURS].tally.told < sides[ROCKETMQ].tally.told


@pytest.mark.parametrize("name", PER_CLIENT)
def test_the_balance_of_a_story_is_as_written(name: str) -> None:
    """Where only the balance is bad, the clients have as many queues as written here."""
    sides = run_of(name).sides
    assert (sides[ROCKETMQ].per_client, sides[OURS].per_client) == PER_CLIENT[name]


def test_our_side_runs_under_the_defaults() -> None:
    """Lease, heartbeat and the wait of a growing topic are those that an engine has unless told."""
    settings = load_settings()
    assert settings.group_defaults.lease_ms == LEASE_MS
    assert settings.client.heartbeat_ms == HEARTBEAT_MS
    assert settings.groups.switch_ms == SWITCH_MS


def test_ours_would_be_seen_to_have_two_owners() -> None:
    """An eager group, which waits for nobody, is counted like RocketMQ: the count is not blind."""
    pitfall = pitfall_named("late-by-a-tick")
    world = OurWorld(pitfall.scene)
    world.engine.append("control", RuleSet(GROUP, "mode", (), "eager", "operator"), 0)
    play(pitfall.history, world)
    world.run_until(pitfall.to_ms)
    tally = world.ledger.tally(pitfall.queues, pitfall.from_ms, pitfall.to_ms)
    assert len(tally.twice) == 3
    assert tally.read_twice > 0


def test_what_was_not_sent_is_read_again() -> None:
    """On each queue the next owner reads again from OF2 to OF1, and what A2 had in hand."""
    pitfall = pitfall_named("offset-on-its-way")
    run = run_of(pitfall.name).sides[ROCKETMQ]
    lines = {
        line.rsplit(" at ", 1)[0]: int(line.rsplit(" ", 1)[1])
        for at_ms, line in run.ledger.lines
        if at_ms >= pitfall.from_ms and " at " in line
    }
    of1, of2 = lines["a2 stops q1"], lines["a1 starts q1"]
    assert of2 < of1
    assert run.tally.read_twice == 2 * (of1 - of2 + WORK_MS // 100)
