"""What our own selection learns of brokers, and when one is tried again."""

from fairlead_client.produce.broker_health import BrokerHealth

A = frozenset("A")
NOBODY: frozenset[str] = frozenset()


def test_slow_broker_is_avoided_for_its_time() -> None:
    """A slow answer keeps a broker out for the table's time, whatever is fast meanwhile."""
    health = BrokerHealth()
    health.succeeded("A", 549, now_ms=1_000)
    assert health.avoided(1_000) == NOBODY
    health.succeeded("A", 550, now_ms=1_000)
    health.succeeded("A", 5, now_ms=1_500)
    assert health.avoided(2_999) == A
    assert health.avoided(3_000) == NOBODY
    assert health.states["A"].latency_ms == 5


def test_one_message_at_a_time_after_it() -> None:
    """After its time one message at a time goes there, and all others when it was well for 1 s."""
    health = BrokerHealth(trial_ms=700)
    health.succeeded("A", 550, now_ms=0)
    for now_ms in (2_000, 2_500, 2_999):
        assert health.avoided(now_ms) == NOBODY
        health.chosen("A", now_ms=now_ms)
        assert health.avoided(now_ms) == A
        health.succeeded("A", 5, now_ms=now_ms)
    health.chosen("A", now_ms=2_999)
    health.succeeded("A", 5, now_ms=3_000)
    health.chosen("A", now_ms=3_001)
    assert health.avoided(3_001) == NOBODY
    assert not health.states["A"].suspect


def test_a_slow_answer_on_probation_begins_a_new_time() -> None:
    """One slow answer on probation begins a new time, and then a new probation."""
    health = BrokerHealth(trial_ms=700)
    health.succeeded("A", 550, now_ms=0)
    health.succeeded("A", 5, now_ms=2_000)
    health.succeeded("A", 600, now_ms=2_600)
    assert health.avoided(4_599) == A
    health.succeeded("A", 5, now_ms=4_600)
    health.chosen("A", now_ms=4_601)
    assert health.avoided(4_601) == A


def test_failed_broker_is_tried_by_one_message() -> None:
    """A broker that was silent is unreachable until a message was acknowledged."""
    health = BrokerHealth(trial_ms=700)
    health.failed("A", 3, reachable=False, now_ms=0)
    assert (health.avoided(9_999), health.unreachable) == (A, A)
    assert health.avoided(10_000) == NOBODY
    health.chosen("A", now_ms=10_000)
    assert health.avoided(10_001) == A
    health.succeeded("A", 4, now_ms=10_004)
    assert (health.avoided(10_004), health.unreachable) == (NOBODY, NOBODY)


def test_a_failed_trial_begins_a_new_time() -> None:
    """A trial that fails begins a new time; one that is never answered lets another one try."""
    health = BrokerHealth(trial_ms=700)
    health.failed("A", 3, reachable=False, now_ms=0)
    health.chosen("A", now_ms=10_000)
    assert health.avoided(10_699) == A
    assert health.avoided(10_700) == NOBODY
    health.chosen("A", now_ms=10_700)
    health.failed("A", 3, reachable=False, now_ms=10_800)
    assert health.avoided(20_799) == A
    assert health.avoided(20_800) == NOBODY


def test_refused_by_a_broker_that_answers() -> None:
    """A broker that answered with an error is avoided, yet reachable."""
    health = BrokerHealth()
    health.failed("A", 3, reachable=True, now_ms=0)
    assert (health.avoided(9_999), health.unreachable) == (A, NOBODY)


def test_choosing_an_avoided_broker_is_no_trial() -> None:
    """Who takes an avoided broker because there is no other does not shut it for the next."""
    health = BrokerHealth()
    health.failed("A", 3, reachable=False, now_ms=0)
    health.chosen("A", now_ms=5_000)
    health.chosen("B", now_ms=5_000)
    assert health.avoided(10_000) == NOBODY


def test_brokers_that_are_gone_are_forgotten() -> None:
    """What no route names is not kept."""
    health = BrokerHealth()
    health.failed("A", 3, reachable=False, now_ms=0)
    health.failed("B", 3, reachable=False, now_ms=0)
    health.forget_except(frozenset("B"))
    assert health.avoided(1) == frozenset("B")
    assert set(health.states) == {"B"}
