"""Records with numbers that nothing can count, and groups that cannot be looked through."""

from dataclasses import replace

import orjson
import pytest

from fairlead.core.model import MessageQueue
from fairlead.observed.assignments import GroupAssignments
from fairlead.observed.observed_group import ObservedGroup
from fairlead.observed.observed_groups import ObservedGroups
from fairlead.wire.limits import INT64_MAX, INT64_MIN
from fairlead.wire.quick_assignments import part_of
from tests.kit.live_group import GROUP
from tests.kit.memory_topics import NAMES
from tests.kit.observed_world import Followed
from tests.kit.world import world_of

QUEUE = MessageQueue("orders", "main", 0)


@pytest.mark.parametrize(
    "position, end, epoch",
    [
        ([0, -5], INT64_MAX, [1, 1]),
        ([0, INT64_MAX + 1], 5, [1, 1]),
        ([INT64_MAX + 1, 7], 5, [1, 1]),
        ([0, 5], INT64_MIN, [1, 1]),
        ([0, 5], 7, [INT64_MAX + 1, 1]),
        ([0, 5], 7, [1, -1]),
    ],
)
def test_number_out_of_bounds(position: list[int], end: int, epoch: list[int]) -> None:
    """Progress with a number that the protocol does not have is passed over, and counted."""
    followed = Followed(world_of("c1", queues={"orders": 1}))
    view, client = followed.view, followed.world.clients[0]
    entry = {"queue": [*QUEUE], "epoch": epoch, "position": position, "end": end}
    sender = {"client_id": client.client_id, "incarnation": client.incarnation}
    record = {"kind": "progress", "group": GROUP, **sender, "queues": [entry]}
    followed.world.topics.append_of("heartbeats", GROUP, record)
    passed_over = view.passed_over
    followed.read()
    assert view.passed_over == passed_over + 1
    assert [each.summary.group for each in view.figures()] == [GROUP]


def _fail(*_: object) -> bool:
    raise OverflowError("too large")


def test_row_that_cannot_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever one row does to its reader, the rows after it are read."""
    followed = Followed(world_of("c1"))
    monkeypatch.setattr(ObservedGroup, "take_decision", _fail)
    followed.world.join("c2")
    followed.pass_seconds(5)
    assert followed.view.passed_over > 0
    assert followed.view.groups()[0].members == 2


@pytest.mark.parametrize("step", ["finish_events", "sweep"])
def test_group_that_cannot_be_looked_through(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with one group ends nothing, and is counted."""
    followed = Followed(world_of("c1"))
    monkeypatch.setattr(ObservedGroup, step, _fail)
    followed.world.join("c2")
    followed.pass_seconds(70)
    view: ObservedGroups = followed.view
    assert view.failed > 0
    assert view.groups()[0].members == 2


def test_set_of_countless_parts() -> None:
    """A record of an assignment that claims to be one of countless parts takes no time to read."""
    world = world_of("c1")
    parts = [
        part_of(orjson.loads(record.value))
        for (topic, _), log in world.topics.written.items()
        for record in log
        if topic == NAMES.name("assignments") and record.value is not None
    ]
    told = GroupAssignments()
    told.put(replace(parts[-1], parts=INT64_MAX))
    ((_, found),) = told.sets.items()
    assert not found.complete
    assert found.entries == parts[-1].assigned
