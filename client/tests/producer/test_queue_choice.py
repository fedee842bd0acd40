"""Queues chosen by hash and by function."""

import pytest
from fairlead_client.errors import SettingsError
from fairlead_client.model import Queue
from fairlead_client.produce.queue_choice import by_hash, choose
from fairlead_client.produce.queue_selection import NoQueueError

FOUR = tuple(Queue("T", "A", number) for number in range(4))


@pytest.mark.parametrize(
    "arg, queue_id",
    [(0, 0), (7, 3), (-7, 3), ("a", 1), (-(2**31), 0), ("polygenelubricants", 0), (2**31 + 2, 2)],
)
def test_the_queue_follows_the_hash_code_of_java(arg: str | int, queue_id: int) -> None:
    """The queue is |hash mod n| of Java's hash code, for the least int too."""
    assert choose(by_hash(arg), FOUR).queue_id == queue_id


def test_least_int_of_three() -> None:
    """Of three queues the hash code -2^31 takes |-2^31 mod 3| = 2."""
    assert by_hash(-(2**31))(FOUR[:3]).queue_id == 2


@pytest.mark.parametrize("selector", [by_hash(1), lambda queues: queues[0]])
def test_a_choice_without_queues_raises_the_named_error(selector: object) -> None:
    """Without queues there is the same error as of any selection."""
    with pytest.raises(NoQueueError):
        choose(selector, ())  # type: ignore[arg-type]
    with pytest.raises(NoQueueError):
        by_hash(1)(())


def test_a_chosen_queue_must_be_one_of_those_given() -> None:
    """A function may return only what it was given."""
    with pytest.raises(SettingsError, match="selector: it returned Queue"):
        choose(lambda _: Queue("T", "B", 0), FOUR)
