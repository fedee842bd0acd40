"""Who may say that a driver runs: the driver itself, and nobody who can write to heartbeats."""

from dataclasses import replace

import orjson
import pytest

from fairlead.codec.shard import open_shard
from fairlead.engine.context import ShardContext, ShardResult
from fairlead.engine.seals import seal_of
from fairlead.engine.shard import run_shard
from tests.kit.memory_topics import NAMES, Topics
from tests.kit.world import World, context_of

SECRETS = ("0a" * 32, "0b" * 32)
FORGED = 1_000_000


def _sealed(generation: int) -> ShardContext:
    seals = tuple(seal_of(secret) for secret in SECRETS)
    return replace(context_of(0, generation, first_run=True), seals=seals)


def _letters(result: ShardResult) -> list[tuple[str, str | None]]:
    bodies = [
        orjson.loads(record.value or b"null")
        for record in result.records
        if record.topic == NAMES.name("rejects")
    ]
    return [(body["reason"], body["field"]) for body in bodies]


def test_a_generation_that_nobody_claimed() -> None:
    """A tick from the future is refused and counted, and the shard's marker stays."""
    topics = Topics()
    topics.tick(3, secret=SECRETS[0])
    topics.tick(FORGED, secret=SECRETS[0])
    result = run_shard(None, topics.rows_of(0), _sealed(3))
    assert _letters(result) == [("foreign_tick", "generation")]
    assert result.counts["events/tick/rejected"] == result.counts["rejects/foreign_tick"] == 1
    assert open_shard(result.stored).header.marker == 3


@pytest.mark.parametrize("said", [{}, {"secret": SECRETS[1]}, {"secret": "0c" * 32}])
def test_a_marker_without_its_secret(said: dict[str, str]) -> None:
    """The first tick of a generation counts only if it shows what is sealed for its partition."""
    topics = Topics()
    topics.tick(3, control_end=2**62, input_lost=True, **said)
    topics.tick(3, secret=SECRETS[0])
    topics.tick(3)
    result = run_shard(None, topics.rows_of(0), _sealed(3))
    header = open_shard(result.stored).header
    assert _letters(result) == [("foreign_tick", "secret")]
    assert (header.marker, header.control_end, header.recovering) == (3, 0, False)
    assert result.counts["events/tick/applied"] == 2


def test_an_earlier_generation_loses_nothing_for_us() -> None:
    """What a tick of a generation before says of lost input is not believed."""
    topics = Topics()
    topics.tick(2, input_lost=True)
    result = run_shard(None, topics.rows_of(0), _sealed(3))
    assert not open_shard(result.stored).header.recovering


def _claims(world: World, generation: int, queues: list[dict[str, object]]) -> None:
    client = world.clients[0]
    who = {"client_id": client.client_id, "incarnation": client.incarnation}
    body = {"kind": "claims", "group": client.group, **who, "generation": generation}
    parts = {"part": 0, "parts": 1, "queues": queues}
    world.topics.append_of("heartbeats", client.group, {**body, **parts})


def test_an_acknowledgement_from_the_future() -> None:
    """It stands for no other generation: the next start waits for the true one; nobody moves."""
    world = World()
    for client_id in ("a", "b"):
        world.join(client_id)
    world.pass_seconds(6)
    owners = world.owners("orders")
    _claims(world, FORGED, [])
    world.run_all()
    world.start_driver()
    world.pass_seconds(6)
    assert world.owners("orders") == owners
    assert world.decisions[-1]["cut"]["generation"] == 2
    assert not any(
        move for each in world.decisions if each["cut"]["generation"] == 2 for move in each["moves"]
    )


@pytest.mark.parametrize("epoch", [[2, 2**62], [FORGED, 1]])
def test_a_claim_of_an_epoch_that_nobody_drew(epoch: list[int]) -> None:
    """It takes no queue from anybody, and the group's epochs grow as before."""
    world = World()
    for client_id in ("a", "b"):
        world.join(client_id)
    world.pass_seconds(6)
    owners = world.owners("orders")
    world.start_driver()
    taken = next(number for number, client_id in owners.items() if client_id == "b")
    claim = {"queue": ["orders", "main", taken], "epoch": epoch, "position": [0, 0]}
    _claims(world, 2, [{**claim, "state": "running"}])
    world.pass_seconds(3)
    world.join("c")
    world.pass_seconds(10)
    assert world.counts["steps/failed"] == 0
    assert {*world.owners("orders").values()} <= {"a", "b", "c"}
    assert world.owners("orders")[taken] != "a" or owners[taken] == "a"
    assert world.counts["fenced/claims/future_epoch"] == 1
