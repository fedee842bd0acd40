"""A shard without state after another driver: it recovers, and gives no held queue away."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from fairlead.codec.quarantine import Quarantine
from fairlead.codec.shard import ShardHeader, close_shard, open_shard
from fairlead.core.moment import Moment
from fairlead.core.outputs import Origin
from fairlead.core.records import Arrival
from fairlead.core.rules.group_rules import EngineRules
from fairlead.core.state import GroupState
from fairlead.core.step import StepResult, step
from fairlead.engine import group_step
from fairlead.engine.shard import run_shard
from tests.kit.client import Client
from tests.kit.memory_topics import NAMES, Topics
from tests.kit.world import World, context_of

HEARTBEATS, CONTROL = NAMES.name("heartbeats"), NAMES.name("control")


def _settled(*clients: str, **fields: Any) -> World:
    """Return a world in which the clients share four queues and all is quiet."""
    world = World()
    world.topics.tick(1)
    for client in clients or ("a", "b"):
        world.join(client, **fields)
    world.pass_seconds(6)
    return world


def _header(world: World, shard: int = 0) -> ShardHeader:
    stored = world.stored[shard]
    assert stored is not None
    return open_shard(stored).header


def _commands(world: World, generation: int) -> list[dict[str, Any]]:
    return [
        command
        for record in world.kinds("assignments")
        if record["generation"] == generation
        for command in (*record["drop"], *record["add"])
    ]


def _triggers(world: World, generation: int) -> list[str]:
    return [
        trigger
        for entry in world.decisions
        if entry["cut"]["generation"] == generation
        for trigger in entry["triggers"]
    ]


def _live(client: Client) -> None:
    client.work(7)
    client.beat()


def test_after_a_loss_everybody_keeps_its_queues() -> None:
    """After the loss everybody keeps what it has, and nothing is moved."""
    world = _settled()
    owners = world.owners("orders")
    assert sorted(owners) == [0, 1, 2, 3]
    world.lose_state()
    world.pass_seconds(10)
    assert {entry["state"]["phase"] for entry in world.decisions[-2:]} == {"recovering"}
    assert world.counts["recovering_now"] > 0
    assert _commands(world, 2) == []
    world.pass_seconds(30)
    assert world.owners("orders") == owners
    assert _commands(world, 2) == []
    assert _triggers(world, 2)[-1] == "recovery_passed"
    assert world.decisions[-1]["state"]["phase"] == "stable"


def test_a_dead_clients_queues_go_on_at_its_progress() -> None:
    """The queues of a client that died with the checkpoint go on where its progress ended."""
    world = _settled()
    dead = world.clients[0]
    reached = {queue[2]: world_at for queue, world_at in dead.processed.items()}
    world.lose_state()
    dead.gone = True
    world.pass_seconds(20)
    assert world.owners("orders") == dict.fromkeys(range(4), "b")
    starts = {add["queue"][2]: add["position"][1] for add in _commands(world, 2)}
    assert starts == reached


def test_nothing_is_granted_while_one_is_silent() -> None:
    """A client with a long lease, heard only before the marker, keeps its queues (rule H18)."""
    world = _settled("a", lease_ms=120_000)
    world.join("b")
    silent = world.clients[0]
    world.pass_seconds(4)
    held = world.owners("orders")
    assert set(held.values()) == {"a", "b"}
    everybody, world.clients = world.clients, world.clients[1:]
    world.lose_state()
    world.pass_seconds(60)
    assert world.decisions[-1]["state"]["phase"] == "recovering"
    world.clients = everybody
    silent.claim(2)
    world.pass_seconds(5)
    assert world.decisions[-1]["triggers"] == ["recovery_passed"]
    assert world.owners("orders") == held
    assert _commands(world, 2) == []


def test_a_native_group_is_taken_over_at_its_commit() -> None:
    """What stands before the window is not read; each decision says where its state began."""
    world = _settled()
    world.lose_state(window_ms=2_000)
    begin = {topic: {0: ends[0]} for topic, ends in world.begin.items()}
    assert begin[HEARTBEATS][0] > 0
    rows = world.topics.rows_of(0)
    result = run_shard(None, rows, world.context(0))
    assert result.counts["rows/replayed"] == begin[HEARTBEATS][0] + begin[NAMES.name("releases")][0]
    header = open_shard(result.stored).header
    assert header.origin == Origin(2, begin)
    world.pass_seconds(1)
    cut = world.decisions[-1]["cut"]
    plain = {topic: {"0": ends[0]} for topic, ends in begin.items()}
    assert cut["origin"] == {"generation": 2, "begin": plain}
    assert cut["step"] >= 1


def test_the_first_driver_does_not_recover() -> None:
    """Nobody can have lost what nobody ever had, and a driver may vouch for that."""
    topics = Topics()
    topics.tick(1)
    first = run_shard(None, topics.rows_of(0), context_of(0, 1))
    assert not open_shard(first.stored).header.recovering
    topics = Topics()
    topics.tick(2)
    vouched = run_shard(None, topics.rows_of(0), context_of(0, 2, first_run=True))
    assert not open_shard(vouched.stored).header.recovering
    assert open_shard(vouched.stored).header.origin is None


def test_a_shard_without_groups_recovers_too() -> None:
    """A group that is met when lease and margin are over is a new one, with no barrier."""
    world = World()
    world.topics.tick(1)
    world.run_all()
    world.lose_state()
    world.pass_seconds(12)
    assert _header(world).recovering
    world.pass_seconds(3)
    assert not _header(world).recovering
    world.join("a")
    world.pass_seconds(2)
    assert world.owners("orders") == dict.fromkeys(range(4), "a")
    assert "recovery_started" not in _triggers(world, 2)


def test_a_start_inside_a_recovery() -> None:
    """A driver that starts from a recovering state recovers on, from its own marker."""
    world = _settled()
    owners = world.owners("orders")
    world.lose_state()
    world.pass_seconds(9)
    world.start_driver()
    world.pass_seconds(11)
    assert _header(world).recovering
    assert world.decisions[-1]["state"]["phase"] == "recovering"
    world.pass_seconds(6)
    assert not _header(world).recovering
    assert world.owners("orders") == owners
    assert _commands(world, 3) == []
    assert world.decisions[-1]["cut"]["origin"]["generation"] == 2


def test_a_state_lost_in_recovery_is_rebuilt() -> None:
    """A state that is lost while it recovers is rebuilt all the same."""
    world = _settled()
    owners = world.owners("orders")
    world.lose_state()
    world.pass_seconds(9)
    world.lose_state()
    world.pass_seconds(20)
    assert world.owners("orders") == owners
    assert _commands(world, 3) == []
    assert world.decisions[-1]["state"]["phase"] == "stable"


def test_a_client_that_joins_in_recovery_gets_its_share_later() -> None:
    """A client that joins while the group recovers gets its share when that is over."""
    world = _settled("a")
    world.lose_state()
    world.pass_seconds(3)
    world.join("b")
    world.pass_seconds(9)
    assert world.owners("orders") == dict.fromkeys(range(4), "a")
    world.pass_seconds(6)
    assert sorted(world.owners("orders").values()) == ["a", "a", "b", "b"]


def test_rules_come_back() -> None:
    """Rules of a group and of all groups are read from the start of control."""
    world = _settled()
    world.topics.rule("orders", "strategy", {"name": "AVG_BY_CIRCLE"})
    world.topics.rule("*", "timing", {"lease_ms": 20_000})
    world.pass_seconds(4)
    assert world.owners("orders") == {0: "a", 1: "b", 2: "a", 3: "b"}
    world.lose_state()
    world.pass_seconds(20)
    assert _header(world).recovering
    world.pass_seconds(6)
    assert not _header(world).recovering
    assert world.decisions[-1]["strategy"] == "AVG_BY_CIRCLE"
    assert world.owners("orders") == {0: "a", 1: "b", 2: "a", 3: "b"}


def test_the_marker_waits_for_control() -> None:
    """While control is not read up to where the first tick says, nothing is granted."""
    world = _settled("a")
    stored = world.stored[0]
    world.generation = 2
    world.topics.tick(2, control_end=1)
    world.clients[0].claim(2)
    world.join("b")
    world.pass_seconds(3)
    assert world.decisions[-1]["state"]["phase"] == "barrier"
    assert _header(world).control_end == 1
    for shard in range(2):
        key = b'["orders","pause"]'
        world.topics.append("control", shard, key, None)
    world.pass_seconds(3)
    assert sorted(world.owners("orders").values()) == ["a", "a", "b", "b"]
    assert stored is not None


def test_a_driver_behind_lost_input_recovers() -> None:
    """A driver that begins behind records that are gone waits as if the state were lost."""
    world = _settled()
    owners = world.owners("orders")
    world.generation = 2
    world.topics.tick(2, input_lost=True)
    for client in world.clients:
        client.claim(2)
    world.pass_seconds(10)
    assert _header(world).recovering
    assert world.decisions[-1]["state"]["phase"] == "recovering"
    assert world.decisions[-1]["cut"].get("origin") is None
    world.pass_seconds(6)
    assert not _header(world).recovering
    assert world.owners("orders") == owners
    assert _commands(world, 2) == []


def test_an_unheard_client_after_lost_input() -> None:
    """Who joined in what was lost, and works on what an old state gave away, is heard in time."""
    world = _settled("a")
    old, read = dict(world.stored), dict(world.read)
    world.join("b")
    world.pass_seconds(6)
    owners = world.owners("orders")
    assert set(owners.values()) == {"a", "b"}
    # The copy of before b goes on behind everything that b ever said.
    world.stored = old
    world.read = {
        **read,
        **{
            (shard, topic, shard): len(world.topics.rows[topic, shard])
            for shard in range(2)
            for topic in (HEARTBEATS, NAMES.name("releases"))
        },
    }
    world.generation = 2
    world.topics.tick(2, input_lost=True)
    world.clients[0].claim(2)
    for second in range(12):
        world.topics.now_ms += 1_000
        world.topics.tick(2)
        _live(world.clients[0])
        if second == 8:
            # It was cut off for most of its lease; now it reads the claim, and acknowledges.
            world.clients[1].beat()
            world.clients[1].claim(2)
        world.run_all()
        assert _commands(world, 2) == []
    world.pass_seconds(8)
    assert world.owners("orders") == owners


def _failing(monkeypatch: pytest.MonkeyPatch, broken: list[bool]) -> None:
    def fails(
        state: GroupState | None, arrivals: Sequence[Arrival], moment: Moment, engine: EngineRules
    ) -> StepResult:
        if broken[0]:
            raise ZeroDivisionError
        return step(state, arrivals, moment, engine)

    monkeypatch.setattr(group_step, "step", fails)


def test_a_group_that_was_never_stepped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group in quarantine since the loss recovers when it is stepped at last, however late."""
    world = _settled()
    owners = world.owners("orders")
    broken = [True]
    _failing(monkeypatch, broken)
    world.lose_state()
    world.pass_seconds(30)
    assert not _header(world).recovering
    assert world.counts["groups/quarantined"] == 1
    broken[0] = False
    while not world.counts["groups/quarantine_left"]:
        world.pass_seconds(1)
    assert world.decisions[-1]["state"]["phase"] == "recovering"
    world.pass_seconds(16)
    assert world.decisions[-1]["state"]["phase"] == "stable"
    assert world.owners("orders") == owners
    assert _commands(world, 2) == []


def test_a_quarantine_that_gave_records_up() -> None:
    """A group that lost records in quarantine waits until all have claimed (rule H20)."""
    world = _settled("a")
    stored = world.stored[0]
    assert stored is not None
    opened = open_shard(stored)
    aside = opened.slots["orders"]._replace(
        phase="quarantined", due_ms=0, quarantine=Quarantine(0, 0, 1, "ValueError", overflow=True)
    )
    clock = (opened.clock_ms, opened.append_ms)
    world.stored[0] = close_shard(opened, clock, opened.header, {"orders": aside})
    world.join("b")
    world.pass_seconds(30)
    assert world.decisions[-1]["state"]["phase"] == "recovering"
    assert world.owners("orders") == dict.fromkeys(range(4), "a")
    world.start_driver()
    world.pass_seconds(20)
    assert sorted(world.owners("orders").values()) == ["a", "a", "b", "b"]


def test_leaving_with_everything_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that kept all its records goes on at once; nobody has lapsed (rule H20)."""
    world = _settled()
    owners = world.owners("orders")
    broken = [True]
    _failing(monkeypatch, broken)
    world.join("c")
    world.pass_seconds(30)
    assert world.counts["events/member/lapsed"] == 0
    broken[0] = False
    world.pass_seconds(22)
    assert world.counts["events/member/lapsed"] == 0
    assert "recovery_started" not in _triggers(world, 1)
    assert set(world.owners("orders").values()) == {"a", "b", "c"}
    assert len(owners) == 4


def test_the_clock_begins_behind_what_was_not_read() -> None:
    """The first record that is read adds nothing, also when a batch before it had none."""
    topics = Topics()
    for _ in range(3):
        topics.tick(1)
        topics.now_ms += 1_000
    context = replace(context_of(0, 2), begin={HEARTBEATS: {0: 3}})
    stored = run_shard(None, [], context).stored
    topics.now_ms += 60_000
    topics.tick(2)
    stored = run_shard(stored, topics.rows_of(0), context).stored
    assert stored.clock_ms == 0
