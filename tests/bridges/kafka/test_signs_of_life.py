"""What a bridge says of itself and of topics that are not there, on a real broker."""

from functools import partial

import pytest

from fairlead.bridges.kafka.bridge import BridgeTimes, KafkaBridge
from fairlead.core.outputs import Request
from fairlead.core.records import TopicAbsent
from tests.kit.bridge import running
from tests.kit.bridge_ledger import Ledger

pytestmark = pytest.mark.broker


def _bridge(ledger: Ledger, bootstrap: str, **settings: int) -> KafkaBridge:
    return KafkaBridge(
        control_bootstrap=bootstrap,
        prefix=ledger.names.prefix,
        cluster_name="main",
        times=BridgeTimes(poll_ms=200, **settings),
    )


def _ask(ledger: Ledger, group: str, topic: str) -> None:
    ledger.ask(Request(group, "route", topic, None, None))


def test_a_bridge_gives_signs_of_life_until_its_end(ledger: Ledger, bootstrap: str) -> None:
    """It is there, again and again, and its last word is that it ends; no sign is an answer."""
    bridge = _bridge(ledger, bootstrap, sign_ms=300)
    with running(bridge):
        ledger.await_that(lambda: len(ledger.signs) >= 3)
        assert bridge.figures.last_answer == 0
    ledger.await_that(lambda: ledger.signs[-1].state == "stopped")
    assert {sign.state for sign in ledger.signs[:-1]} == {"running"}
    assert {(sign.cluster, sign.every_ms) for sign in ledger.signs} == {("main", 300)}
    with running(_bridge(ledger, bootstrap)):
        ledger.await_that(lambda: ledger.signs[-1].state == "running")
    assert len({sign.bridge for sign in ledger.signs}) == 2
    assert ledger.refused == []


def test_an_absent_topic_is_reported_until_it_is_made(
    ledger: Ledger, bootstrap: str, topic: str
) -> None:
    """The bridge reports an absent topic at each request until it exists, and no retry topic."""
    with running(_bridge(ledger, bootstrap)):
        _ask(ledger, "orders", f"%RETRY%{topic}")
        for times in (1, 2):
            _ask(ledger, topic, f"%RETRY%{topic}")
            _ask(ledger, topic, topic)
            ledger.await_that(partial(_is_told, ledger, topic, times))
        ledger.make_topic(topic, 2)
        ledger.await_route(topic, 2)
        _ask(ledger, topic, topic)
        ledger.await_route(topic, 2, after=len(ledger.routes))
    ledger.read_all()
    told = TopicAbsent(topic, topic, "main")
    assert [each for each in ledger.absent if each.group == topic] == [told, told]


def _is_told(ledger: Ledger, group: str, times: int) -> bool:
    return sum(each.group == group for each in ledger.absent) == times
