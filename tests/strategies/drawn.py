"""Requests drawn by hypothesis, as the engine makes them: sorted, and with names in any script."""

from collections.abc import Sequence
from itertools import cycle
from typing import Final

from hypothesis import strategies as st

from fairlead.core.allocation import AllocationRequest, Candidate
from fairlead.core.model import MessageQueue
from fairlead.core.ordering import java_order, queue_order

ROOMS: Final = ("east", "west", "\U0001f600")
"""The room of a client or a broker stands before the first dash of its name, with an @."""

# U+E000 to U+FFFF sort above supplementary characters by UTF-16 unit, below them by code point.
LETTERS: Final = (
    "a", "Z", "0", " ", "\n", "é", "中", "\u0301", "\ue000", "\ufffd", "\uffff",
    "\U00010000", "\U0001f469", "\U0010ffff", "\ud800", "\udfff",
)  # fmt: skip
FIRST_IDS: Final = (0, 8, 2**31 - 20)
NAMES: Final = st.text(st.sampled_from(LETTERS), max_size=3)
PLACED: Final = st.builds("{}@-{}".format, st.sampled_from(ROOMS), NAMES)


def room_of(name: str) -> str:
    """Return the room of a drawn client id or broker name."""
    return name.partition("-")[0]


@st.composite
def requests(draw: st.DrawFn) -> AllocationRequest:
    """Draw up to three topics, up to eight members with any or the same topics, and any owners."""
    topics = draw(_as_many(NAMES, (2, 1, 3)))
    ids = draw(_as_many(PLACED, (3, 1, 2, 0, 4, 5, 6, 8)))
    queues = {topic: draw(_queues(topic)) for topic in sorted(topics, key=java_order)}
    every = [queue for held in queues.values() for queue in held]
    # Owned by turns as drawn, and not at all from some queue on.
    owners = cycle(draw(_as_many(st.sampled_from([*ids, "gone"]), (3, 1, 7), unique=False)))
    owned = draw(st.sampled_from((len(every), len(every) // 2, 0)))
    subscriptions = st.sampled_from([frozenset(topics[:1]), frozenset(topics), frozenset("?")])
    if draw(st.booleans()):
        subscriptions = st.just(frozenset(topics))
    return AllocationRequest(
        "group",
        tuple(
            Candidate(client_id, draw(subscriptions), room_of(client_id))
            for client_id in sorted(ids, key=java_order)
        ),
        queues,
        dict(zip(every[:owned], owners, strict=False)),
        draw(st.sampled_from(["subscribers", "group"])),
        queue_zones={queue: room_of(queue.broker_name) for queue in every},
    )


@st.composite
def _queues(draw: st.DrawFn, topic: str) -> tuple[MessageQueue, ...]:
    """Draw the queues of a topic: up to twenty, by turns on up to three brokers."""
    brokers = draw(st.lists(PLACED, min_size=1, max_size=3, unique=True))
    count, first = draw(st.sampled_from((3, 1, 2, 5, 9, 14, 20))), draw(st.sampled_from(FIRST_IDS))
    drawn = (
        MessageQueue(topic, broker, first + number)
        for number, broker in zip(range(count), cycle(brokers), strict=False)
    )
    return tuple(sorted(drawn, key=queue_order))


@st.composite
def _as_many(
    draw: st.DrawFn, one: st.SearchStrategy[str], sizes: Sequence[int], *, unique: bool = True
) -> list[str]:
    """Draw a list of one of these sizes, each as often as the others; lists alone stay short."""
    size = draw(st.sampled_from(sizes))
    return draw(st.lists(one, min_size=size, max_size=size, unique=unique))
