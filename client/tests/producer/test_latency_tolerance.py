"""What is known of brokers that were slow or failed, in both lines."""

from fairlead_client.rocketmq.latency_tolerance import LatencyTolerance4, LatencyTolerance5


def test_an_unknown_broker_is_available_and_reachable() -> None:
    """A broker that nothing is known of is available and reachable."""
    for tolerance in (LatencyTolerance4(), LatencyTolerance5()):
        assert tolerance.is_available("A", 0)
        assert tolerance.is_reachable("A")


def test_available_at_the_end_of_its_time() -> None:
    """A broker is avoided up to the end of its time, and not at it."""
    tolerance = LatencyTolerance5()
    tolerance.update("A", 3_000, 50, reachable=True, now_ms=1_000)
    assert not tolerance.is_available("A", 1_049)
    assert tolerance.is_available("A", 1_050)
    tolerance.update("A", 3_000, 3_000, reachable=True, now_ms=1_050)
    tolerance.remove("A")
    assert tolerance.is_available("A", 1_051)


def test_in_line_4_one_fast_success_frees_a_broker() -> None:
    """In line 4 one fast success frees a broker at once."""
    tolerance = LatencyTolerance4()
    tolerance.update("A", 30_000, 600_000, now_ms=0)
    tolerance.update("A", 5, 0, now_ms=10)
    assert tolerance.is_available("A", 10)


def test_line_5_never_shortens() -> None:
    """In line 5 a time of avoidance is prolonged, never shortened; the latency is the newest."""
    tolerance = LatencyTolerance5()
    tolerance.update("A", 10_000, 10_000, reachable=False, now_ms=0)
    tolerance.update("A", 600, 2_000, reachable=True, now_ms=10)
    tolerance.update("A", 5, 0, reachable=True, now_ms=20)
    assert not tolerance.is_available("A", 9_999)
    assert tolerance.is_reachable("A")
    assert [item.latency_ms for item in tolerance.items()] == [5]
    tolerance.update("A", 600, 2_000, reachable=True, now_ms=9_000)
    assert not tolerance.is_available("A", 10_999)


def test_brokers_rank_by_availability_latency_and_time() -> None:
    """Available brokers come first, then those with the lower latency, then those free earlier."""
    tolerance = LatencyTolerance4()
    tolerance.update("slow", 900, 0, now_ms=0)
    tolerance.update("avoided", 1, 500, now_ms=0)
    tolerance.update("fast", 10, 0, now_ms=0)
    tolerance.update("fast-later", 10, 5, now_ms=0)
    assert [item.broker for item in tolerance.ranked(10)] == [
        "fast",
        "fast-later",
        "slow",
        "avoided",
    ]


def test_equal_brokers_stand_as_in_javas_table() -> None:
    """Brokers that rank alike stand by their hash codes, in whatever order they became known."""
    first, second = LatencyTolerance4(), LatencyTolerance4()
    for tolerance, brokers in ((first, "cab"), (second, "bca")):
        for broker in brokers:
            tolerance.update(broker, 10, 0, now_ms=0)
    assert [item.broker for item in first.ranked(0)] == ["a", "b", "c"]
    assert first.ranked(0) == second.ranked(0)
    # 32 places for up to 23 brokers: "A" has place 1, " " and "@" share place 0, as they came.
    few = LatencyTolerance4()
    for broker in "A@ ":
        few.update(broker, 10, 0, now_ms=0)
    assert [item.broker for item in few.ranked(0)] == ["@", " ", "A"]
    # 64 places from 24 on.
    for broker in "abcdefghijklmnopqrstu":
        few.update(broker, 10, 0, now_ms=0)
    assert [item.broker for item in few.ranked(0)] == ["@", "A", " ", *"abcdefghijklmnopqrstu"]


def test_pick_of_line_4() -> None:
    """One of the better half is picked by the index given; of a single broker that one."""
    tolerance = LatencyTolerance4()
    assert tolerance.pick_one_at_least(3, 0) is None
    for latency_ms, broker in enumerate("abcde"):
        tolerance.update(broker, latency_ms, 0, now_ms=0)
        assert tolerance.pick_one_at_least(0, 0) == "a"
    assert [tolerance.pick_one_at_least(which, 0) for which in range(4)] == ["a", "b", "a", "b"]


def test_pick_of_line_5() -> None:
    """The first reachable broker in the drawn order is picked, available or not."""
    tolerance = LatencyTolerance5()
    tolerance.update("A", 1_000, 3_000, reachable=True, now_ms=0)
    tolerance.update("B", 1_001, 3_000, reachable=False, now_ms=0)
    assert [tolerance.pick_one_at_least(order) for order in ((0, 1), (1, 0))] == ["A", "A"]
    tolerance.remove("A")
    assert tolerance.pick_one_at_least((0,)) is None


def test_a_broker_is_checked_every_two_seconds() -> None:
    """A broker is due for a check every 2,000 ms, and only an answer changes what is known."""
    tolerance = LatencyTolerance5()
    tolerance.update("A", 10, 0, reachable=False, now_ms=100)
    assert tolerance.due(100) == ["A"]
    assert tolerance.due(2_099) == []
    assert tolerance.due(2_100) == ["A"]
    assert not tolerance.is_reachable("A")
    tolerance.detected("A")
    tolerance.detected("unknown")
    assert tolerance.is_reachable("A")
    assert tolerance.is_reachable("unknown")
    assert len(tolerance.items()) == 1
