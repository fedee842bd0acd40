"""Lite pull consumers on a real cluster, while their queues move with messages in hand."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fairlead.jars.manifest import JarSetName
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.rocketmq_java.moves import Moves, moves
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.broker]

QUEUES, MESSAGES = 2, 600


def _await_work(world: Moves) -> None:
    enough = len(world.journal().calls) + 5
    await_seen(lambda: len(world.journal().calls) > enough, what="work")


@pytest.mark.parametrize("jars", ["rocketmq", "rocketmq-5"])
def test_a_move_between_polls_repeats_nothing(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path, jars: JarSetName
) -> None:
    """Also the last queue of a member goes, and comes back: none begins twice or is left out."""
    with moves(built_rocketmq_java(jars), rocketmq.namesrv, tmp_path, pull=True, batch=4) as world:
        world.write(QUEUES, MESSAGES)
        here, there = world.member("a"), world.member("b")
        here.group.give(*range(QUEUES))
        for _ in range(2):
            for queue in range(QUEUES):
                _await_work(world)
                world.move(queue, here, there)
            here, there = there, here
        await_seen(
            lambda: len({call.message for call in world.journal().calls if call.ended}),
            lambda done: done == MESSAGES,
            what="all messages",
            seconds=LONGEST_SECONDS,
        )
        journal = world.journal()
        for each in (here, there):
            each.process.leave()
            assert each.group.left
    assert journal.begun_again() == []
    assert journal.overlaps() == []
