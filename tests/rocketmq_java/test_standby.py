"""A group of RocketMQ's own consumers is taken over and given back in place (ADR 0253)."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fairlead.jars.manifest import JarSetName
from tests.kit.awaiting import LONGEST_SECONDS, await_seen
from tests.rocketmq_java.moves import Member, Moves, moves
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.broker]

QUEUES = 4


def _owners(world: Moves, last: int = 60) -> dict[int, set[str]]:
    """Return who has worked on each queue of late."""
    owners: dict[int, set[str]] = {}
    for call in sorted(world.journal().calls, key=lambda call: call.began)[-last:]:
        owners.setdefault(call.message[0], set()).add(call.owner)
    return owners


def _await_work(world: Moves, more: int = 40) -> None:
    enough = len(world.journal().calls) + more
    await_seen(
        lambda: len(world.journal().calls),
        lambda calls: calls > enough,
        what="work",
        seconds=LONGEST_SECONDS,
    )


def _await_begun(world: Moves, queue: int, offset: int, by: Member) -> None:
    await_seen(
        lambda: {call.owner for call in world.journal().calls if call.message == (queue, offset)},
        lambda owners: owners == {by.name},
        what=f"message {offset} of queue {queue} at {by.name}",
    )


def _epochs(member: Member, kind: str) -> list[Any]:
    lines = map(json.loads, member.process.journal.read_text(encoding="utf-8").splitlines())
    return [line["epoch"] for line in lines if line["kind"] == kind]


@pytest.mark.parametrize("ordered", [False, True], ids=["concurrent", "ordered"])
@pytest.mark.parametrize("jars", ["rocketmq-5"])
def test_a_group_is_taken_over_and_given_back_in_place(
    rocketmq: "EmbeddedRocketMQ", tmp_path: Path, jars: JarSetName, *, ordered: bool
) -> None:
    """AVG's owners keep their queues through freeze, grant and return; no message begins twice."""
    java = built_rocketmq_java(jars)
    flags = {"ordered": ordered, "standby": True, "work_ms": 50, "threads": 4}
    with moves(java, rocketmq.namesrv, tmp_path, **flags) as world:
        world.write(QUEUES, 6_000)
        here, there = world.member("a"), world.member("b")
        assert here.group.joined["standby"] == {"follows": "AVG"}
        assert here.group.joined["data_plane"]["kind"] == "rocketmq"
        assert here.group.joined["data_plane"]["member"].endswith("@a")
        assert world.journal().calls == []
        for each in (here, there):
            each.group.stand("follow")
        await_seen(lambda: set(_owners(world)), lambda seen: len(seen) == QUEUES, what="work")
        await_seen(
            lambda: [len(each) for each in _owners(world).values()],
            lambda seen: seen == [1] * QUEUES,
            what="one owner a queue",
        )
        # What RocketMQ's own strategy moves may come twice; from here on nothing does. In order
        # nothing ever does: whoever has the lock asks where to begin.
        before = 0 if ordered else len(world.journal().calls)
        for each in (here, there):
            each.group.stand("freeze", (1, 7))
        frozen = [_await_frozen(each) for each in (here, there)]
        assert sorted([*frozen[0], *frozen[1]]) == list(range(QUEUES))
        _await_work(world)
        for each, named in zip((here, there), frozen, strict=True):
            each.group.take_over(*named)
        await_seen(
            lambda: [each.process.counters()["taken_over"] for each in (here, there)],
            lambda seen: seen == [2, 2],
            what="take-over",
        )
        _await_work(world)
        moved = next(iter(frozen[0]))
        for source, target in ((here, there), (there, here)):
            offset = world.move(moved, source, target)
            _await_begun(world, moved, offset, target)
        for each in (here, there):
            each.group.stand("follow")
        await_seen(
            lambda: [each.process.counters()["given_back"] for each in (here, there)],
            lambda seen: seen == [2, 2],
            what="return",
        )
        _await_work(world)
        calls = sorted(world.journal().calls, key=lambda call: call.began)
        released = sum(each.process.counters()["released"] for each in (here, there))
    messages = [call.message for call in calls[before:]]
    assert len(messages) == len(set(messages))
    # Only the two moves by the gateway released anything since both followed.
    assert released <= 2 + QUEUES
    assert len(_epochs(here, "start")) == len(_epochs(here, "stop"))


def _await_frozen(member: Member) -> dict[int, int]:
    epoch, named = await_seen(lambda: member.group.frozen, what="an answer") or ([], {})
    assert epoch == [1, 7]
    return named
