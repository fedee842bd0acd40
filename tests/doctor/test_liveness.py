"""What the doctor reads from the log: the engine's pulse, the clocks, the bridge's answers."""

import time
from typing import Any

import pytest

from fairlead.doctor import Answer, CheckContext, Status, liveness, permissions
from fairlead.doctor.context import SeenTick, TickEvidence
from fairlead.observed.bridge_liveness import BridgeLiveness, BridgeVerdict
from fairlead.observed.bridge_silence import BridgeSilence
from fairlead.observed.bridges import Bridges
from fairlead.settings import load_settings
from fairlead.wire.topics import ALL_TOPICS, TopicNames

ALL_OPERATIONS = ["READ", "WRITE", "DESCRIBE", "DESCRIBE_CONFIGS"]


class FakeCluster:
    """A cluster that has only what one check reads."""

    names = TopicNames()

    def __init__(self, **told: Any) -> None:
        empty: dict[str, Any] = {"described": {}, "routes": {}}
        self.__dict__.update({"shards": 2, "claimed": 3, **empty, **told})

    def partitions(self, _suffix: str) -> int:
        """The shards that the test gives."""
        shards: int = self.__dict__["shards"]
        return shards

    def end_offset(self, _suffix: str) -> int:
        """The generations that were claimed."""
        claimed: int = self.__dict__["claimed"]
        return claimed


def _context(**told: Any) -> CheckContext:
    context = CheckContext(load_settings())
    context.cluster = FakeCluster(**told)  # type: ignore[assignment]
    return context


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _evidence(
    ages_ms: dict[int, int], generation: int = 3, arrivals: tuple[int, ...] = ()
) -> TickEvidence:
    """Ticks of these ages, and records whose arrival was so long after their append time."""
    now = _now_ms()
    newest = {shard: SeenTick(now - age, generation) for shard, age in ages_ms.items()}
    return TickEvidence(newest, [(now - late, now) for late in arrivals])


@pytest.mark.parametrize(
    "told, status, words",
    [
        ({"shards": 0}, Status.UNKNOWN, "missing"),
        ({"claimed": 0, "ticks": _evidence({})}, Status.WARN, "no engine has ever run"),
        ({"ticks": _evidence({})}, Status.FAIL, "claimed generation 3"),
        ({"ticks": _evidence({0: 500, 1: 700})}, Status.OK, "generation 3, in every shard"),
        ({"ticks": _evidence({0: 60_000, 1: 61_000})}, Status.FAIL, "60.0 s ago"),
        ({"ticks": _evidence({0: 500, 1: 700}, generation=2)}, Status.WARN, "a newer engine"),
        ({"ticks": _evidence({0: 500})}, Status.WARN, "1 of 2 shards"),
    ],
)
def test_the_newest_tick_says_whether_an_engine_runs(
    told: dict[str, Any], status: Status, words: str
) -> None:
    """The newest tick says whether an engine runs, which, and whether every shard has its pulse."""
    (answer,) = liveness.engine(_context(**_fresh(told)))
    assert answer.status is status
    assert words in answer.says
    assert status is Status.OK or answer.remedy


def _fresh(told: dict[str, Any]) -> dict[str, Any]:
    """Return the same with ticks as old now as they were when this module was read."""
    evidence = told.get("ticks")
    if evidence is None:
        return told
    shift = _now_ms() - READ_MS
    newest = {
        shard: SeenTick(tick.appended_ms + shift, tick.generation)
        for shard, tick in evidence.newest.items()
    }
    return {**told, "ticks": TickEvidence(newest, evidence.arrivals)}


READ_MS = _now_ms()


@pytest.mark.parametrize(
    "late, status, words",
    [
        ((40, 5, 900), Status.OK, "0.01 s ahead"),
        ((2_500, 2_600), Status.WARN, "2.50 s ahead"),
        ((-2_500, 10), Status.WARN, "2.50 s behind"),
        ((90_000,), Status.FAIL, "90.00 s ahead"),
    ],
)
def test_the_quickest_arrival_tells_the_skew_of_clocks(
    late: tuple[int, ...], status: Status, words: str
) -> None:
    """The quickest arrival tells how far apart the clocks are."""
    (answer,) = liveness.clock(_context(ticks=_evidence({0: 10, 1: 10}, arrivals=late)))
    assert answer.status is status
    assert words in answer.says


def test_without_an_arrival_only_a_future_date_proves_skew() -> None:
    """Without an arrival only a date in the future proves anything; nothing is written to know."""
    (answer,) = liveness.clock(_context(ticks=_evidence({0: 5_000})))
    assert answer.status is Status.UNKNOWN
    (answer,) = liveness.clock(_context(ticks=_evidence({0: -30_000})))
    assert answer.status is Status.WARN
    assert "behind the brokers" in answer.says


def test_brokers_with_different_clocks_are_a_failure() -> None:
    """Brokers whose clocks differ by more than the margin are a failure of their own."""
    told = _evidence({0: 100, 1: 8_000}, arrivals=(5,))
    apart, _ = liveness.clock(_context(ticks=told))
    assert apart.status is Status.FAIL
    assert "7.9 s apart" in apart.says


NOW_MS = 1_781_000_000_000


def _life(verdict: BridgeVerdict, cluster: str = "main") -> BridgeLiveness:
    return BridgeLiveness(cluster, verdict, NOW_MS - 40_000, NOW_MS)


@pytest.mark.parametrize(
    "lives, silent, status, words",
    [
        ([], False, Status.UNKNOWN, "no bridge has ever given a sign"),
        ([], True, Status.FAIL, "no bridge has answered for 30 s"),
        (
            ["running"],
            False,
            Status.OK,
            "runs; its last sign of life was at 2026-06-09 10:12:40Z",
        ),
        (["running"], True, Status.FAIL, "no bridge has answered for 30 s"),
        (["stopped"], False, Status.WARN, "was stopped at"),
        (["dead"], False, Status.FAIL, "gave its last sign of life at"),
        (["look_ups_fail"], False, Status.FAIL, "cannot read the topics"),
    ],
)
def test_a_problem_of_a_bridge_is_a_failure(
    lives: list[BridgeVerdict], *, silent: bool, status: Status, words: str
) -> None:
    """What is wrong with the bridges, as `group check --all` finds it, is a failure here."""
    silence = BridgeSilence(NOW_MS - 30_000, None, ("orders",), NOW_MS) if silent else None
    found = Bridges(tuple(map(_life, lives)), silence, frozenset({"main"}))
    answers = list(liveness.bridge(_context(bridges=found)))
    assert answers[0].status is status
    assert words in answers[0].says
    assert [answer.says for answer in answers if answer.status is Status.FAIL] == [
        each.text for each in found.findings()
    ]


def _topics(**operations: list[str]) -> dict[str, Any]:
    """Every topic, with what is allowed: all, but for those that are named."""
    return {
        suffix: {
            "name": f"fairlead.{suffix}",
            "authorized_operations": operations.get(suffix, ALL_OPERATIONS),
        }
        for suffix in ALL_TOPICS
    }


def _permissions(described: dict[str, Any]) -> list[Answer]:
    context = _context(described=described, topic_answers=described)
    context.cluster.admin = Rights()
    return list(permissions.permissions(context))


class Rights:
    """An admin client of a user who may not make topics."""

    def describe_cluster(self) -> dict[str, Any]:
        """Nothing is allowed on the cluster but to look."""
        return {"authorized_operations": ["DESCRIBE"]}


def test_every_needed_right_is_there() -> None:
    """Every right that the engine needs is there."""
    (answer,) = _permissions(_topics())
    assert answer.status is Status.OK
    assert "11 topics" in answer.says


def test_a_missing_right_is_a_failure_named_with_its_topic() -> None:
    """A right that the engine lacks is a failure, named with its topic; others' are a warning."""
    denied, bridge, commands = _permissions(
        _topics(control=["READ", "DESCRIBE"], routes=["READ", "DESCRIBE_CONFIGS"])
    )
    assert denied.status is Status.FAIL
    assert denied.says == "the engine may not write fairlead.control"
    assert "--operation Write --topic 'fairlead.control'" in denied.remedy
    assert bridge.status is commands.status is Status.WARN
    assert "the bridge may not write fairlead.routes" in bridge.says
    assert "commands that change rules, offsets and routes" in commands.says


def test_rights_that_brokers_do_not_tell_are_unknown() -> None:
    """Brokers that tell no rights leave it unknown."""
    (answer,) = _permissions({"control": {"name": "fairlead.control"}})
    assert answer.status is Status.UNKNOWN


def test_missing_topics_that_may_not_be_made_are_named() -> None:
    """The check names missing topics that nobody may make."""
    described = _topics()
    del described["rejects"]
    found, making = _permissions(described)
    assert "unknown for fairlead.rejects" in found.says
    assert making.status is Status.WARN
