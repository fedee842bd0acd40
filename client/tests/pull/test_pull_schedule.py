"""Requests now or later: first come, first served, each once, none forgotten."""

from fairlead_client.consume.pull.pull_schedule import PullSchedule
from hypothesis import given
from hypothesis import strategies as st


def test_what_is_due_comes_in_order() -> None:
    """What is due at once comes in the order it came, what is due later in its time's order."""
    schedule: PullSchedule[str] = PullSchedule()
    schedule.later("c", 30)
    schedule.later("b", 20)
    schedule.now("a")
    assert schedule.next_due_ms() == 0
    assert schedule.pop_due(10) == ["a"]
    assert schedule.next_due_ms() == 20
    assert schedule.pop_due(30) == ["b", "c"]
    assert schedule.next_due_ms() is None


def test_a_request_due_now_overtakes_its_later_one() -> None:
    """A request that was to be due later is due at once, and once."""
    schedule: PullSchedule[str] = PullSchedule()
    schedule.later("a", 50)
    schedule.now("a")
    schedule.now("a")
    assert (len(schedule), schedule.pop_due(0), schedule.pop_due(99)) == (1, ["a"], [])


def test_hasten_makes_everything_due_in_order() -> None:
    """Everything is due at once, in the order it would have come."""
    schedule: PullSchedule[str] = PullSchedule()
    schedule.later("b", 20)
    schedule.later("a", 10)
    schedule.make_all_due()
    assert schedule.pop_due(0) == ["a", "b"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["now", "later", "take", "hasten"]), st.integers(0, 5)),
        max_size=60,
    )
)
def test_each_request_comes_once_and_none_early(steps: list[tuple[str, int]]) -> None:
    """However it is used: each request once, none before its time, none lost, none starved."""
    schedule: PullSchedule[int] = PullSchedule()
    due: dict[int, int] = {}
    at_ms = 0
    for what, number in steps:
        if what == "now":
            schedule.now(number)
            due[number] = 0
        elif what == "later":
            schedule.later(number, at_ms + number)
            due.setdefault(number, at_ms + number)
        elif what == "hasten":
            schedule.make_all_due()
            due = dict.fromkeys(due, 0)
        else:
            at_ms += number
            taken = schedule.pop_due(at_ms)
            assert sorted(taken) == sorted(one for one, when in due.items() if when <= at_ms)
            for one in taken:
                del due[one]
        assert len(schedule) == len(due)
    assert sorted(schedule.pop_due(at_ms + 5)) == sorted(due)
