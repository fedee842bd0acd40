"""What queues weigh is measured over a window and damped, however the log is cut."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.core.model import Route, RouteBroker
from fairlead.core.outputs import Assignment, Decision
from fairlead.core.records import RouteChanged
from fairlead.core.rules.queue_weights import (
    Measure,
    Weighing,
    measured,
    read_weighing,
    weigh,
)
from fairlead.core.rules.rule_error import RuleError
from tests.kit.group_world import GroupWorld, queue_of

Q = [queue_of(number) for number in range(4)]
OPEN = dict.fromkeys(Q, True)


def _weights(
    measures: dict[int, Measure], in_force: dict[int, float], weighing: Weighing, at_ms: int
) -> dict[int, float]:
    found = weigh(
        {Q[number]: measure for number, measure in measures.items()},
        {Q[number]: weight for number, weight in in_force.items()},
        writable=OPEN,
        weighing=weighing,
        period_ms=20_000,
        at_ms=at_ms,
    )
    return {queue.queue_id: weight for queue, weight in found.items()}


def _steady(per_second: float, seconds: int, over_ms: int = 60_000) -> Measure:
    known = None
    for second in range(seconds + 1):
        end = int(per_second * second)
        known = measured(known, second * 1_000, end, end, over_ms)
    assert known is not None
    return known


@pytest.mark.parametrize("seconds", [2, 30, 600])
def test_a_steady_rate_is_measured_from_the_first_reports(seconds: int) -> None:
    """A steady rate is measured as it is, from the first reports on."""
    assert _steady(40, seconds).rate == pytest.approx(40)


@given(st.lists(st.tuples(st.integers(0, 30_000), st.integers(0, 1_000)), min_size=1, max_size=30))
def test_a_rate_is_between_what_was_seen(steps: list[tuple[int, int]]) -> None:
    """An average lies between the least and the greatest of what it is made of."""
    clock = end = 0
    known, seen = measured(None, 0, 0, 0, 60_000), []
    for passed, written in steps:
        clock, end = clock + passed, end + written
        if passed:
            seen.append((end - known.end) * 1_000 / passed)
        known = measured(known, clock, end, end, 60_000)
    if seen:
        assert min(seen) - 1e-6 <= known.rate <= max(seen) + 1e-6


def test_two_reports_of_one_moment() -> None:
    """What was written between two reports of one moment is counted with the next one."""
    known = measured(measured(None, 0, 0, 0, 60_000), 0, 500, 0, 60_000)
    assert known.behind == 500
    assert measured(known, 1_000, 1_000, 1_000, 60_000).rate == pytest.approx(1_000)


def test_an_end_that_went_back() -> None:
    """A log that became shorter is measured anew, never as a rate below nothing."""
    known = measured(_steady(40, 60), 61_000, 5, 0, 60_000)
    assert known == Measure(61_000, 61_000, 5, 5, lag=5.0)


def test_a_queue_weighs_its_share_of_the_mean_rate() -> None:
    """A queue weighs its share of the mean, and without traffic a tenth of it."""
    measures = {0: _steady(60, 60), 1: _steady(20, 60), 2: _steady(0, 60)}
    found = _weights(measures, {}, Weighing("rate", change_percent=0), 60_000)
    assert found == {0: 2.2, 1: 0.75, 2: 0.1}


def test_a_queue_weighs_its_lag() -> None:
    """A queue weighs what is left to process, whatever was written."""
    measures = {
        number: replace(_steady(10, 60), behind=lag, lag=float(lag))
        for number, lag in enumerate([300, 100, 0, 0])
    }
    assert _weights(measures, {}, Weighing("lag"), 60_000) == {0: 3.0, 2: 0.1, 3: 0.1}


def test_nothing_is_known_yet() -> None:
    """A queue that was not watched for a whole period keeps its weight."""
    measures = {0: _steady(60, 60), 1: _steady(20, 10)}
    assert _weights(measures, {1: 4.0}, Weighing("rate"), 60_000)[1] == 0.31
    young = {0: _steady(60, 60), 1: replace(_steady(20, 10), since_ms=50_000)}
    assert _weights(young, {1: 4.0}, Weighing("rate"), 60_000) == {1: 4.0}


@given(st.lists(st.floats(0.82, 1.22), min_size=4, max_size=4), st.floats(1, 1e6))
def test_a_wobble_moves_nothing(wobble: list[float], rate: float) -> None:
    """Rates that each stray by less than a fifth change no weight, whatever they were."""
    shape = [1.0, 2.0, 0.5, 4.0]
    steady = {number: replace(_steady(0, 60), rate=rate * shape[number]) for number in range(4)}
    strayed = {n: replace(steady[n], rate=steady[n].rate * wobble[n]) for n in range(4)}
    weighing = Weighing("rate", change_percent=60)
    in_force = _weights(steady, {}, replace(weighing, change_percent=0), 60_000)
    assert _weights(strayed, in_force, weighing, 60_000) == in_force


def test_all_traffic_grows() -> None:
    """Twice the traffic everywhere is the same share for everybody."""
    slow = {number: _steady(10 * (number + 1), 60) for number in range(4)}
    fast = {number: _steady(20 * (number + 1), 60) for number in range(4)}
    exact = Weighing("rate", change_percent=0)
    assert _weights(slow, {}, exact, 60_000) == _weights(fast, {}, exact, 60_000)


@pytest.mark.parametrize("by", ["count", "rate", "lag"])
def test_read_only_and_drained(by: str) -> None:
    """A queue that nobody may write and that is read to its end weighs nothing, else something."""
    drained, left = _steady(10, 60), replace(_steady(10, 60), behind=3)
    writable = {**OPEN, Q[0]: False, Q[1]: False, Q[2]: False}
    measures = {Q[0]: drained, Q[1]: left, Q[3]: drained}
    found = weigh(
        measures,
        {},
        writable=writable,
        weighing=read_weighing({"by": by}),
        period_ms=20_000,
        at_ms=60_000,
    )
    assert found.get(Q[0]) == 0
    assert all(found.get(queue, 1) > 0 for queue in Q[1:])


@pytest.mark.parametrize(
    "value, field",
    [
        (None, ""),
        ([], ""),
        ({"by": "rate", "over": 1}, ""),
        ({}, "by"),
        ({"by": "size"}, "by"),
        ({"by": ["rate"]}, "by"),
        ({"by": "rate", "over_ms": 999}, "over_ms"),
        ({"by": "rate", "over_ms": True}, "over_ms"),
        ({"by": "rate", "over_ms": 60_000.0}, "over_ms"),
        ({"by": "lag", "change_percent": -1}, "change_percent"),
        ({"by": "lag", "change_percent": "50"}, "change_percent"),
    ],
)
def test_a_bad_weight_is_refused_with_its_field(value: object, field: str) -> None:
    """A value that cannot be is refused with its field and what to send."""
    with pytest.raises(RuleError) as refused:
        read_weighing(value)
    assert refused.value.field_path == f"value.{field}".rstrip(".")
    assert refused.value.remedy


class Group:
    """A group under STICKY of two members and four queues, which reports what it reads."""

    def __init__(self, by: str) -> None:
        self.world = GroupWorld()
        self.ends = [0, 0, 0, 0]
        self.decisions: list[Decision] = []
        world = self.world
        world.rule("strategy", {"name": "STICKY", "options": {}})
        world.rule("weighing", {"by": by, "over_ms": 20_000})
        world.beat("a")
        world.beat("b")
        world.run()
        world.route(4)
        world.bounds(4, last=0)
        self.step()

    def step(self) -> None:
        """Step the group, and keep its decisions."""
        outputs = self.world.run().outputs
        self.decisions += [entry for entry in outputs if isinstance(entry, Decision)]
        for entry in outputs:
            if isinstance(entry, Assignment):
                for drop in entry.drop:
                    self.world.release(
                        entry.member.client_id,
                        drop.queue.queue_id,
                        drop.epoch,
                        self.ends[drop.queue.queue_id],
                    )

    def second(self, rates: list[int], *, behind: int = 0, step: bool = True) -> None:
        """A second passes in which so many messages are written to each queue."""
        world = self.world
        world.pass_time(1_000)
        self.ends = [end + rate for end, rate in zip(self.ends, rates, strict=True)]
        assert world.state is not None
        for queue, value in sorted(world.state.queues.items()):
            end = self.ends[queue.queue_id]
            for grant in value.chain[-1:]:
                world.progress(
                    grant.member.client_id, queue.queue_id, grant.epoch, end - behind, end=end
                )
        world.beat("a")
        world.beat("b")
        if step:
            self.step()

    def owners(self) -> dict[int, str]:
        """Return who holds which queue."""
        assert self.world.state is not None
        return {
            queue.queue_id: value.chain[-1].member.client_id
            for queue, value in self.world.state.queues.items()
            if value.chain
        }

    def weighed(self) -> list[str]:
        """Return the reasons of all decisions that a weight led to."""
        return [
            cause.because or ""
            for decision in self.decisions
            for cause in decision.cause
            if cause.kind == "weights_changed"
        ]


def test_a_hot_queue_gets_a_member_of_its_own() -> None:
    """A queue with most of the traffic is left alone by the others, and the record says why."""
    group = Group("rate")
    for _ in range(60):
        group.second([90, 10, 10, 10])
    owners = group.owners()
    assert [number for number in owners if owners[number] == owners[0]] == [0]
    assert group.weighed()[0].startswith("measured by rate: main/0 1 to 3")
    told = len(group.decisions)
    for second in range(100):
        group.second([90 + second % 9, 10 + second % 2, 10, 9 + second % 3])
    assert len(group.decisions) == told


def test_count_takes_no_notice() -> None:
    """Without the rule the same traffic moves nothing."""
    group = Group("count")
    for _ in range(60):
        group.second([90, 10, 10, 10])
    assert group.weighed() == []


def test_a_strategy_without_weights_is_not_disturbed() -> None:
    """Under AVG no decision is made for a weight, and the first one under STICKY knows them."""
    group = Group("rate")
    group.world.rule("strategy", {"name": "AVG", "options": {}})
    for _ in range(60):
        group.second([90, 10, 10, 10])
    assert group.weighed() == []
    assert group.decisions[-1].alarms == ("rule_without_effect",)
    group.world.rule("strategy", {"name": "STICKY", "options": {}})
    group.step()
    assert not group.decisions[-1].alarms
    assert [cause.kind for cause in group.decisions[-1].cause] == [
        "rules_changed",
        "weights_changed",
    ]


def test_a_topic_about_to_shrink() -> None:
    """Queues drained and closed to producers count no more, and count again when opened."""
    group = Group("count")
    for _ in range(25):
        group.second([10, 10, 10, 10])
    closed = Route("orders", "one", (RouteBroker("main", 6, 4, 2),))
    group.world.add("routes", RouteChanged("orders", closed))
    for _ in range(45):
        group.second([10, 10, 0, 0])
    owners = group.owners()
    assert owners[0] != owners[1]
    assert group.weighed() == ["measured by count: main/2 1 to 0, main/3 1 to 0"]
    group.world.route(4)
    for _ in range(45):
        group.second([10, 10, 0, 0])
    assert group.weighed()[1:] == ["measured by count: main/2 0 to 1, main/3 0 to 1"]


@pytest.mark.parametrize("seed", range(10))
def test_cuts_do_not_matter_while_nothing_is_decided(seed: int) -> None:
    """Records that led to no decision lead to the same weights in one step as in many."""
    chance = Random(seed)
    many, one = Group("rate"), Group("rate")
    for group in (many, one):
        for _ in range(60):
            group.second([90, 10, 10, 10])
    told = len(many.decisions)
    for _ in range(100):
        rates = [90 + chance.randrange(9), 10, 10 + chance.randrange(3), 9]
        many.second(rates)
        one.second(rates, step=False)
    one.step()
    assert len(many.decisions) == len(one.decisions) == told
    assert many.world.state is not None
    assert one.world.state is not None
    assert many.world.state.measures == one.world.state.measures
    assert many.world.state.weights == one.world.state.weights


def test_only_what_came_before_the_period_ended_counts() -> None:
    """A burst behind the end of a period is not weighed with it, also when one step reads both."""
    many, one = Group("rate"), Group("rate")
    for group in (many, one):
        while group.world.clock_ms < 79_000:
            group.second([10, 10, 10, 10])
    for rates in ([10, 10, 10, 10], *([10, 900, 10, 10],) * 8):
        many.second(rates)
        one.second(rates, step=False)
    one.step()
    assert many.weighed() == one.weighed() == []
    while not many.weighed():
        many.second([10, 10, 10, 10])
        one.second([10, 10, 10, 10])
    assert many.weighed() == one.weighed()
    assert many.world.clock_ms == 100_000
