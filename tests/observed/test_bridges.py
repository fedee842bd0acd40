"""What is wrong with the bridges: silent, dead, blind, or stopped by somebody."""

import orjson
import pytest

from fairlead.observed.bridges import Bridges, read_bridges
from tests.kit.memory_source import MemorySource
from tests.kit.memory_topics import START_MS, Topics, bounds, route

RUN = "3c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"
OTHER_RUN = "4c6d7a52-51c9-4c56-8a4a-3b1f3e0c9d11"
HOUR_MS = 3_600_000


def _sign(topics: Topics, state: str = "running", run: str = RUN, cluster: str = "main") -> None:
    record = {"kind": "bridge", "cluster": cluster, "bridge": run, "state": state}
    topics.append("offsets", 0, orjson.dumps([cluster]), record | {"every_ms": 10_000})


def _ask(topics: Topics, topic: str = "orders") -> None:
    about = {"group": "orders", "what": "route", "topic": topic, "queues": None}
    record = {"kind": "request", **about, "consume_timestamp_ms": None}
    topics.append("requests", 0, b"orders", record)


def _answer(topics: Topics, *, absent: bool = False) -> None:
    said = {"kind": "absent", "group": "orders", "topic": "orders", "cluster": "main"}
    record = said if absent else bounds("orders", "orders", 1)
    topics.append("offsets", 0, b'["orders","orders"]', record)


def _look(topics: Topics, after_ms: int = 0) -> Bridges:
    topics.now_ms += after_ms
    return read_bridges(MemorySource(topics))


@pytest.fixture
def topics() -> Topics:
    """Topics with one route of the cluster main."""
    topics = Topics()
    topics.route("orders", 1)
    return topics


def test_dead_while_nobody_asks(topics: Topics) -> None:
    """A bridge that gives no sign any more is dead, also when it is long ago; with the time."""
    _sign(topics)
    assert _look(topics, 30_000).findings() == []
    (finding,) = _look(topics, 1).findings()
    assert (finding.problem, finding.subject) == ("bridge_dead", "main")
    assert "gave its last sign of life at 2026-06-09 10:13:20Z" in finding.text
    # Under another name it would tell the same queues as those of another cluster.
    assert "fairlead bridge kafka --cluster-name main --supervise" in finding.remedy
    (finding,) = _look(topics, 5 * HOUR_MS).findings()
    assert finding.problem == "bridge_dead"


def test_a_dead_bridge_of_rocketmq() -> None:
    """A dead bridge is found by its cluster's name also where brokers have names of their own."""
    topics = Topics()
    told = route("orders", 1)
    (broker,) = told["brokers"]
    told["brokers"] = [broker | {"broker_name": name} for name in ("broker-a", "broker-b")]
    topics.append("routes", 0, b"orders", told)
    _sign(topics)
    (finding,) = _look(topics, 30_001).findings()
    assert (finding.problem, finding.subject) == ("bridge_dead", "main")
    assert "fairlead bridge rocketmq --cluster-name main --supervise" in finding.remedy


def test_a_silent_bridge_of_other_topics_is_left_out(topics: Topics) -> None:
    """The view of one group has a silent bridge if that bridge owes an answer for the group."""
    _sign(topics)
    topics.now_ms += 2_000
    _ask(topics, "nowhere")
    found = _look(topics, 31_000)
    assert [each.problem for each in found.findings()] == ["bridge_silent", "bridge_dead"]
    assert found.about({"orders", "nowhere"}) == found
    assert [each.problem for each in found.about({"orders"}).findings()] == ["bridge_dead"]


def test_a_stopped_bridge_is_no_problem_until_it_is_asked(topics: Topics) -> None:
    """One that was stopped in order is as somebody wanted it, until something is asked of it."""
    _sign(topics)
    _sign(topics, "stopped")
    found = _look(topics, HOUR_MS)
    assert found.findings() == []
    assert [each.verdict for each in found.stopped] == ["stopped"]
    _ask(topics)
    (finding,) = _look(topics, 12_000).findings()
    assert finding.problem == "bridge_silent"
    assert "the bridge of cluster main was stopped at 2026-06-09 10:13:20Z" in finding.text


def test_signs_are_no_answers(topics: Topics) -> None:
    """A bridge that is there and does not answer is silent all the same."""
    topics.now_ms += HOUR_MS
    _ask(topics)
    topics.now_ms += 8_000
    _sign(topics)
    (finding,) = _look(topics, 4_000).findings()
    assert finding.problem == "bridge_silent"
    assert finding.text.startswith("no bridge has answered for 12 s: a bridge last told something")
    assert "the bridge of cluster main runs" in finding.text


@pytest.mark.parametrize("absent", [False, True])
def test_an_absent_topic_is_an_answer(topics: Topics, *, absent: bool) -> None:
    """Offsets are an answer, and so is that there is no such topic."""
    topics.now_ms += HOUR_MS
    _ask(topics)
    _answer(topics, absent=absent)
    assert _look(topics, 12_000).silence is None


def test_where_no_bridge_ever_was_the_request_says_so(topics: Topics) -> None:
    """Where nobody has ever given a sign, what is asked in vain says so."""
    topics.now_ms += HOUR_MS
    _ask(topics)
    (finding,) = _look(topics, 12_000).findings()
    assert finding.text.endswith("no bridge has ever given a sign of life")


def test_one_living_bridge_is_enough(topics: Topics) -> None:
    """One of two that is there is enough, whatever the other one said; then its death counts."""
    _sign(topics)
    _sign(topics, "stopped", OTHER_RUN)
    assert [each.verdict for each in _look(topics, 20_000).lives] == ["running"]
    _sign(topics)
    assert [each.verdict for each in _look(topics, 40_000).lives] == ["dead"]
    _sign(topics, "stopped", OTHER_RUN)
    assert [each.verdict for each in _look(topics).lives] == ["stopped"]


def test_a_bridge_that_sees_nothing_says_so(topics: Topics) -> None:
    """A bridge whose cluster tells it nothing says so."""
    _sign(topics, "look_ups_fail")
    (finding,) = _look(topics, 5_000).findings()
    assert finding.problem == "bridge_look_ups_fail"


def test_a_cluster_without_routes_misses_no_bridge(topics: Topics) -> None:
    """Nobody misses the bridge of a cluster without routes."""
    _sign(topics, cluster="gone")
    assert topics.now_ms == START_MS
    found = _look(topics, HOUR_MS)
    assert found.findings() == []
    assert [each.verdict for each in found.lives] == ["dead"]
