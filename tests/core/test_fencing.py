"""What comes under an old epoch, of an old life or from a stranger has no effect; it is counted."""

from collections.abc import Callable

import pytest

from fairlead.core.handover.fencing import FENCED
from fairlead.core.model import Epoch, Position
from tests.kit.group_operator import drain
from tests.kit.group_settling import settle
from tests.kit.group_world import GroupWorld, queue_of, settled

Write = Callable[[GroupWorld, str, int, Epoch, int], None]


def _release(world: GroupWorld, client: str, number: int, epoch: Epoch, life: int = 1) -> None:
    world.release(client, number, epoch, 90, life=life)


def _progress(world: GroupWorld, client: str, number: int, epoch: Epoch, life: int = 1) -> None:
    world.progress(client, number, epoch, 90, life=life)


@pytest.mark.parametrize("kind, write", [("release", _release), ("progress", _progress)])
def test_each_stale_record_has_its_reason_and_moves_nothing(kind: str, write: Write) -> None:
    """Each stale record has its own reason, and none moves a position or ends a grant."""
    world = settled("a", "b")
    first = world.epoch_of(1)
    for ended in (False, True):
        drain(world, "a", ended=ended)
        settle(world)
    second = world.epoch_of(1)
    assert second > first
    cases = {
        "not_a_member": ("x", 1, second, 1),
        "unknown_queue": ("a", 9, second, 1),
        "future_epoch": ("a", 1, Epoch(1, 99), 1),
        "other_member": ("b", 1, second, 1),
        "old_epoch": ("a", 1, first, 1),
    }
    assert world.state is not None
    before = dict(world.state.queues)
    for reason, case in cases.items():
        write(world, *case)
        result = world.run()
        assert {key[1]: number for key, number in result.counts.items() if key[0] == FENCED} == {
            f"{kind}/{reason}": 1
        }
        assert result.counts[kind, "stale"] == 1
    assert world.state.queues == before
    assert world.state.queues[queue_of(1)].base == Position(0, 10)


def test_a_release_read_again_has_no_grant_to_end() -> None:
    """A release that is read a second time finds its grant ended."""
    world = settled("a")
    epoch = world.epoch_of(0)
    world.leave("a")
    world.run()
    for _ in range(2):
        world.release("a", 0, epoch, 7)
    assert world.run().counts[FENCED, "release/ended"] == 1


def test_progress_of_a_former_incarnation_is_refused() -> None:
    """Progress of a life that lapsed is not that of the next one, though queue and client agree."""
    world = settled("a", queues=1)
    epoch = world.epoch_of(0)
    world.pass_time(13_001)
    world.run()
    world.beat("a", life=2)
    world.run()
    world.progress("a", 0, epoch, 50)
    world.progress("a", 0, world.epoch_of(0), 3, life=2)
    result = world.run()
    assert result.counts[FENCED, "progress/not_a_member"] == 1
    assert world.state is not None
    assert world.state.queues[queue_of(0)].base == Position(0, 3)


def test_a_grant_made_void_by_a_barrier_is_worth_nothing() -> None:
    """A grant that a barrier has made void is worth nothing, though its epoch was issued."""
    world = settled("a", "b", queues=2)
    epoch = world.epoch_of(1)
    world.driver(2)
    world.claims("a", (0, world.epoch_of(0), 5, True))
    world.claims("b")
    world.run()
    world.progress("b", 1, epoch, 99)
    assert world.run().counts[FENCED, "progress/old_epoch"] == 1
