"""The rebalance history of native groups."""

from dataclasses import replace

from fairlead.native.group_look import GroupLook
from fairlead.native.rebalances import Rebalance, Rebalances
from tests.answers.schema import assert_answer
from tests.kit.native_looks import frozen, look, rocketmq_look, rocketmq_member


def _told(history: Rebalances, at_s: int, *looks: GroupLook) -> list[Rebalance]:
    return list(history.note(looks, at_s * 1_000))


def test_a_join_is_told_with_its_moves() -> None:
    """Kafka says that it is over; who came, how many queues changed hands."""
    history = Rebalances()
    assert not _told(history, 1, look({"a": range(8)}))
    (found,) = _told(history, 2, look({"a": range(4), "b": range(4, 8)}))
    assert (found.joined, found.left, found.moved, found.begun) == (
        ("app-b at 10.0.0.1",), (), 4, 0,
    )  # fmt: skip
    assert found.says == "app-b at 10.0.0.1 joined: 4 queues moved"
    assert_answer("NativeRebalance", found.to_json())


def test_a_rebalance_under_way_is_told_once_when_it_is_over() -> None:
    """Kafka tells no assignments in between."""
    history = Rebalances()
    between = look({"a": [], "b": []}, settled=False, state="PreparingRebalance")
    assert not _told(history, 0, between)
    assert not _told(history, 1, look({"a": range(8)}))
    assert not _told(history, 2, between)
    (found,) = _told(history, 3, look({"b": range(8)}))
    assert (found.joined, found.left, found.moved, found.begun_ms) == (
        ("app-b at 10.0.0.1",), ("app-a at 10.0.0.1",), 8, 2_000,
    )  # fmt: skip
    assert not _told(history, 4, look({"b": range(8)}))
    assert not _told(history, 5, look({"b": []}, settled=False))
    assert not _told(history, 6, look({"b": range(8)}))


def test_of_rocketmq_it_is_over_when_nothing_changes_any_more() -> None:
    """Nobody says so; what has no owner in between is one move, and growth is a cause."""
    history = Rebalances()
    before = rocketmq_look(rocketmq_member("h@1", [0, 1]), rocketmq_member("i@1", [2, 3]))
    unowned = rocketmq_look(rocketmq_member("h@1", [0, 1]))
    after = rocketmq_look(rocketmq_member("h@1", [0, 1, 2, 3]))
    for second, seen in enumerate((before, before, unowned, unowned, after)):
        found = _told(history, second, seen)
        if second == 3:
            # Two equal looks: to all that anybody can see, it is over.
            assert [each.says for each in found] == ["i@1 left: 2 queues moved in 1 s"]
        else:
            assert not found
    (found_s,) = _told(history, 6, after)
    assert found_s.says == "no cause seen: 0 queues moved, 2 begun in 2 s"
    more = rocketmq_look(rocketmq_member("h@1", [0, 1, 2, 3, 4]), number=5)
    assert not _told(history, 7, more)
    (grown,) = _told(history, 8, more)
    assert (grown.added, grown.moved) == (1, 0)
    assert grown.says == "1 queue more: 0 queues moved, 1 begun in 1 s"
    assert history.count("g") == 3
    assert [each.over_ms for each in history.of("g")] == [3_000, 6_000, 8_000]


def test_a_member_that_freezes_keeps_its_queues() -> None:
    """It says nothing any more; nothing has moved, and nobody has left."""
    history = Rebalances()
    other = rocketmq_member("h@1", [0, 1])
    _told(history, 0, rocketmq_look(other, rocketmq_member("i@1", [2, 3])))
    for second in range(1, 4):
        assert not _told(history, second, rocketmq_look(other, frozen("i@1")))
    assert not _told(history, 4, rocketmq_look(rocketmq_member("h@1", [0, 1, 2, 3])))
    (found,) = _told(history, 5, rocketmq_look(rocketmq_member("h@1", [0, 1, 2, 3])))
    assert found.says == "i@1 left: 2 queues moved in 1 s"


def test_a_broker_that_is_away_makes_nobody_leave() -> None:
    """Who only it knows may be there all the same."""
    history = Rebalances()
    both = rocketmq_look(rocketmq_member("h@1", [0, 1]), rocketmq_member("i@1", [2, 3]))
    partial = replace(rocketmq_look(rocketmq_member("h@1", [0, 1])), settled=False)
    for second, seen in enumerate((both, partial, partial, both, both)):
        assert not _told(history, second, seen)


def test_generations_that_no_look_saw_are_counted() -> None:
    """KIP-848 counts: 3, and then 7, are three unseen ones."""
    history = Rebalances()
    _told(history, 1, look({"a": range(8)}, generation=3))
    (found,) = _told(history, 2, look({"a": range(8)}, generation=7))
    assert (found.moved, found.missed) == (0, 3)
    assert "3 generations unseen" in found.says


def test_a_host_whose_members_come_and_go_flaps() -> None:
    """Each time its member has another id; the host stays the same."""
    history, stays = Rebalances(), rocketmq_member("a@1", [0, 1, 2, 3])
    flapping = []
    for second in range(16):
        comes = second // 2 % 2
        members = [stays, rocketmq_member(f"h@{second // 2}", [])] if comes else [stays]
        flapping += [each.flapping for each in _told(history, second, rocketmq_look(*members))]
    assert flapping[-1] == ("h",)
    assert flapping[0] == ()


def test_a_deploy_is_no_flapping() -> None:
    """Six members of one host leave and come back, one after another."""
    history = Rebalances()
    members = [rocketmq_member(f"h@{number}", [number]) for number in range(6)]
    _told(history, 0, rocketmq_look(*members, number=6))
    told = []
    for number in range(6):
        others = [each for each in members if each.member_id != f"h@{number}"]
        again = rocketmq_member(f"h@{number + 10}", [number])
        members = [*others, again]
        for step, present in enumerate((others, others, members, members)):
            told += _told(history, number * 10 + step, rocketmq_look(*present, number=6))
    assert len(told) == 12
    assert {each.flapping for each in told} == {()}


def test_a_deleted_group_is_forgotten() -> None:
    """Its name may come back as another group."""
    history = Rebalances()
    _told(history, 1, look({"a": range(8)}))
    _told(history, 2)
    assert not _told(history, 3, look({"b": range(8)}))
    assert history.of("other") == []
