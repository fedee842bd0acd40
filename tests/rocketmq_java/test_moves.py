"""RocketMQ's own consumers on a real cluster, while their queues move with messages in hand."""

from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import pytest

from fairlead.jars.manifest import JarSetName
from tests.kit.awaiting import await_seen
from tests.rocketmq_java.moves import Moves, moves
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.broker]

QUEUES = 4
GAP_MS_MAX = 2_000


def _await_work(world: Moves) -> None:
    enough = len(world.journal().calls) + 5
    await_seen(lambda: len(world.journal().calls) > enough, what="work")


def _move_about(world: Moves, turns: int) -> None:
    """Two members; each turn hands every queue to the other one, in the middle of its messages."""
    here, there = world.member("a"), world.member("b")
    here.group.give(*range(QUEUES))
    for _ in range(turns):
        for queue in range(QUEUES):
            _await_work(world)
            world.move(queue, here, there)
        here, there = there, here


def _await_all(world: Moves, messages: int) -> None:
    await_seen(
        lambda: len({call.message for call in world.journal().calls if call.ended}),
        lambda done: done == messages,
        what=f"{messages} messages",
    )


@pytest.mark.parametrize("ordered", [False, True], ids=["concurrent", "ordered"])
@pytest.mark.parametrize("jars", ["rocketmq", "rocketmq-5"])
def test_a_move_repeats_nothing_and_has_one_owner(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path, jars: JarSetName, *, ordered: bool
) -> None:
    """With messages in hand: none begins twice or is left out, and no queue has two owners."""
    messages = 400 if ordered else 3_000
    java = built_rocketmq_java(jars)
    with moves(java, rocketmq.namesrv, tmp_path, ordered=ordered) as world:
        world.write(QUEUES, messages)
        _move_about(world, turns=2)
        _await_all(world, messages)
        journal = world.journal()
    assert journal.begun_again() == []
    assert journal.overlaps() == []
    gaps = journal.gaps_ms()
    assert len(gaps) >= QUEUES
    assert median(gaps) < GAP_MS_MAX
