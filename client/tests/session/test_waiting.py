"""Why a client waits, from what it has read; and when its log says so."""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from fairlead_client.session import events
from fairlead_client.session.waiting import WaitingKind, WaitingReason
from fairlead_client.session.waiting_log import Waiting, WaitingLog

if TYPE_CHECKING:
    from tests.session.conftest import Script

REASON = WaitingReason(WaitingKind.ENGINE, "no engine")


def _waits(script: "Script") -> tuple[str, str]:
    reason = script.session.waiting
    assert reason is not None
    return reason.kind.value, reason.words


def _silent_ms(script: "Script") -> int:
    """Return for how long no engine has answered; the words tell no second number."""
    reason = script.session.waiting
    assert reason is not None
    assert reason.since_ms is not None
    assert reason.words.startswith("no engine has answered it: none runs")
    return script.now - reason.since_ms


def test_without_a_heartbeat_in_the_log_a_client_waits_for_it(
    scripts: "Callable[..., Script]",
) -> None:
    """Without an acknowledged heartbeat, and after the lease, it waits for that, whatever else."""
    script = scripts()
    assert _waits(script)[0] == "heartbeat"
    script.start()
    assert _waits(script) == ("heartbeat", "no broker has acknowledged its first heartbeat yet")
    script.acknowledge_heartbeat()
    assert _waits(script)[0] == "assignment"
    script.add(1)
    assert script.session.waiting is None
    script.wait(10_000)
    assert _waits(script)[0] == "heartbeat"
    assert "lease has ended" in _waits(script)[1]


def test_a_client_waits_for_the_engine_then_its_assignment(
    scripts: "Callable[..., Script]",
) -> None:
    """Where no generation was ever claimed no engine has run; then its assignment is awaited."""
    script = scripts()
    script.generation = 0
    script.run()
    assert _waits(script)[0] == "engine"
    assert "fairlead run" in _waits(script)[1]
    script.feed(events.GenerationRead(1))
    assert _waits(script)[0] == "assignment"
    assert "fairlead group check orders" in _waits(script)[1]


def test_a_silent_engine_is_named_after_20_seconds(script: "Script") -> None:
    """Where an engine has run, and none answers a newcomer for 20 s, it says so."""
    script.live(19_000)
    assert _waits(script)[0] == "assignment"
    script.live(6_000)
    assert _waits(script)[0] == "engine"
    assert _silent_ms(script) == 25_000
    assert "fairlead group check orders" in _waits(script)[1]
    script.assign(1)
    assert script.session.waiting is None


def test_an_engine_that_has_just_started_is_given_time(script: "Script") -> None:
    """An engine that has just started is given its time; so is a new life of the client."""
    script.live(25_000)
    script.feed(events.GenerationRead(script.generation + 1))
    script.generation += 1
    assert _waits(script)[0] == "assignment"
    script.live(25_000)
    assert _waits(script)[0] == "engine"
    script.wait(10_000)
    script.run("me-2")
    assert _waits(script)[0] == "assignment"


def test_engine_heard_it_late(scripts: "Callable[..., Script]") -> None:
    """No engine can answer whom it has not heard: what counts is from the first lease on."""
    script = scripts(lease_ms=60_000)
    script.start()
    script.wait(30_000)
    script.acknowledge_heartbeat()
    assert _waits(script)[0] == "assignment"
    script.live(25_000)
    assert _silent_ms(script) == 25_000


@pytest.mark.parametrize("code, reason", [("waiting", "paused"), ("rejected", None)])
def test_engine_has_just_answered(script: "Script", code: str, reason: str | None) -> None:
    """A notice counts as an answer of the engine, and so does the notice that ends a wait."""
    for _ in range(30):
        script.live(1_000)
        script.notice(code, reason=reason)
    assert _waits(script)[0] == (reason or code)
    script.notice("waiting")
    script.live(11_000)
    assert _waits(script)[0] == "assignment"
    script.live(10_000)
    assert _silent_ms(script) == 21_000


def test_a_member_with_nothing_to_have_waits_for_nothing(script: "Script") -> None:
    """A member that has an empty assignment waits for nothing."""
    assert _waits(script)[0] == "assignment"
    script.assign(1)
    assert script.session.waiting is None


@pytest.mark.parametrize("reason", ["paused", "drained", "designated", "room", "topic", "bridge"])
def test_the_reason_of_the_engine_stands_until_it_ends_it(script: "Script", reason: str) -> None:
    """What the engine says keeps it is what it waits for, until the engine ends it."""
    script.assign(1)
    assert script.notice("waiting", reason=reason, message=f"for {reason}") == []
    assert _waits(script) == (reason, f"for {reason}")
    script.add(3, after=(script.holder("c1", 1),))
    assert _waits(script)[0] == "release"
    script.released(script.holder("c1", 1), 4)
    assert _waits(script)[0] == reason
    assert script.notice("waiting", reason=None) == []
    assert script.session.waiting is None


def test_told_by_a_newer_engine(script: "Script") -> None:
    """The client reports a reason that it does not know in the engine's words."""
    script.notice("waiting", reason="full_moon", message="the moon is full")
    assert _waits(script) == ("assignment", "the moon is full")


def test_told_by_the_engine_before(scripts: "Callable[..., Script]") -> None:
    """Each engine says it anew: what the one before has said may be over by now."""
    script = scripts()
    script.run()
    script.assign(1)
    script.notice("waiting", reason="paused")
    script.feed(events.GenerationRead(script.generation + 1))
    assert script.session.waiting is None
    script.generation += 1
    script.notice("waiting", reason="topic", message="no payments")
    assert _waits(script) == ("topic", "no payments")


def test_told_in_another_life(script: "Script") -> None:
    """A notice to one incarnation is not what the next one waits for."""
    script.notice("waiting", reason="paused")
    script.wait(10_000)
    assert _waits(script)[0] == "heartbeat"
    script.run("me-2")
    assert _waits(script)[0] == "assignment"


@pytest.mark.parametrize("code", ["rejected", "wrong_partition", "unsupported"])
def test_a_rejected_client_without_queues_says_why(
    scripts: "Callable[..., Script]", code: str
) -> None:
    """A client that has nothing says why its heartbeats are rejected, as long as they are."""
    script = scripts(lease_ms=10_000)
    script.run()
    script.notice(code, message="bad_value at subscriptions[0].topic: no topic; correct it")
    said = "bad_value at subscriptions[0].topic: no topic; correct it"
    assert _waits(script) == ("rejected", f"the engine rejects its heartbeats: {said}")
    script.live(10_000)
    assert _waits(script)[0] == "rejected"
    script.live(100)
    assert _waits(script)[0] == "assignment"


def test_a_rejected_client_with_a_queue_waits_for_nothing(script: "Script") -> None:
    """A client that has a queue waits for nothing, whatever else of it was rejected."""
    script.add(1)
    script.notice("rejected")
    assert script.session.waiting is None


def test_a_later_engine_has_to_reject_anew(script: "Script") -> None:
    """A later engine has to say it anew, and a new incarnation was never rejected."""
    script.notice("rejected")
    script.feed(events.GenerationRead(script.generation + 1))
    assert _waits(script)[0] == "assignment"
    script.generation += 1
    script.notice("rejected")
    assert _waits(script)[0] == "rejected"
    script.wait(10_000)
    script.run("me-2")
    assert _waits(script)[0] == "assignment"


def test_a_promised_queue_names_who_has_not_released_it(script: "Script") -> None:
    """A promised queue names those who have not released it, and nobody once they have."""
    script.add(3, after=(script.holder("c1", 1), script.holder("c2", 2)))
    assert _waits(script) == ("release", "orders/main/1 waits for its release by c1, c2")
    script.released(script.holder("c2", 2), None)
    assert _waits(script) == ("release", "orders/main/1 waits for its release by c1")
    script.released(script.holder("c1", 1), 4)
    assert script.session.waiting is None
    script.feed(events.LeaveRequested())
    assert script.session.waiting is None


def test_log_of_an_engine_that_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    """The log counts a wait from its known start, not from when it became the reason."""
    log = WaitingLog("orders", "c1")
    silent = WaitingReason(WaitingKind.ENGINE, "no engine has answered it", since_ms=1_000)
    with caplog.at_level(logging.WARNING):
        assert log.update(silent, 21_000, 91_000) == Waiting(silent.kind, silent.words, 71_000)
        log.update(silent, 26_000, 96_000)
    assert caplog.messages == ["c1 of orders has waited 25 s for engine: no engine has answered it"]


def test_a_wait_is_logged_after_5_seconds_then_each_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is logged once after 5 s, then each minute; another kind of reason begins anew."""
    log = WaitingLog("orders", "c1")
    with caplog.at_level(logging.WARNING):
        told = [log.update(REASON, at * 1_000, 7_000 + at * 1_000) for at in range(126)]
        assert {each and each.since_ms for each in told} == {7_000}
        assert told[0] == Waiting(WaitingKind.ENGINE, "no engine", 7_000)
        assert caplog.messages == [
            f"c1 of orders has waited {seconds} s for engine: no engine" for seconds in (5, 65, 125)
        ]
        caplog.clear()
        other = WaitingReason(WaitingKind.RELEASE, "c2")
        assert log.update(other, 126_000, 133_000) == Waiting(WaitingKind.RELEASE, "c2", 133_000)
        log.update(None, 127_000, 134_000)
        log.update(other, 128_000, 135_000)
        log.update(other, 132_000, 139_000)
        assert caplog.records == []
        log.update(other, 133_000, 140_000)
    assert len(caplog.records) == 1
