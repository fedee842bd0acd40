"""What is wrong with a native group, and what is only unusual, from one look."""

from dataclasses import replace

import pytest

from fairlead.core.model import MessageQueue
from fairlead.native.group_look import GroupLook
from fairlead.native.look_findings import look_findings
from fairlead.native.look_notes import look_notes
from fairlead.native.observation import observed
from tests.answers.schema import assert_answer
from tests.kit.native_looks import frozen, look, rocketmq_look, rocketmq_member, with_queue

_CIRCLE = "AllocateMessageQueueAveragelyByCircle"


def _problems(seen: GroupLook) -> list[str]:
    return [each.problem for each in look_findings(seen)]


def _notes(seen: GroupLook) -> list[str]:
    return [each.problem for each in look_notes(seen)]


@pytest.mark.parametrize(
    "seen, problems",
    [
        (look({"a": range(4), "b": range(4, 8)}, lag={0: 900}), []),
        (look({"a": range(4), "b": range(4, 7)}), ["unassigned"]),
        # During a rebalance a coordinator tells no assignments.
        (look({"a": range(4), "b": range(4, 7)}, settled=False), []),
        # A group that has read everything may rest.
        (look({}), []),
        (look({}, lag={0: 5}), ["offline"]),
        (look({"a": range(8)}, unread=("its commits are not told",)), ["unread"]),
    ],
)
def test_problems_of_a_group_of_kafka(seen: GroupLook, problems: list[str]) -> None:
    """Each problem is found where it is, and nowhere else; the answer has its form."""
    assert _problems(seen) == problems
    shown = observed(seen, planned=True)
    assert_answer("NativeGroup", shown.to_json())
    assert shown.verdict == ("problems" if problems else "safe" if seen.members else "nobody")


@pytest.mark.parametrize(
    "members, problems",
    [
        ([rocketmq_member("a", [0, 1]), rocketmq_member("b", [2, 3])], []),
        (
            [rocketmq_member("a", [0, 1, 2]), rocketmq_member("b", [2, 3])],
            ["overlap", "not_as_strategy"],
        ),
        ([rocketmq_member("a", [0, 1]), rocketmq_member("b", [2])], ["unassigned"]),
        ([rocketmq_member("a", [0, 2]), rocketmq_member("b", [1, 3])], ["not_as_strategy"]),
        (
            [
                rocketmq_member("a", [0, 2], assignor=_CIRCLE),
                rocketmq_member("b", [1, 3], assignor=_CIRCLE),
            ],
            [],
        ),
        (
            [rocketmq_member("a", [0, 1], assignor=_CIRCLE), rocketmq_member("b", [2, 3])],
            ["disagreement"],
        ),
        (
            [
                rocketmq_member("a", [0, 2], assignor="Own"),
                rocketmq_member("b", [1, 3], assignor="Own"),
            ],
            [],
        ),
        (
            [rocketmq_member("a", [0, 1], connections={"main": ("h:1", "i:1")})],
            ["duplicate_client_id", "unassigned"],
        ),
        # What the silent one works on is not known, so nobody says that it has no owner.
        ([rocketmq_member("a", [0, 1]), frozen("b")], ["frozen"]),
        (
            [
                rocketmq_member("a", [0, 1], filters={"orders": "red"}),
                rocketmq_member("b", [2, 3]),
            ],
            ["disagreement"],
        ),
        (
            [
                rocketmq_member("a", [0, 1]),
                rocketmq_member("b", [2, 3], filters={"orders": "*", "bills": "*"}),
            ],
            ["disagreement"],
        ),
        ([], ["offline"]),
    ],
)
def test_problems_of_a_group_of_rocketmq(members: list[object], problems: list[str]) -> None:
    """The same words; and what can only go wrong where each member computes its own share."""
    seen = rocketmq_look(*members)  # type: ignore[arg-type] # pytest's table has no types
    assert _problems(seen) == problems
    assert_answer("NativeGroup", observed(seen, planned=True).to_json())


def test_broadcasting_members_share_nothing() -> None:
    """Each reads every queue, and no queue has too many owners."""
    both = [rocketmq_member("a", [0, 1]), rocketmq_member("b", [0, 1])]
    seen = rocketmq_look(*both, protocol="broadcasting")
    assert (_problems(seen), _notes(seen)) == ([], [])
    assert seen.summary()["queues_shared"] == 0


def test_queues_with_two_owners_are_told_with_both() -> None:
    """Both owners and the queue stand in the sentence."""
    (found,) = look_findings(look({"a": range(5), "b": range(4, 8)}))
    assert (found.problem, found.subject) == ("overlap", "orders")
    assert found.text.startswith("app-a at 10.0.0.1, app-b at 10.0.0.1 work on 1 queue of it")
    assert found.text.endswith(": main/4")


@pytest.mark.parametrize("assignor, hinted", [(_CIRCLE, False), (None, True)])
def test_owners_of_one_queue_may_follow_strategies_that_they_do_not_tell(
    assignor: str | None, *, hinted: bool
) -> None:
    """Clients in Go tell no strategy, so the remedy says that theirs may differ."""
    both = [replace(rocketmq_member(each, [0]), assignor=assignor) for each in "ab"]
    found = next(each for each in look_findings(rocketmq_look(*both)) if each.problem == "overlap")
    assert ("follow different strategies" in found.remedy) == hinted


def test_a_broker_that_does_not_know_a_member() -> None:
    """A broker with queues of the group must know all; one without any need not."""
    seen = rocketmq_look(rocketmq_member("a", [0, 1]), rocketmq_member("b", [2, 3]))
    all_of_them = frozenset("ab")
    for knows, problems in (
        ({"main": frozenset("a"), "other": all_of_them}, ["views_differ"]),
        ({"main": frozenset(), "other": all_of_them}, ["views_differ"]),
        ({"main": all_of_them, "other": frozenset()}, []),
        ({"main": all_of_them, "other": None}, []),
    ):
        assert _problems(replace(seen, knows=knows)) == problems


def test_a_young_retry_topic_may_have_no_owner() -> None:
    """Its queue counts when messages wait in it."""
    seen = rocketmq_look(rocketmq_member("a", [0, 1]), rocketmq_member("b", [2, 3]))
    retry = MessageQueue("%RETRY%g", "main", 0)
    assert _problems(with_queue(seen, retry, committed=None, end=0)) == []
    assert _problems(with_queue(seen, retry, committed=1, end=3)) == ["unassigned"]


def test_idle_members_and_skew_are_notes() -> None:
    """They may be meant, and change no verdict."""
    for seen, notes in (
        (look({"a": [0], "b": [1], "c": []}, 2), ["idle_member"]),
        (look({"a": range(6), "b": range(6, 8)}), ["uneven"]),
        (look({"a": range(4), "b": range(4, 8)}, lag={5: 5_000}), ["lagging_member"]),
        (rocketmq_look(rocketmq_member("a", [0]), rocketmq_member("b", []), number=1),
         ["idle_member"]),
        (rocketmq_look(rocketmq_member("a", [0]), rocketmq_member("b", [], silence="too old")),
         ["untold"]),
    ):  # fmt: skip
        assert (_notes(seen), observed(seen).verdict) == (notes, "safe")


def test_groups_that_share_no_queue_are_named() -> None:
    """Of POP nobody misses an owner, and a gRPC client that brokers cannot ask is not frozen."""
    pop = rocketmq_look(rocketmq_member("h@1", []), protocol="pop")
    assert (_problems(pop), _notes(pop)) == ([], ["pop"])
    grpc = rocketmq_look(rocketmq_member("h@4711@0@ab12", [], silence="frozen", filters=None))
    assert (_problems(grpc), _notes(grpc)) == ([], ["grpc"])


def test_a_member_with_nearly_all_the_lag_is_named() -> None:
    """Its queues wait, the others do not."""
    (found,) = look_notes(look({"a": range(4), "b": range(4, 8)}, lag={5: 5_000}))
    assert found.subject == "app-b at 10.0.0.1"
