"""The shard machine over bytes: what it reads, when it steps whom, what stops it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
import pytest

from fairlead.codec.errors import CodecError
from fairlead.codec.shard import open_shard
from fairlead.codec.stored import StoredShard
from fairlead.core.allocation import Allocation, AllocationRequest
from fairlead.engine.context import ShardResult
from fairlead.engine.errors import AppendTimeMissingError, HigherGenerationError
from fairlead.engine.shard import run_shard
from strategies.registry import STRATEGIES
from tests.kit.memory_topics import NAMES, START_MS, Topics, shard_of
from tests.kit.world import World, context_of, with_rules

HEARTBEATS = NAMES.name("heartbeats")


def _settled(*groups: str) -> World:
    """Return a world in which one client of each group owns four queues and all is quiet."""
    world = World()
    world.topics.tick(1)
    for group in groups or ("orders",):
        world.join(f"{group}-client", group)
    world.pass_seconds(4)
    return world


def _first(topics: Topics, shard: int = 0, generation: int = 1) -> ShardResult:
    return run_shard(None, topics.rows_of(shard), context_of(shard, generation))


def _again(stored: StoredShard, topics: Topics, shard: int = 0) -> ShardResult:
    return run_shard(stored, topics.rows_of(shard), context_of(shard))


def test_a_client_gets_its_queues() -> None:
    """From a first heartbeat to owned queues it takes a route, bounds and nothing else."""
    world = _settled()
    assert world.owners("orders") == dict.fromkeys(range(4), "orders-client")
    assert [decision["triggers"] for decision in world.decisions] == [
        ["client_joined"],
        ["route_changed", "offsets_known"],
    ]
    assert [decision["cut"]["step"] for decision in world.decisions] == [1, 2]
    assert world.kinds("rejects") == []


def test_untouched_groups_are_not_decoded() -> None:
    """A group without a record that is not due passes as the same bytes, even if damaged ones."""
    world = _settled("orders", "a", "payments")
    stored = world.stored[0]
    assert stored is not None
    spoilt = stored.body.replace(b'"group":"a"', b'"group":"b"')
    assert spoilt != stored.body
    world.stored[0] = stored._replace(body=spoilt)
    world.topics.now_ms += 100
    for client in world.clients:
        if client.group != "a":
            client.beat()
    result = world.run(0)
    assert result.counts["groups/stepped"] == 2
    assert result.stored.body is spoilt
    before, after = open_shard(stored).slots["a"], open_shard(result.stored).slots["a"]
    assert (after.liveness, after.due_ms) == (before.liveness, before.due_ms)


def test_a_damaged_group_stops_the_shard() -> None:
    """Where a group's own bytes are damaged the shard stops: its owners would be guessed."""
    world = _settled("orders", "a")
    stored = world.stored[0]
    assert stored is not None
    world.stored[0] = stored._replace(body=stored.body.replace(b'"group":"a"', b'"group":"b"'))
    world.clients[1].beat()
    with pytest.raises(CodecError, match="the state of group a: the checksum differs"):
        world.run(0)


def test_only_liveness_moves_with_heartbeats() -> None:
    """While clients only heartbeat, the body column stays the same object."""
    world = _settled()
    stored = world.stored[0]
    assert stored is not None
    for _ in range(3):
        world.topics.now_ms += 1_000
        world.topics.tick(1)
        world.clients[0].beat()
        world.run(0)
    later = world.stored[0]
    assert later is not None
    assert later.body is stored.body
    assert later.liveness != stored.liveness


def test_due_without_a_record() -> None:
    """A member lapses by the ticks alone, when nobody of its group says anything."""
    world = _settled()
    world.clients[0].gone = True
    world.pass_seconds(14)
    assert "client_expired" not in world.counts
    assert world.counts["events/member/lapsed"] == 1
    assert world.decisions[-1]["triggers"] == ["client_expired"]
    assert world.decisions[-1]["state"]["phase"] == "empty"


def test_a_backlog_lapses_nobody() -> None:
    """Each row of a backlog has its own date, so members that heartbeat stay alive (rule H9)."""
    world = _settled()
    for second in range(200):
        world.topics.now_ms += 1_000
        world.topics.tick(1)
        if second % 3 == 0:
            world.clients[0].beat()
    result = world.run(0)
    assert result.counts["events/heartbeat/applied"] == 67
    assert result.stored.clock_ms > 200_000
    assert world.counts["events/member/lapsed"] == 0


def test_rows_are_read_once() -> None:
    """Rows below the stored positions, and twins in one batch, change nothing and are counted."""
    world = _settled()
    rows = world.topics.rows_of(0)
    stored = world.stored[0]
    assert stored is not None
    again = run_shard(stored, rows, context_of(0))
    assert again.stored == stored
    assert again.records == ()
    assert again.counts["rows/replayed"] == len(rows)
    once = _first(world.topics)
    twice = run_shard(None, [*rows, *rows], context_of(0))
    assert (twice.stored, twice.records) == (once.stored, once.records)


def test_a_refused_row_has_its_reason_and_the_rest_goes_on() -> None:
    """A record that is not what the protocol says is refused with its reason; the rest goes on."""
    topics = Topics()
    topics.tick(1)
    topics.append("heartbeats", 0, b"orders", b"{not json")
    topics.append("heartbeats", 0, b"orders", b'{"v":9,"kind":"heartbeat"}')
    topics.append("releases", 0, None, None)
    world = World(topics=topics)
    world.join("c")
    result = world.run(0)
    rejects = world.kinds("rejects")
    assert [(reject["reason"], reject["at"][0]) for reject in rejects] == [
        ("null_value", NAMES.name("releases")),
        ("not_json", HEARTBEATS),
        ("unsupported_version", HEARTBEATS),
    ]
    assert {reject["version"] for reject in rejects} == {"0.0.test"}
    assert result.counts["rejects/not_json"] == 1
    assert result.counts["written/rejects"] == 3
    assert result.counts["events/heartbeat/applied"] == 1


def test_a_record_in_the_wrong_partition_is_refused() -> None:
    """A record in another partition than its group's is refused, and its sender told."""
    world = World()
    client = world.join("c")
    log = world.topics.rows[HEARTBEATS, 0]
    beat = log.pop()
    world.topics.append("heartbeats", 1, beat.key, beat.value)
    result = world.run(1)
    assert [reject["reason"] for reject in world.kinds("rejects")] == ["wrong_partition"]
    (notice,) = world.kinds("assignments")
    assert (notice["code"], notice["client_id"]) == ("wrong_partition", "c")
    assert notice["incarnation"] == client.incarnation
    assert open_shard(result.stored).slots == {}


def test_one_shard_speaks_for_all() -> None:
    """A refused route reaches every shard and is written to the rejects once."""
    topics = Topics()
    topics.append("routes", 0, b"orders", b"nonsense")
    assert [len(_first(topics, shard).records) for shard in (0, 1)] == [1, 0]


def test_a_refused_heartbeat_counts_for_the_lease() -> None:
    """A member whose heartbeats became unreadable heartbeats all the same, and lives (rule H10)."""
    world = _settled()
    client = world.clients[0]
    client.gone = True
    for second in range(20):
        if second % 3 == 0:
            client.beat(capacity=-1)
        world.pass_seconds(1)
    assert world.counts["rejects/bad_value"] == 7
    assert world.counts["events/member/lapsed"] == 0


@pytest.mark.parametrize("suffix", ["heartbeats", "releases", "control"])
def test_append_time_is_demanded(suffix: str) -> None:
    """A topic that carries the clock must be stamped by the broker, else the shard stops."""
    topics = Topics()
    topics.append(suffix, 0, b"orders", b"{}", log_time=False)
    with pytest.raises(AppendTimeMissingError) as stopped:
        _first(topics)
    assert stopped.value.topic == NAMES.name(suffix)
    assert "message.timestamp.type=LogAppendTime" in str(stopped.value)


def test_append_time_of_bridges_does_not_matter() -> None:
    """Routes and offsets carry no clock and may be stamped by their writers."""
    topics = Topics()
    topics.append("routes", 0, b"orders", None, log_time=False)
    assert _first(topics).counts["records/routes/route/applied"] == 1


def test_a_higher_generation_stops_the_shard() -> None:
    """A tick of a newer driver, or a state that one has run, ends this driver."""
    topics = Topics()
    topics.tick(3)
    with pytest.raises(HigherGenerationError) as stopped:
        _first(topics, generation=1)
    assert (stopped.value.generation, stopped.value.own) == (3, 1)
    first_run = replace(context_of(0, 3), first_run=True)
    stored = run_shard(None, topics.rows_of(0), first_run).stored
    with pytest.raises(HigherGenerationError):
        run_shard(stored, [], context_of(0, 2))


def test_every_group_enters_the_barrier() -> None:
    """A new driver's first batch steps every group, whether the batch speaks of it or not."""
    world = _settled("orders", "a", "payments")
    world.generation = 2
    world.topics.now_ms += 100
    world.topics.tick(2)
    result = world.run(0)
    assert result.counts["groups_now/barrier"] == 3
    decisions = [record for record in world.kinds("decisions") if record["cut"]["generation"] == 2]
    assert {decision["group"] for decision in decisions} == {"orders", "a", "payments"}
    assert {tuple(decision["triggers"]) for decision in decisions} == {("generation_started",)}
    assert {decision["cut"]["step"] for decision in decisions} == {
        max(entry["cut"]["step"] for entry in world.decisions if shard_of(entry["group"]) == 0) + 1
    }


def _defaults(world: World) -> Mapping[str, Any]:
    stored = world.stored[0]
    assert stored is not None
    return open_shard(stored).header.defaults


def test_rules_of_all_groups() -> None:
    """A rule for all groups is kept once for the shard, and rules of a group go before it."""
    world = _settled("orders", "a")
    world.topics.rule("a", "timing", {"lease_ms": 60_000})
    world.topics.rule("*", "timing", {"lease_ms": 2_000, "margin_ms": 1_000})
    world.pass_seconds(1)
    assert _defaults(world) == {"timing": {"lease_ms": 2_000, "margin_ms": 1_000}}
    for client in world.clients:
        client.gone = True
    world.pass_seconds(13)
    lapsed = [entry for entry in world.decisions if entry["triggers"] == ["client_expired"]]
    assert [entry["group"] for entry in lapsed] == ["orders"]
    world.topics.rule("*", "timing", None)
    world.pass_seconds(1)
    assert _defaults(world) == {}


def test_reason_of_a_rule_of_all_groups() -> None:
    """A rule for all groups is in the audit record of each group that it changes, with why."""
    world = _settled("orders", "a")
    world.topics.rule("a", "slots", "subscribers")
    world.pass_seconds(1)
    before = len(world.decisions)
    world.topics.rule("*", "slots", "group", by="alice", because="as the old clients do")
    at = [NAMES.name("control"), 0, len(world.topics.rows[NAMES.name("control"), 0]) - 1]
    world.pass_seconds(1)
    told = {each["group"]: each["cause"] for each in world.decisions[before:]}
    cause = {"kind": "rules_changed", "rule": "slots", "group": "*", "by": "alice"}
    assert told == {"orders": [{**cause, "because": "as the old clients do", "at": at}]}


def test_a_bad_rule_of_all_groups() -> None:
    """A rule for all groups that cannot be put in force is refused, and the old one stays."""
    world = _settled()
    world.topics.rule("*", "strategy", {"name": "NO_SUCH", "options": {}})
    result = world.run(0)
    assert [reject["reason"] for reject in world.kinds("rejects")] == ["unknown_strategy"]
    assert result.counts["events/rule/rejected"] == 1
    assert open_shard(result.stored).header.defaults == {}


def test_options_at_which_a_strategy_raises() -> None:
    """A rule for all groups at whose options a strategy raises anything does not stop the shard."""

    class Careless:
        name = "CARELESS"

        def check_options(self, options: Mapping[str, Any]) -> None:
            int(options["limit"])

        def allocate(self, request: AllocationRequest) -> Allocation:
            return STRATEGIES["AVG"].allocate(request)

    world = _settled()
    world.strategies = {**STRATEGIES, "CARELESS": Careless()}
    world.topics.rule("*", "strategy", {"name": "CARELESS"})
    result = world.run(0)
    assert [reject["reason"] for reject in world.kinds("rejects")] == ["bad_rule"]
    assert open_shard(result.stored).header.defaults == {}


def test_unknown_groups_may_be_refused() -> None:
    """Without auto_create a heartbeat does not create its group, and is refused."""
    world = World()
    world.join("c")
    closed = with_rules(context_of(0), auto_create=False)
    result = run_shard(None, world.topics.rows_of(0), closed)
    letters = [orjson.loads(record.value or b"") for record in result.records]
    assert [letter["reason"] for letter in letters] == ["unknown_group"]
    assert open_shard(result.stored).slots == {}


def test_routes_reach_the_groups_that_read_them() -> None:
    """A route steps the groups of the shard that read its topic, and no other."""
    world = _settled("orders")
    world.join("other", "a", subscribed=("payments",))
    world.pass_seconds(4)
    world.topics.route("payments", 6)
    world.topics.route("nobody-reads-this", 6)
    result = world.run(0)
    assert result.counts["events/route/applied"] == 1
    assert result.counts["groups/stepped"] == 1


def test_offsets_of_other_shards() -> None:
    """Offsets of a group that lives in another shard are read past without a trace."""
    world = _settled()
    result = world.run(1)
    assert open_shard(result.stored).slots == {}
    assert not any(name.startswith("events/offsets") for name in result.counts)
    assert open_shard(result.stored).header.positions[NAMES.name("offsets")] == {0: 1}


def test_rows_of_other_topics_are_left_alone() -> None:
    """Rows of topics that a shard does not read are left alone."""
    topics = Topics()
    topics.append("generations", 0, b"driver", b"{}")
    topics.append("decisions", 0, b"orders", b"{}")
    rows = [row for log in topics.rows.values() for row in log]
    assert run_shard(None, rows, context_of(0)).counts == {}


def test_the_newest_append_time() -> None:
    """What is written tells the newest append time read, not the batch's own hour."""
    world = World()
    world.join("c")
    world.topics.now_ms += 5
    world.topics.append("routes", 0, b"orders", None)
    result = world.run(0)
    (decision,) = (entry for entry in world.kinds("decisions"))
    assert decision["at_ms"] == START_MS
    assert decision["clock_ms"] == result.stored.clock_ms == 0
