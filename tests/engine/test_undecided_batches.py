"""How records are cut into batches without a decision changes nothing, whoever writes them.

A replay reads all of them at once, each topic before the next.
"""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.kit.memory_topics import BOUNDS_END, NAMES, bounds, shard_of
from tests.kit.replays import replayed
from tests.kit.world import World

ODD = "1" * 16
"""The digest of a member that holds what nobody has granted."""


class _SilentBridge(World):
    """A world whose bridge answers nobody after a while."""

    silent = False

    def _answer(self, request: dict[str, Any]) -> None:
        if not self.silent:
            super()._answer(request)


def _settled() -> _SilentBridge:
    """Return a world in which a works, and members may subscribe to two topics."""
    world = _SilentBridge()
    world.topics.tick(1)
    world.topics.rule("orders", "quota", {"topics": 2})
    world.join("a")
    world.pass_seconds(6)
    return world


def _in_batches_of_its_own(world: World, *words: Callable[[], object]) -> None:
    for say in words:
        world.topics.now_ms += 1_000
        world.topics.tick(1)
        say()
        world.run_all()


def test_what_a_refused_heartbeat_holds_is_nobodys_word() -> None:
    """A later one of its member that is read does not make it one."""
    world = _settled()
    (client,) = world.clients
    subscriptions = [
        {
            "topic": f"t{number}",
            "expression_type": "tag",
            "expression": "*",
            "tags": [],
            "sub_version": 1,
        }
        for number in range(3)
    ]
    refused = [lambda: client.beat(subscriptions=subscriptions, digest=ODD)] * 4
    _in_batches_of_its_own(world, *refused, client.beat, lambda: world.join("b"))
    assert world.counts["rejects/quota_topics"] == 4
    assert world.counts["events/member/healed"] == 0
    assert replayed(world).same


@pytest.mark.parametrize("order", ["paa", "apa", "aap", "ppaa", "papa", "apap"])
def test_an_answer_is_judged_beside_all_words(order: str) -> None:
    """Words and answers of two topics, each read on its own, are judged as if read at once."""
    world = _settled()
    world.silent = True
    (client,) = world.clients
    queue, (epoch, _) = min(client.held.items())
    reached = iter(range(BOUNDS_END + 1, BOUNDS_END + 9))

    def progress() -> None:
        told = {"queue": [*queue], "epoch": epoch, "position": [0, next(reached)]}
        by = {"client_id": client.client_id, "incarnation": client.incarnation}
        record = {"kind": "progress", "group": "orders", **by, "queues": [told]}
        world.topics.append_of("heartbeats", "orders", record)

    def answer() -> None:
        key = orjson.dumps(["orders", "orders"])
        world.topics.append("offsets", 0, key, bounds("orders", "orders", 4))

    said = {"p": progress, "a": answer}
    _in_batches_of_its_own(world, progress, *(said[each] for each in order))
    _in_batches_of_its_own(world, answer, answer, lambda: world.join("b"))
    alarms = [alarm for entry in world.decisions for alarm in entry["alarms"]]
    assert "position_out_of_bounds" in alarms
    assert replayed(world).same


def test_an_answer_that_is_older_than_the_first_doubt_is_judged_beside_all_words() -> None:
    """It says nothing against progress that was read, but against a release that is read later."""
    world = _settled()
    world.silent = True
    (client,) = world.clients
    queue, (epoch, _) = min(client.held.items())
    shard = shard_of("orders")

    def say(suffix: str, record: dict[str, Any]) -> None:
        by = {"client_id": client.client_id, "incarnation": client.incarnation}
        world.topics.append_of(suffix, "orders", {"group": "orders", **by, **record})

    def answer() -> None:
        world.topics.append("offsets", 0, orjson.dumps(["orders", "orders"]), bounds(*told))

    def read(*topics: str) -> None:
        """Run a batch that reads nothing but these topics."""
        ends = world._plan(shard, None)  # noqa: SLF001 - how far each topic is read is the point
        world.planned[shard] = {
            place: end if NAMES.suffix(place[1]) in topics else world.read.get(place, 0)
            for place, end in ends.items()
        }
        world.run(shard)
        world.deliver()

    told = "orders", "orders", 4
    told_of = {"queue": [*queue], "epoch": epoch, "position": [0, BOUNDS_END + 1]}
    say("releases", {"kind": "release", **told_of})
    world.topics.now_ms += 10
    answer()
    world.topics.now_ms += 10
    say("heartbeats", {"kind": "progress", "queues": [told_of | {"position": [0, BOUNDS_END + 2]}]})
    for topic in ("heartbeats", "offsets", "releases"):
        read(topic)
    world.topics.now_ms += 10
    answer()
    read("offsets")
    _in_batches_of_its_own(world, lambda: world.join("b"))
    assert replayed(world).same
