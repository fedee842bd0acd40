"""RocketMQ's own consumers under the real engine: they join, leave, die and freeze."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pytest

from fairlead.jars.manifest import JarSetName
from tests.kit.awaiting import await_seen
from tests.rocketmq_java.balanced_group import LEASE_MS, BalancedGroup, Engine, engine
from tests.rocketmq_java.consumer import END_SECONDS
from tools.rocketmq_java import built_rocketmq_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fairlead.broker import EmbeddedKafka
    from fairlead.embedded_rocketmq import EmbeddedRocketMQ

pytestmark = [pytest.mark.java, pytest.mark.slow]

GAP_MS_MAX = 2_000


@pytest.fixture(scope="module")
def place(
    spark_of_the_run: "SparkSession",
    kafka: "EmbeddedKafka",
    rocketmq: "EmbeddedRocketMQ",
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Engine]:
    """One engine for all tests here."""
    folder = tmp_path_factory.mktemp("job")
    with engine(spark_of_the_run, kafka.bootstrap, rocketmq, folder) as running:
        yield running


def _await_all(group: BalancedGroup) -> None:
    """Wait until every message that was written has been processed."""
    written = group.end_writing()
    await_seen(
        lambda: len(set(group.processed())),
        lambda done: done == written,
        what=f"{written} messages",
    )


def _owned_twice(judged: Any) -> list[Any]:
    """Return what the judge has against the journals."""
    findings: list[Any] = next(
        each["findings"] for each in judged["invariants"] if each["number"] == "S1"
    )
    return findings


@pytest.mark.parametrize("ordered", [False, True], ids=["concurrent", "ordered"])
@pytest.mark.parametrize("jars", ["rocketmq", "rocketmq-5"])
def test_members_come_and_go(
    place: Engine, tmp_path: Path, jars: JarSetName, *, ordered: bool
) -> None:
    """Joins, a leave and a shutdown alone: one owner at any time, and nothing begins twice."""
    java = built_rocketmq_java(jars)
    with closing(BalancedGroup(place, java, tmp_path, ordered=ordered)) as group:
        first = group.member("a")
        group.await_owners(a=4)
        group.begin_to_write()
        second = group.member("b")
        group.await_owners(a=2, b=2)
        third = group.member("c")
        await_seen(lambda: set(group.owners()), lambda seen: seen == set("abc"), what="three")
        third.leave()
        group.await_owners(a=2, b=2)
        second.child.send(do="shutdown")
        group.await_owners(a=4)
        _await_all(group)
        assert first.counters()["taken_away"] == 0
        first.leave()
        judged = group.judgement()
    assert _owned_twice(judged) == []
    assert judged["counts"]["duplicates_clean"] == 0
    assert judged["counts"]["holes"] == 0
    assert len(group.processed()) == group.written


@pytest.mark.parametrize(
    "jars, ordered", [("rocketmq", True), ("rocketmq-5", False)], ids=["ordered", "concurrent"]
)
def test_who_closes_works_on(
    place: Engine, tmp_path: Path, jars: JarSetName, *, ordered: bool
) -> None:
    """Its listeners go on until the engine has named who goes on: no queue waits for that."""
    java = built_rocketmq_java(jars)
    with closing(BalancedGroup(place, java, tmp_path, ordered=ordered)) as group:
        first, second = group.member("a"), group.member("b")
        group.await_owners(a=2, b=2)
        group.begin_to_write()
        await_seen(lambda: len(group.processed()) > 50, what="work")
        second.leave()
        begun_ns = second.await_event("leaving")["t"]
        group.await_owners(a=4)
        _await_all(group)
        first.leave()
        journals, judged = group.calls(), group.judgement()
    calls = [call for journal in journals for call in journal.calls]
    assert sum(call.owner == "b" and call.began > begun_ns for call in calls) > 2
    assert [journal.begun_again() for journal in journals] == [[], []]
    assert [journal.overlaps() for journal in journals] == [[], []]
    gaps = [gap for journal in journals for gap in journal.gaps_ms()]
    assert len(gaps) >= 2
    assert median(gaps) < GAP_MS_MAX
    assert _owned_twice(judged) == []
    assert judged["counts"]["holes"] == 0


@pytest.mark.parametrize("jars", ["rocketmq", "rocketmq-5"])
def test_a_process_that_ends_leaves_in_order(
    place: Engine, tmp_path: Path, jars: JarSetName
) -> None:
    """A process whose hook calls RocketMQ's shutdown alone ends once its queues are given up."""
    java = built_rocketmq_java(jars)
    with closing(BalancedGroup(place, java, tmp_path)) as group:
        first, second = group.member("a"), group.member("b")
        group.await_owners(a=2, b=2)
        group.begin_to_write()
        await_seen(lambda: len(group.processed()) > 50, what="work")
        second.child.send(do="exit")
        assert second.child.wait(END_SECONDS) == 0, second.child.log_tail()
        ended_ns = time.monotonic_ns()
        group.await_owners(a=4)
        assert time.monotonic_ns() - ended_ns < LEASE_MS * 1_000_000
        _await_all(group)
        first.leave()
        judged = group.judgement()
    assert _owned_twice(judged) == []
    assert judged["counts"]["duplicates_clean"] == 0
    assert judged["counts"]["holes"] == 0


def test_a_killed_and_a_frozen_member_are_replaced(place: Engine, tmp_path: Path) -> None:
    """Their queues go to others, what they had in hand may come again, and nobody overlaps."""
    java = built_rocketmq_java("rocketmq-5")
    with closing(BalancedGroup(place, java, tmp_path)) as group:
        killed, frozen = group.member("a"), group.member("b")
        group.await_owners(a=2, b=2)
        group.begin_to_write()
        await_seen(lambda: len(group.processed()) > 50, what="work")
        group.note_kill(killed, killed.child.kill())
        await_seen(lambda: group.owners().get("b") == 4, what="takeover")
        last = group.member("c")
        await_seen(lambda: group.owners().get("c") == 2, what="share of c")
        os.kill(frozen.child.pid, signal.SIGSTOP)
        begin_ns = time.monotonic_ns()
        await_seen(lambda: group.owners().get("c") == 4, what="takeover of the frozen one")
        end_ns = time.monotonic_ns()
        assert end_ns - begin_ns > LEASE_MS * 500_000
        os.kill(frozen.child.pid, signal.SIGCONT)
        group.note_freeze(frozen, begin_ns, end_ns)
        await_seen(lambda: group.owners().get("b") == 2, what="share of the thawed one")
        _await_all(group)
        last.leave()
        frozen.leave()
        judged = group.judgement()
    assert _owned_twice(judged) == []
    assert judged["counts"]["holes"] == 0
