"""What a look finds wrong with a group, and what it only notes."""

from dataclasses import replace

import pytest

from fairlead.observed_rocketmq.group_findings import findings_of, notes_of
from fairlead.observed_rocketmq.group_report import report_of
from fairlead.observed_rocketmq.seen_group import SeenGroup, SeenQueue
from fairlead.observed_rocketmq.share_forecast import ShareForecast, forecasts_of
from fairlead.rocketmq.group_connections import GroupConnections
from tests.answers.schema import assert_answer
from tests.observed_rocketmq.scenes import frozen, group, member, queue

_CIRCLE = "AllocateMessageQueueAveragelyByCircle"


@pytest.mark.parametrize(
    "seen, problems",
    [
        (group(member("a", [0, 1]), member("b", [2, 3])), []),
        (group(member("a", [0, 1, 2]), member("b", [2, 3])), ["two_owners", "not_as_strategy"]),
        (group(member("a", [0, 1]), member("b", [2])), ["no_owner"]),
        (group(member("a", [0, 2]), member("b", [1, 3])), ["not_as_strategy"]),
        (
            group(
                member("a", [0, 2], strategy=_CIRCLE),
                member("b", [1, 3], strategy=_CIRCLE),
            ),
            [],
        ),
        (group(member("a", [0, 1], strategy=_CIRCLE), member("b", [2, 3])), ["strategies_differ"]),
        (group(member("a", [0, 2], strategy="Own"), member("b", [1, 3], strategy="Own")), []),
        (group(member("a", [0, 1], addresses=("h:1", "i:1"))), ["twin_ids", "no_owner"]),
        # What the silent one works on is not known, so nobody says that it has no owner.
        (group(member("a", [0, 1]), frozen("b")), ["frozen"]),
        (
            group(member("a", [0, 1], filters={"orders": "red"}), member("b", [2, 3])),
            ["subscriptions_disagree"],
        ),
        (
            group(member("a", [0, 1]), member("b", [2, 3], filters={"orders": "*", "bills": "*"})),
            ["subscriptions_disagree"],
        ),
        (group(member("a", [0, 1]), member("b", [0, 1]), model="BROADCASTING"), []),
        (group(), []),
    ],
)
def test_problems(seen: SeenGroup, problems: list[str]) -> None:
    """Each problem is found where it is, and nowhere else; the answer has its form."""
    assert [each.problem for each in findings_of(seen)] == problems
    report = report_of(seen)
    assert_answer("LiveGroup", report.to_json())
    assert report.verdict == ("problems" if problems else "safe" if seen.members else "nobody")


def test_a_broker_that_does_not_know_a_member() -> None:
    """A broker with queues of the group must know all; one without any need not."""
    seen = group(member("a", [0, 1]), member("b", [2, 3]))
    one, both = seen.views["broker-a"], seen.views["broker-a"]
    assert one is not None
    fewer = replace(one, connections=one.connections[:1])
    differing = replace(seen, views={"broker-a": fewer, "broker-b": both})
    assert [each.problem for each in findings_of(differing)] == ["views_differ"]
    empty = replace(seen, views={"broker-a": GroupConnections(), "broker-b": both})
    assert [each.problem for each in findings_of(empty)] == ["views_differ"]
    elsewhere = replace(seen, views={"broker-a": both, "broker-b": GroupConnections()})
    silent = replace(seen, views={"broker-a": both, "broker-b": None})
    assert findings_of(elsewhere) == findings_of(silent) == ()


def test_a_young_retry_topic_may_have_no_owner() -> None:
    """Its queue counts when messages wait in it."""
    seen = group(member("a", [0, 1]), member("b", [2, 3]))
    retry = queue(0, "%RETRY%g")
    young = replace(seen, queues={**seen.queues, retry: SeenQueue(end=0, committed=None)})
    waiting = replace(seen, queues={**seen.queues, retry: SeenQueue(end=3, committed=1)})
    assert findings_of(young) == ()
    assert [each.problem for each in findings_of(waiting)] == ["no_owner"]


def test_idle_clients_and_skew_are_notes() -> None:
    """They change no verdict."""
    idle = group(member("a", [0]), member("b", []), queues=1)
    assert notes_of(idle) == ("1 client without a queue: b",)
    assert findings_of(idle) == ()
    skewed = group(member("a", [0, 1, 2, 3, 4]), member("b", [5]), queues=6)
    assert any("skew by queues: 5" in note for note in notes_of(skewed))
    late = {**skewed.queues, queue(0): SeenQueue(end=9000, committed=0)}
    behind = group(member("a", [0, 1]), member("b", [2, 3]), member("c", [4, 5]), queues=6)
    assert any("skew by lag" in note for note in notes_of(replace(behind, queues=late)))


def test_forecasts() -> None:
    """STICKY moves what balance needs; AVG more, and how much depends on the ids."""
    members = (member("a", [0, 1, 2, 3]), member("b", [4, 5, 6, 7]), member("c", [8, 9, 10, 11]))
    assert forecasts_of(group(*members, queues=12)) == (
        # A fourth client needs 3 queues, each of the three has 4 to give away.
        # Blocks of ids a, b, c begin at 0, 4, 8; with one id more at 0, 3, 6, 9, with one less
        # at 0, 6. A deploy is the three leaves (6, 4, 6), each there and back.
        ShareForecast("join", "AVG", 4, 6),
        ShareForecast("leave", "AVG", 4, 6),
        ShareForecast("deploy", "AVG", 32, 32),
        ShareForecast("join", "STICKY", 3, 3),
        ShareForecast("leave", "STICKY", 4, 4),
        ShareForecast("deploy", "STICKY", 24, 24),
    )
    assert forecasts_of(group()) == ()
