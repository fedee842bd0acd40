"""Where a failed message goes, and what its headers say."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from fairlead_client.consume.retry.delay_level import DELAYS_MS
from fairlead_client.consume.retry.redelivery import (
    DUE,
    ORIGIN_TOPIC,
    RECONSUME_TIMES,
    SentBack,
    reconsume_limit,
    redelivery_of,
    send_back,
)
from fairlead_client.message import Message
from fairlead_client.model import Epoch, Queue
from hypothesis import given
from hypothesis import strategies as st

NOW_MS = 1_780_999_000_000
ORDERS = Queue("orders", "main", 3)
RETRY = Queue("%RETRY%g", "main", 2)


def message(queue: Queue = ORDERS, headers: Sequence[tuple[str, bytes]] = ()) -> Message:
    """A message of a queue, at offset 7."""
    return Message(queue, 7, b"key", b"value", tuple(headers), NOW_MS - 5, Epoch(1, 1))


def failed(
    one: Message, attempt: int = 1, delay: int = 0, limit: int | None = 16, group: str = "g"
) -> SentBack:
    """Where it goes when it failed."""
    return send_back(one, attempt, delay, group=group, limit=limit, now_ms=NOW_MS)


def test_a_message_that_always_fails_dies_after_16_times() -> None:
    """A message that always fails comes back 16 times, each time later, and then is dead."""
    one, delays, times = message(headers=[("TAGS", b"A")]), [], []
    while not (back := failed(one)).is_dead:
        told = back.redelivery
        assert back.topic == "%RETRY%g"
        assert told.due_ms is not None
        delays.append(told.due_ms - NOW_MS)
        times.append(told.reconsume_times)
        one = message(RETRY, back.headers)
    assert delays == [*DELAYS_MS[2:]]
    assert times == list(range(1, 17))
    assert back.topic == "%DLQ%g"
    assert back.redelivery.reconsume_times == 16
    assert (back.redelivery.origin, back.redelivery.origin_offset) == (ORDERS, 7)
    assert back.redelivery.message_id == "orders-3@7"
    assert back.headers[0] == ("TAGS", b"A")
    assert DUE not in dict(back.headers)


def test_the_headers_of_a_returning_message_are_read_back() -> None:
    """What a message says when it comes back is read as it was written, and stands once."""
    first = failed(message())
    again = failed(message(RETRY, first.headers))
    assert redelivery_of(first.headers) == first.redelivery
    assert redelivery_of(again.headers) == again.redelivery
    assert [name for name, _ in again.headers] == [name for name, _ in first.headers]
    assert again.redelivery.origin_timestamp_ms == NOW_MS - 5


@pytest.mark.parametrize(
    "attempt, delay, limit, where",
    [
        (1, 0, 16, ("%RETRY%g", 1, 3)),
        (3, 0, 16, ("%RETRY%g", 3, 5)),
        (1, 1, 16, ("%RETRY%g", 1, 1)),
        (1, -1, 16, ("%DLQ%g", 0, None)),
        (1, 0, 0, ("%DLQ%g", 0, None)),
        (17, 0, 16, ("%DLQ%g", 16, None)),
        (1_000, 0, None, ("%RETRY%g", 1_000, 18)),
    ],
)
def test_attempts_on_the_spot_count_towards_the_dead_letters(
    attempt: int, delay: int, limit: int | None, where: tuple[str, int, int | None]
) -> None:
    """Attempts made on the spot count too; a negative level and the limit lead to the DLQ."""
    back = failed(message(), attempt, delay, limit)
    told = back.redelivery
    assert (back.topic, told.reconsume_times, told.delay_level) == where


def test_another_group_counts_anew() -> None:
    """A group that reads another group's dead letters begins to count anew, from there."""
    dead = failed(message(), delay=-1)
    queue = Queue("%DLQ%g", "main", 0)
    back = failed(message(queue, dead.headers), group="h")
    assert back.topic == "%RETRY%h"
    assert (back.redelivery.reconsume_times, back.redelivery.origin) == (1, queue)


@pytest.mark.parametrize("spoilt", [RECONSUME_TIMES, ORIGIN_TOPIC])
def test_headers_without_a_value(spoilt: str) -> None:
    """A header whose value is null is not there."""
    told = failed(message()).headers
    nulls = [(name, None if name == spoilt else value) for name, value in told]
    assert redelivery_of(nulls) is None
    assert redelivery_of([*told, (spoilt, None)]) == redelivery_of(told)


@pytest.mark.parametrize(
    "key, value, kept", [(None, None, b""), (b"k", None, None), (None, b"", b""), (b"", None, None)]
)
def test_nothing_that_kafka_refuses(
    key: bytes | None, value: bytes | None, kept: bytes | None
) -> None:
    """A message of nothing gets an empty body, and null headers empty values: Kafka takes them."""
    nothing: Any = [("trace", None), ("TAGS", b"A"), (DUE, None)]
    back = failed(replace(message(headers=nothing), key=key, value=value))
    assert back.value == kept
    assert back.headers[:2] == (("trace", b""), ("TAGS", b"A"))
    assert all(isinstance(each, bytes) for _, each in back.headers)


@pytest.mark.parametrize("value", [b"", b"-1", b"one", b"\xff", "²".encode()])
def test_a_message_with_spoilt_headers_fails_for_the_first_time(value: bytes) -> None:
    """Headers that cannot be read say nothing: the message is one that fails for the first time."""
    spoilt = [*failed(message()).headers, (RECONSUME_TIMES, value)]
    assert redelivery_of(spoilt) is None
    assert failed(message(RETRY, spoilt)).redelivery.reconsume_times == 1


def test_attempts_are_limited_to_16_except_in_ordered_groups() -> None:
    """By default 16 times, in ordered groups for ever; what the application says holds for both."""
    assert reconsume_limit(-1, ordered=False) == 16
    assert reconsume_limit(-1, ordered=True) is None
    assert reconsume_limit(3, ordered=True) == 3


@given(st.lists(st.tuples(st.text(max_size=9), st.binary(max_size=9)), max_size=5))
def test_own_headers_stay(headers: list[tuple[str, bytes]]) -> None:
    """Whatever headers a message has, they come back in their order."""
    back = failed(message(headers=headers))
    assert [*back.headers[: len(headers)]] == headers
